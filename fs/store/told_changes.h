// SPDX-License-Identifier: MIT
//
// ToldChanges: the store of a mount to which others write as well. Whatever this mount changes goes
// through it, and so what is read ahead (fs/store/read_ahead.h) hears of each row and table: after
// the change, however it ended, and before its maker has the answer. Within a ReadOnce it describes
// a table once, and again what this mount has changed meanwhile.
#ifndef CELLFS_FS_STORE_TOLD_CHANGES_H_
#define CELLFS_FS_STORE_TOLD_CHANGES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/forwarding_store.h"
#include "fs/store/read_ahead.h"
#include "fs/store/read_once.h"

namespace cellfs::fs {

// As thread-safe as the store.
class ToldChanges : public ForwardingStore {
 public:
  // Both outlive it.
  ToldChanges(Store& store, const Freshness& freshness)
      : ForwardingStore(store), read_ahead_(store, freshness) {}

  ReadAhead& read_ahead() { return read_ahead_; }

  StatusOr<MutationResult> Mutate(const Caller& caller, const TableName& table,
                                  const RowMutations& mutations) override;
  StatusOr<CheckAndMutateResult> CheckAndMutate(const Caller& caller, const TableName& table,
                                                const cellfs::CheckAndMutate& check) override;
  std::vector<StatusOr<MutationResult>> Batch(const Caller& caller, const TableName& table,
                                              const std::vector<RowMutations>& rows) override;

  Status CreateTable(const Caller& caller, const TableSchema& schema) override;
  Status AlterTable(const Caller& caller, const TableSchema& schema) override;
  Status RecreateTable(const Caller& caller, const TableSchema& schema) override;
  Status AddFamily(const Caller& caller, const TableName& table,
                   const FamilySchema& family) override;
  Status ModifyFamily(const Caller& caller, const TableName& table,
                      const FamilySchema& family) override;
  Status DropFamily(const Caller& caller, const TableName& table,
                    const std::string& family) override;
  Status RenameTable(const Caller& caller, const TableName& from, const TableName& to) override;
  Status DropTable(const Caller& caller, const TableName& table) override;
  StatusOr<bool> DropEmptyTable(const Caller& caller, const TableName& table) override;
  Status TruncateTable(const Caller& caller, const TableName& table) override;
  Status EnableTable(const Caller& caller, const TableName& table) override;
  Status DisableTable(const Caller& caller, const TableName& table) override;

  StatusOr<std::shared_ptr<const TableSchema>> DescribeTable(const TableName& table) override;

 private:
  using Description = StatusOr<std::shared_ptr<const TableSchema>>;
  struct Described {
    Description description;
    ReadOnce::Clock::time_point asked_at;
  };

  std::optional<Description> FindDescribed(const TableName& table);
  void ForgetDescribed(const TableName& table);
  uint64_t Changes() {
    const std::lock_guard lock(mutex_);
    return changes_;
  }
  // The outcome, of what may have changed anything of the table.
  template <typename Outcome>
  Outcome Changed(const TableName& table, Outcome outcome) {
    read_ahead_.Forget(table);
    ForgetDescribed(table);
    return outcome;
  }

  ReadAhead read_ahead_;
  std::mutex mutex_;
  std::map<TableName, Described> described_;  // guarded by mutex_
  uint64_t changes_ = 0;  // of tables, through this; guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_TOLD_CHANGES_H_
