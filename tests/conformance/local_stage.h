// SPDX-License-Identifier: MIT
//
// LocalStage: a store of this process, with a clock that is set; one in a directory has the
// directory for itself, and removes it in the end.
#ifndef CELLFS_TESTS_CONFORMANCE_LOCAL_STAGE_H_
#define CELLFS_TESTS_CONFORMANCE_LOCAL_STAGE_H_

#include <memory>
#include <optional>

#include "engine/clock.h"
#include "engine/options.h"
#include "stage.h"
#include "tests/support/temporary_directory.h"

namespace cellfs::conformance {

class LocalStage : public Stage {
 public:
  enum class Kept { kInMemory, kInDirectory };

  LocalStage(Kept kept, const Json& test_case);

  Store& StoreOf(const Caller& /*caller*/) override { return *store_; }
  void SetClock(Timestamp now) override { clock_->Set(now); }
  Status Flush(const Caller& caller, const TableName& table) override {
    return store_->Flush(caller, table);
  }
  Status Compact(const Caller& caller, const TableName& table, CompactionKind kind) override {
    return store_->Compact(caller, table, kind);
  }
  // One in memory stays as it is.
  void Reopen() override;

 private:
  void Open();

  const std::shared_ptr<ManualClock> clock_;
  StoreOptions options_;
  std::optional<TemporaryDirectory> directory_;
  std::unique_ptr<Store> store_;
};

}  // namespace cellfs::conformance

#endif  // CELLFS_TESTS_CONFORMANCE_LOCAL_STAGE_H_
