// FILE, --format, --orderbook, --map, --schema, --by-order, --symbol, --from.
#include "cli/file_options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <ctime>

namespace tocsin {
namespace {

Result<std::int64_t> time_ns_of(const std::string& text) {
  std::int64_t time_ns = 0;
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, time_ns);
  if (error == std::errc{} && after == end) return time_ns;
  std::tm utc{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &utc);
  if (rest == nullptr) rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::int64_t fraction_ns = 0;
  if (rest != nullptr && *rest == '.') {
    std::int64_t scale = 1'000'000'000;
    for (++rest; *rest >= '0' && *rest <= '9' && scale > 1; ++rest)
      fraction_ns += (*rest - '0') * (scale /= 10);
  }
  if (rest != nullptr && *rest == 'Z') ++rest;
  if (rest == nullptr || *rest != '\0') {
    return Error(ErrorCode::kInvalidArgument,
                 "--from: expected a time as \"2024-08-08 23:57:00\", or nanoseconds since 1970, "
                 "found \"" +
                     text + "\"");
  }
  return static_cast<std::int64_t>(::timegm(&utc)) * 1'000'000'000 + fraction_ns;
}

}  // namespace

void FileArguments::add_to(CLI::App& command, const std::string& format_option) {
  command
      .add_option("FILE", path,
                  "Market-data file; plain, gzip, zstd or zip; a folder where a feed is one")
      ->required();
  std::string formats = "auto";
  for (const std::string_view name : feed_format_names()) formats.append(", ").append(name);
  command.add_option(format_option, format, formats + " (default: auto)");
  command.add_option("--orderbook", orderbook_path, "LOBSTER: the order book file of the pair");
  command.add_option("--map", map_path,
                     "JSON lines and CSV: the map of their fields (config/maps has some)");
  command.add_option("--schema", schema_path, "CME MDP 3.0: the SBE schema (XML) of its messages");
  command.add_flag("--by-order", by_order, "CME MDP 3.0: books of orders, not of price levels");
  command.add_option("--from", from,
                     "Recording: begin with the last segment that begins at or before this time "
                     "(\"2024-08-08 23:57:00\" UTC, or nanoseconds since 1970)");
  command.add_option("--symbol", symbols, "Only these symbols (may be repeated)");
}

Result<FileSourceOptions> FileArguments::source_options() const {
  FileSourceOptions options;
  options.path = path;
  options.orderbook_path = orderbook_path;
  options.schema_path = schema_path;
  options.by_order = by_order;
  options.map_path = map_path;
  options.symbols = symbols;
  if (format != "auto") {
    TOCSIN_ASSIGN_OR_RETURN(options.format, feed_format_from_name(format));
  }
  if (!from.empty()) {
    TOCSIN_ASSIGN_OR_RETURN(options.from_time_ns, time_ns_of(from));
  }
  return options;
}

}  // namespace tocsin
