// Ctrl-C and the terminate signal as a flag: long commands end in order with what they have.
#pragma once

#include <atomic>

namespace tocsin {

// From now on SIGINT and SIGTERM set the flag that is returned, and do nothing else.
const std::atomic<bool>& watch_interruption();

}  // namespace tocsin
