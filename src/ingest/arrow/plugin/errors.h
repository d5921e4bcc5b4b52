// Arrow's errors, and whatever is thrown, as the plug-in's status.
#pragma once

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "ingest/arrow/arrow_plugin.h"
#include "ingest/arrow/plugin/arrow_names.h"

namespace tocsin::columnar {

Status failure(StatusCode code, std::string_view message) noexcept;
// In one line: what follows a line feed (a backtrace) is left out.
Status status_of(const arrow::Status& status) noexcept;

// What `work` returns, an arrow::Status; nothing is thrown.
template <typename Work>
Status guarded(Work&& work) noexcept {
  try {
    return status_of(std::forward<Work>(work)());
  } catch (const std::bad_alloc&) {
    return failure(StatusCode::kOutOfMemory, "no memory");
  } catch (const std::exception& thrown) {
    return failure(StatusCode::kBadContent, thrown.what());
  }
}

}  // namespace tocsin::columnar
