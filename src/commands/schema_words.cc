// SPDX-License-Identifier: MIT
#include "src/commands/schema_words.h"

#include <algorithm>
#include <utility>

#include "fs/base/closest_word.h"
#include "src/commands/printer.h"

namespace cellfs {
namespace {

using fs::PlaceKind;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string> NamesOf(const Attributes& attributes) {
  std::vector<std::string> names;
  for (const auto& [name, value] : attributes) names.push_back(name);
  return names;
}

bool IsOneOf(const std::string& name, const std::vector<std::string>& known) {
  return std::any_of(known.begin(), known.end(), [&](const std::string& other) {
    return fs::InUpperCase(other) == fs::InUpperCase(name);
  });
}

Status CheckName(const std::string& name, const std::vector<std::string>& known,
                 const char* of_what) {
  if (name.empty()) return WrongCall("an attribute has no name; it is NAME=VALUE");
  const std::string meant = fs::MeantName(name, known);
  if (meant.empty()) return {};
  return WrongCall("'" + name + "' is no attribute of a " + of_what + "; did you mean '" + meant +
                   "'?");
}

const std::vector<std::string>& FamilyNames() {
  static const std::vector<std::string> names = NamesOf(FamilyAttributeDefaults());
  return names;
}

const std::vector<std::string>& TableNames() {
  static const std::vector<std::string> names = NamesOf(TableAttributeDefaults());
  return names;
}

// At each `separator` that stands in no quotes and no brackets.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  char quote = 0;
  size_t depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    } else if (c == separator && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string Unquoted(std::string_view text) {
  text = Trimmed(text);
  const bool is_quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
                         text.back() == text.front();
  return BytesOf(is_quoted ? text.substr(1, text.size() - 2) : text);
}

// "{NAME => 'f', VERSIONS => 5}"
StatusOr<FamilyWord> ParseShellFamily(const std::string& word) {
  FamilyWord family;
  if (word.back() != '}') return WrongCall("'" + word + "' does not end with '}'");
  const std::string_view inside = std::string_view(word).substr(1, word.size() - 2);
  for (const std::string_view part : Split(inside, ',')) {
    if (Trimmed(part).empty()) continue;
    const size_t arrow = part.find("=>");
    if (arrow == std::string_view::npos)
      return WrongCall("'" + std::string(Trimmed(part)) + "' in '" + word +
                       "' is no NAME => VALUE");
    std::string name = Unquoted(part.substr(0, arrow));
    std::string_view value = Trimmed(part.substr(arrow + 2));
    if (value.starts_with('{') || value.starts_with('['))
      return WrongCall(name + " in '" + word + "' is a list; say each as FAMILY:NAME=VALUE");
    if (name == "METHOD")
      return WrongCall("METHOD is not known; a family is dropped by --drop-family");
    if (name == "NAME") {
      if (!family.name.empty()) return WrongCall("'" + word + "' says NAME twice");
      family.name = Unquoted(value);
    } else {
      family.attributes.push_back({std::move(name), Unquoted(value)});
    }
  }
  if (family.name.empty())
    return WrongCall("'" + word +
                     "' has no NAME => 'f'; attributes of a table are --set NAME=VALUE");
  return family;
}

Status CheckTableKind(const fs::Place& place, const Arguments& arguments) {
  if (place.kind == PlaceKind::kTable || place.kind == PlaceKind::kSchemaFile) return {};
  return WrongCall(ShownPath(arguments) + " lies in a table; name the table " +
                   place.table.ToString() + " itself");
}

}  // namespace

StatusOr<AttributeWord> ParseAttributeWord(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0)
    return WrongCall("'" + word + "' is no NAME=VALUE");
  return AttributeWord{word.substr(0, equals), BytesOf(word.substr(equals + 1))};
}

Status SaidOnce::Add(const std::string& name) {
  if (names_.insert(name).second) return {};
  return WrongCall("'" + ShownBytes(name) + "' is said twice");
}

Status SaidOnce::AddOptions(const Arguments& arguments) {
  for (const std::string& word : arguments.Texts("set")) {
    CELLFS_ASSIGN_OR_RETURN(const AttributeWord attribute, ParseAttributeWord(word));
    CELLFS_RETURN_IF_ERROR(Add(attribute.name));
  }
  for (const std::string& name : arguments.Texts("unset")) {
    CELLFS_RETURN_IF_ERROR(Add(name));
    const size_t colon = name.find(':');
    if (colon != std::string::npos) families_.insert(name.substr(0, colon));
  }
  return {};
}

Status SaidOnce::AddFamily(const FamilyWord& family) {
  families_.insert(ShownBytes(family.name));
  for (const AttributeWord& attribute : family.attributes)
    CELLFS_RETURN_IF_ERROR(Add(ShownBytes(family.name) + ":" + attribute.name));
  return {};
}

Status SaidOnce::AddDropped(const std::string& family) {
  if (families_.insert(ShownBytes(family)).second) return {};
  return WrongCall("family '" + ShownBytes(family) + "' is to be dropped, and is named besides");
}

StatusOr<FamilyWord> ParseFamilyWord(const std::string& word) {
  if (word.starts_with('{')) return ParseShellFamily(word);
  const size_t colon = word.find(':');
  FamilyWord family{BytesOf(word.substr(0, colon)), {}};
  if (family.name.empty())
    return WrongCall("'" + word + "' names no family; it is FAMILY or FAMILY:NAME=VALUE,...");
  if (word.substr(0, colon).find('=') != std::string::npos) {
    return WrongCall("'" + word + "' is no family; it is FAMILY or FAMILY:NAME=VALUE,... ('=' in a "
                     "family is \\x3D)");
  }
  if (colon == std::string::npos || colon + 1 == word.size()) return family;
  for (const std::string_view part : Split(std::string_view(word).substr(colon + 1), ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return WrongCall("'" + std::string(part) + "' in '" + word +
                       "' is no NAME=VALUE (a comma in a value is \\x2C)");
    }
    family.attributes.push_back(
        {std::string(part.substr(0, equals)), Unquoted(part.substr(equals + 1))});
  }
  return family;
}

Status CheckFamilyAttribute(const std::string& name) {
  if (!IsOneOf(name, FamilyNames()) && IsOneOf(name, TableNames()))
    return WrongCall(name + " is an attribute of a table: --set " + name + "=VALUE");
  if (name == "drop") return WrongCall("a family is dropped by --drop-family");
  return CheckName(name, FamilyNames(), "family");
}

Status CheckTableAttribute(const std::string& name) {
  if (!IsOneOf(name, TableNames()) && IsOneOf(name, FamilyNames()))
    return WrongCall(name + " is an attribute of a family: FAMILY:" + name + "=VALUE");
  static constexpr std::pair<std::string_view, const char*> kOthers[] = {
      {"enabled", "'cellfs enable' and 'cellfs disable' change that"},
      {"open", "say --open or --closed"},
      {"splits", "'cellfs create --splits' and 'cellfs split' say where a table is cut"},
      {"space_quota", "'cellfs set_quota' sets it"},
      {"families", "name them as words"}};
  for (const auto& [other, remedy] : kOthers) {
    if (name == other) return WrongCall("'" + name + "' is no attribute; " + remedy);
  }
  return CheckName(name, TableNames(), "table");
}

Status CheckNamespaceProperty(const std::string& name) {
  static const std::vector<std::string> kKnown = {
      "hbase.namespace.quota.maxtables", "hbase.namespace.quota.maxregions", "hbase.rsgroup.name"};
  if (name == "space_quota") return WrongCall("'cellfs set_quota' sets a space quota");
  return CheckName(name, kKnown, "namespace");
}

Status SetAttributes(const FamilyWord& word, FamilySchema& family) {
  for (const AttributeWord& attribute : word.attributes) {
    CELLFS_RETURN_IF_ERROR(CheckFamilyAttribute(attribute.name));
    if (attribute.value.empty()) {
      family.Unset(attribute.name);
      continue;
    }
    CELLFS_RETURN_IF_ERROR(AsWrongCall(family.Set(attribute.name, attribute.value)));
  }
  return {};
}

Status SetAttribute(const AttributeWord& word, TableSchema& schema) {
  CELLFS_RETURN_IF_ERROR(CheckTableAttribute(word.name));
  if (word.value.empty()) {
    schema.Unset(word.name);
    return {};
  }
  return AsWrongCall(schema.Set(word.name, word.value));
}

Status SetProperty(const AttributeWord& word, NamespaceSchema& schema) {
  CELLFS_RETURN_IF_ERROR(CheckNamespaceProperty(word.name));
  if (word.value.empty()) {
    schema.properties.erase(word.name);
  } else {
    schema.properties[word.name] = word.value;
  }
  return {};
}

std::string EscapedValue(const std::string& value) {
  std::string escaped;
  for (const char c : ShownBytes(value)) {
    if (std::string_view(",'\"{}[]").find(c) == std::string_view::npos) {
      escaped += c;
      continue;
    }
    char text[5];
    snprintf(text, sizeof text, "\\x%02X", static_cast<unsigned char>(c));
    escaped += text;
  }
  return escaped;
}

std::string FamilyText(const FamilySchema& family) {
  std::string text = ShownBytes(family.name());
  char before = ':';
  for (const auto& [name, value] : family.attributes()) {
    text += before + name + "=" + EscapedValue(value);
    before = ',';
  }
  return text;
}

StatusOr<NamedTable> NameTable(const Session& session, const Arguments& arguments,
                               Besides besides) {
  CELLFS_ASSIGN_OR_RETURN(NamedPlace named,
                          NamePlace(session, arguments, Depth::kTable, Depth::kTable, besides));
  CELLFS_RETURN_IF_ERROR(CheckTableKind(named.place, arguments));
  return NamedTable{named.place.table, std::move(named.words)};
}

StatusOr<TableName> NameTableAlone(const Session& session, const Arguments& arguments,
                                   Besides besides) {
  CELLFS_ASSIGN_OR_RETURN(NamedTable named, NameTable(session, arguments, besides));
  CELLFS_RETURN_IF_ERROR(CheckNoMore(named.words));
  return named.table;
}

StatusOr<std::string> NameNamespace(const Session& session, const Arguments& arguments,
                                    Besides besides) {
  CELLFS_ASSIGN_OR_RETURN(
      const NamedPlace named,
      NamePlace(session, arguments, Depth::kNamespace, Depth::kNamespace, besides));
  const PlaceKind kind = named.place.kind;
  if (kind != PlaceKind::kNamespace && kind != PlaceKind::kNamespaceFile) {
    return WrongCall(ShownPath(arguments) + " lies in a namespace; name the namespace " +
                     named.place.table.namespace_name + " itself");
  }
  CELLFS_RETURN_IF_ERROR(CheckNoMore(named.words));
  return named.place.table.namespace_name;
}

Status AsWrongCall(const Status& status) {
  if (status.code() != StatusCode::kDoNotRetry && status.code() != StatusCode::kConstraint)
    return status;
  return WrongCall(status.message());
}

Status WithRemedy(const Status& status, const std::string& remedy) {
  return {status.code(), status.message() + "; " + remedy};
}

void TakeDone(Session& session, const char* kind, const std::string& name, const char* done,
              const std::string& note) {
  nlohmann::json record = {{kind, name}, {"done", done}};
  if (!note.empty()) record["note"] = note;
  session.take(std::move(record));
}

void PrintDone(Printer& printer, const nlohmann::json& record) {
  if (record.contains("note")) printer.Line(record["note"].get<std::string>());
}

}  // namespace cellfs
