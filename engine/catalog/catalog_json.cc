// SPDX-License-Identifier: MIT
//
// {"format": 3, "document": 12, "next_table_id": 3,
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
//
// An edit has of each section the entries that are new or other, and under "gone" the names of
// those that are no more; of a list "gone" has their places, and "at" the places that the entries
// have in the list afterwards:
//
// {"next_table_id": 4, "tables": [{"name": "a:u", ...}], "grants": [{...}],
//  "gone": {"tables": ["a:t"], "grants": [2]}, "at": {"grants": [7]}}
#include "engine/catalog/catalog_json.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_entries.h"
#include "engine/json_bytes.h"
#include "engine/memory_reserve.h"

namespace cellfs {
namespace {

using Json = nlohmann::json;

constexpr int kCatalogFormat = 3;
constexpr int kOldestFormat = 2;
// Other sections came later.
constexpr const char* kOfAllDocuments[] = {
    "next_table_id", "namespaces",  "tables",          "table_quotas", "namespace_quotas",
    "violations",    "past_tables", "past_namespaces", "grants"};

template <typename T>
Json PastToJson(Json state, const Past<T>& past) {
  state["until"] = past.until;
  return state;
}

// ---- Writing ------------------------------------------------------------------------------------

std::string TextOf(const TableName& table) { return BytesToJsonText(table.ToString()); }
std::string TextOf(const std::string& name) { return BytesToJsonText(name); }

// What is other in `after` than in `before`, section by section.
class CatalogWriter {
 public:
  CatalogWriter(const Catalog& before, const Catalog& after) : before_(before), after_(after) {}

  // All of them, also what is empty.
  Json Document() {
    is_document_ = true;
    json_["format"] = kCatalogFormat;
    json_["document"] = after_.document;
    WriteSections();
    return std::move(json_);
  }

  Json Edit() {
    WriteSections();
    return std::move(json_);
  }

 private:
  void WriteSections() {
    if (is_document_ || before_.next_table_id != after_.next_table_id)
      json_["next_table_id"] = after_.next_table_id;
    if (is_document_ || before_.emptied_forgotten != after_.emptied_forgotten)
      json_["emptied_forgotten"] = after_.emptied_forgotten;
    Entries("namespaces", &Catalog::namespaces,
            [](const auto& entry) { return NamespaceToJson(entry.second); });
    Entries("tables", &Catalog::tables,
            [](const auto& entry) { return TableToJson(entry.second); });
    Entries("table_quotas", &Catalog::table_quotas, [](const auto& entry) {
      return QuotaToJson(entry.first.ToString(), entry.second);
    });
    Entries("namespace_quotas", &Catalog::namespace_quotas,
            [](const auto& entry) { return QuotaToJson(entry.first, entry.second); });
    Members("violations", &Catalog::violations,
            [](SpaceViolationPolicy policy) { return Json(PolicyName(policy)); });
    Members("emptied", &Catalog::emptied, FamilyTimesToJson);
    Members("begun", &Catalog::begun, [](Timestamp time) { return Json(time); });
    List("past_tables", &Catalog::past_tables,
         [](const auto& past) { return PastToJson(TableToJson(past.state), past); });
    List("past_namespaces", &Catalog::past_namespaces,
         [](const auto& past) { return PastToJson(NamespaceToJson(past.state), past); });
    List("dropped_tables", &Catalog::dropped_tables, DroppedToJson);
    List("dropped_namespaces", &Catalog::dropped_namespaces, DroppedNamespaceToJson);
    List("freed_early", &Catalog::freed_early, [](const std::string& why) { return Json(why); });
    List("grants", &Catalog::grants, GrantToJson);
  }

  template <typename Map>
  void NoteGone(const char* section, const MapChange<Map>& change) {
    for (const auto* const key : change.gone) json_["gone"][section].push_back(TextOf(*key));
  }

  // A map whose entries say their names.
  template <typename Map, typename ToJson>
  void Entries(const char* section, Map Catalog::* map, const ToJson& to_json) {
    if (is_document_) json_[section] = Json::array();
    const auto change = ChangeOf(before_.*map, after_.*map);
    for (const auto* const entry : change.entries) json_[section].push_back(to_json(*entry));
    NoteGone(section, change);
  }

  // One whose entries stand under their names.
  template <typename Map, typename ToJson>
  void Members(const char* section, Map Catalog::* map, const ToJson& to_json) {
    if (is_document_) json_[section] = Json::object();
    const auto change = ChangeOf(before_.*map, after_.*map);
    for (const auto* const entry : change.entries)
      json_[section][TextOf(entry->first)] = to_json(entry->second);
    NoteGone(section, change);
  }

  template <typename T, typename ToJson>
  void List(const char* section, std::vector<T> Catalog::* list, const ToJson& to_json) {
    if (is_document_) json_[section] = Json::array();
    const ListChange change = ChangeOf(before_.*list, after_.*list);
    for (const size_t place : change.came) json_[section].push_back(to_json((after_.*list)[place]));
    if (is_document_) return;
    if (!change.gone.empty()) json_["gone"][section] = change.gone;
    if (!change.came.empty()) json_["at"][section] = change.came;
  }

  const Catalog& before_;
  const Catalog& after_;
  bool is_document_ = false;
  Json json_ = Json::object();
};

// Many times what the text of all that is other takes.
size_t MemoryFor(const Catalog& before, const Catalog& after) {
  constexpr size_t kOfEntry = size_t{16} << 10;
  constexpr size_t kOfSplitKey = 64;
  size_t entries = 0;
  size_t split_keys = 0;
  const auto of_table = [&](const CatalogTable& table) {
    split_keys += table.schema->split_keys.size();
  };
  const auto tables = ChangeOf(before.tables, after.tables);
  for (const auto* const table : tables.entries) of_table(table->second);
  const ListChange past = ChangeOf(before.past_tables, after.past_tables);
  for (const size_t place : past.came) of_table(after.past_tables[place].state);
  const ListChange dropped = ChangeOf(before.dropped_tables, after.dropped_tables);
  for (const size_t place : dropped.came) of_table(after.dropped_tables[place].table);
  entries += tables.entries.size() + past.came.size() + dropped.came.size();
  entries += ChangeOf(before.namespaces, after.namespaces).entries.size();
  entries += ChangeOf(before.past_namespaces, after.past_namespaces).came.size();
  entries += ChangeOf(before.emptied, after.emptied).entries.size();
  entries += ChangeOf(before.grants, after.grants).came.size();
  return MemoryReserve::kOfSmallText + kOfSplitKey * split_keys + kOfEntry * entries;
}

// ---- Reading ------------------------------------------------------------------------------------

// Throws, and notes, as CatalogEntryReader.
class CatalogReader {
 public:
  Catalog ReadDocument(const Json& json) {
    for (const char* const section : kOfAllDocuments) static_cast<void>(json.at(section));
    Catalog catalog = NewCatalog();
    catalog.document = json.value("document", catalog.document);
    Apply(json, catalog);
    return catalog;
  }

  // What the document, or the edit, has.
  void Apply(const Json& json, Catalog& catalog) {
    catalog.next_table_id = json.value("next_table_id", catalog.next_table_id);
    catalog.emptied_forgotten = json.value("emptied_forgotten", catalog.emptied_forgotten);
    const auto to_table = [this](const std::string& text) {
      return ParseTableName(entry_.ToBytes(text));
    };
    const auto to_bytes = [this](const std::string& text) { return entry_.ToBytes(text); };
    Entries(json, "namespaces", to_bytes, catalog.namespaces,
            [&](const Json& entry) { return entry_.NamespaceFromJson(entry); });
    Entries(json, "tables", to_table, catalog.tables,
            [&](const Json& entry) { return entry_.TableFromJson(entry); });
    Entries(json, "table_quotas", to_table, catalog.table_quotas,
            [&](const Json& entry) { return entry_.QuotaFromJson(entry); });
    Entries(json, "namespace_quotas", to_bytes, catalog.namespace_quotas,
            [&](const Json& entry) { return entry_.QuotaFromJson(entry); });
    Members(json, "violations", to_table, catalog.violations,
            [&](const Json& policy) { return entry_.PolicyFromJson(policy); });
    Members(json, "emptied", to_table, catalog.emptied,
            [&](const Json& families) { return entry_.FamilyTimesFromJson(families); });
    Members(json, "begun", to_table, catalog.begun,
            [](const Json& time) { return time.get<Timestamp>(); });
    List(json, "past_tables", catalog.past_tables, [&](const Json& entry) {
      return Past<CatalogTable>{entry_.TableFromJson(entry), entry.at("until").get<Timestamp>()};
    });
    List(json, "past_namespaces", catalog.past_namespaces, [&](const Json& entry) {
      return Past<CatalogNamespace>{entry_.NamespaceFromJson(entry),
                                    entry.at("until").get<Timestamp>()};
    });
    List(json, "dropped_tables", catalog.dropped_tables,
         [&](const Json& entry) { return entry_.DroppedFromJson(entry); });
    List(json, "dropped_namespaces", catalog.dropped_namespaces, [&](const Json& entry) {
      return CatalogDroppedNamespace{entry_.NamespaceFromJson(entry),
                                     entry.at("dropped").get<Timestamp>()};
    });
    List(json, "freed_early", catalog.freed_early,
         [](const Json& why) { return why.get<std::string>(); });
    List(json, "grants", catalog.grants,
         [&](const Json& entry) { return entry_.GrantFromJson(entry); });
  }

  const Status& problem() const { return entry_.problem(); }

 private:
  template <typename Map, typename ToKey>
  void RemoveGone(const Json& json, const char* section, const ToKey& to_key, Map& map) {
    if (!json.contains("gone") || !json["gone"].contains(section)) return;
    for (const Json& name : json["gone"][section]) map.erase(to_key(name.get<std::string>()));
  }

  template <typename Map, typename ToKey, typename FromJson>
  void Entries(const Json& json, const char* section, const ToKey& to_key, Map& map,
               const FromJson& from_json) {
    RemoveGone(json, section, to_key, map);
    if (!json.contains(section)) return;
    for (const Json& entry : json[section])
      map.insert_or_assign(to_key(entry.at("name").get<std::string>()), from_json(entry));
  }

  template <typename Map, typename ToKey, typename FromJson>
  void Members(const Json& json, const char* section, const ToKey& to_key, Map& map,
               const FromJson& from_json) {
    RemoveGone(json, section, to_key, map);
    if (!json.contains(section)) return;
    for (const auto& [name, entry] : json[section].items())
      map.insert_or_assign(to_key(name), from_json(entry));
  }

  template <typename T, typename FromJson>
  void List(const Json& json, const char* section, std::vector<T>& list,
            const FromJson& from_json) {
    std::vector<size_t> gone;
    if (json.contains("gone")) gone = json["gone"].value(section, gone);
    for (auto place = gone.rbegin(); place != gone.rend(); ++place) {
      if (!IsPlace(*place, list.size())) return;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(*place));
    }
    if (!json.contains(section)) return;
    std::vector<size_t> at;
    if (json.contains("at")) at = json["at"].value(section, at);
    for (size_t i = 0; i < json[section].size(); ++i) {
      const size_t place = i < at.size() ? at[i] : list.size();
      if (!IsPlace(place, list.size() + 1)) return;
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), from_json(json[section][i]));
    }
  }

  bool IsPlace(size_t place, size_t end) {
    if (place < end) return true;
    entry_.Note({StatusCode::kCorruption, "an edit names place " + std::to_string(place) + " of " +
                                       std::to_string(end)});
    return false;
  }

  CatalogEntryReader entry_;
};

}  // namespace

std::string EncodeCatalog(const Catalog& catalog) {
  const Catalog nothing;
  const MemoryReserve reserve(MemoryFor(nothing, catalog));
  return CatalogWriter(nothing, catalog).Document().dump(1);
}

std::string EncodeCatalogEdit(const Catalog& before, const Catalog& after) {
  const MemoryReserve reserve(MemoryFor(before, after));
  return CatalogWriter(before, after).Edit().dump();
}

StatusOr<Catalog> DecodeCatalog(const SavedCatalog& saved) {
  if (saved.document.empty() && saved.edits.empty()) return NewCatalog();
  try {
    CatalogReader reader;
    Catalog catalog = NewCatalog();
    if (!saved.document.empty()) {
      const Json json = Json::parse(saved.document);
      const int format = json.at("format").get<int>();
      if (format != kCatalogFormat && format != kOldestFormat) {
        return Status(StatusCode::kCorruption,
                      "catalog: format " + std::to_string(format) + "; this program reads " +
                          std::to_string(kOldestFormat) + " and " +
                          std::to_string(kCatalogFormat));
      }
      catalog = reader.ReadDocument(json);
    }
    for (const std::string& edit : saved.edits) reader.Apply(Json::parse(edit), catalog);
    if (reader.problem().ok()) return catalog;
    return Status(StatusCode::kCorruption,
                  "catalog: " + reader.problem().message() + "; " + kRemedyOfCatalog);
  } catch (const Json::exception& error) {
    return Status(StatusCode::kCorruption,
                  std::string("catalog: ") + error.what() + "; " + kRemedyOfCatalog);
  }
}

}  // namespace cellfs
