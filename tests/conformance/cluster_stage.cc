// SPDX-License-Identifier: MIT
#include "cluster_stage.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/open.h"
#include "tests/support/test_cluster.h"

namespace cellfs::conformance {
namespace {

ClusterOptions OptionsFor(const Json& test_case) {
  auto options = TestCluster();
  if (!options) throw NotPlayable("CELLFS_TEST_CLUSTER names no cluster");
  if (Truth(test_case, "acl", false) && std::getenv("CELLFS_TEST_RIGHTS") == nullptr)
    throw NotPlayable("the cluster checks no rights");
  if (Has(test_case, "config")) throw NotPlayable("the servers have settings of their own");
  for (const Json& step : test_case.at("steps")) {
    if (Text(step, "op") == "quota_check")
      throw NotPlayable("the servers look at space quotas when they like");
  }
  options->max_staleness_ms = 0;
  return *options;
}

void ControlOrThrow(const std::string& command) {
  const std::string answer = ControlTestCluster(command);
  if (!answer.starts_with("ok")) throw std::runtime_error(command + ": " + answer);
}

}  // namespace

ClusterStage::ClusterStage(const Json& test_case) : options_(OptionsFor(test_case)) { Clear(); }

ClusterStage::~ClusterStage() {
  try {
    Clear();
  } catch (const std::exception& error) {
    std::cerr << "conformance: the cluster is not as it was: " << error.what() << "\n";
  }
}

Store& ClusterStage::StoreOf(const Caller& caller) {
  ClusterOptions options = options_;
  if (!caller.is_superuser()) options.user = caller.user;
  std::unique_ptr<Store>& store = stores_[options.user];
  if (store == nullptr) store = OrThrow(OpenCluster(options));
  return *store;
}

void ClusterStage::Begin(StepKind kind) {
  ControlOrThrow(kind == StepKind::kData ? "clock " + std::to_string(now_) : "clock real");
}

Status ClusterStage::Flush(const Caller& caller, const TableName& table) {
  return Maintain(caller, "flush", table);
}

Status ClusterStage::Compact(const Caller& caller, const TableName& table, CompactionKind kind) {
  return Maintain(caller, kind == CompactionKind::kMajor ? "major_compact" : "compact", table);
}

// Of who is not the superuser only whether he may is asked for: the cluster does it when it likes.
Status ClusterStage::Maintain(const Caller& caller, const std::string& command,
                              const TableName& table) {
  if (!caller.is_superuser()) {
    Begin(StepKind::kAdministration);
    return command == "flush" ? StoreOf(caller).Flush(caller, table)
                              : StoreOf(caller).Compact(caller, table, CompactionKind::kMajor);
  }
  CELLFS_ASSIGN_OR_RETURN(const bool is_enabled, StoreOf(caller).IsTableEnabled(table));
  if (!is_enabled) return {StatusCode::kTableNotEnabled, table.ToString()};
  ControlOrThrow(command + " " + table.ToString());
  return {};
}

void ClusterStage::AwaitRights() { std::this_thread::sleep_for(std::chrono::seconds(1)); }

void ClusterStage::BeforeRegionsClose(const TableName& table) {
  const auto is_enabled = StoreOf(Caller::Superuser()).IsTableEnabled(table);
  if (!is_enabled.ok() || !*is_enabled) return;
  Begin(StepKind::kData);
  ControlOrThrow("flush " + table.ToString());
  Begin(StepKind::kAdministration);
}

// What cases have made.
void ClusterStage::Clear() {
  ControlOrThrow("clock real");
  const Caller me = Caller::Superuser();
  Store& store = StoreOf(me);
  for (const std::string& name : OrThrow(store.ListNamespaces())) {
    if (name == kSystemNamespace) continue;
    for (const TableName& table : OrThrow(store.ListTables(name))) {
      OrThrow(store.SetTableSpaceQuota(me, table, std::nullopt));
      const auto is_enabled = store.IsTableEnabled(table);
      if (is_enabled.ok() && *is_enabled) OrThrow(store.DisableTable(me, table));
      OrThrow(store.DropTable(me, table));
    }
    OrThrow(store.SetNamespaceSpaceQuota(me, name, std::nullopt));
    if (name != kDefaultNamespace) OrThrow(store.DropNamespace(me, name));
  }
}

}  // namespace cellfs::conformance
