// The error value of the whole program: a gRPC status code and a message with names and values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tocsin {

// Numbers are those of google.rpc.Code, so that an RPC edge maps one to one.
enum class ErrorCode : std::uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,  // wrong usage or configuration
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,   // a named limit, a full disk
  kFailedPrecondition = 9,  // schema mismatch, a broken package
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,  // an operator, a format version
  kInternal = 13,
  kUnavailable = 14,  // the environment lacks something: library, broker, device
  kDataLoss = 15,     // bad input: truncated, corrupt
};

std::string_view error_code_name(ErrorCode code) noexcept;

class [[nodiscard]] Error {
 public:
  // What a terminal must not get is replaced in the message (printable_lines): names out of files
  // get into it.
  Error(ErrorCode code, std::string_view message);

  ErrorCode code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }

  // The same error with where it happened put in front: "reading x.yaml: " + message.
  Error within(std::string_view context) const;

 private:
  ErrorCode code_;
  std::string message_;
};

}  // namespace tocsin
