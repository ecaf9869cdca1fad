// SPDX-License-Identifier: MIT
//
// ForwardingStore: a store that hands every call on to another one, for those that do some of them
// in another way.
#ifndef CELLFS_ENGINE_FORWARDING_STORE_H_
#define CELLFS_ENGINE_FORWARDING_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/store.h"

namespace cellfs {

class ForwardingStore : public Store {
 public:
  // It outlives this.
  explicit ForwardingStore(Store& store) : store_(store) {}
  explicit ForwardingStore(std::unique_ptr<Store> store)
      : owned_(std::move(store)), store_(*owned_) {}

  const StoreTraits& traits() const override { return store_.traits(); }
  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get) override {
    return store_.Read(caller, table, get);
  }
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) override {
    return store_.OpenScanner(caller, table, scan);
  }
  StatusOr<MutationResult> Mutate(const Caller& caller, const TableName& table,
                                  const RowMutations& mutations) override {
    return store_.Mutate(caller, table, mutations);
  }
  StatusOr<CheckAndMutateResult> CheckAndMutate(const Caller& caller, const TableName& table,
                                                const cellfs::CheckAndMutate& check) override {
    return store_.CheckAndMutate(caller, table, check);
  }
  std::vector<StatusOr<MutationResult>> Batch(const Caller& caller, const TableName& table,
                                              const std::vector<RowMutations>& rows) override {
    return store_.Batch(caller, table, rows);
  }
  Status Sync() override { return store_.Sync(); }
  Status CheckMayPut(const Caller& caller, const TableName& table,
                     const PutToCome& put) override {
    return store_.CheckMayPut(caller, table, put);
  }
  Status CheckMayMutate(const Caller& caller, const TableName& table,
                        const RowMutations& mutations) override {
    return store_.CheckMayMutate(caller, table, mutations);
  }
  Status CheckMayAlter(const Caller& caller, const GrantScope& scope) override {
    return store_.CheckMayAlter(caller, scope);
  }
  Status CheckMayPutWithin(const Caller& caller, const GrantScope& scope) override {
    return store_.CheckMayPutWithin(caller, scope);
  }
  Status CheckRoom(const TableName& table, uint64_t bytes) override {
    return store_.CheckRoom(table, bytes);
  }
  Status CheckValueSize(const std::string& row, const std::string& family,
                        const std::string& qualifier, uint64_t bytes) override {
    return store_.CheckValueSize(row, family, qualifier, bytes);
  }

  Status CreateNamespace(const Caller& caller, const NamespaceSchema& schema) override {
    return store_.CreateNamespace(caller, schema);
  }
  Status AlterNamespace(const Caller& caller, const NamespaceSchema& schema) override {
    return store_.AlterNamespace(caller, schema);
  }
  Status DropNamespace(const Caller& caller, const std::string& name) override {
    return store_.DropNamespace(caller, name);
  }
  StatusOr<NamespaceSchema> DescribeNamespace(const std::string& name) override {
    return store_.DescribeNamespace(name);
  }
  StatusOr<std::vector<std::string>> ListNamespaces() override { return store_.ListNamespaces(); }

  Status CreateTable(const Caller& caller, const TableSchema& schema) override {
    return store_.CreateTable(caller, schema);
  }
  Status AlterTable(const Caller& caller, const TableSchema& schema) override {
    return store_.AlterTable(caller, schema);
  }
  Status RecreateTable(const Caller& caller, const TableSchema& schema) override {
    return store_.RecreateTable(caller, schema);
  }
  Status SplitTable(const Caller& caller, const TableName& table,
                    const std::string& key) override {
    return store_.SplitTable(caller, table, key);
  }
  Status AddFamily(const Caller& caller, const TableName& table,
                   const FamilySchema& family) override {
    return store_.AddFamily(caller, table, family);
  }
  Status ModifyFamily(const Caller& caller, const TableName& table,
                      const FamilySchema& family) override {
    return store_.ModifyFamily(caller, table, family);
  }
  Status DropFamily(const Caller& caller, const TableName& table,
                    const std::string& family) override {
    return store_.DropFamily(caller, table, family);
  }
  Status RenameTable(const Caller& caller, const TableName& from, const TableName& to) override {
    return store_.RenameTable(caller, from, to);
  }
  Status DropTable(const Caller& caller, const TableName& table) override {
    return store_.DropTable(caller, table);
  }
  StatusOr<bool> DropEmptyTable(const Caller& caller, const TableName& table) override {
    return store_.DropEmptyTable(caller, table);
  }
  Status TruncateTable(const Caller& caller, const TableName& table) override {
    return store_.TruncateTable(caller, table);
  }
  Status EnableTable(const Caller& caller, const TableName& table) override {
    return store_.EnableTable(caller, table);
  }
  Status DisableTable(const Caller& caller, const TableName& table) override {
    return store_.DisableTable(caller, table);
  }
  StatusOr<std::shared_ptr<const TableSchema>> DescribeTable(const TableName& table) override {
    return store_.DescribeTable(table);
  }
  StatusOr<bool> IsTableEnabled(const TableName& table) override {
    return store_.IsTableEnabled(table);
  }
  StatusOr<std::vector<TableName>> ListTables(const std::string& namespace_name) override {
    return store_.ListTables(namespace_name);
  }
  StatusOr<std::shared_ptr<const TableSchema>> FindTable(TableId id) override {
    return store_.FindTable(id);
  }
  StatusOr<std::shared_ptr<const PastCatalog>> CatalogAt(Timestamp time) override {
    return store_.CatalogAt(time);
  }

  StatusOr<Dropped> ListDropped() override { return store_.ListDropped(); }
  Status BringBackTable(const Caller& caller, TableId id, const TableName& name) override {
    return store_.BringBackTable(caller, id, name);
  }
  Status FreeDroppedTable(const Caller& caller, TableId id) override {
    return store_.FreeDroppedTable(caller, id);
  }
  Status FreeDroppedEarly(const Caller& caller, TableId id, const std::string& why) override {
    return store_.FreeDroppedEarly(caller, id, why);
  }
  Status BringBackNamespace(const Caller& caller, Timestamp dropped,
                            const std::string& name) override {
    return store_.BringBackNamespace(caller, dropped, name);
  }
  Status FreeDroppedNamespace(const Caller& caller, Timestamp dropped) override {
    return store_.FreeDroppedNamespace(caller, dropped);
  }

  Status Flush(const Caller& caller, const TableName& table) override {
    return store_.Flush(caller, table);
  }
  Status Compact(const Caller& caller, const TableName& table, CompactionKind kind) override {
    return store_.Compact(caller, table, kind);
  }
  Statistics GetStatistics() override { return store_.GetStatistics(); }
  StatusOr<std::chrono::milliseconds> ClockDifference() override {
    return store_.ClockDifference();
  }
  StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& holder) override {
    return store_.PinMoment(holder);
  }

  Status SetTableSpaceQuota(const Caller& caller, const TableName& table,
                            const std::optional<SpaceQuota>& quota) override {
    return store_.SetTableSpaceQuota(caller, table, quota);
  }
  Status SetNamespaceSpaceQuota(const Caller& caller, const std::string& namespace_name,
                                const std::optional<SpaceQuota>& quota) override {
    return store_.SetNamespaceSpaceQuota(caller, namespace_name, quota);
  }
  StatusOr<std::optional<SpaceQuota>> TableSpaceQuota(const TableName& table) override {
    return store_.TableSpaceQuota(table);
  }
  StatusOr<std::optional<SpaceQuota>> NamespaceSpaceQuota(const std::string& name) override {
    return store_.NamespaceSpaceQuota(name);
  }
  Status CheckSpaceQuotas() override { return store_.CheckSpaceQuotas(); }

  Status GrantPermissions(const Caller& caller, const Grant& grant, bool merge) override {
    return store_.GrantPermissions(caller, grant, merge);
  }
  Status RevokePermissions(const Caller& caller, const std::string& user,
                           const GrantScope& scope) override {
    return store_.RevokePermissions(caller, user, scope);
  }
  StatusOr<std::vector<Grant>> ListGrants() override { return store_.ListGrants(); }

 protected:
  Store& inner() { return store_; }

 private:
  const std::unique_ptr<Store> owned_;
  Store& store_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FORWARDING_STORE_H_
