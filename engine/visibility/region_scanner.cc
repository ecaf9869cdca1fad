// SPDX-License-Identifier: MIT
#include "engine/visibility/region_scanner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/visibility/family_scanner.h"

namespace cellfs {
namespace {

// HBase's Scan.isGetScan.
bool IsGetScan(const Scan& scan) {
  return !scan.start_row.empty() && scan.start_row == scan.stop_row && scan.include_start_row &&
         scan.include_stop_row;
}

}  // namespace

class RegionScanner::Implementation {
 public:
  Implementation(Scan scan, ScanContext context)
      : scan_(std::move(scan)), context_(std::move(context)), single_row_(IsGetScan(scan_)) {
    if (scan_.filter != nullptr) {
      filter_ = scan_.filter->Clone();
      filter_->SetReversed(scan_.reversed);
    }
    has_filter_row_ = filter_ != nullptr && filter_->HasFilterRow();
    ChooseFamilies();
  }

  Status Check() const {
    if (scan_.raw) {
      for (const auto& [family, qualifiers] : scan_.columns) {
        if (!qualifiers.empty()) {
          return Status(StatusCode::kDoNotRetry, "a raw scan reads whole families, not columns");
        }
      }
    }
    if (scan_.reversed && std::any_of(families_.begin(), families_.end(),
                                      [](const Family& family) { return !family.essential; })) {
      return Status(StatusCode::kDoNotRetry,
                    "a reversed scan cannot load column families on demand; name one family or "
                    "leave filter_if_missing out");
    }
    return {};
  }

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch, const CursorSource& source,
                                       Timestamp now) {
    std::vector<RowCells> rows;
    if (finished_ || scan_.limit == returned_) return rows;
    Status status = Attach(source, now);
    size_t bytes = 0;
    while (status.ok() && !finished_ && rows.size() < batch.max_rows && bytes < batch.max_bytes &&
           returned_ != scan_.limit) {
      RowCells cells;
      status = NextRow(cells);
      if (!status.ok() || cells.empty()) break;
      for (const Cell& cell : cells) bytes += cell.value.size() + cell.row.size() + sizeof(Cell);
      rows.push_back(std::move(cells));
      ++returned_;
    }
    Detach();
    if (!status.ok()) return status;
    return rows;
  }

 private:
  struct Family {
    const FamilySchema* schema = nullptr;
    ColumnNames columns = nullptr;
    bool essential = true;                   // the filter needs it to judge a row
    bool closed = false;                     // by the filter, for all rows to come
    std::unique_ptr<FamilyScanner> scanner;  // while attached
  };

  void ChooseFamilies() {
    for (const auto& [name, schema] : context_.schema->families) {
      Family family{.schema = &schema};
      if (!scan_.columns.empty()) {
        auto named = scan_.columns.find(name);
        if (named == scan_.columns.end()) continue;
        family.columns = &named->second;
      }
      family.essential =
          filter_ == nullptr || !scan_.load_families_on_demand || filter_->IsFamilyEssential(name);
      families_.push_back(std::move(family));
    }
  }

  Status Attach(const CursorSource& source, Timestamp now) {
    const bool keys_only = scan_.lengths_only && (filter_ == nullptr || !filter_->ReadsValues());
    const FamilyScanner::Options options{.reversed = scan_.reversed,
                                         .single_row = single_row_,
                                         .store_limit = scan_.store_limit,
                                         .store_offset = scan_.store_offset,
                                         .lengths_only = scan_.lengths_only,
                                         .max_row_size = context_.max_row_size};
    for (Family& family : families_) {
      if (family.closed) continue;
      const std::string& name = family.schema->name();
      CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<CellCursor> cursor, source(name, keys_only));
      family.scanner = std::make_unique<FamilyScanner>(
          name, std::move(cursor),
          QueryMatcher(*family.schema, scan_, family.columns, scan_.raw, filter_.get(), now),
          filter_.get(), options);
      CELLFS_RETURN_IF_ERROR(
          last_row_ ? family.scanner->SeekToRow(*last_row_, false)
                    : family.scanner->SeekToRow(scan_.start_row, scan_.include_start_row));
    }
    return {};
  }

  void Detach() {
    for (Family& family : families_) {
      if (family.scanner == nullptr) continue;
      family.closed = family.scanner->closed();
      family.scanner.reset();
    }
  }

  static bool HasRow(const Family& family) {
    return family.scanner != nullptr && family.scanner->valid();
  }

  // The next row that an essential family has a stored cell in.
  std::optional<std::string> PeekRow() const {
    std::optional<std::string_view> next;
    for (const Family& family : families_) {
      if (!family.essential || !HasRow(family)) continue;
      const std::string_view row = family.scanner->row();
      if (!next || (scan_.reversed ? row > *next : row < *next)) next = row;
    }
    if (!next) return std::nullopt;
    return std::string(*next);
  }

  bool IsPastStop(const std::string& row) const {
    if (scan_.stop_row.empty()) return false;
    if (row == scan_.stop_row) return !scan_.include_stop_row;
    return scan_.reversed ? row < scan_.stop_row : row > scan_.stop_row;
  }

  // HBase's RegionScannerImpl.nextInternal: the next row that has something to return, or an empty
  // one at the end.
  Status NextRow(RowCells& cells) {
    while (true) {
      std::optional<std::string> row = PeekRow();
      if (!row || IsPastStop(*row)) {
        if (has_filter_row_) filter_->FilterRowCells(cells);
        cells.clear();
        finished_ = true;
        return {};
      }
      last_row_ = *row;
      if (filter_ != nullptr && filter_->FilterRowKey(*row)) {
        if (filter_->FilterAllRemaining()) {
          finished_ = true;
          return {};
        }
        CELLFS_RETURN_IF_ERROR(PassRow(*row));
        filter_->Reset();
        continue;
      }
      CELLFS_RETURN_IF_ERROR(ReadFamilies(*row, /*essential=*/true, cells));
      if (IsExcluded(cells)) {
        cells.clear();
        CELLFS_RETURN_IF_ERROR(PassRow(*row));
        if (filter_ != nullptr) filter_->Reset();
        continue;
      }
      CELLFS_RETURN_IF_ERROR(ReadFamilies(*row, /*essential=*/false, cells));
      if (filter_ != nullptr) {
        filter_->Reset();
        if (!cells.empty() && filter_->FilterAllRemaining()) finished_ = true;
      }
      if (!cells.empty()) return {};
    }
  }

  bool IsExcluded(RowCells& cells) {
    if (cells.empty()) return true;
    if (filter_ == nullptr) return false;
    if (!has_filter_row_) return filter_->FilterRow();
    filter_->FilterRowCells(cells);
    return !cells.empty() && filter_->FilterRow();
  }

  // Families in their order; what is loaded on demand is sorted in among the rest.
  Status ReadFamilies(const std::string& row, bool essential, RowCells& cells) {
    const size_t before = cells.size();
    for (Family& family : families_) {
      if (family.essential != essential || family.scanner == nullptr) continue;
      if (!essential && !family.closed) {
        CELLFS_RETURN_IF_ERROR(family.scanner->SeekToRow(row, true));
      }
      if (!HasRow(family) || family.scanner->row() != row) continue;
      CELLFS_RETURN_IF_ERROR(family.scanner->NextRow(row, cells));
    }
    if (!essential && before > 0 && cells.size() > before) {
      std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
        return CompareCells(ViewOf(a), ViewOf(b)) < 0;
      });
    }
    return {};
  }

  // What is left of the row is still shown to the filter going forward, as HBase does; a reversed
  // scan seeks.
  Status PassRow(const std::string& row) {
    RowCells ignored;
    for (Family& family : families_) {
      if (!family.essential || !HasRow(family) || family.scanner->row() != row) continue;
      CELLFS_RETURN_IF_ERROR(scan_.reversed ? family.scanner->PassRow(row)
                                            : family.scanner->NextRow(row, ignored));
      ignored.clear();
    }
    return {};
  }

  const Scan scan_;
  const ScanContext context_;
  const bool single_row_;
  std::unique_ptr<Filter> filter_;
  bool has_filter_row_ = false;
  std::vector<Family> families_;
  std::optional<std::string> last_row_;
  bool finished_ = false;
  int64_t returned_ = 0;
};

RegionScanner::RegionScanner(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
RegionScanner::~RegionScanner() = default;

StatusOr<std::unique_ptr<RegionScanner>> RegionScanner::Open(const Scan& scan,
                                                             ScanContext context) {
  auto implementation = std::make_unique<Implementation>(scan, std::move(context));
  CELLFS_RETURN_IF_ERROR(implementation->Check());
  return std::unique_ptr<RegionScanner>(new RegionScanner(std::move(implementation)));
}

StatusOr<RowCells> RegionScanner::Read(const Get& get, ScanContext context,
                                       const CursorSource& source, Timestamp now) {
  Scan scan;
  static_cast<Query&>(scan) = get;
  scan.start_row = get.row;
  scan.stop_row = get.row;
  scan.include_stop_row = true;
  Implementation implementation(std::move(scan), std::move(context));
  CELLFS_ASSIGN_OR_RETURN(std::vector<RowCells> rows,
                          implementation.Next({.max_rows = 1}, source, now));
  if (rows.empty()) return RowCells{};
  return std::move(rows.front());
}

StatusOr<std::vector<RowCells>> RegionScanner::Next(const ScanBatch& batch,
                                                    const CursorSource& source, Timestamp now) {
  return implementation_->Next(batch, source, now);
}

}  // namespace cellfs
