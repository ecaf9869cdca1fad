// SPDX-License-Identifier: MIT
//
// The format is 2 where nothing that was dropped is kept, so that programs that know of no such
// things read it.
//
// {"format": 3, "next_table_id": 3,
//  "namespaces": [{"name": "a", "properties": {...}, "changed": 1000, "created": 1000}],
//  "tables": [{"name": "a:t", "id": 2, "enabled": true, "created": 1000, "attributes": {...},
//              "families": {"f": {"VERSIONS": "3"}}, "splits": ["m"]}],
//  "table_quotas": [{"name": "a:t", "limit": 1000, "policy": "NO_WRITES", "changed": 1000}],
//  "namespace_quotas": [...], "violations": {"a:t": "NO_WRITES"},
//  "past_tables": [{"name": "a:t", ..., "until": 2000}],
//  "past_namespaces": [{"name": "a", ..., "until": 2000}],
//  "dropped_tables": [{"name": "a:t", ..., "dropped": 2000, "with_namespace": 0, "begun": 1000,
//                      "emptied": {"f": 1500}}],
//  "dropped_namespaces": [{"name": "a", ..., "dropped": 2000}],
//  "emptied": {"a:t": {"f": 2000}}, "emptied_forgotten": 0, "begun": {"a:t": 1000},
//  "grants": [{"user": "bob", "permissions": "RW", "table": "a:t", "family": "f", "changed":
//  1000}]}
#include "engine/catalog/catalog_json.h"

#include <nlohmann/json.hpp>

#include "engine/json_bytes.h"
#include "engine/memory_reserve.h"

namespace cellfs {
namespace {

using Json = nlohmann::json;

constexpr int kCatalogFormat = 3;
constexpr int kWithoutDropped = 2;

Json AttributesToJson(const Attributes& attributes) {
  Json json = Json::object();
  for (const auto& [name, value] : attributes) json[BytesToJsonText(name)] = BytesToJsonText(value);
  return json;
}

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

Json EmptiedToJson(const Catalog& catalog) {
  Json json = Json::object();
  for (const auto& [table, families] : catalog.emptied)
    json[BytesToJsonText(table.ToString())] = FamilyTimesToJson(families);
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

Json BegunToJson(const Catalog& catalog) {
  Json json = Json::object();
  for (const auto& [table, time] : catalog.begun) json[BytesToJsonText(table.ToString())] = time;
  return json;
}

// Reads one catalog. The library throws where the JSON has not the form expected; what is wrong
// beyond that is noted, the first of it.
class CatalogReader {
 public:
  Catalog Read(const Json& json) {
    Catalog catalog = NewCatalog();
    catalog.next_table_id = json.at("next_table_id").get<TableId>();
    for (const Json& entry : json.at("namespaces")) {
      CatalogNamespace space = NamespaceFromJson(entry);
      const std::string name = space.value.name;
      catalog.namespaces[name] = std::move(space);
    }
    for (const Json& entry : json.at("tables")) {
      CatalogTable table = TableFromJson(entry);
      catalog.tables.emplace(table.schema->name(), std::move(table));
    }
    for (const Json& entry : json.at("table_quotas")) {
      catalog.table_quotas[ParseTableName(ToBytes(entry.at("name")))] = QuotaFromJson(entry);
    }
    for (const Json& entry : json.at("namespace_quotas")) {
      catalog.namespace_quotas[ToBytes(entry.at("name"))] = QuotaFromJson(entry);
    }
    for (const auto& [name, policy] : json.at("violations").items()) {
      catalog.violations[ParseTableName(ToBytes(name))] = PolicyFromJson(policy);
    }
    for (const Json& entry : json.at("past_tables")) {
      catalog.past_tables.push_back({TableFromJson(entry), entry.at("until").get<Timestamp>()});
    }
    for (const Json& entry : json.at("past_namespaces")) {
      catalog.past_namespaces.push_back(
          {NamespaceFromJson(entry), entry.at("until").get<Timestamp>()});
    }
    ReadEmptied(json, catalog);
    ReadDropped(json, catalog);
    for (const Json& entry : json.at("grants")) catalog.grants.push_back(GrantFromJson(entry));
    return catalog;
  }

  const Status& problem() const { return problem_; }

 private:
  void Note(const Status& status) {
    if (problem_.ok() && !status.ok()) problem_ = {StatusCode::kCorruption, status.message()};
  }

  std::string ToBytes(const Json& json) {
    std::optional<std::string> bytes = JsonTextToBytes(json.get_ref<const std::string&>());
    if (!bytes) Note({StatusCode::kCorruption, "a text holds what is no byte"});
    return std::move(bytes).value_or("");
  }

  Attributes AttributesFromJson(const Json& json) {
    Attributes attributes;
    for (const auto& [name, value] : json.items()) attributes[ToBytes(name)] = ToBytes(value);
    return attributes;
  }

  SpaceViolationPolicy PolicyFromJson(const Json& json) {
    const std::optional<SpaceViolationPolicy> policy = ParsePolicy(json.get<std::string>());
    if (!policy) Note({StatusCode::kCorruption, "unknown policy " + json.dump()});
    return policy.value_or(SpaceViolationPolicy::kNoInserts);
  }

  // Earlier versions of this program have not said when it was made.
  CatalogNamespace NamespaceFromJson(const Json& json) {
    const auto changed = json.at("changed").get<Timestamp>();
    return {{ToBytes(json.at("name")), AttributesFromJson(json.at("properties"))},
            changed,
            json.value("created", changed), json.value("brought_back", Timestamp{0})};
  }

  // Earlier versions of this program have not said it: there it is not known.
  void ReadEmptied(const Json& json, Catalog& catalog) {
    if (!json.contains("emptied")) return;
    for (const auto& [table, families] : json.at("emptied").items())
      catalog.emptied[ParseTableName(ToBytes(table))] = FamilyTimesFromJson(families);
    catalog.emptied_forgotten = json.at("emptied_forgotten").get<Timestamp>();
    if (!json.contains("begun")) return;
    for (const auto& [table, time] : json.at("begun").items())
      catalog.begun[ParseTableName(ToBytes(table))] = time.get<Timestamp>();
  }

  std::map<std::string, Timestamp> FamilyTimesFromJson(const Json& json) {
    std::map<std::string, Timestamp> times;
    for (const auto& [family, time] : json.items()) times[ToBytes(family)] = time.get<Timestamp>();
    return times;
  }

  void ReadDropped(const Json& json, Catalog& catalog) {
    catalog.freed_early = json.value("freed_early", std::vector<std::string>());
    if (!json.contains("dropped_tables")) return;
    for (const Json& entry : json.at("dropped_tables")) {
      CatalogDroppedTable dropped;
      dropped.table = TableFromJson(entry);
      dropped.dropped = entry.at("dropped").get<Timestamp>();
      dropped.with_namespace = entry.at("with_namespace").get<Timestamp>();
      dropped.emptied = FamilyTimesFromJson(entry.at("emptied"));
      dropped.begun = entry.at("begun").get<Timestamp>();
      catalog.dropped_tables.push_back(std::move(dropped));
    }
    for (const Json& entry : json.at("dropped_namespaces")) {
      catalog.dropped_namespaces.push_back(
          {NamespaceFromJson(entry), entry.at("dropped").get<Timestamp>()});
    }
  }

  CatalogTable TableFromJson(const Json& json) {
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

  Stamped<SpaceQuota> QuotaFromJson(const Json& json) {
    return {{json.at("limit").get<int64_t>(), PolicyFromJson(json.at("policy"))},
            json.at("changed").get<Timestamp>()};
  }

  Stamped<Grant> GrantFromJson(const Json& json) {
    GrantScope scope;
    if (json.contains("table")) scope.table = ParseTableName(ToBytes(json["table"]));
    if (json.contains("namespace")) scope.namespace_name = ToBytes(json["namespace"]);
    if (json.contains("family")) scope.family = ToBytes(json["family"]);
    if (json.contains("qualifier")) scope.qualifier = ToBytes(json["qualifier"]);
    return {{ToBytes(json.at("user")), std::move(scope), json.at("permissions").get<std::string>()},
            json.at("changed").get<Timestamp>()};
  }

  Status problem_;
};

}  // namespace

std::string EncodeCatalog(const Catalog& catalog) {
  constexpr size_t kOfEntry = size_t{16} << 10;  // many times what one takes
  constexpr size_t kOfSplitKey = 64;             // likewise
  size_t split_keys = 0;
  for (const auto& [name, table] : catalog.tables) split_keys += table.schema->split_keys.size();
  for (const auto& past : catalog.past_tables) split_keys += past.state.schema->split_keys.size();
  for (const auto& dropped : catalog.dropped_tables)
    split_keys += dropped.table.schema->split_keys.size();
  const MemoryReserve reserve(MemoryReserve::kOfSmallText + kOfSplitKey * split_keys +
                              kOfEntry * (catalog.tables.size() + catalog.namespaces.size() +
                                          catalog.past_tables.size() +
                                          catalog.dropped_tables.size() +
                                          catalog.past_namespaces.size() + catalog.emptied.size() +
                                          catalog.grants.size()));
  const bool has_dropped = !catalog.dropped_tables.empty() || !catalog.dropped_namespaces.empty();
  Json json = {{"format", has_dropped ? kCatalogFormat : kWithoutDropped},
               {"next_table_id", catalog.next_table_id},
               {"namespaces", Json::array()},
               {"tables", Json::array()},
               {"table_quotas", Json::array()},
               {"namespace_quotas", Json::array()},
               {"violations", Json::object()},
               {"past_tables", Json::array()},
               {"past_namespaces", Json::array()},
               {"emptied", EmptiedToJson(catalog)},
               {"emptied_forgotten", catalog.emptied_forgotten},
               {"begun", BegunToJson(catalog)},
               {"grants", Json::array()}};
  for (const auto& [name, space] : catalog.namespaces) {
    json["namespaces"].push_back(NamespaceToJson(space));
  }
  for (const auto& [name, table] : catalog.tables) json["tables"].push_back(TableToJson(table));
  for (const auto& [name, quota] : catalog.table_quotas) {
    json["table_quotas"].push_back(QuotaToJson(name.ToString(), quota));
  }
  for (const auto& [name, quota] : catalog.namespace_quotas) {
    json["namespace_quotas"].push_back(QuotaToJson(name, quota));
  }
  for (const auto& [name, policy] : catalog.violations) {
    json["violations"][BytesToJsonText(name.ToString())] = PolicyName(policy);
  }
  for (const auto& [state, until] : catalog.past_tables) {
    json["past_tables"].push_back(TableToJson(state));
    json["past_tables"].back()["until"] = until;
  }
  for (const auto& [state, until] : catalog.past_namespaces) {
    json["past_namespaces"].push_back(NamespaceToJson(state));
    json["past_namespaces"].back()["until"] = until;
  }
  if (has_dropped) {
    json["dropped_tables"] = json["dropped_namespaces"] = Json::array();
    for (const auto& dropped : catalog.dropped_tables)
      json["dropped_tables"].push_back(DroppedToJson(dropped));
    for (const auto& [space, dropped] : catalog.dropped_namespaces) {
      json["dropped_namespaces"].push_back(NamespaceToJson(space));
      json["dropped_namespaces"].back()["dropped"] = dropped;
    }
  }
  for (const auto& grant : catalog.grants) json["grants"].push_back(GrantToJson(grant));
  if (!catalog.freed_early.empty()) json["freed_early"] = catalog.freed_early;
  return json.dump(1);
}

StatusOr<Catalog> DecodeCatalog(std::string_view bytes) {
  if (bytes.empty()) return NewCatalog();
  try {
    const Json json = Json::parse(bytes);
    const int format = json.at("format").get<int>();
    if (format != kCatalogFormat && format != kWithoutDropped) {
      return Status(StatusCode::kCorruption, "catalog: format " + std::to_string(format) +
                                                 "; this program reads " +
                                                 std::to_string(kWithoutDropped) + " and " +
                                                 std::to_string(kCatalogFormat));
    }
    CatalogReader reader;
    Catalog catalog = reader.Read(json);
    if (reader.problem().ok()) return catalog;
    return Status(StatusCode::kCorruption, "catalog: " + reader.problem().message());
  } catch (const Json::exception& error) {
    return Status(StatusCode::kCorruption, std::string("catalog: ") + error.what());
  }
}

}  // namespace cellfs
