// Arrow tells errors of the system from others by a detail that holds errno.
#include "ingest/arrow/plugin/errors.h"

#include <arrow/status.h>
#include <arrow/util/io_util.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace tocsin::columnar {

Status failure(StatusCode code, std::string_view message) noexcept {
  Status status;
  status.code = code;
  message = message.substr(0, message.find('\n'));
  const std::size_t size = std::min(message.size(), sizeof status.message - 1);
  std::memcpy(status.message, message.data(), size);
  return status;
}

Status status_of(const arrow::Status& status) noexcept {
  if (status.ok()) return {};
  if (status.IsOutOfMemory()) return failure(StatusCode::kOutOfMemory, status.message());
  if (status.IsTypeError()) return failure(StatusCode::kUnsupported, status.message());
  const int error_number = arrow::internal::ErrnoFromStatus(status);
  Status converted = failure(error_number == 0 ? StatusCode::kBadContent : StatusCode::kInputOutput,
                             status.message());
  converted.error_number = error_number;
  return converted;
}

}  // namespace tocsin::columnar
