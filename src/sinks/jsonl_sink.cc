// Writes and reads back lines of JSON.
#include "sinks/jsonl_sink.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "sinks/alert_text.h"

namespace tocsin {
namespace {

using Json = nlohmann::ordered_json;

Json number_of(float value) {
  // JSON has no NaN; score_bits says what it was.
  return std::isfinite(value) ? Json(shortest_double(value)) : Json(nullptr);
}

Json quality_list(QualityFlags quality) {
  Json names = Json::array();
  for (unsigned bit = 0; bit < 16; ++bit) {
    const auto flag = static_cast<std::uint16_t>(quality.bits() & (1U << bit));
    if (flag != 0) names.push_back(quality_names(QualityFlags::from_bits(flag)));
  }
  return names;
}

std::optional<AlertId> id_of_line(const std::string& line) {
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object() || !object.contains("id") || !object["id"].is_string())
    return std::nullopt;
  const auto id = parse_alert_id(object["id"].get_ref<const std::string&>());
  if (!id.ok() || id->digit_count != AlertIdPrefix::kDigitsMax) return std::nullopt;
  return AlertId{id->value};
}

}  // namespace

std::string format_alert_json(const Alert& alert) {
  const DecisionRecord& decision = alert.decision;
  const FeatureFrame& frame = decision.frame;
  Json object;
  object["id"] = format_alert_id(decision.id);
  object["time"] = format_time(frame.exchange_time_ns);
  object["exchange_time_ns"] = frame.exchange_time_ns;
  object["receive_time_ns"] = frame.receive_time_ns;
  object["symbol"] = alert.symbol;
  object["source"] = alert.source;
  object["partition"] = frame.position.partition;
  object["record"] = frame.position.record;
  object["rule"] = alert.rule;
  object["model"] = alert.model;
  object["engine"] = alert.engine;
  object["determinism"] = determinism_name(decision.determinism);
  object["score"] = number_of(decision.score);
  object["score_bits"] = std::bit_cast<std::uint32_t>(decision.score);
  object["threshold"] = number_of(decision.threshold);
  object["release_threshold"] = number_of(decision.release_threshold);
  object["mid_price"] = frame.mid_price_nanos_x2 == 0
                            ? Json(nullptr)
                            : Json(format_mid_price(frame.mid_price_nanos_x2));
  object["window_steps"] = decision.window_steps;
  object["first_frame_record"] = decision.first_frame_record;
  object["held_back"] = decision.suppressed_count;
  object["quality"] = quality_list(frame.quality);
  // Names from a feed may be any bytes: what is no UTF-8 is replaced rather than refused.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Result<JsonlSink> JsonlSink::open(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) TOCSIN_RETURN_IF_ERROR(create_folders(folder.string()));
  TOCSIN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(path));
  JsonlSink sink(std::move(file));
  if (!sink.file_.is_regular()) return sink;
  TOCSIN_RETURN_IF_ERROR(sink.file_.lock());
  TOCSIN_RETURN_IF_ERROR(sink.read_ids());
  return sink;
}

Status JsonlSink::read_ids() {
  std::ifstream input(file_.path(), std::ios::binary);
  if (!input) return Error(ErrorCode::kUnavailable, file_.path() + ": cannot be read back");
  std::uint64_t complete_bytes = 0;
  std::string line;
  while (std::getline(input, line) && !input.eof()) {
    ++found_line_count_;
    const std::optional<AlertId> id = id_of_line(line);
    if (!id)
      return Error(ErrorCode::kDataLoss, file_.path() + ":" + std::to_string(found_line_count_) +
                                             ": expected an alert as a JSON object with its id");
    ids_.insert(id->value);
    complete_bytes += line.size() + 1;
  }
  if (input.bad()) return Error(ErrorCode::kUnavailable, file_.path() + ": cannot be read back");
  torn_bytes_ = file_.size_bytes() - complete_bytes;
  return torn_bytes_ == 0 ? Status() : file_.cut(complete_bytes);
}

Result<bool> JsonlSink::take(const Alert& alert) {
  if (ids_.contains(alert.decision.id.value)) return false;
  const std::string line = format_alert_json(alert);
  std::size_t written_bytes = 0;
  const Status status =
      file_.append(std::as_bytes(std::span(line.data(), line.size())), written_bytes);
  if (!status.ok()) {
    if (file_.is_regular() && written_bytes > 0)
      TOCSIN_RETURN_IF_ERROR(file_.cut(file_.size_bytes() - written_bytes));
    return status.error();
  }
  ids_.insert(alert.decision.id.value);
  return true;
}

}  // namespace tocsin
