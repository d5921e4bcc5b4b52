// The seam where decisions leave: a Sink takes records with an idempotency key.
#pragma once

#include <cstdint>
#include <span>
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
  // The ledger held it before this process began: it may have reached the sink already. A sink that
  // keeps ids needs no hint; one that can't should rather let it pass.
  bool repeated = false;
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual std::string_view name() const noexcept = 0;
  // Takes one alert. The key is alert.decision.id: a sink that already holds it does nothing, and
  // says so by returning false. An error means that it was not taken and may be offered again.
  virtual Result<bool> take(const Alert& alert) = 0;
  // Hands all that was taken to the operating system: it survives the end of this process.
  virtual Status flush() = 0;
  // Makes durable what was flushed: it survives the end of the machine. May be called by another
  // thread while take() and flush() go on.
  virtual Status sync() { return {}; }
};

// "tocsin:" and 16 hexadecimal digits.
std::string format_alert_id(AlertId id);
// "tocsin:" and the first 8 digits: for people. parse_alert_id() takes it wherever it is unique.
std::string format_short_alert_id(AlertId id);

// What somebody typed for an id: all of its digits or the first few.
struct AlertIdPrefix {
  std::uint64_t value = 0;  // the digits, most significant first, zeros after them
  unsigned digit_count = kDigitsMax;

  static constexpr unsigned kDigitsMax = 16;
  static constexpr unsigned kDigitsMin = 4;
  bool matches(AlertId id) const noexcept;
};
// Takes 4 to 16 hexadecimal digits, with or without "tocsin:" before them; else kInvalidArgument.
Result<AlertIdPrefix> parse_alert_id(std::string_view text);
// The error for a short form that several ids begin with; it names up to five of them.
Error ambiguous_alert_id(std::string_view text, std::span<const AlertId> ids);

}  // namespace tocsin
