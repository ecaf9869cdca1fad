// SPDX-License-Identifier: MIT
#include "fs/reading/hidden_rows.h"

#include <utility>

#include "engine/filter.h"

namespace cellfs::fs {

OutcomeOr<std::unique_ptr<HiddenRows>> HiddenRows::Open(const Reading& reading,
                                                        const Caller& caller, const Place& table,
                                                        const std::optional<std::string>& after) {
  Scan scan;
  CELLFS_ASSIGN_OR_RETURN(scan.filter, MakeFirstKeyOnlyFilter());
  scan.start_row = after.value_or("");
  scan.include_start_row = !after;
  scan.lengths_only = true;
  std::unique_ptr<HiddenRows> rows(new HiddenRows);
  // In this order: a row that is put in between is visible.
  scan.raw = true;
  CELLFS_ASSIGN_OR_RETURN(rows->stored_.scan, RowScan::Open(reading, caller, table, scan));
  scan.raw = false;
  CELLFS_ASSIGN_OR_RETURN(rows->visible_.scan, RowScan::Open(reading, caller, table, scan));
  return rows;
}

OutcomeOr<const std::string*> HiddenRows::Rows::Peek(size_t batch) {
  if (next == keys.size() && !at_end) {
    CELLFS_ASSIGN_OR_RETURN(const auto rows, scan->Next(batch));
    next = 0;
    keys.clear();
    for (const RowCells& row : rows) {
      if (!row.empty()) keys.push_back(row.front().row);
    }
    at_end = rows.empty();
  }
  return next < keys.size() ? &keys[next] : nullptr;
}

OutcomeOr<std::optional<std::string>> HiddenRows::NextRow(size_t batch) {
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(const std::string* const stored, stored_.Peek(batch));
    if (stored == nullptr) return std::optional<std::string>();
    CELLFS_ASSIGN_OR_RETURN(const std::string* visible, visible_.Peek(batch));
    while (visible != nullptr && *visible < *stored) {
      ++visible_.next;
      CELLFS_ASSIGN_OR_RETURN(visible, visible_.Peek(batch));
    }
    ++stored_.next;
    if (visible == nullptr || *visible != *stored) return std::optional(*stored);
  }
}

// What it found before a failure is given, and the next call fails, or goes on.
OutcomeOr<std::vector<std::string>> HiddenRows::Next(size_t max) {
  std::vector<std::string> rows;
  while (rows.size() < max) {
    auto row = NextRow(max);
    if (!row.ok() && rows.empty()) return row.status();
    if (!row.ok() || !*row) break;
    rows.push_back(**std::move(row));
  }
  return rows;
}

}  // namespace cellfs::fs
