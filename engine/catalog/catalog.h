// SPDX-License-Identifier: MIT
//
// Catalog: all that a store knows besides cells: namespaces, tables, quotas, rights. A value: an
// administrator's act makes a changed copy, saves it, and only then puts it in force, so that an
// act that fails has changed nothing.
#ifndef CELLFS_ENGINE_CATALOG_CATALOG_H_
#define CELLFS_ENGINE_CATALOG_CATALOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/admin.h"
#include "engine/schema.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

// A thing and when it was last set, by the store's clock.
template <typename T>
struct Stamped {
  T value;
  Timestamp changed = 0;
};

// A state that has ended.
template <typename T>
struct Past {
  T state;
  Timestamp until = 0;  // not in it any more
};

struct CatalogNamespace {
  NamespaceSchema value;
  Timestamp changed = 0;
  Timestamp created = 0;
  Timestamp brought_back = 0;  // as of a table
};

struct CatalogTable {
  TableId id = 0;
  std::shared_ptr<const TableSchema> schema;
  bool enabled = true;
  Timestamp created = 0;
  Timestamp brought_back = 0;  // when it had been dropped, last; 0: it never was
};

// A table that was dropped and is kept (engine/catalog/dropped.h), with what `emptied` and `begun`
// said of its name.
struct CatalogDroppedTable {
  CatalogTable table;
  Timestamp dropped = 0;
  Timestamp with_namespace = 0;  // when that was dropped; 0: it is there
  std::map<std::string, Timestamp> emptied;
  Timestamp begun = 0;
};

struct CatalogDroppedNamespace {
  CatalogNamespace space;
  Timestamp dropped = 0;
};

struct Catalog {
  uint64_t document = 0;  // so often it has been saved whole: no two documents are the same
  TableId next_table_id = 1;
  std::map<std::string, CatalogNamespace> namespaces;  // `default` and `hbase` are always there
  std::map<TableName, CatalogTable> tables;            // but for those of `hbase`
  std::map<TableName, Stamped<SpaceQuota>> table_quotas;
  std::map<std::string, Stamped<SpaceQuota>> namespace_quotas;
  std::map<TableName, SpaceViolationPolicy> violations;  // in force since the last check
  std::vector<Stamped<Grant>> grants;                    // one for each user and scope
  // In the order of the drops, at times of which no two are the same.
  std::vector<CatalogDroppedTable> dropped_tables;
  std::vector<CatalogDroppedNamespace> dropped_namespaces;
  std::vector<std::string> freed_early;  // of these, what had to go, and why; the newest last
  // Bounded, the oldest end first (engine/catalog/catalog_history.h).
  std::vector<Past<CatalogTable>> past_tables;
  std::vector<Past<CatalogNamespace>> past_namespaces;
  // When all cells of a family were last thrown away, by table and family, "" for every family
  // (engine/catalog/emptied.h). Also of tables and families that are not there now.
  std::map<TableName, std::map<std::string, Timestamp>> emptied;
  // When the first table of the name was made, where that is known; of names that `emptied` has.
  std::map<TableName, Timestamp> begun;
  Timestamp emptied_forgotten = 0;  // up to when such times of dropped tables may be missing
};

// With the two namespaces that always exist.
Catalog NewCatalog();

// Tables of a namespace, in order.
std::vector<const CatalogTable*> TablesOf(const Catalog& catalog,
                                          const std::string& namespace_name);

// Adds the letters of `grant` to what its user has at its scope (merge) or replaces them.
void AddGrant(Catalog& catalog, const Grant& grant, bool merge, Timestamp now);

// Of a grant that the catalog has now and had not before: those of one table, of one namespace, or
// of the whole store, together.
inline constexpr size_t kMaxGrantBytes = size_t{1} << 20;
Status CheckGrantLimit(const Catalog& catalog, const GrantScope& scope);

// Takes the table and all that is said of it (quota, violation, grants) out.
void EraseTable(Catalog& catalog, const TableName& table);
void EraseNamespace(Catalog& catalog, const std::string& name);
// The table, with `schema`, which bears its new name, and all that is said of it are of that name.
void MoveTable(Catalog& catalog, const TableName& table, std::shared_ptr<const TableSchema> schema);

// What TableDescriptorChecker asks of a table: names, at least one family, rules between
// attributes, split keys ascending and not empty.
Status CheckSchema(const TableSchema& schema);

// What it has to be told in: names, values and, apart from these, split keys.
size_t BytesBesideSplitKeys(const TableSchema& schema);
size_t BytesOfSplitKeys(const TableSchema& schema);

// Of a schema that is to follow `before` (null: none): each save of a catalog writes those of all
// tables. One that is over it already may stay so, but not grow.
inline constexpr size_t kMaxRegionsOfTable = 10'000;
inline constexpr size_t kMaxSchemaBytes = size_t{1} << 20;
Status CheckSchemaLimits(const TableSchema& schema, const TableSchema* before);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_CATALOG_H_
