// SPDX-License-Identifier: MIT
//
// ClusterStage: the real cluster of the test run, whose tables and namespaces go with the case. It has
// one clock for all that its region servers do for clients; flushes and compactions go by it too,
// for they are made by the control port. Administration is always done by the real one.
#ifndef CELLFS_TESTS_CONFORMANCE_CLUSTER_STAGE_H_
#define CELLFS_TESTS_CONFORMANCE_CLUSTER_STAGE_H_

#include <map>
#include <memory>
#include <string>

#include "engine/cluster_options.h"
#include "stage.h"

namespace cellfs::conformance {

class ClusterStage : public Stage {
 public:
  explicit ClusterStage(const Json& test_case);
  ~ClusterStage() override;

  Store& StoreOf(const Caller& caller) override;
  void SetClock(Timestamp now) override { now_ = now; }
  void Begin(StepKind kind) override;
  Status Flush(const Caller& caller, const TableName& table) override;
  Status Compact(const Caller& caller, const TableName& table, CompactionKind kind) override;
  // Its servers hear of them by ZooKeeper, some time later, and nobody tells when.
  void AwaitRights() override;
  void BeforeRegionsClose(const TableName& table) override;

 private:
  Status Maintain(const Caller& caller, const std::string& command, const TableName& table);
  void Clear();

  const ClusterOptions options_;
  std::map<std::string, std::unique_ptr<Store>> stores_;  // by user
  Timestamp now_ = 0;
};

}  // namespace cellfs::conformance

#endif  // CELLFS_TESTS_CONFORMANCE_CLUSTER_STAGE_H_
