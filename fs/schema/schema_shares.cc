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

// The reservation comes before the count: of two that are made at the same time one at least sees
// the other.
StatusOr<SchemaShares::Reservation> SchemaShares::Reserve(const TableSchema& schema) {
  const RunningRequest* const request = RunningRequest::OfThisThread();
  if (request == nullptr || IsOwnerOrRoot(request->uid())) return Reservation();
  if (store_.traits().has_other_writers) return Reservation();
  Growth growth{request->uid(), BytesOf(schema)};  // of one that is not there yet
  const auto present = store_.DescribeTable(schema.name());
  if (present.ok()) {
    const uint64_t before = BytesOf(**present);
    if (growth.bytes <= before) return Reservation();
    growth.bytes -= before;
    CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode found,
                            attributes_.FindOwner(TablePlace(schema.name())));
    growth.owner = found.uid;
  }
  if (IsOwnerOrRoot(growth.owner)) return Reservation();
  Reservation reservation = Add(growth);
  CELLFS_ASSIGN_OR_RETURN(const Shares shares, Count(schema.name(), reservation));
  const uint64_t owners = shares.owners + BytesOf(schema);
  if (2 * owners + shares.others <= kMostSchemaBytes) return reservation;
  return Status(
      StatusCode::kQuotaExceeded,
      "the schemas of tables of user " + std::to_string(growth.owner) + " would have " +
          std::to_string(owners) + " bytes, and may have " +
          std::to_string((kMostSchemaBytes - std::min(kMostSchemaBytes, shares.others)) / 2) +
          "; drop tables, or give them shorter attributes and fewer split keys");
}

SchemaShares::Reservation SchemaShares::Add(const Growth& growth) {
  auto reservation = std::make_shared<const Growth>(growth);
  const std::lock_guard lock(mutex_);
  std::erase_if(reservations_, [](const auto& other) { return other.expired(); });
  reservations_.push_back(reservation);
  return reservation;
}

StatusOr<SchemaShares::Shares> SchemaShares::Count(const TableName& changing,
                                                   const Reservation& reservation) {
  Shares shares;
  const auto add = [&](uid_t of, uint64_t bytes) {
    (of == reservation->owner ? shares.owners : shares.others) += bytes;
  };
  {
    const std::lock_guard lock(mutex_);
    for (const auto& other : reservations_) {
      const Reservation growth = other.lock();
      if (growth != nullptr && growth != reservation) add(growth->owner, growth->bytes);
    }
  }
  CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> namespaces, store_.ListNamespaces());
  for (const std::string& name : namespaces) {
    if (name == kSystemNamespace || name == kHiddenNamespace) continue;
    CELLFS_ASSIGN_OR_RETURN(const std::vector<TableName> tables, store_.ListTables(name));
    for (const TableName& table : tables) {
      if (table == changing) continue;
      const auto schema = store_.DescribeTable(table);
      if (!schema.ok()) continue;  // it has gone meanwhile
      CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode found, attributes_.FindOwner(TablePlace(table)));
      if (!IsOwnerOrRoot(found.uid)) add(found.uid, BytesOf(**schema));
    }
  }
  return shares;
}

}  // namespace cellfs::fs
