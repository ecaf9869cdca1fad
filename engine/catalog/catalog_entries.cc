// SPDX-License-Identifier: MIT
#include "engine/catalog/catalog_entries.h"

#include "engine/json_bytes.h"

namespace cellfs {

using Json = nlohmann::json;

// ---- To JSON ------------------------------------------------------------------------------------

namespace {

Json AttributesToJson(const Attributes& attributes) {
  Json json = Json::object();
  for (const auto& [name, value] : attributes) json[BytesToJsonText(name)] = BytesToJsonText(value);
  return json;
}

}  // namespace

Json TableToJson(const CatalogTable& table) {
  Json families = Json::object();
  for (const auto& [name, family] : table.schema->families) {
    families[BytesToJsonText(name)] = AttributesToJson(family.attributes());
  }
  Json splits = Json::array();
  for (const std::string& key : table.schema->split_keys) splits.push_back(BytesToJsonText(key));
  Json json = {{"name", BytesToJsonText(table.schema->name().ToString())},
               {"id", table.id},
               {"enabled", table.enabled},
               {"created", table.created},
               {"attributes", AttributesToJson(table.schema->attributes())},
               {"families", std::move(families)},
               {"splits", std::move(splits)}};
  if (table.brought_back != 0) json["brought_back"] = table.brought_back;
  return json;
}

Json NamespaceToJson(const CatalogNamespace& space) {
  Json json = {{"name", BytesToJsonText(space.value.name)},
               {"properties", AttributesToJson(space.value.properties)},
               {"changed", space.changed},
               {"created", space.created}};
  if (space.brought_back != 0) json["brought_back"] = space.brought_back;
  return json;
}

Json QuotaToJson(const std::string& name, const Stamped<SpaceQuota>& quota) {
  return {{"name", BytesToJsonText(name)},
          {"limit", quota.value.limit},
          {"policy", PolicyName(quota.value.policy)},
          {"changed", quota.changed}};
}

Json GrantToJson(const Stamped<Grant>& grant) {
  const GrantScope& scope = grant.value.scope;
  Json json = {{"user", BytesToJsonText(grant.value.user)},
               {"permissions", grant.value.permissions},
               {"changed", grant.changed}};
  if (scope.table) json["table"] = BytesToJsonText(scope.table->ToString());
  if (!scope.namespace_name.empty()) json["namespace"] = BytesToJsonText(scope.namespace_name);
  if (!scope.family.empty()) json["family"] = BytesToJsonText(scope.family);
  if (scope.qualifier) json["qualifier"] = BytesToJsonText(*scope.qualifier);
  return json;
}

Json FamilyTimesToJson(const std::map<std::string, Timestamp>& families) {
  Json json = Json::object();
  for (const auto& [family, time] : families) json[BytesToJsonText(family)] = time;
  return json;
}

Json DroppedToJson(const CatalogDroppedTable& dropped) {
  Json json = TableToJson(dropped.table);
  json["dropped"] = dropped.dropped;
  json["with_namespace"] = dropped.with_namespace;
  json["begun"] = dropped.begun;
  json["emptied"] = FamilyTimesToJson(dropped.emptied);
  return json;
}

Json DroppedNamespaceToJson(const CatalogDroppedNamespace& dropped) {
  Json json = NamespaceToJson(dropped.space);
  json["dropped"] = dropped.dropped;
  return json;
}

// ---- From JSON ----------------------------------------------------------------------------------

void CatalogEntryReader::Note(const Status& status) {
  if (problem_.ok() && !status.ok()) problem_ = {StatusCode::kCorruption, status.message()};
}

std::string CatalogEntryReader::ToBytes(const Json& json) {
  return ToBytes(json.get_ref<const std::string&>());
}

std::string CatalogEntryReader::ToBytes(const std::string& text) {
  std::optional<std::string> bytes = JsonTextToBytes(text);
  if (!bytes) Note({StatusCode::kCorruption, "a text holds what is no byte"});
  return std::move(bytes).value_or("");
}

Attributes CatalogEntryReader::AttributesFromJson(const Json& json) {
  Attributes attributes;
  for (const auto& [name, value] : json.items()) attributes[ToBytes(name)] = ToBytes(value);
  return attributes;
}

SpaceViolationPolicy CatalogEntryReader::PolicyFromJson(const Json& json) {
  const std::optional<SpaceViolationPolicy> policy = ParsePolicy(json.get<std::string>());
  if (!policy) Note({StatusCode::kCorruption, "unknown policy " + json.dump()});
  return policy.value_or(SpaceViolationPolicy::kNoInserts);
}

// Earlier versions of this program have not said when it was made.
CatalogNamespace CatalogEntryReader::NamespaceFromJson(const Json& json) {
  const auto changed = json.at("changed").get<Timestamp>();
  return {{ToBytes(json.at("name")), AttributesFromJson(json.at("properties"))},
          changed,
          json.value("created", changed), json.value("brought_back", Timestamp{0})};
}

std::map<std::string, Timestamp> CatalogEntryReader::FamilyTimesFromJson(const Json& json) {
  std::map<std::string, Timestamp> times;
  for (const auto& [family, time] : json.items()) times[ToBytes(family)] = time.get<Timestamp>();
  return times;
}

CatalogDroppedTable CatalogEntryReader::DroppedFromJson(const Json& entry) {
  CatalogDroppedTable dropped;
  dropped.table = TableFromJson(entry);
  dropped.dropped = entry.at("dropped").get<Timestamp>();
  dropped.with_namespace = entry.at("with_namespace").get<Timestamp>();
  dropped.emptied = FamilyTimesFromJson(entry.at("emptied"));
  dropped.begun = entry.at("begun").get<Timestamp>();
  return dropped;
}

CatalogTable CatalogEntryReader::TableFromJson(const Json& json) {
  auto schema = std::make_shared<TableSchema>(ParseTableName(ToBytes(json.at("name"))));
  for (const auto& [name, value] : AttributesFromJson(json.at("attributes"))) {
    Note(schema->Set(name, value));
  }
  for (const auto& [name, attributes] : json.at("families").items()) {
    FamilySchema family(ToBytes(name));
    for (const auto& [attribute, value] : AttributesFromJson(attributes)) {
      Note(family.Set(attribute, value));
    }
    schema->families.emplace(family.name(), family);
  }
  for (const Json& key : json.at("splits")) schema->split_keys.push_back(ToBytes(key));
  Note(CheckSchema(*schema));
  const TableId id = json.at("id").get<TableId>();
  schema->set_id(id);
  return {id, std::move(schema), json.at("enabled").get<bool>(),
          json.at("created").get<Timestamp>(), json.value("brought_back", Timestamp{0})};
}

Stamped<SpaceQuota> CatalogEntryReader::QuotaFromJson(const Json& json) {
  return {{json.at("limit").get<int64_t>(), PolicyFromJson(json.at("policy"))},
          json.at("changed").get<Timestamp>()};
}

Stamped<Grant> CatalogEntryReader::GrantFromJson(const Json& json) {
  GrantScope scope;
  if (json.contains("table")) scope.table = ParseTableName(ToBytes(json["table"]));
  if (json.contains("namespace")) scope.namespace_name = ToBytes(json["namespace"]);
  if (json.contains("family")) scope.family = ToBytes(json["family"]);
  if (json.contains("qualifier")) scope.qualifier = ToBytes(json["qualifier"]);
  return {{ToBytes(json.at("user")), std::move(scope), json.at("permissions").get<std::string>()},
          json.at("changed").get<Timestamp>()};
}

}  // namespace cellfs
