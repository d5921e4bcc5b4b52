// FILE, --format, --orderbook, --map, --schema, --by-order, --symbol.
#include "cli/file_options.h"

#include <CLI/CLI.hpp>

namespace tocsin {

void FileArguments::add_to(CLI::App& command) {
  command
      .add_option("FILE", path,
                  "Market-data file; plain, gzip, zstd or zip; a folder where a feed is one")
      ->required();
  std::string formats = "auto";
  for (const std::string_view name : feed_format_names()) formats.append(", ").append(name);
  command.add_option("--format", format, formats + " (default: auto)");
  command.add_option("--orderbook", orderbook_path, "LOBSTER: the order book file of the pair");
  command.add_option("--map", map_path,
                     "JSON lines and CSV: the map of their fields (config/maps has some)");
  command.add_option("--schema", schema_path, "CME MDP 3.0: the SBE schema (XML) of its messages");
  command.add_flag("--by-order", by_order, "CME MDP 3.0: books of orders, not of price levels");
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
  return options;
}

}  // namespace tocsin
