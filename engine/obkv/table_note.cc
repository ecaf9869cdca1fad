// SPDX-License-Identifier: MIT
#include "engine/obkv/table_note.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "engine/json_bytes.h"

namespace cellfs::obkv {
namespace {

using nlohmann::json;

constexpr char kVersions[] = "VERSIONS";
constexpr char kTtl[] = "TTL";
constexpr char kHbase[] = "Hbase";
constexpr char kMaxVersions[] = "MaxVersions";
constexpr char kTimeToLive[] = "TimeToLive";

Attributes AttributesOf(const json& object) {
  Attributes attributes;
  if (!object.is_object()) return attributes;
  for (const auto& [name, value] : object.items()) {
    const auto key = JsonTextToBytes(name);
    const auto text =
        value.is_string() ? JsonTextToBytes(value.get<std::string>()) : std::nullopt;
    if (key && text) attributes.emplace(*key, *text);
  }
  return attributes;
}

json ObjectOf(const Attributes& attributes) {
  json object = json::object();
  for (const auto& [name, value] : attributes)
    object[BytesToJsonText(name)] = BytesToJsonText(value);
  return object;
}

// A number of the object; nullopt: it is not there.
std::optional<int64_t> Number(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

json Part(const json& note, const char* name) {
  const auto found = note.find(name);
  return found != note.end() && found->is_object() ? *found : json::object();
}

json ParseOrNull(std::string_view text) {
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// "Hbase" as the family says it; what is there besides stays.
void Say(const FamilySchema& family, json& theirs) {
  theirs.erase(kMaxVersions);
  theirs.erase(kTimeToLive);
  if (family.max_versions() != kAllVersions) theirs[kMaxVersions] = family.max_versions();
  if (family.time_to_live() != kForever) theirs[kTimeToLive] = family.time_to_live();
}

void Hear(const json& theirs, FamilySchema& family) {
  const auto versions = Number(theirs, kMaxVersions);
  const bool is_bounded = versions && *versions > 0 && *versions < kAllVersions;
  family.Keep(kVersions, std::to_string(is_bounded ? *versions : kAllVersions));
  const auto ttl = Number(theirs, kTimeToLive);
  const bool ends = ttl && *ttl > 0 && *ttl < kForever;
  if (ends || family.time_to_live() != kForever)
    family.Keep(kTtl, std::to_string(ends ? *ttl : kForever));
}

}  // namespace

void ReadAttributes(std::string_view attributes, FamilySchema& family) {
  const json document = ParseOrNull(attributes);
  if (document.is_object()) Hear(Part(document, kHbase), family);
}

std::string WriteAttributes(const FamilySchema& family, std::string_view before) {
  json document = before.empty() ? json::object() : ParseOrNull(before);
  if (!document.is_object()) document = json::object();
  json theirs = Part(document, kHbase);
  Say(family, theirs);
  if (before.empty() && theirs.empty()) return {};
  document[kHbase] = std::move(theirs);
  return document.dump();
}

std::optional<TableNote> ReadNote(const std::string& family, std::string_view comment) {
  TableNote note{.family = FamilySchema(family)};
  const json document =
      comment.empty() ? json::object() : ParseOrNull(comment);
  if (!document.is_object()) return std::nullopt;
  const json ours = Part(document, "cellfs");
  note.table = AttributesOf(Part(ours, "table"));
  note.id = Number(ours, "id").value_or(0);
  note.is_disabled = ours.value("disabled", json()) == true;
  for (const auto& [name, value] : AttributesOf(Part(ours, "family")))
    note.family.Keep(name, value);
  Hear(Part(document, kHbase), note.family);
  return note;
}

std::string WriteNote(const TableNote& note) {
  json theirs = json::object();
  Say(note.family, theirs);
  Attributes of_family = note.family.attributes();
  of_family.erase(kVersions);
  of_family.erase(kTtl);
  json ours = json::object();
  if (note.id != 0) ours["id"] = note.id;
  if (note.is_disabled) ours["disabled"] = true;
  if (!note.table.empty()) ours["table"] = ObjectOf(note.table);
  if (!of_family.empty()) ours["family"] = ObjectOf(of_family);
  json document = {{kHbase, std::move(theirs)}};
  if (!ours.empty()) document["cellfs"] = std::move(ours);
  return document.dump();
}

}  // namespace cellfs::obkv
