// Where tests find their files: in the checkout, in its build, and the larger real data that is not
// part of the repository.
#pragma once

#include <string>

namespace tocsin {

// The full path of `name` in the checkout, for example "data/samples/…".
std::string tocsin_source_path(const std::string& name);

// The full path of `name` in the build folder, for example "bin/tocsin".
std::string tocsin_binary_path(const std::string& name);

// The full path of `name` under TOCSIN_DATA (or ../shared/data beside the checkout); empty if the
// file is not there: the caller skips, saying so.
std::string tocsin_data_path(const std::string& name);

}  // namespace tocsin
