// The typed door to a YamlSession: a reader is a session and the number of one of its mappings.
#include "config/yaml_reader.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "config/yaml_session.h"

namespace tocsin {
namespace {

Error unreadable(const std::string& path, int error_number) {
  ErrorCode code = ErrorCode::kInvalidArgument;
  if (error_number == ENOENT) code = ErrorCode::kNotFound;
  if (error_number == EACCES) code = ErrorCode::kPermissionDenied;
  return Error(code, printable(path, path.size()) +
                         ": expected a readable file, found: " + std::strerror(error_number));
}

}  // namespace

YamlReader::YamlReader(std::shared_ptr<YamlSession> session, std::size_t node_number)
    : session_(std::move(session)), node_number_(node_number) {}

Result<YamlReader> YamlReader::from_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return unreadable(path, errno);
  // One byte more than allowed, so that parse_yaml() sees what is too large.
  std::string text(kYamlSizeBytesMax + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  const int read_error = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (read_error != 0) return unreadable(path, read_error);
  return from_text(text, path);
}

Result<YamlReader> YamlReader::from_text(std::string_view text, const std::string& name) {
  TOCSIN_ASSIGN_OR_RETURN(YamlValue document, parse_yaml(text, name));
  if (document.kind != YamlValue::Kind::kMapping) {
    const int line = document.kind == YamlValue::Kind::kNull ? 1 : document.line;
    return Error(ErrorCode::kInvalidArgument,
                 printable(name, name.size()) + ":" + std::to_string(line) +
                     ": expected a mapping of keys to values, found " + found_text(document));
  }
  return YamlReader(std::make_shared<YamlSession>(std::move(document), name), 0);
}

YamlNode& YamlReader::node() const { return session_->node(node_number_); }

bool YamlReader::has(std::string_view key) const {
  node().setting(key);
  return node().find(key) != nullptr;
}

void YamlReader::read(std::string_view key, bool& value) {
  session_->read(node(), key, value, BoolType{});
}

void YamlReader::read(std::string_view key, std::int64_t& value, YamlRange<std::int64_t> range) {
  session_->read(node(), key, value, IntegerType{range});
}

void YamlReader::read(std::string_view key, double& value, YamlRange<double> range) {
  session_->read(node(), key, value, DoubleType{range});
}

void YamlReader::read(std::string_view key, std::string& value) {
  session_->read(node(), key, value, StringType{});
}

void YamlReader::read(std::string_view key, std::vector<std::string>& value) {
  session_->read_list(node(), key, value, StringType{});
}

void YamlReader::read(std::string_view key, std::vector<std::int64_t>& value,
                      YamlRange<std::int64_t> range) {
  session_->read_list(node(), key, value, IntegerType{range});
}

void YamlReader::read(std::string_view key, std::vector<double>& value, YamlRange<double> range) {
  session_->read_list(node(), key, value, DoubleType{range});
}

void YamlReader::read_choice(std::string_view key, std::size_t& index,
                             std::span<const std::string_view> names) {
  session_->read(node(), key, index, ChoiceType{names});
}

YamlReader YamlReader::child(std::string_view key) {
  YamlSetting& setting = node().setting(key);
  if (setting.kind != YamlSetting::Kind::kChild) {
    const YamlMember* member = node().find(key);
    setting.kind = YamlSetting::Kind::kChild;
    setting.is_default = member == nullptr;
    setting.nodes = {member != nullptr
                         ? session_->add_mapping(member->value, node().path_of(key), member->line)
                         : session_->add_absent(node(), key)};
  }
  return YamlReader(session_, setting.nodes.front());
}

std::vector<YamlReader> YamlReader::children(std::string_view key) {
  YamlSetting& setting = node().setting(key);
  if (setting.kind != YamlSetting::Kind::kChildren) {
    const YamlMember* member = node().find(key);
    setting.kind = YamlSetting::Kind::kChildren;
    setting.is_default = member == nullptr;
    if (member != nullptr) setting.nodes = add_items(*member, node().path_of(key));
  }
  std::vector<YamlReader> readers;
  readers.reserve(setting.nodes.size());
  for (const std::size_t number : setting.nodes) readers.push_back(YamlReader(session_, number));
  return readers;
}

std::vector<std::size_t> YamlReader::add_items(const YamlMember& member, const std::string& path) {
  std::vector<std::size_t> numbers;
  if (member.value.kind != YamlValue::Kind::kSequence) {
    session_->report(member.line, path,
                     "expected a sequence of mappings, found " + found_text(member.value));
    return numbers;
  }
  for (std::size_t i = 0; i < member.value.members.size(); ++i) {
    const YamlMember& item = member.value.members[i];
    std::string item_path = path + "[" + std::to_string(i) + "]";
    numbers.push_back(session_->add_mapping(item.value, std::move(item_path), item.line));
  }
  return numbers;
}

void YamlReader::fail(std::string_view key, const std::string& expected) {
  const YamlMember* member = node().find(key);
  const YamlSetting& setting = node().setting(key);
  std::string found = "nothing";
  if (member != nullptr) {
    found = found_text(member->value);
  } else if (setting.kind == YamlSetting::Kind::kValue) {
    found = "the default " + setting.text;
  }
  session_->report(member != nullptr ? member->line : node().line, node().path_of(key),
                   "expected " + expected + ", found " + found);
}

void YamlReader::require_key(std::string_view key) {
  node().setting(key);
  if (node().broken || node().find(key) != nullptr) return;
  session_->report(node().line, node().path_of(key), "expected this required key, found nothing");
}

Status YamlReader::finish() { return session_->finish(); }

std::string YamlReader::effective() const { return session_->effective(node()); }

}  // namespace tocsin
