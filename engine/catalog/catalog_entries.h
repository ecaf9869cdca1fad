// SPDX-License-Identifier: MIT
//
// The entries of a catalog as JSON. catalog_json.cc shows what they look like.
#ifndef CELLFS_ENGINE_CATALOG_CATALOG_ENTRIES_H_
#define CELLFS_ENGINE_CATALOG_CATALOG_ENTRIES_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/catalog/catalog.h"
#include "engine/status_or.h"

namespace cellfs {

nlohmann::json TableToJson(const CatalogTable& table);
nlohmann::json NamespaceToJson(const CatalogNamespace& space);
nlohmann::json QuotaToJson(const std::string& name, const Stamped<SpaceQuota>& quota);
nlohmann::json GrantToJson(const Stamped<Grant>& grant);
nlohmann::json FamilyTimesToJson(const std::map<std::string, Timestamp>& families);
nlohmann::json DroppedToJson(const CatalogDroppedTable& dropped);
nlohmann::json DroppedNamespaceToJson(const CatalogDroppedNamespace& dropped);

// The library throws where the JSON has not the form expected; what is wrong beyond that is noted.
class CatalogEntryReader {
 public:
  std::string ToBytes(const std::string& text);
  SpaceViolationPolicy PolicyFromJson(const nlohmann::json& json);
  CatalogNamespace NamespaceFromJson(const nlohmann::json& json);
  std::map<std::string, Timestamp> FamilyTimesFromJson(const nlohmann::json& json);
  CatalogTable TableFromJson(const nlohmann::json& json);
  CatalogDroppedTable DroppedFromJson(const nlohmann::json& json);
  Stamped<SpaceQuota> QuotaFromJson(const nlohmann::json& json);
  Stamped<Grant> GrantFromJson(const nlohmann::json& json);

  void Note(const Status& status);
  // The first that was noted.
  const Status& problem() const { return problem_; }

 private:
  std::string ToBytes(const nlohmann::json& json);
  Attributes AttributesFromJson(const nlohmann::json& json);

  Status problem_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_CATALOG_ENTRIES_H_
