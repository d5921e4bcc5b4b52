// The seam where decisions leave: a Sink takes records with an idempotency key.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "events/decision.h"

namespace tocsin {

// An alert as people and outside systems read it; made from a DecisionRecord by the sinks' thread.
struct Alert {
  DecisionRecord decision;
  std::string symbol;
  std::string source;  // name of the input
  std::string rule;    // name of the rule, with its model: "burst"
  std::string model;   // "btcusdt_burst_lstm/1"
  std::string engine;
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual std::string_view name() const noexcept = 0;
  // Takes one alert. The key is alert.decision.id: a sink that already holds it does nothing, and
  // says so by returning false. An error means that it was not taken and may be offered again.
  virtual Result<bool> take(const Alert& alert) = 0;
  // Makes all that was taken durable.
  virtual Status flush() = 0;
};

// "tocsin:" and 16 hexadecimal digits.
std::string format_alert_id(AlertId id);

}  // namespace tocsin
