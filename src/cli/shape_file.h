// The model of a named shape (engines/graph/shape_model.h) as a file, for benchmarks of any engine.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/bench_model.h"

namespace tocsin {

// The file lives as long as this.
class ShapeFile {
 public:
  ShapeFile() = default;
  ShapeFile(const ShapeFile&) = delete;
  ShapeFile& operator=(const ShapeFile&) = delete;
  ~ShapeFile();

  // "S2x100", "S3x200" or "S4x1000".
  Result<BenchModel> write(const std::string& name, std::uint64_t seed);

 private:
  std::string folder_;
};

}  // namespace tocsin
