// SPDX-License-Identifier: MIT
#include "engine/filter.h"
#include "fs/listing/entry_sources.h"
#include "fs/reading/reading.h"
#include "fs/reading/row_scan.h"
#include "fs/tree/hidden_namespace.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

// The rows of a table, by a scanner that goes on from batch to batch.
class RowSource : public EntrySource {
 public:
  explicit RowSource(ListedDirectory& table) : table_(table), query_(table.place().query()) {}

  OutcomeOr<EntryBatch> After(const Caller& caller,
                              const std::optional<std::string>& key) override {
    bool skipping = false;
    if (scanner_ == nullptr || scanner_key_ != key) {
      CELLFS_RETURN_IF_FAILED(Open(caller, key));
      // A query may be limited, so it is always run from its beginning.
      skipping = query_ != nullptr && key.has_value();
    }
    EntryBatch batch;
    while (batch.entries.empty()) {
      auto rows = scanner_->Next(table_.batch());
      if (!rows.ok()) {
        if (!scanner_->goes_on()) scanner_.reset();
        return rows.status();
      }
      if (rows->empty()) break;
      AddRows(*rows, skipping ? &*key : nullptr, batch.entries);
    }
    if (!batch.entries.empty()) batch.end = batch.entries.back().key;
    scanner_key_ = batch.end ? batch.end : key;
    return batch;
  }

 private:
  Outcome Open(const Caller& caller, const std::optional<std::string>& after) {
    const Place& place = table_.place();
    Scan scan;
    if (query_ != nullptr) {
      scan = *query_;
    } else {
      static const FilterPtr first_key_only = *MakeFirstKeyOnlyFilter();
      scan.filter = first_key_only;
      const Get like = GetOf(place, ReadDetail::kLengths);
      scan.time_range = like.time_range;
      scan.columns = like.columns;
      scan.moment = table_.moment();
      scan.start_row = after.value_or("");
      scan.include_start_row = !after;
    }
    scan.lengths_only = true;
    CELLFS_ASSIGN_OR_RETURN(scanner_, RowScan::Open(table_.reading(), caller, place, scan));
    return {};
  }

  // `after`: of a query that was begun anew, what has been listed; null: nothing.
  void AddRows(const std::vector<RowCells>& rows, const std::string* after,
               SourceEntries& entries) {
    const Place& place = table_.place();
    const auto is_listed = [&](const std::string& row) {
      if (after == nullptr) return false;
      return query_->reversed ? row >= *after : row <= *after;
    };
    const Place like = place.As(PlaceKind::kRow);
    entries.reserve(rows.size());
    for (const RowCells& row : rows) {
      if (row.empty() || is_listed(row.front().row)) continue;
      if (IsHiddenRow(place.table, row.front().row)) continue;
      table_.AddCell(entries, like, row.front());
    }
  }

  ListedDirectory& table_;
  const Scan* const query_;  // null: all rows are listed
  std::unique_ptr<RowScan> scanner_;  // standing behind scanner_key_
  std::optional<std::string> scanner_key_;
};

}  // namespace

std::unique_ptr<EntrySource> NewRowSource(ListedDirectory& table) {
  return std::make_unique<RowSource>(table);
}

}  // namespace cellfs::fs
