# Writes a header that holds a text file as one string: cmake -DINPUT= -DOUTPUT= -DNAME= -P EmbedText.cmake
file(READ "${INPUT}" text)
# The delimiter of the raw string must not occur in the text.
string(FIND "${text}" ")page\"" clash)
if(NOT clash EQUAL -1)
  message(FATAL_ERROR "${INPUT} holds the raw string delimiter )page\"")
endif()
file(WRITE "${OUTPUT}"
"// Generated at build time.
#pragma once

#include <string_view>

namespace tocsin {

inline constexpr std::string_view ${NAME} = R\"page(${text})page\";

}  // namespace tocsin
")
