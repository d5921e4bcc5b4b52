// Formats alerts for people.
#include "sinks/console_sink.h"

#include <fmt/format.h>

#include <cerrno>
#include <iterator>

#include "events/quality.h"
#include "sinks/alert_text.h"
#include "sinks/file_io.h"

namespace tocsin {

std::string format_alert_line(const Alert& alert, bool colours) {
  const DecisionRecord& decision = alert.decision;
  const auto painted = [colours](std::string_view code, std::string_view text) {
    return colours ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  };
  std::string line = fmt::format(
      "{} {} {} {} score {} >= {} mid {} {}",
      painted("2", format_time(decision.frame.exchange_time_ns)), painted("1;31", "ALERT"),
      painted("1", alert.symbol), alert.rule, painted("1", format_float(decision.score)),
      format_float(decision.threshold), format_mid_price(decision.frame.mid_price_nanos_x2),
      painted("2", format_short_alert_id(decision.id)));
  if (decision.suppressed_count > 0)
    fmt::format_to(std::back_inserter(line), ", {} held back since the last alert",
                   decision.suppressed_count);
  if (decision.frame.quality.any())
    line += painted("33", fmt::format(", noticed: {}", quality_names(decision.frame.quality)));
  line += '\n';
  return line;
}

Result<bool> ConsoleSink::take(const Alert& alert) {
  if (alert.repeated) return false;
  TOCSIN_RETURN_IF_ERROR(writer_(format_alert_line(alert, options_.colours)));
  return true;
}

ConsoleSink::Writer make_file_writer(std::FILE* file) {
  return [file](std::string_view line) -> Status {
    errno = 0;
    if (std::fwrite(line.data(), 1, line.size(), file) == line.size() && std::fflush(file) == 0)
      return {};
    const int error_number = errno;
    std::clearerr(file);
    return file_error("console", "be written", error_number);
  };
}

}  // namespace tocsin
