// The engines that the conformance tests run, one line each.
#pragma once

#include <array>
#include <ostream>
#include <string_view>

namespace tocsin {

struct TestedEngine {
  std::string_view name;
  // ONNX node tests that pass; fewer is a step back, more asks for this number to be raised.
  int node_tests_passed = 0;
};

// How GoogleTest prints one.
inline void PrintTo(const TestedEngine& engine, std::ostream* out) { *out << engine.name; }

inline constexpr std::array kTestedEngines = {
    TestedEngine{"reference", 850},
    TestedEngine{"native", 850},
};

}  // namespace tocsin
