// SPDX-License-Identifier: MIT
#include "engine/visibility/region_scanner.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "engine/filter/regex.h"
#include "engine/visibility/family_scanner.h"
#include "engine/work_limit.h"

namespace cellfs {
namespace {

constexpr size_t kNoBound = std::numeric_limits<size_t>::max();

size_t HeldBytes(const RowCells& cells) {
  size_t bytes = 0;
  for (const Cell& cell : cells) bytes += cellfs::HeldBytes(cell);
  return bytes;
}

// Which rows, and how: what a Scan says beside its Query. A Get is one of a single row.
struct Rows {
  explicit Rows(const Get& get)
      : start(get.row), stop(get.row), include_stop(true), is_single(!get.row.empty()) {}
  explicit Rows(const Scan& scan)
      : start(scan.start_row),
        include_start(scan.include_start_row),
        stop(scan.stop_row),
        include_stop(scan.include_stop_row),
        is_single(scan.IsOfOneRow()),
        limit(scan.limit),
        reversed(scan.reversed),
        raw(scan.raw) {}

  const std::string& start;
  bool include_start = true;
  const std::string& stop;
  bool include_stop;
  bool is_single;
  int64_t limit = -1;
  bool reversed = false;
  bool raw = false;
};

}  // namespace

class RegionScanner::Implementation {
 public:
  // `query` and what `rows` speaks of outlive it.
  Implementation(const Query& query, const Rows& rows, ScanContext context)
      : query_(query), rows_(rows), context_(std::move(context)) {
    if (query_.filter != nullptr) {
      filter_ = query_.filter->Clone();
      filter_->SetReversed(rows_.reversed);
    }
    has_filter_row_ = filter_ != nullptr && filter_->HasFilterRow();
    ChooseFamilies();
  }

  Status Check() const {
    if (rows_.raw) {
      for (const auto& [family, qualifiers] : query_.columns) {
        if (!qualifiers.empty()) {
          return Status(StatusCode::kDoNotRetry, "a raw scan reads whole families, not columns");
        }
      }
    }
    if (rows_.reversed && std::any_of(families_.begin(), families_.end(),
                                      [](const Family& family) { return !family.essential; })) {
      return Status(StatusCode::kDoNotRetry,
                    "a reversed scan cannot load column families on demand; name one family or "
                    "leave filter_if_missing out");
    }
    return {};
  }

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch, const CursorSource& source,
                                       Timestamp now) {
    return Next(batch, WorkLimit(batch), source, now);
  }
  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch, const WorkLimit& limit,
                                       const CursorSource& source, Timestamp now) {
    if (cancelled_) return Cancelled();
    std::vector<RowCells> rows;
    if (at_end()) return rows;
    const SearchLimit searches(limit);
    Status status = Attach(source, now, limit);
    const bool comes_in_pieces = batch.partial_rows && MayComeInPieces();
    size_t bytes = 0;
    while (status.ok() && !at_end() && rows.size() < batch.max_rows && bytes < batch.max_bytes) {
      RowCells cells;
      status = NextRow(limit, comes_in_pieces ? batch.max_bytes - bytes : kNoBound, cells);
      if (!status.ok() || cells.empty()) break;
      bytes += HeldBytes(cells);
      rows.push_back(std::move(cells));
      if (filter_ != nullptr && limit.IsUp()) break;
    }
    Detach();
    // Asked last: what the filter says after a search that was broken off is worth nothing.
    cancelled_ = limit.IsCancelled();
    if (cancelled_) return Cancelled();
    if (!status.ok()) return status;
    return rows;
  }

  bool at_end() const { return finished_ || (!in_row_ && rows_.limit == returned_); }

 private:
  struct Family {
    const FamilySchema* schema = nullptr;
    ColumnNames columns = nullptr;
    bool essential = true;                 // the filter needs it to judge a row
    bool closed = false;                   // by the filter, for all rows to come
    bool is_ahead = false;                 // of a row in pieces: not read yet
    std::optional<FamilyScanner> scanner;  // while attached
  };

  void ChooseFamilies() {
    for (const auto& [name, schema] : context_.schema->families) {
      Family family{.schema = &schema};
      if (!query_.columns.empty()) {
        auto named = query_.columns.find(name);
        if (named == query_.columns.end()) continue;
        family.columns = &named->second;
      }
      family.essential =
          filter_ == nullptr || !query_.load_families_on_demand || filter_->IsFamilyEssential(name);
      families_.push_back(std::move(family));
    }
  }

  Status Attach(const CursorSource& source, Timestamp now, const WorkLimit& limit) {
    const bool keys_only = query_.lengths_only && (filter_ == nullptr || !filter_->ReadsValues());
    const FamilyScanner::Options options{.reversed = rows_.reversed,
                                         .single_row = rows_.is_single,
                                         .raw = rows_.raw,
                                         .store_limit = query_.store_limit,
                                         .store_offset = query_.store_offset,
                                         .lengths_only = query_.lengths_only,
                                         .max_row_size = context_.max_row_size};
    for (Family& family : families_) {
      if (family.closed) continue;
      CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<CellCursor> cursor,
                              source(family.schema->name(), keys_only));
      if (family.scanner) {
        CELLFS_RETURN_IF_ERROR(family.scanner->GoOn(limit, std::move(cursor)));
        continue;
      }
      family.scanner.emplace(*family.schema, query_, family.columns, filter_.get(), now, options,
                             limit, std::move(cursor));
      CELLFS_RETURN_IF_ERROR(last_row_
                                 ? family.scanner->SeekToRow(*last_row_, family.is_ahead)
                                 : family.scanner->SeekToRow(rows_.start, rows_.include_start));
    }
    return {};
  }

  // One in the midst of a row knows what it has seen of it.
  void Detach() {
    for (Family& family : families_) {
      if (!family.scanner) continue;
      family.closed = family.scanner->closed();
      if (family.scanner->is_in_row()) {
        family.scanner->LetGo();
      } else {
        family.scanner.reset();
      }
    }
  }

  // HBase's LimitScope: between cells.
  bool MayComeInPieces() const {
    return !has_filter_row_ && std::all_of(families_.begin(), families_.end(),
                                           [](const Family& family) { return family.essential; });
  }

  // Into the memory of the one before.
  const std::string& KeepRow(std::string_view row) {
    if (!last_row_) last_row_.emplace();
    return last_row_->assign(row);
  }

  static bool HasRow(const Family& family) { return family.scanner && family.scanner->valid(); }

  // The next row that an essential family has a stored cell in.
  std::optional<std::string_view> PeekRow() const {
    std::optional<std::string_view> next;
    for (const Family& family : families_) {
      if (!family.essential || !HasRow(family)) continue;
      const std::string_view row = family.scanner->row();
      if (!next || (rows_.reversed ? row > *next : row < *next)) next = row;
    }
    return next;
  }

  bool IsPastStop(std::string_view row) const {
    if (rows_.stop.empty()) return false;
    if (row == rows_.stop) return !rows_.include_stop;
    return rows_.reversed ? row < rows_.stop : row > rows_.stop;
  }

  // HBase's RegionScannerImpl.nextInternal: the next row that has something to return, or an empty
  // one at the end and where the time is up.
  Status NextRow(const WorkLimit& limit, size_t max_bytes, RowCells& cells) {
    if (in_row_) {
      CELLFS_RETURN_IF_ERROR(ReadPiece(max_bytes, cells));
      if (!cells.empty()) return {};
    }
    for (bool first = true;; first = false) {
      if ((!first && limit.IsUp()) || at_end()) return {};
      const std::optional<std::string_view> next = PeekRow();
      if (!next || IsPastStop(*next)) {
        if (has_filter_row_) filter_->FilterRowCells(cells);
        cells.clear();
        finished_ = true;
        return {};
      }
      const std::string& row = KeepRow(*next);
      if (filter_ != nullptr && filter_->FilterRowKey(row)) {
        if (filter_->FilterAllRemaining()) {
          finished_ = true;
          return {};
        }
        CELLFS_RETURN_IF_ERROR(PassRow(row));
        filter_->Reset();
        continue;
      }
      if (max_bytes != kNoBound) {
        for (Family& family : families_) family.is_ahead = true;
        CELLFS_RETURN_IF_ERROR(ReadPiece(max_bytes, cells));
        if (!cells.empty()) return {};
        continue;
      }
      CELLFS_RETURN_IF_ERROR(ReadFamilies(row, /*essential=*/true, cells));
      if (IsExcluded(cells)) {
        cells.clear();
        CELLFS_RETURN_IF_ERROR(PassRow(row));
        if (filter_ != nullptr) filter_->Reset();
        continue;
      }
      CELLFS_RETURN_IF_ERROR(ReadFamilies(row, /*essential=*/false, cells));
      if (filter_ != nullptr) {
        filter_->Reset();
        if (!cells.empty() && filter_->FilterAllRemaining()) finished_ = true;
      }
      if (!cells.empty()) {
        ++returned_;
        return {};
      }
    }
  }

  // Of the last row as much as there is room for; at least a cell, if there is one.
  Status ReadPiece(size_t max_bytes, RowCells& cells) {
    has_cells_ = in_row_ && has_cells_;
    in_row_ = false;
    for (Family& family : families_) {
      if (!family.is_ahead) continue;
      const size_t bytes = HeldBytes(cells);
      in_row_ = bytes > 0 && bytes >= max_bytes;
      if (in_row_) break;
      if (HasRow(family) && family.scanner->row() == *last_row_) {
        CELLFS_RETURN_IF_ERROR(family.scanner->NextRow(*last_row_, max_bytes - bytes, cells));
        in_row_ = family.scanner->is_in_row();
        if (in_row_) break;
      }
      family.is_ahead = false;
    }
    has_cells_ |= !cells.empty();
    if (!in_row_) EndRowInPieces();
    return {};
  }

  void EndRowInPieces() {
    if (has_cells_) ++returned_;
    if (filter_ == nullptr) return;
    filter_->Reset();
    if (has_cells_ && filter_->FilterAllRemaining()) finished_ = true;
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
      if (family.essential != essential || !family.scanner) continue;
      if (!essential && !family.closed) {
        CELLFS_RETURN_IF_ERROR(family.scanner->SeekToRow(row, true));
      }
      if (!HasRow(family) || family.scanner->row() != row) continue;
      CELLFS_RETURN_IF_ERROR(family.scanner->NextRow(row, kNoBound, cells));
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
      CELLFS_RETURN_IF_ERROR(rows_.reversed ? family.scanner->PassRow(row)
                                            : family.scanner->NextRow(row, kNoBound, ignored));
      ignored.clear();
    }
    return {};
  }

  const Query& query_;
  const Rows rows_;
  const ScanContext context_;
  std::unique_ptr<Filter> filter_;
  bool has_filter_row_ = false;
  std::vector<Family> families_;
  std::optional<std::string> last_row_;
  bool finished_ = false;
  bool cancelled_ = false;
  int64_t returned_ = 0;
  bool in_row_ = false;     // the last row goes on with the next piece
  bool has_cells_ = false;  // a piece of it
};

RegionScanner::RegionScanner(Scan scan, ScanContext context)
    : scan_(std::move(scan)),
      implementation_(std::make_unique<Implementation>(scan_, Rows(scan_), std::move(context))) {}
RegionScanner::~RegionScanner() = default;

StatusOr<std::unique_ptr<RegionScanner>> RegionScanner::Open(const Scan& scan,
                                                             ScanContext context) {
  std::unique_ptr<RegionScanner> scanner(new RegionScanner(scan, std::move(context)));
  CELLFS_RETURN_IF_ERROR(scanner->implementation_->Check());
  return scanner;
}

StatusOr<RowCells> RegionScanner::Read(const Get& get, ScanContext context,
                                       const CursorSource& source, Timestamp now) {
  Implementation implementation(get, Rows(get), std::move(context));
  CELLFS_ASSIGN_OR_RETURN(std::vector<RowCells> rows,
                          implementation.Next({.max_rows = 1}, WorkLimit(get), source, now));
  if (rows.empty()) return RowCells{};
  return std::move(rows.front());
}

StatusOr<std::vector<RowCells>> RegionScanner::Next(const ScanBatch& batch,
                                                    const CursorSource& source, Timestamp now) {
  return implementation_->Next(batch, source, now);
}

bool RegionScanner::at_end() const { return implementation_->at_end(); }

}  // namespace cellfs
