// The few functions that features need beyond + - * / and sqrt, which IEEE 754 makes exact. Nothing
// of libm: its last bits differ from system to system.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "features/feature_inputs.h"

namespace tocsin {

inline std::int64_t floor_quotient(std::int64_t dividend, std::int64_t divisor) noexcept {
  const std::int64_t quotient = dividend / divisor;
  return dividend % divisor < 0 ? quotient - 1 : quotient;
}

// From 0 up to `divisor`, exclusive.
inline std::int64_t floor_remainder(std::int64_t dividend, std::int64_t divisor) noexcept {
  const std::int64_t remainder = dividend % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

// 0 where time runs backwards.
inline std::uint64_t elapsed_ns(std::int64_t from_ns, std::int64_t to_ns) noexcept {
  return to_ns <= from_ns ? 0
                          : static_cast<std::uint64_t>(to_ns) - static_cast<std::uint64_t>(from_ns);
}

// Whether a trade's price is known and of a size that half ticks can be made of.
inline bool is_trade_price(std::int64_t price_nanos) noexcept {
  return price_nanos != 0 && price_nanos >= -OrderBook::kPriceNanosMax &&
         price_nanos <= OrderBook::kPriceNanosMax;
}
inline std::int64_t half_ticks_of(std::int64_t price_nanos, std::int64_t tick_nanos) noexcept {
  return floor_quotient(2 * price_nanos, tick_nanos);
}
// now - before, within +-kMoveMax.
inline std::int64_t capped_move(std::int64_t now, std::int64_t before) noexcept {
  return static_cast<std::int64_t>(
      std::clamp<WideInteger>(WideInteger{now} - before, -kMoveMax, kMoveMax));
}

inline double to_double(WideInteger value) noexcept {
  const auto low = static_cast<std::int64_t>(value);
  return value == low ? static_cast<double>(low) : static_cast<double>(value);
}

// a - b, whatever the two are.
inline double difference(std::int64_t a, std::int64_t b) noexcept {
  return to_double(WideInteger{a} - b);
}

// numerator / denominator, and 0 where the denominator is.
inline double ratio(double numerator, double denominator) noexcept {
  return denominator == 0.0 ? 0.0 : numerator / denominator;
}

// Equals log2 at powers of two and is linear in between: exponent and fraction of the double
// nearest to `value`, which must not be zero.
inline double piecewise_log2(std::uint64_t value) noexcept {
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value));
  const int exponent = static_cast<int>(bits >> 52) - 1023;
  const auto one_to_two =
      std::bit_cast<double>((bits & kFraction) | std::bit_cast<std::uint64_t>(1.0));
  return exponent + (one_to_two - 1.0);
}

// sin(pi / 2 * x) for x in [0, 1]: the Taylor polynomial of degree 15, off by less than 1e-11.
inline double quarter_wave(double x) noexcept {
  constexpr double kCoefficients[] = {1.5707963267948966,     -0.6459640975062463,
                                      0.07969262624616705,    -0.004681754135318688,
                                      0.00016044118478735983, -3.598843235212085e-06,
                                      5.692172921967927e-08,  -6.688035109811468e-10};
  const double square = x * x;
  double sum = kCoefficients[7];
  for (int i = 6; i >= 0; --i) sum = sum * square + kCoefficients[i];
  return sum * x;
}

// e^x for |x| <= 700, within 2 units in the last place: x = k ln 2 + r with |r| <= ln 2 / 2, Taylor
// to r^13.
inline double portable_exp(double x) noexcept {
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 0.6931471803691238;  // its last 21 bits are zero: k times it is exact
  constexpr double kLn2Low = 1.9082149292705877e-10;
  const double scaled = x * kLog2E;
  const auto k = static_cast<std::int64_t>(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
  const auto whole = static_cast<double>(k);
  const double r = (x - whole * kLn2High) - whole * kLn2Low;
  double sum = 1.0;
  for (int i = 13; i >= 1; --i) sum = 1.0 + sum * r / i;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

// The natural logarithm of a normal x > 0, within 2 units in the last place away from 1 (1e-16
// near it): x = 2^k m with m in [sqrt(1/2), sqrt(2)), ln m = 2 artanh((m - 1) / (m + 1)).
inline double portable_log(double x) noexcept {
  constexpr double kLn2High = 0.6931471803691238;
  constexpr double kLn2Low = 1.9082149292705877e-10;
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto k = static_cast<std::int64_t>(bits >> 52) - 1023;
  auto m = std::bit_cast<double>((bits & kFraction) | std::bit_cast<std::uint64_t>(1.0));
  if (m >= 1.4142135623730951) {
    m *= 0.5;
    ++k;
  }
  const double f = (m - 1.0) / (m + 1.0);
  const double square = f * f;
  double sum = 0.0;
  for (int i = 21; i >= 3; i -= 2) sum = (sum + 1.0 / i) * square;
  const auto whole = static_cast<double>(k);
  return whole * kLn2High + (2.0 * f + (2.0 * f * sum + whole * kLn2Low));
}

struct SineCosine {
  double sine = 0.0;
  double cosine = 0.0;
};

// Of a full turn a day; `time_of_day_ns` from 0 to a day, exclusive.
inline SineCosine day_angle(std::int64_t time_of_day_ns) noexcept {
  constexpr std::int64_t kQuarterNs = 21'600'000'000'000;
  const std::int64_t quarter = time_of_day_ns / kQuarterNs;
  const std::int64_t within_ns = time_of_day_ns % kQuarterNs;
  constexpr auto kQuarter = static_cast<double>(kQuarterNs);
  const double rising = quarter_wave(static_cast<double>(within_ns) / kQuarter);
  const double falling = quarter_wave(static_cast<double>(kQuarterNs - within_ns) / kQuarter);
  switch (quarter) {
    case 0:
      return {rising, falling};
    case 1:
      return {falling, -rising};
    case 2:
      return {-rising, -falling};
    default:
      return {-falling, rising};
  }
}

}  // namespace tocsin
