// Which kind of failure each error code is to the caller of the program.
#include "cli/exit_code.h"

namespace tocsin {

ExitCode exit_code_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kOk:
      return ExitCode::kDone;
    case ErrorCode::kCancelled:
      return ExitCode::kInterrupted;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kOutOfRange:
      return ExitCode::kUsage;
    case ErrorCode::kDataLoss:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kUnimplemented:
      return ExitCode::kBadInput;
    case ErrorCode::kAborted:
      return ExitCode::kCheckFailed;
    case ErrorCode::kUnknown:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kInternal:
    case ErrorCode::kUnavailable:
      return ExitCode::kEnvironment;
  }
  return ExitCode::kEnvironment;
}

}  // namespace tocsin
