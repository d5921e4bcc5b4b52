// Capsules as JSON, one file each.
#include "scoring/failure_capsule.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "scoring/frame_window.h"

namespace tocsin {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "tocsin-failure-1";
constexpr std::string_view kExtension = ".capsule";
constexpr std::size_t kHexDigitsOfFloat = 8;
constexpr std::size_t kStepsMax = 4096;
constexpr std::size_t kCapsuleBytesMax = std::size_t{8} << 20;

std::uint64_t hash_of(const FailureCapsule& capsule) {
  DigestBuilder builder(DigestKind::kBlake2s256);
  return window_hash(capsule.raw_window, capsule.feature_count, builder);
}

std::string row_text(std::span<const float> row) {
  std::string text;
  for (const float value : row) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{:08x}", std::bit_cast<std::uint32_t>(value));
  }
  return text;
}

bool parse_row(std::string_view text, std::span<float> row) {
  if (text.size() != row.size() * (kHexDigitsOfFloat + 1) - 1) return false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string_view digits = text.substr(i * (kHexDigitsOfFloat + 1), kHexDigitsOfFloat);
    std::uint32_t bits = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    if (error != std::errc() || end != digits.data() + digits.size()) return false;
    if (i > 0 && text[i * (kHexDigitsOfFloat + 1) - 1] != ' ') return false;
    row[i] = std::bit_cast<float>(bits);
  }
  return true;
}

Json position_json(const InputPosition& position) {
  return {{"record", position.record}, {"partition", position.partition}};
}

// Reads members of a JSON object; the first that is missing or of a wrong type is the error.
class MemberReader {
 public:
  explicit MemberReader(const Json& object) : object_(object) {}

  std::string text(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) return fail(key), std::string();
    return value->get<std::string>();
  }
  std::uint64_t number(const char* key, std::uint64_t max) {
    const Json* value = find(key);
    if (value == nullptr) return 0;
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > max) return fail(key), 0;
    return value->get<std::uint64_t>();
  }
  Digest digest(const char* key) {
    const Result<Digest> digest = digest_from_hex(text(key));
    if (!digest.ok()) return fail(key), Digest{};
    return *digest;
  }
  InputPosition position(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    MemberReader members(*value);
    InputPosition position;
    position.record = members.number("record", std::numeric_limits<std::uint64_t>::max());
    position.partition = static_cast<std::uint32_t>(
        members.number("partition", std::numeric_limits<std::uint32_t>::max()));
    if (members.wrong_key() != nullptr) fail(key);
    return position;
  }
  const Json* array(const char* key) {
    const Json* value = find(key);
    if (value == nullptr || value->is_array()) return value;
    return fail(key), nullptr;
  }
  // Null if all members were as expected.
  const char* wrong_key() const { return wrong_key_; }

 private:
  const Json* find(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end()) return fail(key), nullptr;
    return &*found;
  }
  void fail(const char* key) {
    if (wrong_key_ == nullptr) wrong_key_ = key;
  }

  const Json& object_;
  const char* wrong_key_ = nullptr;
};

Error corrupt(const std::string& reason) {
  return Error(ErrorCode::kDataLoss, "no failure capsule: " + reason);
}

Status parse_window(const Json& rows, FailureCapsule& capsule) {
  if (rows.size() != capsule.steps)
    return corrupt(fmt::format("expected {} frames, found {}", capsule.steps, rows.size()));
  capsule.raw_window.resize(capsule.steps * capsule.feature_count);
  for (std::size_t i = 0; i < capsule.steps; ++i) {
    const std::span<float> row =
        std::span(capsule.raw_window).subspan(i * capsule.feature_count, capsule.feature_count);
    if (!rows[i].is_string() || !parse_row(rows[i].get_ref<const std::string&>(), row))
      return corrupt(fmt::format("frame {} is not {} values", i, capsule.feature_count));
  }
  return {};
}

// "0007.capsule" is 7; nullopt for any other name.
std::optional<std::size_t> capsule_number(const std::string& name) {
  if (!name.ends_with(kExtension)) return std::nullopt;
  const std::string_view digits = std::string_view(name).substr(0, name.size() - kExtension.size());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

Error unwritable(const std::string& path, int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT;
  return Error(full ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable,
               "cannot write " + path + ": " + std::strerror(error_number));
}

Status write_whole(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return unwritable(path, errno);
  int error_number = 0;
  while (!text.empty() && error_number == 0) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      error_number = errno;
    }
  }
  if (error_number == 0 && ::fsync(file) != 0) error_number = errno;
  if (::close(file) != 0 && error_number == 0) error_number = errno;
  if (error_number != 0) return unwritable(path, error_number);
  return {};
}

}  // namespace

std::string format_failure_capsule(const FailureCapsule& capsule) {
  TOCSIN_ASSERT(capsule.raw_window.size() == capsule.steps * capsule.feature_count);
  Json rows = Json::array();
  for (std::size_t i = 0; i < capsule.steps; ++i) {
    rows.push_back(row_text(
        std::span(capsule.raw_window).subspan(i * capsule.feature_count, capsule.feature_count)));
  }
  const Json json = {{"format", kFormat},
                     {"model", capsule.model_name},
                     {"version", capsule.model_version},
                     {"package_seal", to_hex(capsule.package_seal)},
                     {"schema_hash", to_hex(capsule.schema_hash)},
                     {"engine", capsule.engine},
                     {"engine_version", capsule.engine_version},
                     {"instrument", capsule.instrument},
                     {"first_position", position_json(capsule.first_position)},
                     {"last_position", position_json(capsule.last_position)},
                     {"error", capsule.error},
                     {"steps", capsule.steps},
                     {"features", capsule.feature_count},
                     {"window_hash", fmt::format("{:016x}", hash_of(capsule))},
                     {"raw_window", std::move(rows)}};
  // An engine's message may hold bytes that are not UTF-8: they are replaced, not fatal.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<FailureCapsule> parse_failure_capsule(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return corrupt("not a JSON object");
  MemberReader members(json);
  if (members.text("format") != kFormat) return corrupt("expected format " + std::string(kFormat));
  FailureCapsule capsule;
  capsule.model_name = members.text("model");
  capsule.model_version = members.text("version");
  capsule.package_seal = members.digest("package_seal");
  capsule.schema_hash = members.digest("schema_hash");
  capsule.engine = members.text("engine");
  capsule.engine_version = members.text("engine_version");
  capsule.instrument = static_cast<InstrumentId>(
      members.number("instrument", std::numeric_limits<InstrumentId>::max()));
  capsule.first_position = members.position("first_position");
  capsule.last_position = members.position("last_position");
  capsule.error = members.text("error");
  capsule.steps = members.number("steps", kStepsMax);
  capsule.feature_count = members.number("features", kMaxFrameFeatures);
  const std::string hash = members.text("window_hash");
  const Json* rows = members.array("raw_window");
  if (members.wrong_key() != nullptr)
    return corrupt("'" + std::string(members.wrong_key()) + "' is missing or not as expected");
  if (capsule.steps == 0 || capsule.feature_count == 0) return corrupt("the window is empty");
  TOCSIN_RETURN_IF_ERROR(parse_window(*rows, capsule));
  if (hash != fmt::format("{:016x}", hash_of(capsule)))
    return corrupt("the window's hash does not fit its values");
  return capsule;
}

Result<FailureCapsule> read_failure_capsule(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size_bytes = fs::file_size(path, error);
  if (error) return Error(ErrorCode::kNotFound, path + ": " + error.message());
  if (size_bytes > kCapsuleBytesMax)
    return corrupt(path + " has " + std::to_string(size_bytes) + " bytes").within(path);
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file.good() && !file.eof()) return Error(ErrorCode::kUnavailable, "cannot read " + path);
  Result<FailureCapsule> capsule = parse_failure_capsule(text);
  if (!capsule.ok()) return capsule.error().within(path);
  return capsule;
}

FailureCapsuleFolder::FailureCapsuleFolder(const std::string& run_folder, const Options& options)
    : path_((fs::path(run_folder) / "failures").string()), options_(options) {}

Status FailureCapsuleFolder::prepare() {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) return unwritable(path_, error.value());
  last_number_ = 0;
  file_count_ = 0;
  fs::directory_iterator entry(path_, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const auto number = capsule_number(entry->path().filename().string());
    if (!number.has_value()) continue;
    last_number_ = std::max(last_number_, *number);
    ++file_count_;
  }
  if (error) return unwritable(path_, error.value());
  prepared_ = true;
  return {};
}

Result<bool> FailureCapsuleFolder::write(const FailureCapsule& capsule) {
  if (!prepared_) TOCSIN_RETURN_IF_ERROR(prepare());
  if (file_count_ >= options_.capsule_count_max) {
    ++passed_over_count_;
    return false;
  }
  const std::string path = fmt::format("{}/{:04}{}", path_, last_number_ + 1, kExtension);
  const std::string part = path + ".part";
  Status status = write_whole(part, format_failure_capsule(capsule));
  if (status.ok() && std::rename(part.c_str(), path.c_str()) != 0) status = unwritable(path, errno);
  if (!status.ok()) {
    ::unlink(part.c_str());
    prepared_ = false;  // the folder may be gone
    return status.error();
  }
  ++last_number_;
  ++file_count_;
  ++written_count_;
  return true;
}

}  // namespace tocsin
