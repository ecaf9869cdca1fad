// SPDX-License-Identifier: MIT
#include "engine/hbase/space_quotas.h"

#include <hbase.pb.h>

#include "engine/hbase/reads.h"
#include "engine/hbase/region.h"
#include "engine/hbase/schemas.h"

namespace cellfs::hbase {
namespace {

const TableName kQuotaTable{.namespace_name = "hbase", .name = "quota"};

pb::SpaceViolationPolicy PolicyOf(SpaceViolationPolicy policy) {
  switch (policy) {
    case SpaceViolationPolicy::kNoInserts: return pb::NO_INSERTS;
    case SpaceViolationPolicy::kNoWrites: return pb::NO_WRITES;
    case SpaceViolationPolicy::kNoWritesCompactions: return pb::NO_WRITES_COMPACTIONS;
    case SpaceViolationPolicy::kDisable: return pb::DISABLE;
  }
  return pb::DISABLE;
}

SpaceViolationPolicy PolicyOf(pb::SpaceViolationPolicy policy) {
  switch (policy) {
    case pb::NO_INSERTS: return SpaceViolationPolicy::kNoInserts;
    case pb::NO_WRITES: return SpaceViolationPolicy::kNoWrites;
    case pb::NO_WRITES_COMPACTIONS: return SpaceViolationPolicy::kNoWritesCompactions;
    case pb::DISABLE: return SpaceViolationPolicy::kDisable;
  }
  return SpaceViolationPolicy::kDisable;
}

// QuotaTableUtil.getTableRowKey, getNamespaceRowKey.
std::string RowOf(const QuotaScope& scope) {
  if (const auto* table = std::get_if<TableName>(&scope)) return "t." + table->ToString();
  return "n." + std::get<std::string>(scope);
}

}  // namespace

Status SetSpaceQuota(Master& master, const QuotaScope& scope,
                     const std::optional<SpaceQuota>& quota, const Patience& patience) {
  pb::SetQuotaRequest request;
  if (const auto* table = std::get_if<TableName>(&scope)) {
    Write(*table, *request.mutable_table_name());
  } else {
    request.set_namespace_(std::get<std::string>(scope));
  }
  pb::SpaceQuota& written = *request.mutable_space_limit()->mutable_quota();
  if (quota) {
    written.set_soft_limit(static_cast<uint64_t>(quota->limit));
    written.set_violation_policy(PolicyOf(quota->policy));
  } else {
    written.set_remove(true);
  }
  pb::SetQuotaResponse response;
  return master.DoAgain("SetQuota", request, response, patience);
}

StatusOr<std::optional<SpaceQuota>> SpaceQuotaOf(Regions& regions, const QuotaScope& scope,
                                                 SteadyClock::duration within) {
  Get get;
  get.row = RowOf(scope);
  get.columns["q"].insert("s");
  const auto cells = Read(regions, kQuotaTable, get, within);
  if (cells.status().code() == StatusCode::kTableNotFound) return std::optional<SpaceQuota>();
  CELLFS_RETURN_IF_ERROR(cells.status());
  if (cells->empty()) return std::optional<SpaceQuota>();
  pb::Quotas quotas;
  const std::string& value = cells->front().value;
  if (!value.starts_with(kProtobufMark) ||
      !quotas.ParseFromString(value.substr(kProtobufMark.size()))) {
    return Status(StatusCode::kIoError, "hbase:quota has a quota that cannot be read");
  }
  if (!quotas.has_space() || quotas.space().remove()) return std::optional<SpaceQuota>();
  return std::optional(SpaceQuota{static_cast<int64_t>(quotas.space().soft_limit()),
                                  PolicyOf(quotas.space().violation_policy())});
}

}  // namespace cellfs::hbase
