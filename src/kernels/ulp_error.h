// How far a float is from an exact value, in units in the last place; and the exact values of the
// kernels' functions in double precision. For tests and benchmarks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/kernels.h"

namespace tocsin {

// The unit is the spacing of floats at `exact` (that of subnormals below 2^-126). Infinity counts
// as 2^128, and so does everything above it: rounding to infinity is judged like any other
// rounding. Two NaNs: 0.
inline double ulp_error(float value, double exact) noexcept {
  if (std::isnan(value) && std::isnan(exact)) return 0;
  if (std::isnan(value) || std::isnan(exact)) return std::numeric_limits<double>::infinity();
  const double target = std::clamp(exact, -0x1p128, 0x1p128);
  const double reached = std::clamp(static_cast<double>(value), -0x1p128, 0x1p128);
  int exponent = 0;
  std::frexp(target, &exponent);
  const double unit = std::ldexp(1.0, std::clamp(exponent - 1, -126, 127) - 23);
  return std::fabs(reached - target) / unit;
}

struct MeasuredFunction {
  const char* name;
  MapFunction KernelTable::*kernel;
  double (*exact)(double x);
  double ulp_bound;  // as kernels.h states it
};

inline constexpr std::array<MeasuredFunction, 6> kMeasuredFunctions = {{
    {"exp", &KernelTable::exp, [](double x) { return std::exp(x); }, 0.99},
    {"expm1", &KernelTable::expm1, [](double x) { return std::expm1(x); }, 1.45},
    {"tanh", &KernelTable::tanh, [](double x) { return std::tanh(x); }, 2.5},
    {"sigmoid", &KernelTable::sigmoid,
     [](double x) {
       const double e = std::exp(-std::fabs(x));
       return (x < 0 ? e : 1) / (1 + e);
     },
     2.41},
    {"erf", &KernelTable::erf, [](double x) { return std::erf(x); }, 0.98},
    {"log", &KernelTable::log, [](double x) { return std::log(x); }, 0.91},
}};

}  // namespace tocsin
