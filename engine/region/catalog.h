// SPDX-License-Identifier: MIT
//
// Catalog: all that a store knows besides cells: namespaces, tables, quotas, rights. A value: an
// administrator's act makes a changed copy, saves it, and only then puts it in force, so that an
// act that fails has changed nothing.
#ifndef CELLFS_ENGINE_REGION_CATALOG_H_
#define CELLFS_ENGINE_REGION_CATALOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/admin.h"
#include "engine/region/storage_engine.h"
#include "engine/schema.h"

namespace cellfs {

// A thing and when it was last set, by the store's clock.
template <typename T>
struct Stamped {
  T value;
  Timestamp changed = 0;
};

struct CatalogTable {
  TableId id = 0;
  std::shared_ptr<const TableSchema> schema;
  bool enabled = true;
  Timestamp created = 0;
  Timestamp changed = 0;  // since when it is as it is
};

// What was in force from its `changed` to `until`, not including it.
struct PastTable {
  CatalogTable table;
  Timestamp until = 0;
};
struct PastNamespace {
  Stamped<NamespaceSchema> space;
  Timestamp until = 0;
};

struct Catalog {
  TableId next_table_id = 1;
  std::map<std::string, Stamped<NamespaceSchema>>
      namespaces;                            // `default` and `hbase` are always there
  std::map<TableName, CatalogTable> tables;  // but for those of `hbase`
  std::map<TableName, Stamped<SpaceQuota>> table_quotas;
  std::map<std::string, Stamped<SpaceQuota>> namespace_quotas;
  std::map<TableName, SpaceViolationPolicy> violations;  // in force since the last check
  std::vector<Stamped<Grant>> grants;                    // one for each user and scope
  // Ascending by `until`. What never changed is not here, so that a store with few changes saves as
  // little as it would without.
  std::vector<PastTable> past_tables;
  std::vector<PastNamespace> past_namespaces;
};

// With the two namespaces that always exist.
Catalog NewCatalog();

// Tables of a namespace, in order.
std::vector<const CatalogTable*> TablesOf(const Catalog& catalog,
                                          const std::string& namespace_name);

// Adds the letters of `grant` to what its user has at its scope (merge) or replaces them.
void AddGrant(Catalog& catalog, const Grant& grant, bool merge, Timestamp now);

// Takes the table and all that is said of it (quota, violation, grants) out.
void EraseTable(Catalog& catalog, const TableName& table);
void EraseNamespace(Catalog& catalog, const std::string& name);

// ---- The past ---------------------------------------------------------------------------------

// Each save writes the whole catalog, so the past of one table or namespace (by id or name) and of
// all of them is bounded; the oldest goes first. A table altered by a script loses its own past
// before that of others, and a full past of small schemas adds some hundred KiB to a save.
inline constexpr size_t kMostPastOfOne = 32;
inline constexpr size_t kMostPast = 1024;
// The past is kept at least as long as a family of the shipped defaults keeps what was deleted.
inline constexpr int64_t kLeastPastSeconds = 30 * 24 * 60 * 60;

// `after` takes the place of `before` at this time: notes in it what of `before` is past by that,
// with the past of `before`.
void RecordChanges(const Catalog& before, Catalog& after, Timestamp now);
// Forgets what no family can show any more (the longest DELETED_TTL of today and then), and what is
// above the bounds.
void PrunePast(Catalog& catalog, Timestamp now);

// As it was then, as far as that is kept, by name; the tables of `hbase` are in no catalog.
std::vector<CatalogTable> TablesAt(const Catalog& catalog, const std::string& namespace_name,
                                   Timestamp time);
std::vector<NamespaceSchema> NamespacesAt(const Catalog& catalog, Timestamp time);

// What TableDescriptorChecker asks of a table: names, at least one family, rules between
// attributes, split keys ascending and not empty.
Status CheckSchema(const TableSchema& schema);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REGION_CATALOG_H_
