// The text of the source stays as its author wrote it: only two lines are replaced, and the block
// goes where the seal stood.
#include "models/package_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "models/package_yaml.h"

namespace tocsin {
namespace {

namespace fs = std::filesystem;

// Text in double quotes; ONNX names may hold any byte.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result + "\"";
}

// A float32 in the shortest digits that give a double whose float32 is the same.
std::string number(float value) { return fmt::format("{}", static_cast<double>(value)); }

std::string precision_block(const PackagePrecision& precision) {
  std::string text = fmt::format(
      "precision:\n  name: {}\n  method: {}\n  weights: {}\n  calibration_samples: {}\n",
      precision.name, precision.method,
      precision.weight_scale_per_output ? "per-channel" : "per-tensor",
      precision.calibration_samples);
  if (!precision.activation_scales.empty()) text += "  activation_scales:\n";
  for (const auto& [value, scale] : precision.activation_scales)
    text += fmt::format("    - {{value: {}, scale: {}}}\n", in_quotes(value), number(scale));
  const GuardBand& band = precision.band;
  return text + fmt::format(
                    "  band:\n    kind: {}\n    width: {}\n    worst_error: {}\n    quantile: {}\n"
                    "    confidence: {}\n    samples: {}\n",
                    band.kind, number(band.width), number(band.worst_error), band.quantile,
                    band.confidence, band.sample_count);
}

// Replaces the one line that starts with `key` at its first column.
bool replace_line(std::string& text, std::string_view key, const std::string& value) {
  std::size_t at = text.starts_with(key) ? 0 : text.find("\n" + std::string(key));
  if (at == std::string::npos) return false;
  if (text[at] == '\n') ++at;
  const std::size_t end = std::min(text.find('\n', at), text.size());
  text.replace(at, end - at, std::string(key) + value);
  return true;
}

Error broken(const std::string& reason) { return Error(ErrorCode::kFailedPrecondition, reason); }

Status write_file(const fs::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (file.flush()) return {};
  return Error(ErrorCode::kResourceExhausted,
               path.string() + ": cannot be written: " + std::strerror(errno));
}

Status write_files(const ModelPackage& source, const fs::path& folder, const std::string& yaml) {
  std::error_code error;
  fs::create_directories(folder, error);
  for (const char* file : {"model.onnx", "samples.npz"})
    if (!error) fs::copy_file(fs::path(source.folder) / file, folder / file, error);
  if (error) return Error(ErrorCode::kResourceExhausted, folder.string() + ": " + error.message());
  return write_file(folder / "package.yaml", yaml);
}

}  // namespace

Result<PackagePlace> free_package_place(const std::string& folder) {
  std::error_code error;
  fs::path path = fs::absolute(folder, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  PackagePlace place{path.string(), path.parent_path().filename().string(),
                     path.filename().string()};
  const bool is_version =
      !place.version.empty() && place.version.front() != '0' &&
      std::ranges::all_of(place.version, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_version || place.name.empty())
    return Error(ErrorCode::kInvalidArgument,
                 folder + ": expected <repository>/<name>/<version>, the version a whole number");
  if (fs::exists(path, error)) return Error(ErrorCode::kAlreadyExists, folder + ": exists already");
  return place;
}

Result<std::string> package_yaml_with_precision(std::string_view text, const PackagePlace& place,
                                                const PackagePrecision& precision) {
  std::string yaml(text.substr(0, text.rfind("seal: ")));
  if (!replace_line(yaml, "name: ", in_quotes(place.name)) ||
      !replace_line(yaml, "version: ", place.version))
    return broken("package.yaml: expected lines 'name: …' and 'version: …' to replace");
  yaml += precision_block(precision);
  yaml += "seal: \"" + to_hex(digest_of(DigestKind::kSha256, yaml)) + "\"\n";
  Result<ModelPackage> written = parse_package_yaml(yaml, "the new package.yaml");
  if (!written.ok()) return written.error();
  const std::optional<PackagePrecision>& found = written->precision;
  if (written->name != place.name || written->version != place.version || !found ||
      found->activation_scales != precision.activation_scales ||
      found->band.width != precision.band.width)
    return broken("package.yaml: name, version or precision do not read back as written");
  return yaml;
}

Status write_package_version(const ModelPackage& source, const PackagePlace& place,
                             const PackagePrecision& precision) {
  std::ifstream file(fs::path(source.folder) / "package.yaml", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file) return broken(source.folder + "/package.yaml: cannot be read");
  TOCSIN_ASSIGN_OR_RETURN(const std::string yaml,
                          package_yaml_with_precision(text, place, precision));
  // Beside its place and then renamed; a name that is no version is passed over by readers.
  const fs::path folder(place.folder);
  const fs::path draft = folder.parent_path() / (place.version + ".draft");
  std::error_code error;
  fs::remove_all(draft, error);
  const Status written = write_files(source, draft, yaml);
  if (written.ok()) fs::rename(draft, folder, error);
  if (written.ok() && !error) return {};
  std::error_code ignored;
  fs::remove_all(draft, ignored);
  if (!written.ok()) return written;
  return Error(ErrorCode::kResourceExhausted, place.folder + ": " + error.message());
}

}  // namespace tocsin
