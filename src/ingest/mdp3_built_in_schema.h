// The layouts of MDP 3.0's common templates, as an SBE schema: what is read where the user gives
// none. Only the fields that decoding reads; the block lengths of the messages cover the rest.
#pragma once

#include <string_view>

namespace tocsin {

std::string_view mdp3_built_in_schema() noexcept;

}  // namespace tocsin
