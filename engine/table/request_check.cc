// SPDX-License-Identifier: MIT
#include "engine/table/request_check.h"

#include <string>

namespace cellfs {
namespace {

// Of a serialised cell: both lengths, and the key's fixed part.
constexpr uint64_t kCellOverhead = 20;
// What the server counts beyond: the length before the cell.
constexpr uint64_t kServerOverhead = 4;
// The tag that holds a cell's TTL, with the length of all tags.
constexpr uint64_t kTtlTagSize = 13;

Status IllegalRequest(std::string message) {
  return Status(StatusCode::kIllegalArgument, std::move(message));
}

// What is refused is said apart, so that each check is short where it is asked.
Status NegativeTimestamp(Timestamp timestamp) {
  return IllegalRequest("timestamp " + std::to_string(timestamp) + " is negative");
}

inline Status CheckTimestamp(Timestamp timestamp) {
  return timestamp >= 0 ? Status() : NegativeTimestamp(timestamp);
}

Status CheckTimeRange(const TimeRange& range) {
  if (range.min >= 0 && range.max >= range.min) return {};
  return IllegalRequest("time range [" + std::to_string(range.min) + ", " +
                        std::to_string(range.max) + ") is negative or turned round");
}

Status CheckTimeRanges(const Query& query) {
  CELLFS_RETURN_IF_ERROR(CheckTimeRange(query.time_range));
  for (const auto& [family, range] : query.family_time_ranges)
    CELLFS_RETURN_IF_ERROR(CheckTimeRange(range));
  return {};
}

Status NegativeTtl(int64_t time_to_live) {
  return IllegalRequest("cell TTL " + std::to_string(time_to_live) + " ms is negative");
}

inline Status CheckCellTtl(int64_t time_to_live) {
  const bool is_good = time_to_live >= 0 || time_to_live == kNoCellTtl;
  return is_good ? Status() : NegativeTtl(time_to_live);
}

Status CheckScanRow(std::string_view row) {
  if (row.size() <= kMaxRowLength) return {};
  return IllegalRequest("scan bound of " + std::to_string(row.size()) + " bytes is longer than " +
                        std::to_string(kMaxRowLength));
}

Status TooLarge(uint64_t size, int64_t limit, std::string_view key) {
  return Status(StatusCode::kValueTooLarge, "cell of " + std::to_string(size) +
                                                " bytes is larger than " + std::string(key) + " " +
                                                std::to_string(limit));
}

Status CheckSizeLimit(uint64_t size, int64_t limit, std::string_view key) {
  const bool fits = limit <= 0 || size <= static_cast<uint64_t>(limit);
  return fits ? Status() : TooLarge(size, limit, key);
}

Status CheckServerSize(uint64_t size, const SiteSettings& site) {
  return CheckSizeLimit(size + kServerOverhead, site.server_max_cell_size,
                        "hbase.server.keyvalue.maxsize");
}

template <typename AnyCell>
Status CheckCell(const std::string& row, const AnyCell& cell, size_t value_size,
                 const SiteSettings& site) {
  CELLFS_RETURN_IF_ERROR(CheckTimestamp(cell.timestamp));
  return CheckCellSize(row, cell.family, cell.qualifier, value_size, site);
}

// The checks of one mutation that are its own.
struct MutationCheck {
  const SiteSettings& site;

  Status operator()(const Put& put) const {
    if (put.cells.empty()) return IllegalRequest("a Put needs a cell");
    CELLFS_RETURN_IF_ERROR(CheckCellTtl(put.time_to_live));
    for (const PutCell& cell : put.cells)
      CELLFS_RETURN_IF_ERROR(CheckCell(put.row, cell, cell.value.size(), site));
    return {};
  }

  Status operator()(const Delete& deletion) const {
    if (deletion.time_to_live != kNoCellTtl)
      return Status(StatusCode::kUnsupportedOperation, "a Delete cannot have a cell TTL");
    CELLFS_RETURN_IF_ERROR(CheckTimestamp(deletion.timestamp));
    for (const DeleteMarker& marker : deletion.markers) {
      if (!IsTombstone(marker.type)) return IllegalRequest("a Delete cannot hold a Put");
      CELLFS_RETURN_IF_ERROR(CheckCell(deletion.row, marker, 0, site));
    }
    return {};
  }

  Status operator()(const Increment& increment) const {
    if (increment.cells.empty()) return IllegalRequest("an Increment needs a cell");
    CELLFS_RETURN_IF_ERROR(CheckCellTtl(increment.time_to_live));
    CELLFS_RETURN_IF_ERROR(CheckTimeRange(increment.time_range));
    for (const IncrementCell& cell : increment.cells)
      CELLFS_RETURN_IF_ERROR(CheckCell(increment.row, cell, sizeof cell.amount, site));
    return {};
  }

  Status operator()(const Append& append) const {
    if (append.cells.empty()) return IllegalRequest("an Append needs a cell");
    CELLFS_RETURN_IF_ERROR(CheckCellTtl(append.time_to_live));
    CELLFS_RETURN_IF_ERROR(CheckTimeRange(append.time_range));
    for (const AppendCell& cell : append.cells)
      CELLFS_RETURN_IF_ERROR(CheckCell(append.row, cell, cell.value.size(), site));
    return {};
  }

  Status operator()(const Withdraw& withdraw) const {
    for (const WithdrawCell& cell : withdraw.cells)
      CELLFS_RETURN_IF_ERROR(CheckTimestamp(cell.timestamp));
    return {};
  }
};

}  // namespace

Status CheckRequest(const Get& get) {
  CELLFS_RETURN_IF_ERROR(CheckRow(get.row));
  CELLFS_RETURN_IF_ERROR(CheckTimeRanges(get));
  if (get.max_versions > 0) return {};
  return Status(StatusCode::kInvalidVersions,
                "max_versions must be positive, not " + std::to_string(get.max_versions));
}

Status CheckRequest(const Scan& scan) {
  CELLFS_RETURN_IF_ERROR(CheckScanRow(scan.start_row));
  CELLFS_RETURN_IF_ERROR(CheckScanRow(scan.stop_row));
  return CheckTimeRanges(scan);
}

Status CheckRequest(const RowMutations& mutations, const SiteSettings& site) {
  CELLFS_RETURN_IF_ERROR(CheckRow(mutations.row));
  if (mutations.mutations.empty()) return IllegalRequest("there is no mutation to do");
  for (const Mutation& mutation : mutations.mutations) {
    if (const std::string& row = RowOf(mutation); row != mutations.row) {
      CELLFS_RETURN_IF_ERROR(CheckRow(row));
      return Status(StatusCode::kWrongRow, "a mutation names another row than its RowMutations");
    }
    CELLFS_RETURN_IF_ERROR(std::visit(MutationCheck{site}, mutation));
  }
  return {};
}

Status CheckRequest(const CheckAndMutate& check, const SiteSettings& site) {
  CELLFS_RETURN_IF_ERROR(CheckRow(check.row));
  CELLFS_RETURN_IF_ERROR(CheckTimeRange(check.time_range));
  if (const auto* filter = std::get_if<FilterPtr>(&check.condition)) {
    if (*filter == nullptr) return IllegalRequest("there is no condition to check");
  } else if (std::get<ColumnCondition>(check.condition).op == CompareOperator::kNoOp) {
    return IllegalRequest("NO_OP is no condition");
  }
  CELLFS_RETURN_IF_ERROR(CheckRequest(check.action, site));
  if (check.action.row == check.row) return {};
  return Status(StatusCode::kDoNotRetry, "the action names another row than the check");
}

namespace {

Status NoSuchFamily(const TableSchema& schema, std::string_view family) {
  return Status(StatusCode::kNoSuchColumnFamily, "family '" + std::string(family) + "' of table '" +
                                                     schema.name().ToString() + "' does not exist");
}

}  // namespace

Status CheckFamilyExists(const TableSchema& schema, std::string_view family) {
  return schema.FindFamily(family) != nullptr ? Status() : NoSuchFamily(schema, family);
}

Status CheckFamilies(const TableSchema& schema, const Query& query) {
  for (const auto& [family, qualifiers] : query.columns)
    CELLFS_RETURN_IF_ERROR(CheckFamilyExists(schema, family));
  return {};
}

Status CheckFamilies(const TableSchema& schema, const RowMutations& mutations) {
  auto check_all = [&](const auto& cells) -> Status {
    for (const auto& cell : cells) CELLFS_RETURN_IF_ERROR(CheckFamilyExists(schema, cell.family));
    return {};
  };
  for (const Mutation& mutation : mutations.mutations) {
    if (const auto* deletion = std::get_if<Delete>(&mutation)) {
      CELLFS_RETURN_IF_ERROR(check_all(deletion->markers));
    } else if (const auto* put = std::get_if<Put>(&mutation)) {
      CELLFS_RETURN_IF_ERROR(check_all(put->cells));
    } else if (const auto* increment = std::get_if<Increment>(&mutation)) {
      CELLFS_RETURN_IF_ERROR(check_all(increment->cells));
    } else if (const auto* append = std::get_if<Append>(&mutation)) {
      CELLFS_RETURN_IF_ERROR(check_all(append->cells));
    } else {
      CELLFS_RETURN_IF_ERROR(check_all(std::get<Withdraw>(mutation).cells));
    }
  }
  return {};
}

Status CheckTimestampSlop(const RowMutations& mutations, int64_t slop, Timestamp now,
                          Timestamp put_floor) {
  if (slop < 0) return {};
  for (const Mutation& mutation : mutations.mutations) {
    const auto* put = std::get_if<Put>(&mutation);
    // One that is later than the clock is never taken with kAboveColumn.
    if (put == nullptr || put->stamping == Stamping::kAboveColumn) continue;
    for (const PutCell& cell : put->cells) {
      Timestamp timestamp = cell.timestamp == kLatestTimestamp ? put_floor : cell.timestamp;
      if (timestamp - now > slop) {
        return Status(StatusCode::kFailedSanityCheck,
                      "timestamp " + std::to_string(timestamp) + " is more than " +
                          std::to_string(slop) + " ms after the clock " + std::to_string(now));
      }
    }
  }
  return {};
}

Status CheckCellSize(std::string_view row, std::string_view family, std::string_view qualifier,
                     uint64_t value_size, const SiteSettings& site) {
  const uint64_t size = kCellOverhead + row.size() + family.size() + qualifier.size() + value_size;
  CELLFS_RETURN_IF_ERROR(
      CheckSizeLimit(size, site.client_max_cell_size, "hbase.client.keyvalue.maxsize"));
  return CheckServerSize(size, site);
}

Status CheckNewCellSize(std::string_view row, const Cell& cell, const SiteSettings& site) {
  uint64_t size = kCellOverhead + row.size() + cell.family.size() + cell.qualifier.size() +
                  cell.value.size() + (cell.time_to_live == kNoCellTtl ? 0 : kTtlTagSize);
  return CheckServerSize(size, site);
}

}  // namespace cellfs
