// SPDX-License-Identifier: MIT
#include "src/shell/schema.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <utility>
#include <vector>

#include "engine/attribute_rules.h"
#include "engine/names.h"
#include "src/shell/call.h"

namespace cellfs::shell {
namespace {

using nlohmann::json;

std::string EscapedByte(char c) {
  char escape[5];
  snprintf(escape, sizeof escape, "\\x%02X", static_cast<unsigned char>(c));
  return escape;
}

// Within FAMILY:NAME=VALUE,...
std::string AttributeText(const std::string& value) {
  std::string text;
  for (const char c : ShownBytes(value))
    text += std::string_view(",'\"{}[]=").find(c) == std::string_view::npos ? std::string(1, c)
                                                                            : EscapedByte(c);
  return text;
}

// As Bytes.toBytesBinary reads it, in which \xNN is a byte also where it was not written in double
// quotes.
std::string SplitText(const std::string& key) {
  std::string text;
  for (const char c : key) {
    const bool stays = c >= ' ' && c < 0x7f && c != ',';
    text += stays ? std::string(1, c) : EscapedByte(c);
  }
  return text;
}

const Value* FindIn(const Hash& hash, std::string_view key) {
  for (const auto& [name, value] : hash)
    if (name == key) return &value;
  return nullptr;
}

List AsList(const Value& value) {
  const auto* const list = value.As<List>();
  return list == nullptr ? List{value} : *list;
}

// NAME => VALUE, and what CONFIGURATION and METADATA have, one by one.
template <typename Take>
Status ForEachAttribute(const std::string& key, const Value& value, const Take& take) {
  const auto* const inner = value.As<Hash>();
  if (inner == nullptr) {
    if (value.As<List>() != nullptr) return Refused(key + " is no list: " + value.Inspect());
    take(key, value.Text());
    return {};
  }
  if (key != "CONFIGURATION" && key != "METADATA")
    return Refused(key + " is no hash: " + value.Inspect());
  for (const auto& [name, of_name] : *inner) take(name, of_name.Text());
  return {};
}

StatusOr<std::string> FamilyWord(const Hash& hash) {
  const Value& name = *FindIn(hash, "NAME");
  std::string attributes;
  for (const auto& [key, value] : hash) {
    if (key == "NAME") continue;
    CELLFS_RETURN_IF_ERROR(ForEachAttribute(key, value, [&](const auto& attribute, const auto& text) {
      attributes += (attributes.empty() ? "" : ",") + attribute + "=" + AttributeText(text);
    }));
  }
  return ShownBytes(name.Text()) + (attributes.empty() ? "" : ":" + attributes);
}

Status AddTableAttribute(const std::string& key, const Value& value, json& arguments) {
  return ForEachAttribute(key, value, [&](const auto& attribute, const auto& text) {
    arguments["set"].push_back(attribute + "=" + ShownBytes(text));
  });
}

StatusOr<List> KeysIn(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Refused("Splits file " + path + " doesn't exist");
  List keys;
  for (std::string line; std::getline(file, line);) keys.push_back(Value{line});
  return keys;
}

Status AddSplits(const std::string& key, const Value& value, json& arguments) {
  List keys = AsList(value);
  if (key == "SPLITS_FILE") {
    CELLFS_ASSIGN_OR_RETURN(keys, KeysIn(value.Text()));
  }
  std::string splits;
  for (const Value& split : keys) splits += (splits.empty() ? "" : ",") + SplitText(split.Text());
  if (!splits.empty()) arguments["splits"] = splits;
  return {};
}

Status AddOfNewTable(const std::string& key, const Value& value, json& arguments) {
  if (key == "SPLITS" || key == "SPLITS_FILE") return AddSplits(key, value, arguments);
  if (key == "NUMREGIONS") {
    arguments["regions"] = value.Text();
  } else if (key == "SPLITALGO") {
    arguments["split_algorithm"] = value.Text();
  } else if (key == "METHOD") {
    return value.Text() == "table_att" ? Status()
                                       : Refused("table_att is the only METHOD of create");
  } else {
    return AddTableAttribute(key, value, arguments);
  }
  return {};
}

// METHOD => 'delete', NAME => 'f1' and the like; true: it was one that takes something away.
StatusOr<bool> TakeRemoval(const Hash& hash, json& arguments) {
  if (const Value* dropped = FindIn(hash, "delete")) {
    for (const Value& family : AsList(*dropped))
      arguments["drop_family"].push_back(ShownBytes(family.Text()));
    return true;
  }
  const Value* const method = FindIn(hash, "METHOD");
  if (method == nullptr || method->Text() == "table_att") return false;
  const std::string& said = method->Text();
  const Value* const name = FindIn(hash, "NAME");
  if (name == nullptr) return Refused("METHOD => '" + said + "' needs a NAME");
  const bool is_unset = said == "table_att_unset" || said == "table_conf_unset" ||
                        said == "table_remove_coprocessor";
  if (!is_unset && said != "delete")
    return Refused("METHOD '" + said + "' is not known; there are delete, table_att, "
                   "table_att_unset and table_conf_unset");
  for (const Value& one : AsList(*name))
    arguments[is_unset ? "unset" : "drop_family"].push_back(ShownBytes(one.Text()));
  return true;
}

// As HBase's shell lists them; those of `describe` that are not here follow.
constexpr std::array kFamilyOrder = {
    "INDEX_BLOCK_ENCODING", "VERSIONS", "KEEP_DELETED_CELLS", "DATA_BLOCK_ENCODING", "TTL",
    "MIN_VERSIONS", "REPLICATION_SCOPE", "BLOOMFILTER", "IN_MEMORY", "COMPRESSION", "BLOCKCACHE",
    "BLOCKSIZE"};

std::string Counted(int64_t number, const char* unit) {
  return std::to_string(number) + " " + unit + (number == 1 ? "" : "S");
}

// "90061 SECONDS (1 DAY 1 HOUR 1 MINUTE 1 SECOND)"
std::string HumanSeconds(int64_t seconds) {
  if (seconds < 60) return Counted(seconds, "SECOND");
  const std::pair<int64_t, const char*> units[] = {
      {86400, "DAY"}, {3600, "HOUR"}, {60, "MINUTE"}, {1, "SECOND"}};
  std::string parts;
  int64_t left = seconds;
  for (const auto& [length, unit] : units) {
    if (left >= length) parts += (parts.empty() ? "" : " ") + Counted(left / length, unit);
    left %= length;
  }
  return Counted(seconds, "SECOND") + " (" + parts + ")";
}

// HBase shows numbers of bytes and seconds for people too.
std::string HumanValue(const std::string& name, const std::string& value) {
  const bool is_number =
      !value.empty() && value.find_first_not_of("0123456789") == value.npos && value.size() < 18;
  if (!is_number) return value;
  const int64_t number = std::stoll(value);
  if (name == "TTL") return HumanSeconds(number);
  if (name != "BLOCKSIZE" || number == 0 || number % 1024 != 0) return value;
  return value + " B (" + std::to_string(number / 1024) + "KB)";
}

std::string PairText(const std::string& name, const std::string& value) {
  return name + " => '" + BinaryText(value) + "'";
}

std::string MetadataText(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text;
  for (const auto& [name, value] : pairs)
    text += (text.empty() ? "" : ", ") + PairText("'" + name + "'", value);
  return "METADATA => {" + text + "}";
}

}  // namespace

Status AddToCreate(const Value& said, json& arguments) {
  const auto* const hash = said.As<Hash>();
  if (hash == nullptr) {
    CELLFS_RETURN_IF_ERROR(CheckFamilyName(said.Text()));
    arguments["words"].push_back(ShownBytes(said.Text()));
    return {};
  }
  if (const Value* const name = FindIn(*hash, "NAME")) {
    CELLFS_RETURN_IF_ERROR(CheckFamilyName(name->Text()));
    CELLFS_ASSIGN_OR_RETURN(const std::string word, FamilyWord(*hash));
    arguments["words"].push_back(word);
    return {};
  }
  for (const auto& [key, value] : *hash)
    CELLFS_RETURN_IF_ERROR(AddOfNewTable(key, value, arguments));
  return {};
}

Status AddToAlter(const Value& said, json& arguments) {
  const auto* const hash = said.As<Hash>();
  if (hash == nullptr) return AddToCreate(said, arguments);
  CELLFS_ASSIGN_OR_RETURN(const bool was_removal, TakeRemoval(*hash, arguments));
  if (was_removal) return {};
  if (FindIn(*hash, "NAME") != nullptr) return AddToCreate(said, arguments);
  for (const auto& [key, value] : *hash) {
    if (key != "METHOD") CELLFS_RETURN_IF_ERROR(AddTableAttribute(key, value, arguments));
  }
  return {};
}

std::string FamilyShown(const json& family) {
  std::string text = "{" + PairText("NAME", family["name"].get<std::string>());
  const json& in_force = family["in_force"];
  const json& own = family["attributes"];
  for (const char* name : kFamilyOrder) {
    const json& from = in_force.contains(name) ? in_force : own;
    if (from.contains(name))
      text += ", " + PairText(name, HumanValue(name, from[name].get<std::string>()));
  }
  std::vector<std::pair<std::string, std::string>> metadata;
  for (const auto& [name, value] : own.items()) {
    const bool is_listed = std::find(kFamilyOrder.begin(), kFamilyOrder.end(), name) !=
                           kFamilyOrder.end();
    if (is_listed) continue;
    if (in_force.contains(name)) {
      text += ", " + PairText(name, value.get<std::string>());
    } else {
      metadata.emplace_back(name, value.get<std::string>());
    }
  }
  return text + (metadata.empty() ? "}" : ", " + MetadataText(metadata) + "}");
}

std::string AttributesShown(const json& attributes) {
  std::string text;
  std::vector<std::pair<std::string, std::string>> metadata;
  for (const auto& [name, value] : attributes.items()) {
    const bool is_known = TableAttributeDefaults().contains(name);
    if (is_known) {
      text += (text.empty() ? "" : ", ") + PairText(name, value.get<std::string>());
    } else {
      metadata.emplace_back(name, value.get<std::string>());
    }
  }
  if (!metadata.empty()) text += (text.empty() ? "" : ", ") + MetadataText(metadata);
  return text.empty() ? "" : ", {TABLE_ATTRIBUTES => {" + text + "}}";
}

void ShowQuota(Output& output, const json& quota) {
  if (quota.is_null()) return;
  output.Line("");
  output.Head("QUOTAS");
  output.Row("LIMIT => " + std::to_string(quota["limit"].get<int64_t>()) +
             ", VIOLATION_POLICY => " + quota["policy"].get<std::string>());
  output.Footer();
}

}  // namespace cellfs::shell
