// SPDX-License-Identifier: MIT
//
// CallersStore: the store of a mount as one caller may use it: for commands, which speak of rows,
// columns and versions where programs speak of files.
//
//   - What the caller may not read through the mount does not come back; a Get that names a column
//     he may not read is kAccessDenied, and so is what he may not change (fs/operations/
//     callers_rights.h). Rights of the store itself go on beside that.
//   - A change is one like those through the mount: made under the locks of its columns, what is new
//     is its maker's, and the kernel is told before the call returns.
//   - The file system's own tables are not there.
//   - Scans take turns with the other long work of the mount (fs/requests/long_work.h).
//   - Of grants those are listed that are the caller's, or at a scope where he may grant.
#ifndef CELLFS_FS_OPERATIONS_CALLERS_STORE_H_
#define CELLFS_FS_OPERATIONS_CALLERS_STORE_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/store.h"
#include "fs/operations/callers_rights.h"
#include "fs/operations/filesystem.h"
#include "fs/operations/row_change.h"

namespace cellfs::fs {

// As thread-safe as the store.
class CallersStore : public Store {
 public:
  // It outlives this. `umask`: of what is made.
  CallersStore(FileSystem& filesystem, Credentials credentials, mode_t umask = 022)
      : filesystem_(filesystem),
        parts_(filesystem.parts()),
        store_(parts_.store),
        rights_(parts_.reading, std::move(credentials)),
        umask_(umask) {}

  const StoreTraits& traits() const override { return store_.traits(); }

  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get) override;
  // The same for a row that is not to be held whole.
  StatusOr<std::unique_ptr<Scanner>> OpenReader(const Caller& caller, const TableName& table,
                                                const Get& get);
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) override;
  StatusOr<MutationResult> Mutate(const Caller& caller, const TableName& table,
                                  const RowMutations& mutations) override;
  StatusOr<CheckAndMutateResult> CheckAndMutate(const Caller& caller, const TableName& table,
                                                const cellfs::CheckAndMutate& check) override;
  // Ends with the first row that fails: kUnavailable for those behind it, which were not tried.
  std::vector<StatusOr<MutationResult>> Batch(const Caller& caller, const TableName& table,
                                              const std::vector<RowMutations>& rows) override;
  // Rows that a command brings in, each on its own, in order: the answers are as many. Of a caller who
  // may change all of the table they are put together, and what is new is of whom the table is
  // (fs/operations/bulk_change.h); of others each is as by Mutate.
  std::vector<StatusOr<MutationResult>> Import(const Caller& caller, const TableName& table,
                                               const std::vector<RowMutations>& rows);
  Status Sync() override { return store_.Sync(); }
  Status CheckMayPut(const Caller& caller, const TableName& table,
                     const PutToCome& put) override {
    return store_.CheckMayPut(caller, table, put);
  }
  Status CheckMayMutate(const Caller& caller, const TableName& table,
                        const RowMutations& mutations) override;
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

  Status CreateNamespace(const Caller& caller, const NamespaceSchema& schema) override;
  Status AlterNamespace(const Caller& caller, const NamespaceSchema& schema) override;
  using NamespaceChange = std::function<Status(NamespaceSchema& schema)>;
  Status ChangeNamespace(const Caller& caller, const std::string& name,
                         const NamespaceChange& change);
  Status DropNamespace(const Caller& caller, const std::string& name) override;
  StatusOr<NamespaceSchema> DescribeNamespace(const std::string& name) override;
  StatusOr<std::vector<std::string>> ListNamespaces() override;

  Status CreateTable(const Caller& caller, const TableSchema& schema) override;
  Status AlterTable(const Caller& caller, const TableSchema& schema) override;
  // The same for a change of what the schema is: no other change gets in between.
  using SchemaChange = std::function<Status(TableSchema& schema)>;
  Status ChangeTable(const Caller& caller, const TableName& table, const SchemaChange& change);
  Status RecreateTable(const Caller& caller, const TableSchema& schema) override;
  Status SplitTable(const Caller& caller, const TableName& table,
                    const std::string& key) override;
  Status AddFamily(const Caller& caller, const TableName& table,
                   const FamilySchema& family) override;
  Status ModifyFamily(const Caller& caller, const TableName& table,
                      const FamilySchema& family) override;
  Status DropFamily(const Caller& caller, const TableName& table,
                    const std::string& family) override;
  Status DropTable(const Caller& caller, const TableName& table) override;
  // The same two for a table that may be enabled: it is disabled for that, and enabled again where
  // it fails. Who has a file open goes on with what it held; of a table that was disabled before
  // that cannot be read any more, and he gets an error.
  Status DisableAndDropTable(const Caller& caller, const TableName& table);
  Status DisableAndTruncateTable(const Caller& caller, const TableName& table);
  Status RenameTable(const Caller& caller, const TableName& from, const TableName& to) override;
  StatusOr<bool> DropEmptyTable(const Caller& caller, const TableName& table) override;
  Status TruncateTable(const Caller& caller, const TableName& table) override;
  Status EnableTable(const Caller& caller, const TableName& table) override;
  Status DisableTable(const Caller& caller, const TableName& table) override;
  StatusOr<std::shared_ptr<const TableSchema>> DescribeTable(const TableName& table) override;
  // Whether the caller may read what a schema says, of a table or namespace: its .toml is a file. Who
  // reaches a table knows its families anyway, so what is done to cells does not ask.
  Status CheckMayReadToml(const Place& place);
  // What a read of one column, or a list of what is in a row, fails with: kAccessDenied, for the
  // modes, and of a column for the store's rights too. A scan leaves out what the caller may not
  // read. That something is not there at all is no failure here.
  Status CheckMayRead(const Caller& caller, const Place& place) const;
  // Whether a read by this store has left something out for that, or for the store's own rights, of
  // which nobody else is told (Query::passed_over).
  bool has_passed_over() const { return has_passed_over_; }
  // The same of what a query names of a row: its columns and families, or all of it.
  Status CheckMayRead(const Caller& caller, const TableName& table, const std::string& row,
                      const Columns& columns) const;
  StatusOr<bool> IsTableEnabled(const TableName& table) override;
  StatusOr<std::vector<TableName>> ListTables(const std::string& namespace_name) override;
  // The past is read by .asof, whose places are asked for rights.
  StatusOr<std::shared_ptr<const TableSchema>> FindTable(TableId /*id*/) override {
    return Status(StatusCode::kUnsupportedOperation, "commands find tables by their names");
  }
  StatusOr<std::shared_ptr<const PastCatalog>> CatalogAt(Timestamp /*time*/) override {
    return Status(StatusCode::kUnsupportedOperation, "commands see the present tables");
  }
  // What was dropped is handled in the tree, by .deleted.
  StatusOr<Dropped> ListDropped() override { return NoCommand(); }
  Status BringBackTable(const Caller&, TableId, const TableName&) override { return NoCommand(); }
  Status FreeDroppedTable(const Caller&, TableId) override { return NoCommand(); }
  Status FreeDroppedEarly(const Caller&, TableId, const std::string&) override {
    return NoCommand();
  }
  Status BringBackNamespace(const Caller&, Timestamp, const std::string&) override {
    return NoCommand();
  }
  Status FreeDroppedNamespace(const Caller&, Timestamp) override { return NoCommand(); }

  Status Flush(const Caller& caller, const TableName& table) override;
  Status Compact(const Caller& caller, const TableName& table, CompactionKind kind) override;
  // Of tables that the caller cannot reach nothing is said.
  Statistics GetStatistics() override;
  StatusOr<std::chrono::milliseconds> ClockDifference() override {
    return parts_.store.ClockDifference();
  }
  // In the caller's name.
  StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& /*holder*/) override {
    return parts_.asof.PinFor(rights_.credentials().uid);
  }

  Status SetTableSpaceQuota(const Caller& caller, const TableName& table,
                            const std::optional<SpaceQuota>& quota) override;
  Status SetNamespaceSpaceQuota(const Caller& caller, const std::string& namespace_name,
                                const std::optional<SpaceQuota>& quota) override;
  StatusOr<std::optional<SpaceQuota>> TableSpaceQuota(const TableName& table) override;
  StatusOr<std::optional<SpaceQuota>> NamespaceSpaceQuota(const std::string& name) override;
  Status CheckSpaceQuotas() override;

  Status GrantPermissions(const Caller& caller, const Grant& grant, bool merge) override;
  Status RevokePermissions(const Caller& caller, const std::string& user,
                           const GrantScope& scope) override;
  StatusOr<std::vector<Grant>> ListGrants() override;

 private:
  static Status NoCommand() {
    return {StatusCode::kUnsupportedOperation, "no command brings back what was dropped"};
  }
  StatusOr<std::unique_ptr<Scanner>> Open(const Caller& caller, const TableName& table, Scan scan,
                                          std::shared_ptr<FilterRights> rights);
  // The act on the disabled table; where it fails the table is as before.
  Status WhileDisabled(const Caller& caller, const TableName& table,
                       const std::function<Status()>& act);
  Status CheckDropsTable(const TableName& table) const;
  // `act` is what does it in the store.
  Status Drop(const TableName& table, const std::function<Status()>& act);
  Status Truncate(const TableName& table, const std::function<Status()>& act);
  Status CheckWritable() const;
  Status CheckMayChange(const TableName& table) const;
  // The kernel is not told yet.
  StatusOr<MutationResult> Change(const Caller& caller, const TableName& table,
                                  const RowMutations& mutations, NewNames new_names);
  StatusOr<CheckAndMutateResult> ChangeIf(const Caller& caller, const TableName& table,
                                          const cellfs::CheckAndMutate& check);
  Status CheckChangesTable(const TableName& table) const;
  // fs/schema/schema_shares.h, of the table with that family.
  StatusOr<SchemaShares::Reservation> ReserveShareWith(const TableName& table,
                                                       const FamilySchema& family);
  Status CheckChangesNamespace(const std::string& name) const;
  // Acts of administration: no other change of the schema comes in between. Its .toml gets its
  // time, and the kernel is told.
  Status ChangeInTurn(const TableName& table, const std::function<Status()>& change);
  Status ChangeNamespaceInTurn(const std::string& name, const std::function<Status()>& change);
  // Made just now, and its maker's. It must not stay without its owner and mode: it may be open to
  // whom it was to be closed to.
  Status Made(const Place& place, Status done, const std::function<Status()>& unmake);
  Status Gone(const Place& place);
  std::map<TableName, bool> EnabledTables();
  bool MaySee(const Grant& grant, const std::vector<Grant>& grants) const;

  FileSystem& filesystem_;
  Parts& parts_;
  Store& store_;
  const CallersRights rights_;
  const mode_t umask_;
  std::atomic<bool> has_passed_over_ = false;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_CALLERS_STORE_H_
