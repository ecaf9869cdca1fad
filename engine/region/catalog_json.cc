// SPDX-License-Identifier: MIT
//
// {"format": 1, "next_table_id": 3,
//  "namespaces": [{"name": "a", "properties": {...}, "changed": 1000}],
//  "tables": [{"name": "a:t", "id": 2, "enabled": true, "created": 1000, "attributes": {...},
//              "families": {"f": {"VERSIONS": "3"}}, "splits": ["m"]}],
//  "table_quotas": [{"name": "a:t", "limit": 1000, "policy": "NO_WRITES", "changed": 1000}],
//  "namespace_quotas": [...], "violations": {"a:t": "NO_WRITES"},
//  "grants": [{"user": "bob", "permissions": "RW", "table": "a:t", "family": "f", "changed":
//  1000}]}
#include "engine/region/catalog_json.h"

#include <nlohmann/json.hpp>

namespace cellfs {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

std::string ToText(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text.push_back(static_cast<char>(0xc0 | byte >> 6));
    text.push_back(static_cast<char>(byte < 0x80 ? byte : 0x80 | (byte & 0x3f)));
  }
  return text;
}

Json AttributesToJson(const Attributes& attributes) {
  Json json = Json::object();
  for (const auto& [name, value] : attributes) json[ToText(name)] = ToText(value);
  return json;
}

Json TableToJson(const CatalogTable& table) {
  Json families = Json::object();
  for (const auto& [name, family] : table.schema->families) {
    families[ToText(name)] = AttributesToJson(family.attributes());
  }
  Json splits = Json::array();
  for (const std::string& key : table.schema->split_keys) splits.push_back(ToText(key));
  return {{"name", ToText(table.schema->name().ToString())},
          {"id", table.id},
          {"enabled", table.enabled},
          {"created", table.created},
          {"attributes", AttributesToJson(table.schema->attributes())},
          {"families", std::move(families)},
          {"splits", std::move(splits)}};
}

Json QuotaToJson(const std::string& name, const Stamped<SpaceQuota>& quota) {
  return {{"name", ToText(name)},
          {"limit", quota.value.limit},
          {"policy", PolicyName(quota.value.policy)},
          {"changed", quota.changed}};
}

Json GrantToJson(const Stamped<Grant>& grant) {
  const GrantScope& scope = grant.value.scope;
  Json json = {{"user", ToText(grant.value.user)},
               {"permissions", grant.value.permissions},
               {"changed", grant.changed}};
  if (scope.table) json["table"] = ToText(scope.table->ToString());
  if (!scope.namespace_name.empty()) json["namespace"] = ToText(scope.namespace_name);
  if (!scope.family.empty()) json["family"] = ToText(scope.family);
  if (scope.qualifier) json["qualifier"] = ToText(*scope.qualifier);
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
      const std::string name = ToBytes(entry.at("name"));
      catalog.namespaces[name] = {{name, AttributesFromJson(entry.at("properties"))},
                                  entry.at("changed").get<Timestamp>()};
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
    for (const Json& entry : json.at("grants")) catalog.grants.push_back(GrantFromJson(entry));
    return catalog;
  }

  const Status& problem() const { return problem_; }

 private:
  void Note(const Status& status) {
    if (problem_.ok() && !status.ok()) problem_ = {StatusCode::kCorruption, status.message()};
  }

  std::string ToBytes(const Json& json) {
    const auto& text = json.get_ref<const std::string&>();
    std::string bytes;
    for (size_t i = 0; i < text.size(); ++i) {
      const auto lead = static_cast<unsigned char>(text[i]);
      if (lead < 0x80) {
        bytes.push_back(text[i]);
      } else if ((lead == 0xc2 || lead == 0xc3) && i + 1 < text.size()) {
        bytes.push_back(static_cast<char>((lead & 3) << 6 | (text[++i] & 0x3f)));
      } else {
        Note({StatusCode::kCorruption, "a text holds what is no byte"});
      }
    }
    return bytes;
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
    return {json.at("id").get<TableId>(), std::move(schema), json.at("enabled").get<bool>(),
            json.at("created").get<Timestamp>()};
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
  Json json = {{"format", kFormat},
               {"next_table_id", catalog.next_table_id},
               {"namespaces", Json::array()},
               {"tables", Json::array()},
               {"table_quotas", Json::array()},
               {"namespace_quotas", Json::array()},
               {"violations", Json::object()},
               {"grants", Json::array()}};
  for (const auto& [name, space] : catalog.namespaces) {
    json["namespaces"].push_back({{"name", ToText(name)},
                                  {"properties", AttributesToJson(space.value.properties)},
                                  {"changed", space.changed}});
  }
  for (const auto& [name, table] : catalog.tables) json["tables"].push_back(TableToJson(table));
  for (const auto& [name, quota] : catalog.table_quotas) {
    json["table_quotas"].push_back(QuotaToJson(name.ToString(), quota));
  }
  for (const auto& [name, quota] : catalog.namespace_quotas) {
    json["namespace_quotas"].push_back(QuotaToJson(name, quota));
  }
  for (const auto& [name, policy] : catalog.violations) {
    json["violations"][ToText(name.ToString())] = PolicyName(policy);
  }
  for (const auto& grant : catalog.grants) json["grants"].push_back(GrantToJson(grant));
  return json.dump(1);
}

StatusOr<Catalog> DecodeCatalog(std::string_view bytes) {
  if (bytes.empty()) return NewCatalog();
  try {
    const Json json = Json::parse(bytes);
    const int format = json.at("format").get<int>();
    if (format != kFormat) {
      return Status(StatusCode::kCorruption, "catalog: format " + std::to_string(format) +
                                                 "; this program reads " + std::to_string(kFormat));
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
