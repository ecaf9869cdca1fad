// SPDX-License-Identifier: MIT
//
// KeptTables: the store of a mount whose tables need a family (StoreTraits::tables_need_a_family),
// with those that mkdir made and that have none yet: they are kept here, for this mount alone,
// until their first family makes them in the store. Gone after unmount.
//
// It also sees every description of a table, and tells where another client has dropped one or made
// it anew (fs/store/seen_tables.h).
//
// To all others a kept table is as one without families and cells: its schema can be read and
// changed, it is listed, dropped, disabled. One that another client makes under its name takes its
// place as soon as it is described.
#ifndef CELLFS_FS_STORE_KEPT_TABLES_H_
#define CELLFS_FS_STORE_KEPT_TABLES_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/forwarding_store.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/store/seen_tables.h"

namespace cellfs::fs {

// As thread-safe as the store. Changes of one table's schema come one after the other
// (fs/schema/schema_turns.h).
class KeptTables : public ForwardingStore {
 public:
  // It outlives this.
  explicit KeptTables(Store& store) : ForwardingStore(store) {}

  // The store makes the table anew for this mount, which is still the one that it was: told after a
  // kept one's first family, before and after RecreateTable and TruncateTable. To be set before use.
  using TellOfMade = std::function<void(const TableName& table)>;
  void SetTellOfMade(TellOfMade tell) { tell_of_made_ = std::move(tell); }

  // Another client has dropped the table, or made it anew: what is known of the one before is void.
  // Told within DescribeTable, so with the locks of whoever describes it. To be set before use.
  using TellOfGone = std::function<void(const TableName& table)>;
  void SetTellOfGone(TellOfGone tell) { tell_of_gone_ = std::move(tell); }

  // The table is here from now on, and `counted` as long as it is. kTableExists,
  // kNamespaceNotFound.
  Status Keep(const TableSchema& schema, std::shared_ptr<MadeDirectory> counted);

  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get) override;
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) override;

  Status DropNamespace(const Caller& caller, const std::string& name) override;

  Status CreateTable(const Caller& caller, const TableSchema& schema) override;
  Status AlterTable(const Caller& caller, const TableSchema& schema) override;
  Status RecreateTable(const Caller& caller, const TableSchema& schema) override;
  Status SplitTable(const Caller& caller, const TableName& table, const std::string& key) override;
  Status AddFamily(const Caller& caller, const TableName& table,
                   const FamilySchema& family) override;
  Status DropTable(const Caller& caller, const TableName& table) override;
  StatusOr<bool> DropEmptyTable(const Caller& caller, const TableName& table) override;
  Status TruncateTable(const Caller& caller, const TableName& table) override;
  Status EnableTable(const Caller& caller, const TableName& table) override;
  Status DisableTable(const Caller& caller, const TableName& table) override;
  StatusOr<std::shared_ptr<const TableSchema>> DescribeTable(const TableName& table) override;
  StatusOr<bool> IsTableEnabled(const TableName& table) override;
  StatusOr<std::vector<TableName>> ListTables(const std::string& namespace_name) override;

  Status SetTableSpaceQuota(const Caller& caller, const TableName& table,
                            const std::optional<SpaceQuota>& quota) override;
  StatusOr<std::optional<SpaceQuota>> TableSpaceQuota(const TableName& table) override;

 private:
  struct KeptTable {
    std::shared_ptr<const TableSchema> schema;
    bool is_enabled = true;
    std::optional<SpaceQuota> quota;
    std::shared_ptr<MadeDirectory> counted;
  };
  using KeptPtr = std::shared_ptr<const KeptTable>;  // never changed, but replaced

  // Null: it is not kept.
  KeptPtr Find(const TableName& table) const;
  std::vector<TableName> KeptIn(const std::string& namespace_name) const;
  // Unless another one has taken its place.
  void Replace(const KeptPtr& kept, KeptTable by);
  void Forget(const KeptPtr& kept);
  // Makes it in the store, with what else was said of it, where the schema has a family.
  Status BecomeOf(const Caller& caller, const KeptPtr& kept, TableSchema schema);

  // With what it returns.
  Status Tell(const TableName& table, Status done) const;

  TellOfMade tell_of_made_;
  TellOfGone tell_of_gone_;
  SeenTables seen_;
  mutable std::mutex mutex_;  // a leaf; guards kept_
  std::map<TableName, KeptPtr> kept_;
  std::atomic<size_t> count_{0};  // of kept_: most mounts have none
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_KEPT_TABLES_H_
