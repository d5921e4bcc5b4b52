// expat reads the XML into a small tree; types are resolved first, then the messages' fields.
#include "ingest/sbe_schema.h"

#include <expat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>

#include "ingest/wire_reader.h"

namespace tocsin {
namespace {

constexpr std::size_t kDepthMax = 16;
constexpr std::size_t kElementsMax = 200'000;
constexpr std::size_t kBlockBytesMax = 60'000;

struct Element {
  std::string name;  // without a namespace
  std::map<std::string, std::string, std::less<>> attributes;
  std::string text;
  std::vector<Element> children;
  std::size_t line = 0;

  std::string_view attribute(std::string_view key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string_view{} : std::string_view(found->second);
  }
};

std::string_view without_namespace(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

// What expat's callbacks build. The path holds copies on their way down, moved up when they close.
struct TreeBuilder {
  XML_Parser parser = nullptr;
  Element root;
  std::vector<Element> path;
  std::size_t element_count = 0;
  bool too_large = false;
  bool has_doctype = false;

  // Declarations of entities could blow up a few bytes into millions of elements.
  static void doctype(void* data, const char* /*name*/, const char* /*system*/,
                      const char* /*public*/, int /*has_internal*/) {
    auto& builder = *static_cast<TreeBuilder*>(data);
    builder.has_doctype = true;
    (void)::XML_StopParser(builder.parser, XML_FALSE);
  }
  static void start(void* data, const char* name, const char** attributes) {
    auto& builder = *static_cast<TreeBuilder*>(data);
    if (builder.path.size() >= kDepthMax || ++builder.element_count > kElementsMax) {
      builder.too_large = true;
      (void)::XML_StopParser(builder.parser, XML_FALSE);
      return;
    }
    Element& element = builder.path.emplace_back();
    element.name = without_namespace(name);
    element.line = ::XML_GetCurrentLineNumber(builder.parser);
    for (; attributes[0] != nullptr; attributes += 2) {
      element.attributes.emplace(without_namespace(attributes[0]), attributes[1]);
    }
  }
  static void end(void* data, const char* /*name*/) {
    auto& builder = *static_cast<TreeBuilder*>(data);
    if (builder.path.empty()) return;
    Element closed = std::move(builder.path.back());
    builder.path.pop_back();
    if (builder.path.empty()) {
      builder.root = std::move(closed);
    } else {
      builder.path.back().children.push_back(std::move(closed));
    }
  }
  static void text(void* data, const char* text, int size) {
    auto& builder = *static_cast<TreeBuilder*>(data);
    if (!builder.path.empty()) {
      builder.path.back().text.append(text, static_cast<std::size_t>(size));
    }
  }
};

struct ParserFree {
  void operator()(XML_Parser parser) const noexcept { ::XML_ParserFree(parser); }
};

Result<Element> read_tree(std::string_view xml) {
  if (xml.size() > SbeSchema::kTextBytesMax) {
    return Error(ErrorCode::kInvalidArgument, "an SBE schema of more than 8 MiB");
  }
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, ParserFree> parser(
      ::XML_ParserCreate(nullptr));
  if (parser == nullptr) return Error(ErrorCode::kResourceExhausted, "no memory for an XML parser");
  TreeBuilder builder;
  builder.parser = parser.get();
  ::XML_SetUserData(parser.get(), &builder);
  ::XML_SetElementHandler(parser.get(), &TreeBuilder::start, &TreeBuilder::end);
  ::XML_SetCharacterDataHandler(parser.get(), &TreeBuilder::text);
  ::XML_SetStartDoctypeDeclHandler(parser.get(), &TreeBuilder::doctype);
  const auto size = static_cast<int>(xml.size());
  if (::XML_Parse(parser.get(), xml.data(), size, XML_TRUE) == XML_STATUS_ERROR) {
    const std::string line = std::to_string(::XML_GetCurrentLineNumber(parser.get()));
    if (builder.has_doctype) {
      return Error(ErrorCode::kInvalidArgument, "line " + line + ": a DOCTYPE is not read");
    }
    if (builder.too_large) {
      return Error(ErrorCode::kInvalidArgument,
                   "line " + line + ": an SBE schema has no such depth");
    }
    return Error(ErrorCode::kInvalidArgument,
                 "line " + line + ": " + ::XML_ErrorString(::XML_GetErrorCode(parser.get())));
  }
  return std::move(builder.root);
}

Error fault(const Element& element, const std::string& what) {
  return Error(ErrorCode::kInvalidArgument,
               "line " + std::to_string(element.line) + ": " + element.name + " \"" +
                   std::string(element.attribute("name")) + "\": " + what);
}

template <typename T>
std::optional<T> number_in(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Null values are written unsigned for unsigned types, so the largest does not fit an int64.
std::int64_t null_from(std::string_view text) {
  if (const auto value = number_in<std::int64_t>(text)) return *value;
  if (const auto value = number_in<std::uint64_t>(text)) return static_cast<std::int64_t>(*value);
  return 0;
}

struct Type {
  SbeField layout;                                       // without a name and an offset
  std::map<std::string, SbeField, std::less<>> members;  // of a composite
};
using Types = std::map<std::string, Type, std::less<>>;

struct Primitive {
  std::string_view name;
  std::uint16_t size_bytes;
  bool is_signed;
};
constexpr std::array kPrimitives = {
    Primitive{"char", 1, false},   Primitive{"int8", 1, true},    Primitive{"uint8", 1, false},
    Primitive{"int16", 2, true},   Primitive{"uint16", 2, false}, Primitive{"int32", 4, true},
    Primitive{"uint32", 4, false}, Primitive{"int64", 8, true},   Primitive{"uint64", 8, false}};

class SchemaBuilder {
 public:
  Status add_types(const Element& root) {
    for (const Primitive& primitive : kPrimitives) {
      SbeField& layout = types_[std::string(primitive.name)].layout;
      layout.size_bytes = primitive.size_bytes;
      layout.is_signed = primitive.is_signed;
      layout.is_integer = true;
    }
    for (const std::string_view name : {"float", "double"}) {
      types_[std::string(name)].layout.size_bytes = name == "float" ? 4 : 8;
    }
    for (const Element& list : root.children) {
      if (list.name != "types") continue;
      for (const Element& type : list.children) TOCSIN_RETURN_IF_ERROR(add_type(type));
    }
    return {};
  }

  Result<SbeMessage> message_of(const Element& element) const {
    SbeMessage message;
    const auto id = number_in<std::uint16_t>(element.attribute("id"));
    if (!id) return fault(element, "no id");
    message.id = *id;
    message.name = element.attribute("name");
    TOCSIN_ASSIGN_OR_RETURN(message.fields, fields_of(element));
    for (const Element& child : element.children) {
      if (child.name == "group") {
        TOCSIN_ASSIGN_OR_RETURN(SbeGroup group, group_of(child));
        message.groups.push_back(std::move(group));
      }
    }
    return message;
  }

 private:
  Status add_type(const Element& element) {
    Type type;
    if (element.name == "composite") {
      TOCSIN_RETURN_IF_ERROR(read_composite(element, type));
    } else {
      TOCSIN_ASSIGN_OR_RETURN(type.layout, layout_of(element));
    }
    types_.insert_or_assign(std::string(element.attribute("name")), std::move(type));
    return {};
  }

  // A <type>, <enum> or <set>.
  Result<SbeField> layout_of(const Element& element) const {
    const bool is_type = element.name == "type";
    const std::string_view base = element.attribute(is_type ? "primitiveType" : "encodingType");
    const auto found = types_.find(base);
    if (found == types_.end()) return fault(element, "unknown type \"" + std::string(base) + "\"");
    SbeField layout = found->second.layout;
    if (!is_type) return layout;
    if (const auto length = number_in<std::uint16_t>(element.attribute("length")); length) {
      if (*length != 1) layout.is_integer = false;
      if (std::size_t{*length} * layout.size_bytes > kBlockBytesMax) {
        return fault(element, "a length past 60,000 bytes");
      }
      layout.size_bytes = static_cast<std::uint16_t>(*length * layout.size_bytes);
    }
    const std::string_view null = element.attribute("nullValue");
    if (!null.empty()) {
      layout.has_null = true;
      layout.null_value = null_from(null);
    }
    if (element.attribute("presence") == "constant") layout.size_bytes = 0;
    return layout;
  }

  // A decimal is its mantissa with the constant exponent; other composites are bytes with members.
  Status read_composite(const Element& element, Type& type) const {
    std::size_t offset = 0;
    for (const Element& member : element.children) {
      SbeField layout;
      if (member.name == "ref") {
        const auto found = types_.find(member.attribute("type"));
        if (found == types_.end()) return fault(member, "an unknown type");
        layout = found->second.layout;
      } else {
        TOCSIN_ASSIGN_OR_RETURN(layout, layout_of(member));
      }
      if (const auto given = number_in<std::uint16_t>(member.attribute("offset"))) offset = *given;
      layout.name = member.attribute("name");
      layout.offset = static_cast<std::uint16_t>(offset);
      offset += layout.size_bytes;
      if (offset > kBlockBytesMax) return fault(element, "past 60,000 bytes");
      if (layout.name == "exponent" && layout.size_bytes == 0) {
        const auto exponent = number_in<std::int8_t>(member.text);
        if (!exponent || *exponent < -9 || *exponent > 9) {
          return fault(member, "an exponent that is none of -9 to 9");
        }
        type.layout.exponent = *exponent;
      }
      type.members.emplace(layout.name, layout);
    }
    type.layout.size_bytes = static_cast<std::uint16_t>(offset);
    const auto mantissa = type.members.find("mantissa");
    if (mantissa == type.members.end() || mantissa->second.size_bytes != offset) return {};
    const std::int8_t exponent = type.layout.exponent;
    type.layout = mantissa->second;
    type.layout.exponent = exponent;
    return {};
  }

  Result<std::vector<SbeField>> fields_of(const Element& element) const {
    std::vector<SbeField> fields;
    std::size_t offset = 0;
    for (const Element& child : element.children) {
      if (child.name != "field") continue;
      const auto found = types_.find(child.attribute("type"));
      if (found == types_.end()) {
        return fault(child, "unknown type \"" + std::string(child.attribute("type")) + "\"");
      }
      SbeField field = found->second.layout;
      field.name = child.attribute("name");
      if (child.attribute("presence") == "constant") field.size_bytes = 0;
      if (const auto given = number_in<std::uint16_t>(child.attribute("offset"))) offset = *given;
      field.offset = static_cast<std::uint16_t>(offset);
      offset += field.size_bytes;
      if (offset > kBlockBytesMax) return fault(child, "past 60,000 bytes");
      fields.push_back(std::move(field));
    }
    return fields;
  }

  Result<SbeGroup> group_of(const Element& element) const {
    SbeGroup group;
    group.name = element.attribute("name");
    TOCSIN_ASSIGN_OR_RETURN(group.fields, fields_of(element));
    for (const Element& child : element.children) {
      if (child.name == "group") return fault(child, "a group within a group is not read");
    }
    std::string_view dimension = element.attribute("dimensionType");
    if (dimension.empty()) dimension = "groupSizeEncoding";
    const auto found = types_.find(dimension);
    if (found == types_.end()) return fault(element, "an unknown dimensionType");
    const auto& members = found->second.members;
    const auto length = members.find("blockLength");
    const auto count = members.find("numInGroup");
    if (length == members.end() || count == members.end() || !length->second.is_integer ||
        !count->second.is_integer || length->second.size_bytes == 0 ||
        count->second.size_bytes == 0) {
      return fault(element, "a dimensionType without blockLength and numInGroup");
    }
    group.block_length = length->second;
    group.entry_count = count->second;
    group.header_bytes = found->second.layout.size_bytes;
    return group;
  }

  Types types_;
};

}  // namespace

bool SbeField::read(std::span<const std::byte> block, std::int64_t& value) const noexcept {
  if (size_bytes == 0 || std::size_t{offset} + size_bytes > block.size()) return false;
  const std::byte* at = block.data() + offset;
  switch (size_bytes) {
    case 1:
      value = is_signed ? load_little<std::int8_t>(at) : load_little<std::uint8_t>(at);
      break;
    case 2:
      value = is_signed ? load_little<std::int16_t>(at) : load_little<std::uint16_t>(at);
      break;
    case 4:
      value = is_signed ? std::int64_t{load_little<std::int32_t>(at)}
                        : std::int64_t{load_little<std::uint32_t>(at)};
      break;
    case 8:
      value = load_little<std::int64_t>(at);
      break;
    default:
      return false;
  }
  return !has_null || value != null_value;
}

std::string_view SbeField::text(std::span<const std::byte> block) const noexcept {
  if (size_bytes == 0 || std::size_t{offset} + size_bytes > block.size()) return {};
  const std::string_view field(reinterpret_cast<const char*>(block.data() + offset), size_bytes);
  return without_padding(field.substr(0, field.find('\0')), ' ');
}

Result<SbeSchema> SbeSchema::parse(std::string_view xml) {
  TOCSIN_ASSIGN_OR_RETURN(const Element root, read_tree(xml));
  if (root.name != "messageSchema") return fault(root, "not an SBE messageSchema");
  if (root.attribute("byteOrder") == "bigEndian") return fault(root, "big-endian is not read");
  SchemaBuilder builder;
  TOCSIN_RETURN_IF_ERROR(builder.add_types(root));
  SbeSchema schema;
  for (const Element& element : root.children) {
    if (element.name != "message") continue;
    TOCSIN_ASSIGN_OR_RETURN(SbeMessage message, builder.message_of(element));
    schema.messages_.insert_or_assign(message.id, std::move(message));
  }
  if (schema.messages_.empty()) return fault(root, "a schema without messages");
  return schema;
}

Result<SbeSchema> SbeSchema::read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error(ErrorCode::kNotFound, path + ": cannot be opened");
  std::string text(kTextBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  auto schema = parse(text);
  if (!schema.ok()) return Error(schema.error().code(), path + ", " + schema.error().message());
  return schema;
}

}  // namespace tocsin
