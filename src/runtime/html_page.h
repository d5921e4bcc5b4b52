// Pages that the program writes: one file each, which opens in a browser without a network.
#pragma once

#include <string>
#include <string_view>

namespace tocsin {

// `page` with its three marks filled in: the shared style and drawing functions, and `json` as the
// value of its data.
std::string html_page(std::string_view page, std::string json);

}  // namespace tocsin
