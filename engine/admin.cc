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

bool Covers(const GrantScope& wide, const GrantScope& narrow) {
  if (!wide.table) {
    const std::string& name = narrow.table ? narrow.table->namespace_name : narrow.namespace_name;
    return wide.namespace_name.empty() || wide.namespace_name == name;
  }
  if (wide.table != narrow.table) return false;
  if (wide.family.empty()) return true;
  return wide.family == narrow.family && (!wide.qualifier || wide.qualifier == narrow.qualifier);
}

bool KeepsShareOfMoments(const Statistics& statistics, const std::string& holder) {
  const auto& holders = statistics.moment_bytes_by_holder;
  const auto found = holders.find(holder);
  return found != holders.end() && found->second >= statistics.moment_limit / holders.size();
}

uint64_t BytesOfKept(const Statistics& statistics) {
  uint64_t bytes = 0;
  for (const KeptTableStatistics& kept : statistics.kept)
    bytes += kept.file_bytes + kept.memstore_bytes;
  return bytes;
}

uint64_t BytesOfKeptIn(const Statistics& statistics, std::string_view namespace_name) {
  uint64_t bytes = 0;
  for (const KeptTableStatistics& kept : statistics.kept) {
    if (kept.is_in_namespace && kept.table.namespace_name == namespace_name)
      bytes += kept.file_bytes;
  }
  return bytes;
}

}  // namespace cellfs
