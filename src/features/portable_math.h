// The few functions that features need beyond + - * / and sqrt, which IEEE 754 makes exact. Nothing
// of libm: its last bits differ from system to system.
#pragma once

#include <bit>
#include <cstdint>

#include "features/feature_inputs.h"

namespace tocsin {

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
