// Command-line arguments that name a market-data file; shared by the commands that read one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/source.h"

namespace CLI {
class App;
}

namespace tocsin {

struct FileArguments {
  std::string path;
  std::string format = "auto";
  std::string orderbook_path;
  std::string map_path;
  std::string schema_path;
  bool by_order = false;
  std::vector<std::string> symbols;
  std::string from;  // a time in nanoseconds, or as inspect prints it

  // FILE, --format, --orderbook, --map, --schema, --by-order, --symbol and --from; `format_option`
  // where --format means another thing.
  void add_to(CLI::App& command, const std::string& format_option = "--format");
  Result<FileSourceOptions> source_options() const;
};

}  // namespace tocsin
