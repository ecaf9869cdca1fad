// SPDX-License-Identifier: MIT
#include "stage.h"

#include <nlohmann/json.hpp>

#include "cluster_stage.h"
#include "database_stage.h"
#include "local_stage.h"

namespace cellfs::conformance {

std::unique_ptr<Stage> MakeStage(StageKind kind, const Json& test_case) {
  if (kind == StageKind::kCluster) return std::make_unique<ClusterStage>(test_case);
  if (kind == StageKind::kDatabase) return std::make_unique<DatabaseStage>(test_case);
  return std::make_unique<LocalStage>(
      kind == StageKind::kMemory ? LocalStage::Kept::kInMemory : LocalStage::Kept::kInDirectory,
      test_case);
}

}  // namespace cellfs::conformance
