// Measures the largest error of exp, expm1, tanh, sigmoid, erf and log over all 2^32 floats, or
// over every STRIDE-th of them: the bounds in kernels.h are what this prints. A full sweep of one
// function takes a minute or two.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ulp_error.h"

namespace {

constexpr std::uint64_t kFloatCount = 1ULL << 32U;
constexpr std::size_t kChunk = 4096;

struct Worst {
  double ulp = -1;
  float x = 0;
  float y = 0;
};

Worst sweep(const tocsin::MeasuredFunction& function, std::uint64_t stride) {
  const tocsin::MapFunction kernel = tocsin::kernels().*function.kernel;
  std::vector<float> x(kChunk);
  std::vector<float> y(kChunk);
  Worst worst;
  for (std::uint64_t bits = 0; bits < kFloatCount;) {
    std::size_t count = 0;
    for (; count < kChunk && bits < kFloatCount; bits += stride)
      x[count++] = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    kernel(x.data(), y.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const double error = tocsin::ulp_error(y[i], function.exact(static_cast<double>(x[i])));
      if (error > worst.ulp) worst = {error, x[i], y[i]};
    }
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  // Like the other benchmarks it may be given --benchmark_... flags; the default stride is short
  // enough.
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i)
    if (!std::string_view(argv[i]).starts_with("--benchmark")) arguments.emplace_back(argv[i]);
  const std::uint64_t stride =
      arguments.empty() ? 4099 : std::strtoull(arguments[0].c_str(), nullptr, 10);
  if (stride == 0 || arguments.size() > 2) {
    std::fprintf(stderr, "usage: %s [STRIDE, 1: all floats, by default 4099] [FUNCTION]\n",
                 argv[0]);
    return 2;
  }
  bool within = true;
  std::printf("isa %s, every %llu-th float\n", std::string(tocsin::selected_isa()).c_str(),
              static_cast<unsigned long long>(stride));
  for (const tocsin::MeasuredFunction& function : tocsin::kMeasuredFunctions) {
    if (arguments.size() > 1 && arguments[1] != function.name) continue;
    const Worst worst = sweep(function, stride);
    std::printf("%-8s %.3f ulp at x = %a (y = %a), bound %.2f\n", function.name, worst.ulp,
                static_cast<double>(worst.x), static_cast<double>(worst.y), function.ulp_bound);
    std::fflush(stdout);
    within = within && worst.ulp <= function.ulp_bound;
  }
  return within ? 0 : 1;
}
