// Any bytes: reading never misbehaves, and lines and peeks see the same content.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/assert.h"
#include "ingest/byte_stream.h"

namespace {

// A few bytes may unpack to gigabytes: enough is enough.
constexpr std::size_t kReadMax = std::size_t{4} << 20;

std::string read_by_peeks(tocsin::ByteStream& stream) {
  std::string text;
  while (text.size() < kReadMax) {
    const auto bytes = stream.peek(text.size() % 1000 + 1);
    if (bytes.empty()) break;
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    stream.consume(bytes.size());
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto by_peeks = tocsin::make_memory_stream("fuzz", bytes);
  const std::string text = read_by_peeks(*by_peeks);
  TOCSIN_ASSERT(by_peeks->offset_bytes() == text.size());

  const auto by_lines = tocsin::make_memory_stream("fuzz", bytes);
  std::size_t place = 0;
  for (std::string_view line; by_lines->offset_bytes() < kReadMax && by_lines->next_line(line);) {
    if (by_lines->offset_bytes() > text.size()) break;
    TOCSIN_ASSERT(text.compare(place, line.size(), line) == 0);
    place = by_lines->offset_bytes();
  }
  return 0;
}
