// What a product with low-precision weights costs per instruction set, for one row and for many,
// beside FP32, with weights in a ring of copies larger than L1, as a model's are. The answers are
// compared with the default instruction set's bits first. Smoke: --benchmark_min_time=0.001
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/random_floats.h"

namespace tocsin {
namespace {

enum class Kind { kFloat32, kBfloat16, kFloat16, kInt8, kInt8WithRows };

constexpr std::size_t kCopies = 8;

struct Case {
  Isa isa;
  Kind kind;
  std::size_t rows, outputs, inputs;
};

class Product {
 public:
  explicit Product(const Case& c) : case_(c) {
    const MatrixView view{weights_.data(), c.outputs, c.inputs, c.inputs, 1};
    for (std::size_t i = 0; i < kCopies; ++i) {
      if (c.kind == Kind::kFloat32) float32_.emplace_back(view);
      if (c.kind == Kind::kBfloat16) bfloat16_.emplace_back(view);
      if (c.kind == Kind::kFloat16) float16_.emplace_back(view);
      if (c.kind == Kind::kInt8 || c.kind == Kind::kInt8WithRows)
        int8_.emplace_back(view, PackedInt8Matrix::Scales::kPerOutput);
    }
    quantise(Isa::kDefault);
  }

  void run(Isa isa, std::size_t copy) {
    const KernelTable& table = kernels_of(isa);
    const DenseRows rows{x_.data(), case_.inputs, case_.rows,   bias_.data(),
                         0,         y_.data(),    case_.outputs};
    switch (case_.kind) {
      case Kind::kFloat32:
        table.dense({float32_[copy].view(), rows.x, rows.x_stride, rows.row_count, rows.bias, 0,
                     rows.y, rows.y_stride});
        return;
      case Kind::kBfloat16:
        table.low_precision.dense_bfloat16(bfloat16_[copy].view(), rows);
        return;
      case Kind::kFloat16:
        table.low_precision.dense_float16(float16_[copy].view(), rows);
        return;
      case Kind::kInt8WithRows:
        quantise(isa);
        [[fallthrough]];
      case Kind::kInt8:
        table.low_precision.dense_int8({int8_[copy].view(), q_.data(), q_stride_, case_.rows,
                                        bias_.data(), bias_.data(), 0, rows.y, rows.y_stride});
    }
  }

  const std::vector<float>& y() const { return y_; }

 private:
  void quantise(Isa isa) {
    kernels_of(isa).low_precision.quantise_rows(
        {x_.data(), case_.inputs, case_.rows, case_.inputs, 60.0F, q_.data(), q_stride_});
  }

  Case case_;
  RandomFloats random_{1};
  std::vector<float> weights_ = random_.vector(case_.outputs * case_.inputs, 1.0F);
  std::vector<float> x_ = random_.vector(case_.rows * case_.inputs, 2.0F);
  std::vector<float> bias_ = random_.vector(case_.outputs, 1.0F);
  std::vector<float> y_ = std::vector<float>(case_.rows * case_.outputs);
  std::size_t q_stride_ = int8_row_bytes(case_.inputs);
  std::vector<std::uint8_t> q_ = std::vector<std::uint8_t>(case_.rows * q_stride_);
  std::vector<PackedMatrix> float32_;
  std::vector<PackedBfloat16Matrix> bfloat16_;
  std::vector<PackedFloat16Matrix> float16_;
  std::vector<PackedInt8Matrix> int8_;
};

void product(benchmark::State& state, const Case& c) {
  Product product(c);
  product.run(Isa::kDefault, 0);
  const std::vector<float> expected = product.y();
  product.run(c.isa, 0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (same_bits(product.y()[i], expected[i])) continue;
    state.SkipWithError("the bits differ from the default instruction set's");
    return;
  }
  std::size_t copy = 0;
  while (state.KeepRunning()) {
    product.run(c.isa, copy);
    copy = (copy + 1) % kCopies;
  }
  state.counters["MAC/s"] = benchmark::Counter(static_cast<double>(c.rows * c.outputs * c.inputs),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

void register_all() {
  constexpr std::pair<Kind, const char*> kKinds[] = {{Kind::kFloat32, "float32"},
                                                     {Kind::kBfloat16, "bfloat16"},
                                                     {Kind::kFloat16, "float16"},
                                                     {Kind::kInt8, "int8"},
                                                     {Kind::kInt8WithRows, "int8_and_rows"}};
  constexpr std::pair<std::size_t, std::size_t> kShapes[] = {{400, 100}, {512, 128}};
  for (const Isa isa : available_isas()) {
    if (isa == Isa::kDefault) continue;  // the twin; not written for speed
    for (const auto& [outputs, inputs] : kShapes) {
      for (const std::size_t rows : {std::size_t{1}, std::size_t{49}}) {
        for (const auto& [kind, name] : kKinds) {
          const std::string shape =
              std::to_string(rows) + "x" + std::to_string(outputs) + "x" + std::to_string(inputs);
          const Case c{isa, kind, rows, outputs, inputs};
          benchmark::RegisterBenchmark(
              (std::string(name) + "_" + shape + "/" + std::string(isa_name(isa))).c_str(), product,
              c);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tocsin

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  tocsin::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
