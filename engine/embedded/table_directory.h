// SPDX-License-Identifier: MIT
//
// TableDirectory: the catalog in force and the open tables, as every operation finds them. Both are
// immutable and replaced together, so that a look-up holds its lock for a search and a copied
// pointer, and an administrator's act on one table holds up nobody on another.
#ifndef CELLFS_ENGINE_EMBEDDED_TABLE_DIRECTORY_H_
#define CELLFS_ENGINE_EMBEDDED_TABLE_DIRECTORY_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/snapshot.h"
#include "engine/status_or.h"
#include "engine/table/region.h"

namespace cellfs {

struct TableHandle {
  TableId id = 0;
  std::shared_ptr<const TableSchema> schema;
  bool enabled = true;
  std::optional<SpaceViolationPolicy> violation;
  std::shared_ptr<Region> region;  // null where `unopened` says why
  Status unopened;
};

struct TableNameHash {
  size_t operator()(const TableName& table) const {
    const std::hash<std::string> hash;
    return hash(table.name) * 31 + hash(table.namespace_name);
  }
};
using TableHandles =
    std::unordered_map<TableName, std::shared_ptr<const TableHandle>, TableNameHash>;

// Thread-safe.
class TableDirectory {
 public:
  Snapshot<Catalog> catalog() const;

  // kTableNotFound.
  StatusOr<std::shared_ptr<const TableHandle>> Find(const TableName& table) const;
  StatusOr<std::shared_ptr<const TableHandle>> Find(TableId id) const;  // whatever its name
  // The same, and the table can be read and written: kTableNotEnabled, or why it is not open.
  StatusOr<std::shared_ptr<const TableHandle>> FindEnabled(const TableName& table) const;
  StatusOr<std::shared_ptr<const TableHandle>> FindEnabled(TableId id) const;
  // kTableNotFound.
  StatusOr<std::shared_ptr<const TableSchema>> FindSchema(const TableName& table) const;

  // Takes as long as what is other.
  struct Change {
    std::vector<TableName> gone;
    std::vector<TableId> gone_dropped;
    TableHandles tables;  // new or other
    std::vector<std::shared_ptr<const TableHandle>> dropped;  // found by their ids alone
  };
  void Replace(std::shared_ptr<const Catalog> catalog, Change change);

 private:
  Status WhyNotThere(const TableName& table) const;
  // Null: there is none. REQUIRES: mutex_, which the result needs as well.
  const std::shared_ptr<const TableHandle>* FindLocked(const TableName& table) const;

  mutable std::shared_mutex mutex_;
  std::shared_ptr<const Catalog> catalog_;  // guarded by mutex_, as is tables_
  TableHandles tables_;
  // In tables_, the one that was found last: a request asks several times for one table.
  mutable std::atomic<const TableHandles::value_type*> last_found_ = nullptr;
  std::unordered_map<TableId, std::shared_ptr<const TableHandle>> by_id_;  // likewise
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_EMBEDDED_TABLE_DIRECTORY_H_
