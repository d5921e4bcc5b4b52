// Activation functions by name, and what they compute.
#include "engines/reference/activation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

#include "kernels/kernels.h"

namespace tocsin {
namespace {

struct ActivationEntry {
  std::string_view name;  // in lower case: exporters differ in theirs
  ActivationKind kind = ActivationKind::kTanh;
  bool has_alpha = false, has_beta = false;
  float alpha = 0, beta = 0;  // where the node does not say
};

constexpr std::array kActivations = std::to_array<ActivationEntry>({
    {"relu", ActivationKind::kRelu, false, false, 0, 0},
    {"tanh", ActivationKind::kTanh, false, false, 0, 0},
    {"sigmoid", ActivationKind::kSigmoid, false, false, 0, 0},
    {"affine", ActivationKind::kAffine, true, true, 1, 0},
    {"leakyrelu", ActivationKind::kLeakyRelu, true, false, 0.01F, 0},
    {"thresholdedrelu", ActivationKind::kThresholdedRelu, true, false, 1, 0},
    {"scaledtanh", ActivationKind::kScaledTanh, true, true, 1, 1},
    {"hardsigmoid", ActivationKind::kHardSigmoid, true, true, 0.2F, 0.5F},
    {"elu", ActivationKind::kElu, true, false, 1, 0},
    {"softsign", ActivationKind::kSoftsign, false, false, 0, 0},
    {"softplus", ActivationKind::kSoftplus, false, false, 0, 0},
});

const ActivationEntry* find_activation(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const ActivationEntry& entry : kActivations)
    if (entry.name == name) return &entry;
  return nullptr;
}

template <typename Operation>
void map(const float* x, float* y, std::size_t count, Operation operation) noexcept {
  for (std::size_t i = 0; i < count; ++i) y[i] = operation(x[i]);
}

}  // namespace

// log(1 + e) = log(u) + (e - (u - 1)) / u with u = 1 + e.
void softplus_block(const float* x, float* y, std::size_t count) noexcept {
  std::array<float, kActivationBlock> e;
  std::array<float, kActivationBlock> log_u;
  for (std::size_t i = 0; i < count; ++i) e[i] = -std::fabs(x[i]);
  kernels().exp(e.data(), e.data(), count);
  for (std::size_t i = 0; i < count; ++i) log_u[i] = 1.0F + e[i];
  kernels().log(log_u.data(), log_u.data(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const float u = 1.0F + e[i];
    const float log1p = log_u[i] + (e[i] - (u - 1.0F)) / u;
    y[i] = (x[i] < 0.0F ? 0.0F : x[i]) + log1p;
  }
}

void Activation::apply(const float* x, float* y, std::size_t count) const noexcept {
  const float a = alpha;
  const float b = beta;
  switch (kind) {
    case ActivationKind::kRelu:
      return map(x, y, count, [](float v) { return v < 0.0F ? 0.0F : v; });
    case ActivationKind::kTanh:
      return kernels().tanh(x, y, count);
    case ActivationKind::kSigmoid:
      return kernels().sigmoid(x, y, count);
    case ActivationKind::kAffine:
      return map(x, y, count, [a, b](float v) { return a * v + b; });
    case ActivationKind::kLeakyRelu:
      return map(x, y, count, [a](float v) { return v < 0.0F ? a * v : v; });
    case ActivationKind::kThresholdedRelu:
      return map(x, y, count, [a](float v) { return v <= a ? 0.0F : v; });
    case ActivationKind::kScaledTanh:
      map(x, y, count, [b](float v) { return b * v; });
      kernels().tanh(y, y, count);
      return map(y, y, count, [a](float v) { return a * v; });
    case ActivationKind::kHardSigmoid:
      return map(x, y, count, [a, b](float v) {
        const float line = a * v + b;
        const float raised = line < 0.0F ? 0.0F : line;
        return raised > 1.0F ? 1.0F : raised;
      });
    case ActivationKind::kElu:
      for (std::size_t i = 0; i < count; ++i) {
        float below = 0;
        kernels().expm1(x + i, &below, 1);
        y[i] = x[i] < 0.0F ? a * below : x[i];
      }
      return;
    case ActivationKind::kSoftsign:
      return map(x, y, count, [](float v) { return v / (1.0F + std::fabs(v)); });
    case ActivationKind::kSoftplus:
      for (std::size_t i = 0; i < count; i += kActivationBlock)
        softplus_block(x + i, y + i, std::min(kActivationBlock, count - i));
      return;
  }
}

Result<std::vector<Activation>> read_activations(const NodeContext& context, std::size_t directions,
                                                 const std::vector<ActivationKind>& defaults) {
  const std::vector<std::string> names = context.strings_attribute("activations");
  const std::vector<float> alphas = context.floats_attribute("activation_alpha");
  const std::vector<float> betas = context.floats_attribute("activation_beta");
  const std::size_t count = directions * defaults.size();
  std::vector<Activation> activations;
  if (names.empty()) {
    for (std::size_t i = 0; i < count; ++i) activations.push_back({defaults[i % defaults.size()]});
    return activations;
  }
  if (names.size() != count)
    return invalid("it names " + std::to_string(names.size()) + " activations, expected " +
                   std::to_string(count));
  std::size_t next_alpha = 0;
  std::size_t next_beta = 0;
  for (const std::string& name : names) {
    const ActivationEntry* entry = find_activation(name);
    if (entry == nullptr) return unsupported("activation '" + name + "' is not supported");
    Activation activation{entry->kind, entry->alpha, entry->beta};
    if (entry->has_alpha && next_alpha < alphas.size()) activation.alpha = alphas[next_alpha++];
    if (entry->has_beta && next_beta < betas.size()) activation.beta = betas[next_beta++];
    activations.push_back(activation);
  }
  return activations;
}

bool has_bounded_activations(const NodeContext& context) {
  return std::ranges::all_of(context.strings_attribute("activations"), [](const std::string& name) {
    const ActivationEntry* entry = find_activation(name);
    if (entry == nullptr) return false;
    return entry->kind == ActivationKind::kTanh || entry->kind == ActivationKind::kSigmoid ||
           entry->kind == ActivationKind::kHardSigmoid || entry->kind == ActivationKind::kSoftsign;
  });
}

}  // namespace tocsin
