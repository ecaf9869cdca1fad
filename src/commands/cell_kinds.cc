// SPDX-License-Identifier: MIT
#include "src/commands/cell_kinds.h"

#include <memory>
#include <utility>
#include <vector>

#include "src/commands/cells.h"
#include "src/history/replay.h"

namespace cellfs {
namespace {

// The cells of a scan, one after the other.
class CellsOfScan {
 public:
  CellsOfScan(const Session& session, std::unique_ptr<Scanner> scanner)
      : session_(&session), scanner_(std::move(scanner)) {}

  // Null: there are no more.
  StatusOr<const Cell*> Current() {
    while (row_ < rows_.size() && cell_ >= rows_[row_].size()) {
      ++row_;
      cell_ = 0;
    }
    while (row_ >= rows_.size()) {
      if (scanner_->at_end()) return static_cast<const Cell*>(nullptr);
      CELLFS_RETURN_IF_ERROR(Fetch());
    }
    return &rows_[row_][cell_];
  }
  void Advance() { ++cell_; }

 private:
  Status Fetch() {
    ScanBatch batch{.partial_rows = true};
    batch.cancelled = session_->cancelled;
    CELLFS_ASSIGN_OR_RETURN(rows_, scanner_->Next(batch));
    std::erase_if(rows_, [](const RowCells& row) { return row.empty(); });
    row_ = cell_ = 0;
    return {};
  }

  const Session* session_;
  std::unique_ptr<Scanner> scanner_;
  std::vector<RowCells> rows_;
  size_t row_ = 0;
  size_t cell_ = 0;
};

StatusOr<CellsOfScan> ScanOfTable(const Session& session, const TableName& table, bool raw) {
  Scan scan;
  scan.raw = raw;
  scan.max_versions = kAllVersions;
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(auto scanner, session.store.OpenScanner(session.caller, table, scan));
  return CellsOfScan(session, std::move(scanner));
}

// What reads see of a table, asked for each stored cell in their order.
class SeenCells {
 public:
  explicit SeenCells(CellsOfScan cells) : cells_(std::move(cells)) {}

  StatusOr<bool> Has(const Cell& stored) {
    for (;;) {
      CELLFS_ASSIGN_OR_RETURN(const Cell* seen, cells_.Current());
      if (seen == nullptr) return false;
      const auto order = Compare(*seen, stored);
      if (order > 0) return false;
      cells_.Advance();
      if (order == 0) return true;
    }
  }

 private:
  // Of two puts of one time the first that is stored is the one that is seen.
  static std::strong_ordering Compare(const Cell& a, const Cell& b) {
    CellView first = ViewOf(a);
    CellView second = ViewOf(b);
    first.sequence_id = second.sequence_id = 0;
    return CompareCells(first, second);
  }

  CellsOfScan cells_;
};

bool IsExpired(const TableSchema& schema, const Cell& put, Timestamp now) {
  if (put.time_to_live != kNoCellTtl && put.timestamp < now - put.time_to_live) return true;
  const auto family = schema.families.find(put.family);
  return family != schema.families.end() && HasTtlEnded(family->second, put.timestamp, now);
}

// Whether a cell is the first of its column that is seen.
class FirstOfColumn {
 public:
  bool Take(const Cell& seen) {
    if (has_one_ && seen.qualifier == qualifier_ && seen.family == family_ && seen.row == row_)
      return false;
    has_one_ = true;
    row_ = seen.row;
    family_ = seen.family;
    qualifier_ = seen.qualifier;
    return true;
  }

 private:
  bool has_one_ = false;
  std::string row_, family_, qualifier_;
};

}  // namespace

Status ForEachStoredCell(const Session& session, const TableSchema& schema,
                         const std::function<bool(const Cell& cell, CellKind kind)>& take) {
  const bool is_raw = session.store.traits().keeps_deleted;
  CELLFS_ASSIGN_OR_RETURN(CellsOfScan stored, ScanOfTable(session, schema.name(), is_raw));
  CELLFS_ASSIGN_OR_RETURN(CellsOfScan seen, ScanOfTable(session, schema.name(), /*raw=*/false));
  SeenCells seen_cells(std::move(seen));
  FirstOfColumn first;
  for (;;) {
    CELLFS_ASSIGN_OR_RETURN(const Cell* cell, stored.Current());
    if (cell == nullptr) return {};
    CellKind kind = CellKind::kTombstone;
    if (!IsTombstone(cell->type)) {
      CELLFS_ASSIGN_OR_RETURN(const bool is_seen,
                              is_raw ? seen_cells.Has(*cell) : StatusOr<bool>(true));
      if (is_seen) {
        kind = first.Take(*cell) ? CellKind::kShown : CellKind::kOlder;
      } else {
        kind = IsExpired(schema, *cell, session.Now()) ? CellKind::kExpired : CellKind::kHidden;
      }
    }
    if (!take(*cell, kind)) return {};
    stored.Advance();
  }
}

}  // namespace cellfs
