// SPDX-License-Identifier: MIT
#include "fs/schema/schema_shares.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fs/requests/owner.h"
#include "fs/requests/running_request.h"
#include "fs/tree/hidden_namespace.h"
#include "fs/tree/place.h"

namespace cellfs::fs {
namespace {

// Beside what a schema says: names, and what else is written of each table.
constexpr uint64_t kBytesOfTable = 512;
constexpr uint64_t kBytesOfFamily = 64;
constexpr uint64_t kBytesOfSplitKey = 16;

uint64_t BytesOf(const Attributes& attributes) {
  uint64_t bytes = 0;
  for (const auto& [name, value] : attributes) bytes += name.size() + value.size();
  return bytes;
}

uint64_t BytesOf(const TableSchema& schema) {
  uint64_t bytes = kBytesOfTable + BytesOf(schema.attributes());
  for (const auto& [name, family] : schema.families)
    bytes += kBytesOfFamily + name.size() + BytesOf(family.attributes());
  for (const std::string& key : schema.split_keys) bytes += kBytesOfSplitKey + key.size();
  return bytes;
}

}  // namespace

Status SchemaShares::Check(const TableSchema& schema) {
  const RunningRequest* const request = RunningRequest::OfThisThread();
  if (request == nullptr || IsOwnerOrRoot(request->uid())) return {};
  uid_t owner = request->uid();  // of one that is not there yet
  const auto present = store_.DescribeTable(schema.name());
  if (present.ok()) {
    if (BytesOf(schema) <= BytesOf(**present)) return {};
    CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode found,
                            attributes_.FindOwner(TablePlace(schema.name())));
    owner = found.uid;
  }
  if (IsOwnerOrRoot(owner)) return {};
  CELLFS_ASSIGN_OR_RETURN(const Shares shares, Count(schema.name(), owner));
  const uint64_t owners = shares.owners + BytesOf(schema);
  if (2 * owners + shares.others <= kMostSchemaBytes) return {};
  return {StatusCode::kQuotaExceeded,
          "the schemas of tables of user " + std::to_string(owner) + " would have " +
              std::to_string(owners) + " bytes, and may have " +
              std::to_string((kMostSchemaBytes - std::min(kMostSchemaBytes, shares.others)) / 2) +
              "; drop tables, or give them shorter attributes and fewer split keys"};
}

StatusOr<SchemaShares::Shares> SchemaShares::Count(const TableName& changing, uid_t owner) {
  Shares shares;
  CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> namespaces, store_.ListNamespaces());
  for (const std::string& name : namespaces) {
    if (name == kSystemNamespace || name == kHiddenNamespace) continue;
    CELLFS_ASSIGN_OR_RETURN(const std::vector<TableName> tables, store_.ListTables(name));
    for (const TableName& table : tables) {
      if (table == changing) continue;
      const auto schema = store_.DescribeTable(table);
      if (!schema.ok()) continue;  // it has gone meanwhile
      CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode found, attributes_.FindOwner(TablePlace(table)));
      if (IsOwnerOrRoot(found.uid)) continue;
      (found.uid == owner ? shares.owners : shares.others) += BytesOf(**schema);
    }
  }
  return shares;
}

}  // namespace cellfs::fs
