// A full disk for tests: while it lives no file of this process grows past a limit.
#pragma once

#include <sys/resource.h>

#include <csignal>

#include "base/assert.h"

namespace tocsin {

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    previous_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    TOCSIN_ASSERT(::getrlimit(RLIMIT_FSIZE, &previous_) == 0);
    const rlimit limited{bytes, previous_.rlim_max};
    TOCSIN_ASSERT(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &previous_);
    std::signal(SIGXFSZ, previous_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit previous_{};
  void (*previous_handler_)(int) = nullptr;
};

}  // namespace tocsin
