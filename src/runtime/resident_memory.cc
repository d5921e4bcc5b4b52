// Reads /proc/self/statm (proc(5)): the second number counts resident pages.
#include "runtime/resident_memory.h"

#include <unistd.h>

#include <fstream>

namespace tocsin {

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size_pages = 0;
  std::int64_t resident_pages = 0;
  file >> size_pages >> resident_pages;
  return file ? resident_pages * ::sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace tocsin
