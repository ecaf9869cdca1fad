// SPDX-License-Identifier: MIT
#include "fs/schema/schema_file.h"

#include <toml++/toml.h>

#include <charconv>
#include <functional>

#include "engine/byte_size.h"
#include "engine/split_keys.h"
#include "fs/tree/name_spelling.h"

namespace cellfs::fs {

namespace {

// Shown of every family, set or not: what decides which cells a reader sees, as HBase's `describe`.
constexpr std::string_view kAlwaysShown[] = {
    "VERSIONS",    "MIN_VERSIONS", "TTL",       "KEEP_DELETED_CELLS", "NEW_VERSION_BEHAVIOR",
    "COMPRESSION", "IN_MEMORY",    "BLOCKSIZE", "BLOOMFILTER",        "REPLICATION_SCOPE"};

const NameSpelling& KeySpelling() {
  static const NameSpelling spelling(NameLevel::kRow, NameMode::kPrintable);
  return spelling;
}

std::string ReadKey(const std::string& text) {
  ReadName read = KeySpelling().Read(text);
  return read.kind == ReadName::Kind::kKey ? read.key : text;
}

// ---- Writing ----------------------------------------------------------------------------------

// A basic string of TOML. Bytes that are not UTF-8 cannot stand in one: callers see to them.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      constexpr char kHex[] = "0123456789ABCDEF";
      quoted += "\\u00";
      quoted += kHex[byte >> 4];
      quoted += kHex[byte & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string TomlKey(std::string_view key) {
  bool bare = !key.empty();
  for (char c : key)
    bare = bare && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-');
  return bare && static_cast<unsigned char>(key[0]) < 0x80 ? std::string(key) : Quoted(key);
}

// Numbers and booleans without quotes, where reading them gives the same text.
std::string TomlValue(const std::string& text) {
  if (text == "true" || text == "false") return text;
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::to_string(number) == text ? text : Quoted(text);
}

std::string Line(std::string_view key, const std::string& value) {
  return TomlKey(key) + " = " + TomlValue(value) + "\n";
}

std::string QuotaText(const std::optional<SpaceQuota>& quota) {
  if (!quota) return {};
  return "\n[space_quota]\nlimit = " + std::to_string(quota->limit) +
         "\npolicy = " + Quoted(PolicyName(quota->policy)) + "\n";
}

std::string FamilyText(const FamilySchema& family) {
  std::string text = "\n[families." + TomlKey(KeySpelling().Spell(family.name())) + "]\n";
  Attributes rest = family.attributes();
  for (std::string_view attribute : kAlwaysShown) {
    text += Line(attribute, family.Get(attribute));
    rest.erase(std::string(attribute));
  }
  for (const auto& [attribute, value] : rest) text += Line(attribute, value);
  return text;
}

// ---- Reading ----------------------------------------------------------------------------------

Status Refuse(const toml::source_region& place, const std::string& why) {
  return Status(StatusCode::kIllegalArgument,
                "line " + std::to_string(place.begin.line) + ": " + why);
}

StatusOr<toml::table> Parse(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return Refuse(error.source(), std::string(error.description()));
  }
}

// The text of a string, a number or a boolean.
StatusOr<std::string> TextOf(std::string_view key, const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return std::string(flag->get() ? "true" : "false");
  return Refuse(node.source(),
                std::string(key) + ": a string, a whole number, true or false is allowed");
}

StatusOr<bool> FlagOf(std::string_view key, const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  return Refuse(node.source(), std::string(key) + ": true or false is allowed");
}

using SetAttribute = std::function<Status(const std::string& name, const std::string& value)>;

// An attribute; a.b.c = 1 is the attribute "a.b.c".
Status ReadAttribute(const std::string& name, const toml::node& node, const SetAttribute& set) {
  if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table) {
      CELLFS_RETURN_IF_ERROR(ReadAttribute(name + "." + std::string(key.str()), value, set));
    }
    return Status();
  }
  CELLFS_ASSIGN_OR_RETURN(std::string text, TextOf(name, node));
  Status status = set(name, text);
  return status.ok() ? status : Refuse(node.source(), status.message());
}

std::optional<int64_t> LimitOf(const toml::node& node) {
  std::optional<int64_t> limit;
  if (const auto* number = node.as_integer()) limit = number->get();
  if (const auto* text = node.as_string()) limit = ParseByteSize(text->get());
  return limit && *limit > 0 ? limit : std::nullopt;
}

Status ReadQuota(const toml::node& node, std::optional<SpaceQuota>& quota) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    return Refuse(node.source(), "space_quota: a table with limit and policy is allowed");
  }
  SpaceQuota read;
  for (const auto& [key, value] : *table) {
    if (const auto limit = LimitOf(value); key.str() == "limit" && limit) {
      read.limit = *limit;
    } else if (key.str() == "policy" && value.as_string() != nullptr &&
               ParsePolicy(value.as_string()->get())) {
      read.policy = *ParsePolicy(value.as_string()->get());
    } else {
      return Refuse(value.source(), "space_quota." + std::string(key.str()) +
                                        ": allowed are limit, bytes from 1, or like \"10G\", and "
                                        "policy, one of "
                                        "NO_INSERTS NO_WRITES NO_WRITES_COMPACTIONS DISABLE");
    }
  }
  if (read.limit == 0) return Refuse(node.source(), "space_quota: limit is missing");
  quota = read;
  return Status();
}

StatusOr<std::vector<std::string>> ReadSplitList(const toml::array& list) {
  std::vector<std::string> keys;
  for (const toml::node& node : list) {
    const auto* text = node.as_string();
    if (text == nullptr) return Refuse(node.source(), "splits: a list of strings is allowed");
    keys.push_back(ReadKey(text->get()));
    bool ascending = keys.size() < 2 || keys[keys.size() - 2] < keys.back();
    if (!ascending || keys.back().empty()) {
      return Refuse(node.source(), "splits: the keys must ascend, and none be empty");
    }
  }
  return keys;
}

StatusOr<std::vector<std::string>> ReadSplitRule(const toml::table& rule) {
  Attributes values;
  for (const auto& [key, value] : rule) {
    CELLFS_ASSIGN_OR_RETURN(std::string text, TextOf("splits." + std::string(key.str()), value));
    std::string name(key.str());
    if (name != "algorithm" && name != "start" && name != "end" && name != "regions") {
      return Refuse(value.source(),
                    "splits." + name + ": allowed are algorithm, start, end, regions");
    }
    values[name] = text;
  }
  const toml::node* regions = rule.get("regions");
  if (regions == nullptr || regions->as_integer() == nullptr ||
      regions->as_integer()->get() > std::numeric_limits<int32_t>::max()) {
    return Refuse(rule.source(), "splits: regions must be a whole number");
  }
  auto keys = SplitKeys(values["algorithm"], values["start"], values["end"],
                        static_cast<int32_t>(regions->as_integer()->get()));
  if (!keys.ok()) return Refuse(rule.source(), "splits: " + keys.status().message());
  return keys;
}

StatusOr<std::vector<std::string>> ReadSplits(const toml::node& node) {
  if (const auto* list = node.as_array()) return ReadSplitList(*list);
  if (const auto* rule = node.as_table()) return ReadSplitRule(*rule);
  return Refuse(node.source(),
                "splits: a list of keys, or {algorithm, start, end, regions}, is allowed");
}

Status ReadFamily(const std::string& name, const toml::node& node, TableFile& file) {
  const auto* table = node.as_table();
  if (table == nullptr) return Refuse(node.source(), "families." + name + ": a table is allowed");
  Status legal = CheckFamilyName(name);
  if (!legal.ok()) return Refuse(node.source(), legal.message());
  FamilySchema family(name);
  bool drop = false;
  for (const auto& [key, value] : *table) {
    if (key.str() == "drop") {
      CELLFS_ASSIGN_OR_RETURN(drop, FlagOf("drop", value));
      continue;
    }
    CELLFS_RETURN_IF_ERROR(ReadAttribute(
        std::string(key.str()), value, [&](const std::string& attribute, const std::string& text) {
          return family.Set(attribute, text);
        }));
  }
  if (drop) {
    file.dropped.insert(name);
    return Status();
  }
  Status consistent = family.Check();
  if (!consistent.ok()) return Refuse(node.source(), consistent.message());
  file.schema.families.insert_or_assign(name, std::move(family));
  return Status();
}

Status ReadFamilies(const toml::node& node, TableFile& file) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    return Refuse(node.source(),
                  "families: a table for each family, [families.<name>], is allowed");
  }
  for (const auto& [key, value] : *table) {
    CELLFS_RETURN_IF_ERROR(ReadFamily(ReadKey(std::string(key.str())), value, file));
  }
  return Status();
}

Status ReadTableKey(const std::string& key, const toml::node& node, TableFile& file) {
  if (key == "enabled") {
    CELLFS_ASSIGN_OR_RETURN(file.enabled, FlagOf(key, node));
  } else if (key == "open") {
    CELLFS_ASSIGN_OR_RETURN(bool open, FlagOf(key, node));
    if (open) return file.schema.Set(kOpenAttribute, "true");
  } else if (key == "splits") {
    CELLFS_ASSIGN_OR_RETURN(file.schema.split_keys, ReadSplits(node));
    file.has_splits = true;
  } else if (key == "space_quota") {
    return ReadQuota(node, file.space_quota);
  } else if (key == "families") {
    return ReadFamilies(node, file);
  } else if (node.is_table() && !key.starts_with("hbase") && !key.starts_with("cellfs")) {
    return Refuse(node.source(), "'" + key +
                                     "' is unknown; allowed are [families.<name>], "
                                     "[space_quota], and attributes");
  } else {
    return ReadAttribute(key, node, [&](const std::string& attribute, const std::string& text) {
      return file.schema.Set(attribute, text);
    });
  }
  return Status();
}

}  // namespace

bool IsOpen(const TableSchema& schema) { return schema.Get(kOpenAttribute) == "true"; }

std::string WriteTableFile(const TableFile& file) {
  const TableSchema& schema = file.schema;
  // Names nothing, so that a copy of a table reads as the table itself.
  std::string text = "# The schema of this table; a copy of this file makes another like it.\n";
  text += Line("enabled", file.enabled ? "true" : "false");
  text += Line("open", IsOpen(schema) ? "true" : "false");
  text += Line("READONLY", schema.read_only() ? "true" : "false");
  for (const auto& [attribute, value] : schema.attributes()) {
    if (attribute != kOpenAttribute && attribute != "READONLY") text += Line(attribute, value);
  }
  if (!schema.split_keys.empty()) {
    text += "splits = [";
    for (const std::string& key : schema.split_keys) {
      text += (key == schema.split_keys.front() ? "" : ", ") + Quoted(KeySpelling().Spell(key));
    }
    text += "]\n";
  }
  text += QuotaText(file.space_quota);
  for (const auto& [name, family] : schema.families) text += FamilyText(family);
  return text;
}

std::string WriteNamespaceFile(const NamespaceFile& file) {
  std::string text = "# The properties and quotas of this namespace.\n";
  for (const auto& [key, value] : file.schema.properties) text += Line(key, value);
  return text + QuotaText(file.space_quota);
}

StatusOr<TableFile> ReadTableFile(std::string_view text, const TableName& name) {
  CELLFS_ASSIGN_OR_RETURN(toml::table root, Parse(text));
  TableFile file;
  file.schema = TableSchema(name);
  for (const auto& [key, node] : root) {
    CELLFS_RETURN_IF_ERROR(ReadTableKey(std::string(key.str()), node, file));
  }
  return file;
}

StatusOr<NamespaceFile> ReadNamespaceFile(std::string_view text, const std::string& name) {
  CELLFS_ASSIGN_OR_RETURN(toml::table root, Parse(text));
  NamespaceFile file;
  file.schema.name = name;
  auto set = [&](const std::string& key, const std::string& value) {
    file.schema.properties[key] = value;
    return Status();
  };
  for (const auto& [key, node] : root) {
    if (key.str() == "space_quota") {
      CELLFS_RETURN_IF_ERROR(ReadQuota(node, file.space_quota));
    } else {
      CELLFS_RETURN_IF_ERROR(ReadAttribute(std::string(key.str()), node, set));
    }
  }
  return file;
}

}  // namespace cellfs::fs
