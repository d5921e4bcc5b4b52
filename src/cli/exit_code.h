// The program's exit codes: fixed, documented in the README.
#pragma once

#include "base/error.h"

namespace tocsin {

enum class ExitCode : int {
  kDone = 0,
  kCheckFailed = 1,    // the check that was asked for failed: verify, audit, replay not equal
  kUsage = 2,          // wrong usage or configuration
  kBadInput = 3,       // bad input, with everything before it kept
  kEnvironment = 4,    // the environment lacks something: library, device, disk
  kInterrupted = 130,  // outputs complete up to the interruption
};

ExitCode exit_code_of(ErrorCode code) noexcept;

}  // namespace tocsin
