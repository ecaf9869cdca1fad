// SPDX-License-Identifier: MIT
//
// DatabaseStage: the database server of the test run, in OBKV-HBase's layout, whose tables and
// namespaces go with the case. Cells are stamped by this process, so its clock is set.
#ifndef CELLFS_TESTS_CONFORMANCE_DATABASE_STAGE_H_
#define CELLFS_TESTS_CONFORMANCE_DATABASE_STAGE_H_

#include <memory>

#include "engine/clock.h"
#include "engine/obkv_options.h"
#include "engine/options.h"
#include "stage.h"

namespace cellfs::conformance {

class DatabaseStage : public Stage {
 public:
  explicit DatabaseStage(const Json& test_case);
  ~DatabaseStage() override;

  Store& StoreOf(const Caller& /*caller*/) override { return *store_; }
  void SetClock(Timestamp now) override { clock_->Set(now); }
  Status Flush(const Caller& caller, const TableName& table) override {
    return store_->Flush(caller, table);
  }
  Status Compact(const Caller& caller, const TableName& table, CompactionKind kind) override {
    return store_->Compact(caller, table, kind);
  }
  void Reopen() override { Open(); }

 private:
  void Open();
  void Clear();

  const ObkvOptions server_;
  const std::shared_ptr<ManualClock> clock_;
  StoreOptions options_;
  std::unique_ptr<Store> store_;
};

}  // namespace cellfs::conformance

#endif  // CELLFS_TESTS_CONFORMANCE_DATABASE_STAGE_H_
