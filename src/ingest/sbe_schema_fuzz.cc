// Any bytes as an SBE schema, and the layout of MDP 3.0 that follows from it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ingest/mdp3_layout.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto schema =
      tocsin::SbeSchema::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (schema.ok()) (void)tocsin::MdpLayout::from_schema(schema.value());
  return 0;
}
