// Powers of floats through double precision: a logarithm and an exponential series of our own, in
// plain multiplications and additions (no fused ones), accurate to about 2^-45 before the last
// rounding.
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/kernels.h"

namespace tocsin {
namespace {

// ln x for a positive normal x: x = 2^e m, m in [sqrt(1/2), sqrt(2)), ln m = 2 artanh((m - 1) / (m
// + 1)).
double natural_logarithm(double x) noexcept {
  constexpr std::uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcdU;
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::int64_t e = static_cast<std::int64_t>(bits - kSqrtHalfBits) >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(e) << 52U));
  const double s = (m - 1.0) / (m + 1.0);
  const double square = s * s;
  double series = 0.0;
  for (int k = 23; k >= 1; k -= 2) series = series * square + 1.0 / k;
  return static_cast<double>(e) * kLn2 + 2.0 * s * series;
}

// e^x for |x| <= 200.
double exponential(double x) noexcept {
  constexpr double kLog2E = 0x1.71547652b82fep0;
  constexpr double kLn2High = 0x1.62e42fee00000p-1;  // 32 bits: times n it is exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr double kMagic = 0x1.8p52;
  const double n = (x * kLog2E + kMagic) - kMagic;
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double series = 1.0;
  for (int k = 15; k >= 1; --k) series = 1.0 + r * series / k;
  const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023);
  return series * std::bit_cast<double>(exponent << 52U);
}

bool is_integer(float y) noexcept { return y == std::trunc(y); }
bool is_odd(float y) noexcept {
  const float half = y / 2;
  return std::fabs(y) < 0x1p24F && is_integer(y) && !is_integer(half);
}

}  // namespace

float power(float x, float y) noexcept {
  if (y == 0.0F || x == 1.0F) return 1.0F;
  if (std::isnan(x) || std::isnan(y)) return x + y;
  const float magnitude = std::fabs(x);
  if (std::isinf(y)) {
    if (magnitude == 1.0F) return 1.0F;
    return (magnitude > 1.0F) == (y > 0.0F) ? INFINITY : 0.0F;
  }
  const bool negative = std::signbit(x) && is_odd(y);
  if (magnitude == 0.0F || std::isinf(x)) {
    const float result = (magnitude == 0.0F) == (y > 0.0F) ? 0.0F : INFINITY;
    return negative ? -result : result;
  }
  if (x < 0.0F && !is_integer(y)) return std::nanf("");
  double exponent = static_cast<double>(y) * natural_logarithm(static_cast<double>(magnitude));
  exponent = exponent > 200.0 ? 200.0 : (exponent < -200.0 ? -200.0 : exponent);
  const auto result = static_cast<float>(exponential(exponent));
  return negative ? -result : result;
}

}  // namespace tocsin
