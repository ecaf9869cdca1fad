// SPDX-License-Identifier: MIT
#include "engine/table/row_write_builder.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "engine/table/delta_reckoning.h"
#include "engine/table/stamping.h"

namespace cellfs {
namespace {

// Reported for a marker that a family tombstone after it made needless.
constexpr Timestamp kNotStored = -1;

// The columns of one Delete whose newest versions it looked up, and how many.
using LookedUp = std::map<std::pair<std::string_view, std::string_view>, int32_t>;

bool LooksUpVersion(const DeleteMarker& marker) {
  return marker.type == CellType::kDelete && marker.timestamp == kLatestTimestamp;
}

// Delete.addFamily throws away what the same Delete was told before of that family: for each family
// with a family tombstone, the index of the last.
std::map<std::string_view, size_t> LastFamilyTombstones(const std::vector<DeleteMarker>& markers) {
  std::map<std::string_view, size_t> last;
  for (size_t i = 0; i < markers.size(); ++i)
    if (markers[i].type == CellType::kDeleteFamily) last[markers[i].family] = i;
  return last;
}

class RowWriteBuilder {
 public:
  RowWriteBuilder(const RowMutations& mutations, const WriteContext& context)
      : context_(context), write_{.batch = {.row = mutations.row}} {}

  Status Add(const Mutation& mutation) {
    return std::visit([this](const auto& one) { return AddOne(one); }, mutation);
  }

  StatusOr<RowWrite> Finish() && {
    for (size_t index : must_be_readable_) CELLFS_RETURN_IF_ERROR(CheckReadable(cells()[index]));
    DropRepeated();
    write_.result.columns_were_empty = stamped_empty_ && !stamped_written_;
    return std::move(write_);
  }

 private:
  std::vector<Cell>& cells() { return write_.batch.cells; }
  const std::string& row() const { return write_.batch.row; }

  Status AddOne(const Put& put) {
    cells().reserve(cells().size() + put.cells.size());
    write_.result.timestamps.reserve(write_.result.timestamps.size() + put.cells.size());
    for (const PutCell& cell : put.cells) {
      CELLFS_ASSIGN_OR_RETURN(Timestamp timestamp, Stamp(put, cell));
      Cell& stored = Store(cell.family, cell.qualifier, timestamp, CellType::kPut);
      stored.value = cell.value;
      stored.value_length = cell.value.size();
      stored.time_to_live = put.time_to_live;
      if (put.stamping == Stamping::kReadable) must_be_readable_.push_back(cells().size() - 1);
      write_.result.timestamps.push_back(timestamp);
    }
    return {};
  }

  Status AddOne(const Delete& deletion) {
    if (deletion.markers.empty()) {
      for (const auto& [family, schema] : context_.schema.families)
        AddMarker(CellType::kDeleteFamily, family, {}, OrNow(deletion.timestamp));
      return {};
    }
    LookedUp looked_up;
    const auto last_family_tombstones = LastFamilyTombstones(deletion.markers);
    for (size_t i = 0; i < deletion.markers.size(); ++i) {
      const DeleteMarker& marker = deletion.markers[i];
      auto last = last_family_tombstones.find(marker.family);
      if (last != last_family_tombstones.end() && i < last->second) {
        write_.result.timestamps.push_back(kNotStored);
        continue;
      }
      CELLFS_ASSIGN_OR_RETURN(Timestamp timestamp, Stamp(deletion, marker, looked_up));
      AddMarker(marker.type, marker.family, marker.qualifier, timestamp);
    }
    return {};
  }

  Status AddOne(const Increment& increment) {
    CELLFS_ASSIGN_OR_RETURN(std::vector<ReckonedCell> reckoned,
                            Reckon(increment, context_.storage, context_.site, context_.now));
    for (ReckonedCell& one : reckoned) StoreReckoned(one, increment.return_results);
    return {};
  }

  Status AddOne(const Append& append) {
    CELLFS_ASSIGN_OR_RETURN(std::vector<ReckonedCell> reckoned,
                            Reckon(append, context_.storage, context_.site, context_.now));
    bool above = append.stamping == Stamping::kAboveColumn;
    size_t first = write_.result.timestamps.size();
    if (above) write_.result.timestamps.resize(first + append.cells.size());
    for (ReckonedCell& one : reckoned) {
      if (above) {
        CELLFS_ASSIGN_OR_RETURN(one.cell.timestamp, StampAppended(append.cells[one.index], one));
        write_.result.timestamps[first + one.index] = one.cell.timestamp;
      }
      StoreReckoned(one, append.return_results);
    }
    return {};
  }

  Status AddOne(const Withdraw& withdraw) {
    std::vector<WithdrawCell>& withdrawn = write_.batch.withdrawn;
    withdrawn.insert(withdrawn.end(), withdraw.cells.begin(), withdraw.cells.end());
    return {};
  }

  Timestamp OrNow(Timestamp timestamp) const {
    return timestamp == kLatestTimestamp ? context_.now : timestamp;
  }

  StatusOr<Timestamp> Stamp(const Put& put, const PutCell& cell) {
    if (put.stamping == Stamping::kAboveColumn)
      return StampAboveColumn(cell.family, cell.qualifier,
                              {cell.timestamp, cell.rewrites, put.time_to_live});
    return cell.timestamp == kLatestTimestamp ? context_.put_floor : cell.timestamp;
  }

  // Of a whole family no head can be read: its tombstones, and those of versions, keep HBase's
  // letter.
  StatusOr<Timestamp> Stamp(const Delete& deletion, const DeleteMarker& marker,
                            LookedUp& looked_up) {
    if (LooksUpVersion(marker))
      return NewestVersion(marker, ++looked_up[{marker.family, marker.qualifier}]);
    if (deletion.stamping == Stamping::kAboveColumn && marker.type == CellType::kDeleteColumn)
      return StampAboveColumn(marker.family, marker.qualifier, {marker.timestamp});
    return OrNow(marker.timestamp);
  }

  StatusOr<Timestamp> StampAppended(const AppendCell& appended, const ReckonedCell& reckoned) {
    Timestamp given = reckoned.was_absent ? appended.timestamp : kLatestTimestamp;
    return StampAboveColumn(appended.family, appended.qualifier,
                            {given, std::nullopt, reckoned.cell.time_to_live});
  }

  StatusOr<ColumnHead> HeadOf(const std::string& family, const std::string& qualifier) {
    const auto [column, head] = context_.known;
    if (column != nullptr && column->family == family && column->qualifier == qualifier) {
      return *head;
    }
    return context_.storage.ReadColumnHead(row(), family, qualifier);
  }

  StatusOr<Timestamp> StampAboveColumn(const std::string& family, const std::string& qualifier,
                                       const StampWish& wish) {
    CELLFS_ASSIGN_OR_RETURN(ColumnHead head, HeadOf(family, qualifier));
    for (const Cell& cell : cells()) {
      if (cell.family == family && (IsFamilyTombstone(cell.type) || cell.qualifier == qualifier))
        AddToHead(cell, head);
    }
    (head.IsEmpty() ? stamped_empty_ : stamped_written_) = true;
    return StampAbove(head, wish, *context_.schema.FindFamily(family), context_.now);
  }

  // The timestamp of the `count`-th newest visible version; now, where there are not so many.
  StatusOr<Timestamp> NewestVersion(const DeleteMarker& marker, int32_t count) {
    Get get;
    get.row = row();
    get.columns[marker.family].insert(marker.qualifier);
    get.max_versions = count;
    get.lengths_only = true;
    CELLFS_ASSIGN_OR_RETURN(const RowCells found, context_.storage.Read(get, context_.now));
    // A read by column can give one expired version more than it was asked for.
    const size_t wanted = static_cast<size_t>(count);
    return found.size() < wanted ? context_.now : found[wanted - 1].timestamp;
  }

  Cell& Store(std::string_view family, std::string_view qualifier, Timestamp timestamp,
              CellType type) {
    Cell& cell = cells().emplace_back();
    cell.family = family;
    cell.qualifier = qualifier;
    cell.timestamp = timestamp;
    cell.type = type;
    return cell;
  }

  void AddMarker(CellType type, std::string_view family, std::string_view qualifier,
                 Timestamp timestamp) {
    Store(family, IsFamilyTombstone(type) ? std::string_view() : qualifier, timestamp, type);
    write_.result.timestamps.push_back(timestamp);
  }

  void StoreReckoned(ReckonedCell& reckoned, bool return_result) {
    if (return_result) {
      write_.result.results.push_back(reckoned.cell);
      write_.result.results.back().row = row();
    }
    cells().push_back(std::move(reckoned.cell));
  }

  Status CheckReadable(const Cell& put) {
    CELLFS_ASSIGN_OR_RETURN(bool readable,
                            IsReadable(put, cells(), row(), *context_.schema.FindFamily(put.family),
                                       context_.storage, context_.now));
    if (readable) return {};
    return Status(StatusCode::kTimestampUnreadable,
                  "a cell written at timestamp " + std::to_string(put.timestamp) +
                      " could not be read there: it is deleted or expired");
  }

  // Of cells of the same column, timestamp and type the last stays. They are put in cell order.
  void DropRepeated() {
    if (cells().size() < 2) return;
    auto key = [](const Cell& cell) {
      return std::tuple<const std::string&, const std::string&, Timestamp, int>(
          cell.family, cell.qualifier, -cell.timestamp, -static_cast<int>(cell.type));
    };
    auto is_before = [&](const Cell& a, const Cell& b) { return key(a) < key(b); };
    auto not_before = [&](const Cell& a, const Cell& b) { return !is_before(a, b); };
    if (std::adjacent_find(cells().begin(), cells().end(), not_before) == cells().end()) return;
    std::stable_sort(cells().begin(), cells().end(), is_before);
    auto first = std::unique(cells().rbegin(), cells().rend(),
                             [&](const Cell& a, const Cell& b) { return key(a) == key(b); });
    cells().erase(cells().begin(), first.base());
  }

  const WriteContext& context_;
  RowWrite write_;
  std::vector<size_t> must_be_readable_;  // indexes of cells
  // Whether there are columns stamped with kAboveColumn that nothing lay on, and others.
  bool stamped_empty_ = false;
  bool stamped_written_ = false;
};

bool IsPlainOne(const Mutation& mutation) {
  if (const auto* put = std::get_if<Put>(&mutation)) return put->stamping == Stamping::kAsGiven;
  const auto* deletion = std::get_if<Delete>(&mutation);
  return deletion != nullptr && deletion->stamping != Stamping::kAboveColumn &&
         std::none_of(deletion->markers.begin(), deletion->markers.end(), LooksUpVersion);
}

}  // namespace

StatusOr<RowWrite> BuildRowWrite(const RowMutations& mutations, const WriteContext& context) {
  RowWriteBuilder builder(mutations, context);
  for (const Mutation& mutation : mutations.mutations)
    CELLFS_RETURN_IF_ERROR(builder.Add(mutation));
  return std::move(builder).Finish();
}

bool IsPlain(const RowMutations& mutations) {
  return std::all_of(mutations.mutations.begin(), mutations.mutations.end(), IsPlainOne);
}

}  // namespace cellfs
