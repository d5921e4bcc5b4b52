// Names of the error codes.
#include "base/error.h"

#include <array>
#include <cstddef>

#include "base/printable_text.h"

namespace tocsin {

std::string_view error_code_name(ErrorCode code) noexcept {
  static constexpr std::array<std::string_view, 16> kNames = {"OK",
                                                              "CANCELLED",
                                                              "UNKNOWN",
                                                              "INVALID_ARGUMENT",
                                                              "DEADLINE_EXCEEDED",
                                                              "NOT_FOUND",
                                                              "ALREADY_EXISTS",
                                                              "PERMISSION_DENIED",
                                                              "RESOURCE_EXHAUSTED",
                                                              "FAILED_PRECONDITION",
                                                              "ABORTED",
                                                              "OUT_OF_RANGE",
                                                              "UNIMPLEMENTED",
                                                              "INTERNAL",
                                                              "UNAVAILABLE",
                                                              "DATA_LOSS"};
  return kNames[static_cast<std::size_t>(code)];
}

Error::Error(ErrorCode code, std::string_view message)
    : code_(code), message_(printable_lines(message)) {}

Error Error::within(std::string_view context) const {
  std::string text(context);
  text += ": ";
  text += message_;
  return Error(code_, text);
}

}  // namespace tocsin
