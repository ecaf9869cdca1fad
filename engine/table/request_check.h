// SPDX-License-Identifier: MIT
//
// What is refused before anything is read. First what HBase's client and its RPC layer refuse
// (Mutation, Get, Scan, TimeRange, ConnectionUtils, RSRpcServices), which needs no schema; then
// what its region refuses (HRegion.checkFamilies, checkTimestamps).
#ifndef CELLFS_ENGINE_TABLE_REQUEST_CHECK_H_
#define CELLFS_ENGINE_TABLE_REQUEST_CHECK_H_

#include "engine/mutation.h"
#include "engine/options.h"
#include "engine/read.h"
#include "engine/schema.h"
#include "engine/status.h"

namespace cellfs {

Status CheckRequest(const Get& get);
Status CheckRequest(const Scan& scan);
Status CheckRequest(const RowMutations& mutations, const SiteSettings& site);
Status CheckRequest(const CheckAndMutate& check, const SiteSettings& site);

Status CheckFamilyExists(const TableSchema& schema, std::string_view family);
Status CheckFamilies(const TableSchema& schema, const Query& query);
Status CheckFamilies(const TableSchema& schema, const RowMutations& mutations);

// No Put may lie more than the timestamp slop after `now`; one without a timestamp lies at
// `put_floor`.
Status CheckTimestampSlop(const RowMutations& mutations, int64_t slop, Timestamp now,
                          Timestamp put_floor);

// Of a cell that is to be put, with a value of so many bytes; kValueTooLarge.
Status CheckCellSize(std::string_view row, std::string_view family, std::string_view qualifier,
                     uint64_t value_size, const SiteSettings& site);
// Of a cell that an Increment or Append made; kValueTooLarge.
Status CheckNewCellSize(std::string_view row, const Cell& cell, const SiteSettings& site);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_TABLE_REQUEST_CHECK_H_
