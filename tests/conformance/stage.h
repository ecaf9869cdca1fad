// SPDX-License-Identifier: MIT
//
// Stage: what a case is played on: a store, its clock and its maintenance. Each case has one of its
// own.
#ifndef CELLFS_TESTS_CONFORMANCE_STAGE_H_
#define CELLFS_TESTS_CONFORMANCE_STAGE_H_

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "case_json.h"
#include "engine/store.h"

namespace cellfs::conformance {

// A stage that cannot play the case, and why.
class NotPlayable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// For what a stage cannot do without.
template <typename T>
T OrThrow(StatusOr<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return *std::move(result);
}
inline void OrThrow(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

enum class StepKind { kData, kAdministration };

class Stage {
 public:
  virtual ~Stage() = default;

  // As the caller sees it.
  virtual Store& StoreOf(const Caller& caller) = 0;
  virtual void SetClock(Timestamp now) = 0;
  // What the next step is about.
  virtual void Begin(StepKind /*kind*/) {}
  // Returns when it is done, as the other ones do.
  virtual Status Flush(const Caller& caller, const TableName& table) = 0;
  virtual Status Compact(const Caller& caller, const TableName& table, CompactionKind kind) = 0;
  // Before the table's regions are closed: what a flush drops goes by the clock of the case.
  virtual void BeforeRegionsClose(const TableName& /*table*/) {}
  // Rights have been granted or revoked: returns when they are in force.
  virtual void AwaitRights() {}
  // Closes the store and opens it again, where that can be.
  virtual void Reopen() {}
};

enum class StageKind { kMemory, kLocal, kCluster, kDatabase };

// With the clock and the settings of the case, without tables. Throws NotPlayable, or
// std::runtime_error where it cannot be made.
std::unique_ptr<Stage> MakeStage(StageKind kind, const Json& test_case);

}  // namespace cellfs::conformance

#endif  // CELLFS_TESTS_CONFORMANCE_STAGE_H_
