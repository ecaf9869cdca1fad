// SPDX-License-Identifier: MIT
#include "engine/admin.h"

namespace cellfs {

std::string_view PolicyName(SpaceViolationPolicy policy) {
  switch (policy) {
    case SpaceViolationPolicy::kNoInserts:
      return "NO_INSERTS";
    case SpaceViolationPolicy::kNoWrites:
      return "NO_WRITES";
    case SpaceViolationPolicy::kNoWritesCompactions:
      return "NO_WRITES_COMPACTIONS";
    case SpaceViolationPolicy::kDisable:
      return "DISABLE";
  }
  return "";
}

std::optional<SpaceViolationPolicy> ParsePolicy(std::string_view name) {
  using enum SpaceViolationPolicy;
  for (const auto policy : {kNoInserts, kNoWrites, kNoWritesCompactions, kDisable}) {
    if (PolicyName(policy) == name) return policy;
  }
  return std::nullopt;
}

}  // namespace cellfs
