// Reports of errors and the version text.
#include "cli/command.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "build_info.h"
#include "engines/engine.h"
#include "kernels/isa.h"

namespace tocsin {

namespace {

// "avx512 (available: default, avx2, avx512)"
std::string isas_text() {
  std::string text = fmt::format("{} (available:", selected_isa());
  for (const Isa isa : available_isas()) text += fmt::format(" {}", isa_name(isa));
  return text + ")";
}

}  // namespace

ExitCode report_error(const Error& error) {
  std::fflush(stdout);
  fmt::print(stderr, "tocsin: {}\n", error.message());
  return exit_code_of(error.code());
}

Status write_output(std::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return {};
  return Error(ErrorCode::kResourceExhausted,
               fmt::format("standard output cannot be written: {}", std::strerror(errno)));
}

ExitCode print_output(std::string_view text) {
  const Status written = write_output(text);
  return written.ok() ? ExitCode::kDone : report_error(written.error());
}

void write_to_terminal(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::string version_text() {
  std::string text = fmt::format("tocsin {} (commit {})\ncompiler: g++ {}\nkernels: {}\n",
                                 TOCSIN_VERSION, TOCSIN_COMMIT, __VERSION__, isas_text());
  for (const auto& engine : make_engines()) {
    const EngineInfo info = engine->info();
    text += info.found ? fmt::format("engine {}: {} ({})\n", info.name, info.version, info.path)
                       : fmt::format("engine {}: missing: {}\n", info.name, info.reason);
  }
  text.pop_back();
  return text;
}

}  // namespace tocsin
