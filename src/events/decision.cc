// Names of verdicts, stages and determinism classes, as they print and as they stand in records.
#include "events/decision.h"

namespace tocsin {

std::string_view determinism_name(DeterminismClass determinism) noexcept {
  static constexpr std::array<std::string_view, 3> kNames = {"exact", "tolerance", "recorded"};
  return kNames[static_cast<std::size_t>(determinism)];
}

std::string_view stage_name(Stage stage) noexcept {
  static constexpr std::array<std::string_view, kStageCount> kNames = {
      "decode", "book", "features", "wait", "score", "decision", "handoff"};
  return kNames[static_cast<std::size_t>(stage)];
}

std::string_view verdict_name(Verdict verdict) noexcept {
  static constexpr std::array<std::string_view, 5> kNames = {
      "quiet", "alert", "held", "suppressed_cooldown", "suppressed_untrusted"};
  return kNames[static_cast<std::size_t>(verdict)];
}

}  // namespace tocsin
