// SPDX-License-Identifier: MIT
#include "fs/directory_stream.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include "fs/asof.h"
#include "fs/cellfs_directory.h"
#include "fs/deleted_values.h"
#include "fs/reading.h"
#include "fs/running_request.h"
#include "fs/view.h"

namespace cellfs::fs {
namespace {

constexpr size_t kBatch = 128;  // entries read from the store at a time
// From so many entries on, a reply has at most so many, so that other requests get in between.
constexpr size_t kLong = 1000;
constexpr size_t kPiece = 128;

// Newest first, in byte order.
std::string VersionKey(Timestamp timestamp) {
  uint64_t inverted = ~static_cast<uint64_t>(timestamp);
  std::string key(sizeof inverted, '\0');
  for (auto it = key.rbegin(); it != key.rend(); ++it, inverted >>= 8) {
    *it = static_cast<char>(inverted & 0xff);
  }
  return key;
}

bool IsScanView(const Place& place) { return place.view != nullptr && !place.view->IsAsof(); }

}  // namespace

DirectoryStream::DirectoryStream(MountContext& mount, NodePtr directory,
                                 std::shared_ptr<CachedListing> cached)
    : mount_(mount),
      resolver_(mount),
      directory_(std::move(directory)),
      place_(directory_->place()),
      own_offsets_(CachedListing::kEnd + 1),
      uses_own_offsets_(cached == nullptr) {
  if (cached != nullptr) cached_.emplace(std::move(cached), directory_->changes());
  if (place_->view != nullptr && place_->view->IsAsof()) moment_ = place_->view->asof->Use();
}

// ---- Offsets ------------------------------------------------------------------------------------

Outcome DirectoryStream::Read(const Caller& caller, uint64_t offset, const Take& take) {
  is_at_end_ = offset == CachedListing::kEnd;
  if (is_at_end_) return {};
  CELLFS_RETURN_IF_FAILED(Seek(caller, offset));
  const size_t end = names_ < kLong ? std::numeric_limits<size_t>::max() : names_ + kPiece;
  for (bool took = false; names_ < end; took = true) {
    const auto next = Next(caller);
    if (took && next.error() == ETIMEDOUT) return {};  // the next request goes on
    CELLFS_ASSIGN_OR_RETURN(const DirectoryEntry* const entry, next);
    if (entry == nullptr) {
      is_at_end_ = !took;
      return {};
    }
    if (!take(*entry)) return {};
    if (RunningRequest* const request = RunningRequest::OfThisThread()) request->HasAnAnswer();
    Advance();
  }
  return {};
}

CachedListing::End DirectoryStream::BeforeReply() {
  if (!cached_) return CachedListing::End::kCompletes;
  if (is_at_end_) return cached_->BeforeEnd(directory_->changes(), names_);
  cached_->BeforeEntries(directory_->changes());
  return CachedListing::End::kCompletes;
}

void DirectoryStream::Rewind() {
  position_ = {};
  offset_ = 0;
  names_ = 0;
  filled_ = false;
  scanner_.reset();
  own_offsets_.Rewind();
}

Outcome DirectoryStream::Seek(const Caller& caller, uint64_t offset) {
  if (offset == 0) {
    Rewind();
    CELLFS_ASSIGN_OR_RETURN(fixed_, FixedEntries(caller));
    return {};
  }
  if (offset == offset_) return {};
  if (fixed_.empty()) {
    CELLFS_ASSIGN_OR_RETURN(fixed_, FixedEntries(caller));
  }
  filled_ = false;
  offset_ = offset;
  position_ = {fixed_.size(), std::nullopt};
  if (offset < CachedListing::kFirstOffset) {
    position_.fixed = offset;
    return {};
  }
  if (offset < CachedListing::kEnd) {
    if (cached_) position_.key = cached_->listing().KeyAt(offset);
    return position_.key ? Outcome() : Outcome(EINVAL, "no entry of the directory has this offset");
  }
  std::tie(offset_, position_.key) = own_offsets_.Return(offset);
  while (offset_ < offset) {
    CELLFS_ASSIGN_OR_RETURN(const DirectoryEntry* const entry, Next(caller));
    if (entry == nullptr) return {};
    Advance();
  }
  return {};
}

void DirectoryStream::Advance() {
  offset_ = entry_.next_offset;
  if (!filled_) {
    ++position_.fixed;
    return;
  }
  ++names_;
  position_.key = std::move(batch_[batch_next_++].key);
  if (uses_own_offsets_) own_offsets_.Add(*position_.key);
}

uint64_t DirectoryStream::OffsetOf(const Child& child) {
  if (child.found.expires) directory_->DoNotCacheListing();
  if (!uses_own_offsets_) {
    const bool is_last = batch_is_last_ && batch_next_ + 1 == batch_.size();
    if (is_last) return CachedListing::kEnd;
    if (const auto offset = cached_->listing().OffsetOf(child.key, offset_ + 1)) return *offset;
    directory_->DoNotCacheListing();
    uses_own_offsets_ = true;
  }
  return own_offsets_.next();
}

OutcomeOr<const DirectoryEntry*> DirectoryStream::Next(const Caller& caller) {
  while (position_.fixed < fixed_.size() && !fixed_[position_.fixed]) ++position_.fixed;
  if (position_.fixed < fixed_.size()) {
    entry_.next_offset = position_.fixed + 1;
    entry_.found = &*fixed_[position_.fixed];
    entry_.name = position_.fixed == 0   ? "."
                  : position_.fixed == 1 ? ".."
                                         : mount_.FileName(entry_.found->place);
    return &entry_;
  }
  while (!filled_ || batch_next_ == batch_.size()) {
    if (filled_ && batch_is_last_) return nullptr;
    CELLFS_RETURN_IF_FAILED(Fill(caller));
  }
  const Child& child = batch_[batch_next_];
  entry_.next_offset = OffsetOf(child);
  entry_.found = &child.found;
  entry_.name = mount_.FileName(entry_.found->place);
  return &entry_;
}

// ---- Batches ------------------------------------------------------------------------------------

OutcomeOr<std::vector<std::optional<Found>>> DirectoryStream::FixedEntries(const Caller& caller) {
  std::vector<Place> places;
  if (place_->kind == PlaceKind::kTable && !IsScanView(*place_)) {
    places.push_back(place_->As(PlaceKind::kSchemaFile));
  } else if (place_->kind == PlaceKind::kNamespace) {
    places.push_back(place_->As(PlaceKind::kNamespaceFile));
  } else if (place_->kind == PlaceKind::kFamily && place_->view == nullptr &&
             mount_.options.controls == Controls::kVisible) {
    places.push_back(place_->As(PlaceKind::kVersionsDirectory));
  } else if (place_->kind == PlaceKind::kSelfDirectory) {
    for (const std::string_view name : kSelfFiles) {
      Place file = place_->As(PlaceKind::kSelfFile);
      file.name = name;
      places.push_back(std::move(file));
    }
    places.push_back(place_->As(PlaceKind::kKeysDirectory));
  }
  std::vector<std::optional<Found>> fixed{Found{*place_}, Found{place_->Parent()}};
  for (const Place& place : places) {
    auto found = resolver_.Find(caller, place);
    if (!found.ok() && found.error() != ENOENT) return found.status();
    fixed.push_back(found.ok() ? std::optional(*std::move(found)) : std::nullopt);
  }
  return fixed;
}

// Merges what is stored and what is not. Where one of the two is cut short, nothing beyond its end
// may be given yet.
Outcome DirectoryStream::Fill(const Caller& caller) {
  if (!place_->table.name.empty()) {
    CELLFS_ASSIGN_OR_RETURN(schema_, mount_.store.DescribeTable(place_->table));
    family_ = nullptr;
  }
  const uint64_t looked_at = Node::NewestGeneration();
  bool all_stored = true;
  std::optional<std::string> end;
  // First what is not stored: a cell that is put in between is then seen at least in one of the
  // two.
  Children others = UnstoredChildren(end);
  CELLFS_RETURN_IF_FAILED(AddHiddenColumns(caller, others, end));
  CELLFS_ASSIGN_OR_RETURN(Children stored, StoredChildren(caller, all_stored));
  if (!all_stored && (!end || stored.back().key < *end)) end = stored.back().key;
  filled_ = true;
  batch_next_ = 0;
  batch_is_last_ = !end;
  if (others.empty()) {
    batch_ = std::move(stored);
  } else {
    batch_ = Merge(std::move(stored), std::move(others));
    if (end) std::erase_if(batch_, [&](const Child& child) { return *end < child.key; });
  }
  for (Child& child : batch_) child.found.looked_at = looked_at;
  return {};
}

DirectoryStream::Children DirectoryStream::Merge(Children stored, Children others) {
  const auto by_key = [](const Child& a, const Child& b) { return a.key < b.key; };
  std::sort(others.begin(), others.end(), by_key);
  Children merged;
  merged.reserve(stored.size() + others.size());
  std::merge(std::make_move_iterator(stored.begin()), std::make_move_iterator(stored.end()),
             std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()),
             std::back_inserter(merged), by_key);
  // Of two with one key the stored one comes first and stays.
  const auto same_key = [](const Child& a, const Child& b) { return a.key == b.key; };
  merged.erase(std::unique(merged.begin(), merged.end(), same_key), merged.end());
  return merged;
}

DirectoryStream::Children DirectoryStream::UnstoredChildren(std::optional<std::string>& end) {
  Children children;
  if (place_->view != nullptr) return children;
  // Versions are listed newest first, which is not the order in which these are kept.
  const bool by_time = place_->kind == PlaceKind::kVersionsColumn;
  const size_t limit = by_time ? std::numeric_limits<size_t>::max() : kBatch;
  auto entries =
      mount_.unstored.ChildrenAfter(*place_, by_time ? std::nullopt : position_.key, limit);
  children.reserve(entries.size());
  if (entries.size() == limit) end = OrderKey(entries.back()->place);
  for (UnstoredPtr& entry : entries) {
    const Place& place = entry->place;
    if (place.kind == PlaceKind::kVersion) continue;  // never listed, as stored ones
    Child child(place);
    child.key = OrderKey(place);
    if (by_time) {
      child.key = place.kind == PlaceKind::kVersionsFile ? VersionKey(place.timestamp)
                                                         : "\xff" + place.name;
      if (position_.key && child.key <= *position_.key) continue;
    }
    if (entry->file != nullptr) {
      std::lock_guard lock(entry->file->mutex);
      child.found.size = entry->file->bytes().size();
    }
    child.found.unstored = std::move(entry);
    children.push_back(std::move(child));
  }
  return children;
}

// .versions also has the columns of which only the history can be read. A part without any is
// passed by, so that each batch has an entry up to its end.
Outcome DirectoryStream::AddHiddenColumns(const Caller& caller, Children& children,
                                          std::optional<std::string>& end) {
  if (place_->kind != PlaceKind::kVersionsDirectory) return {};
  Place column = place_->As(PlaceKind::kVersionsColumn);
  std::optional<std::string> after = position_.key;
  for (bool found = false; !found;) {
    CELLFS_ASSIGN_OR_RETURN(const DeletedValues deleted,
                            DeletedValuesAfter(mount_, caller, *place_, after));
    for (const Cell& cell : deleted.cells) {
      column.qualifier = cell.qualifier;
      CELLFS_ASSIGN_OR_RETURN(const RowCells versions, ListVersions(mount_, caller, column));
      if (versions.empty()) continue;
      found = true;
      Append(children, column, cell);
    }
    after = deleted.end;
    if (!after) return {};
  }
  if (!end || *after < *end) end = after;
  return {};
}

OutcomeOr<DirectoryStream::Children> DirectoryStream::StoredChildren(const Caller& caller,
                                                                     bool& is_all) {
  const auto whole = [&]() -> OutcomeOr<Children> {
    switch (place_->kind) {
      case PlaceKind::kRoot:
      case PlaceKind::kNamespace:
        return Names();
      case PlaceKind::kRow:
        return Families(caller);
      case PlaceKind::kFamily:
        return ScannedCells(caller);
      case PlaceKind::kVersionsColumn:
        return Versions(caller);
      default:
        return Children();
    }
  };
  switch (place_->kind) {
    case PlaceKind::kTable:
      return Rows(caller, is_all);
    case PlaceKind::kVersionsDirectory:
    case PlaceKind::kCountersDirectory:
      return Columns(caller, is_all);
    case PlaceKind::kDeletedDirectory:
      return Deleted(caller, is_all);
    case PlaceKind::kFamily:
      if (!IsScanView(*place_)) return Columns(caller, is_all);
      [[fallthrough]];
    default:
      break;
  }
  CELLFS_ASSIGN_OR_RETURN(Children children, whole());
  if (position_.key) {
    std::erase_if(children, [&](const Child& child) { return child.key <= *position_.key; });
  }
  return children;
}

// Made where it will lie: a listing of a million entries is mostly copies.
DirectoryStream::Child& DirectoryStream::Append(Children& children, const Place& like,
                                                const Cell& cell) {
  Child& child = children.emplace_back(like);
  Place& place = child.found.place;
  if (place.kind == PlaceKind::kRow) {
    place.row = cell.row;
  } else if (place.kind == PlaceKind::kFamily) {
    place.family = cell.family;
  } else {
    place.qualifier = cell.qualifier;
  }
  child.key = OrderKey(place);
  Resolver::Describe(KnownOf(cell, FamilyOf(cell)), child.found);
  return child;
}

const FamilySchema* DirectoryStream::FamilyOf(const Cell& cell) {
  if (schema_ == nullptr) return nullptr;
  if (family_ == nullptr || family_->name() != cell.family) {
    family_ = schema_->FindFamily(cell.family);
  }
  return family_;
}

Outcome DirectoryStream::OpenRowScanner(const Caller& caller) {
  Scan scan;
  if (IsScanView(*place_)) {
    scan = place_->view->scan;
  } else {
    static const FilterPtr first_key_only = *MakeFirstKeyOnlyFilter();
    scan.filter = first_key_only;
    scan.time_range = GetOf(*place_, ReadDetail::kLengths).time_range;
    scan.moment = moment_;
    scan.start_row = position_.key.value_or("");
    scan.include_start_row = !position_.key;
  }
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(scanner_, RowScan::Open(mount_, caller, *place_, scan));
  return {};
}

OutcomeOr<DirectoryStream::Children> DirectoryStream::Rows(const Caller& caller, bool& is_all) {
  const bool is_scan = IsScanView(*place_);
  bool skipping = false;
  if (scanner_ == nullptr || scanner_key_ != position_.key) {
    CELLFS_RETURN_IF_FAILED(OpenRowScanner(caller));
    // A query may be limited, so it is always run from its beginning.
    skipping = is_scan && position_.key.has_value();
  }
  const auto is_after = [&](const std::string& row) {
    return place_->view->scan.reversed ? row < *position_.key : row > *position_.key;
  };
  const Place like = place_->As(PlaceKind::kRow);
  Children children;
  while (children.empty()) {
    auto rows = scanner_->Next(kBatch);
    if (!rows.ok()) {
      if (!scanner_->goes_on()) scanner_.reset();
      return rows.status();
    }
    if (rows->empty()) break;
    children.reserve(rows->size());
    for (const RowCells& row : *rows) {
      if (row.empty() || (skipping && !is_after(row.front().row))) continue;
      if (IsHiddenRow(place_->table, row.front().row)) continue;
      Append(children, like, row.front());
    }
  }
  is_all = children.empty();
  scanner_key_ = is_all ? position_.key : std::optional(children.back().key);
  return children;
}

// The columns of a family as files, or what .versions and .counters make of them.
OutcomeOr<DirectoryStream::Children> DirectoryStream::Columns(const Caller& caller, bool& is_all) {
  const PlaceKind kind = place_->kind == PlaceKind::kVersionsDirectory ? PlaceKind::kVersionsColumn
                         : place_->kind == PlaceKind::kCountersDirectory ? PlaceKind::kCounter
                                                                         : PlaceKind::kCell;
  Get get = GetOf(place_->As(PlaceKind::kFamily), ReadDetail::kLengths);
  get.store_limit = kBatch;
  std::optional<std::string> after = position_.key;
  const Place like = place_->As(kind);
  Children children;
  is_all = false;
  while (children.empty() && !is_all) {
    if (after) {
      CELLFS_ASSIGN_OR_RETURN(get.filter, MakeColumnRangeFilter(after, false, std::nullopt, false));
    }
    CELLFS_ASSIGN_OR_RETURN(RowCells cells, mount_.store.Read(caller, place_->table, get));
    is_all = cells.size() < kBatch;
    children.reserve(cells.size());
    if (!cells.empty()) after = cells.back().qualifier;
    for (const Cell& cell : cells) {
      if (kind == PlaceKind::kCounter && cell.value_length != sizeof(int64_t)) continue;
      Append(children, like, cell);
    }
  }
  return children;
}

OutcomeOr<DirectoryStream::Children> DirectoryStream::Names() {
  Children children;
  if (place_->kind == PlaceKind::kRoot) {
    CELLFS_ASSIGN_OR_RETURN(auto names, mount_.store.ListNamespaces());
    for (const std::string& name : names) {
      if (name == kHiddenNamespace) continue;
      Place place = place_->As(PlaceKind::kNamespace);
      place.table.namespace_name = name;
      children.emplace_back(place).key = name;
    }
    return children;
  }
  CELLFS_ASSIGN_OR_RETURN(auto tables, mount_.store.ListTables(place_->table.namespace_name));
  for (const TableName& table : tables) {
    Place place = place_->As(PlaceKind::kTable);
    place.table.name = table.name;
    children.emplace_back(place).key = table.name;
  }
  return children;
}

OutcomeOr<DirectoryStream::Children> DirectoryStream::Families(const Caller& caller) {
  Get get = GetOf(*place_, ReadDetail::kLengths);
  if (get.filter == nullptr) get.store_limit = 1;
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, ReadRow(mount_, caller, *place_, get));
  const Place like = place_->As(PlaceKind::kFamily);
  Children children;
  for (const Cell& cell : cells) {
    if (children.empty() || children.back().key != cell.family) Append(children, like, cell);
  }
  return children;
}

// In a query: each column or, where it asks for several versions, each of those.
OutcomeOr<DirectoryStream::Children> DirectoryStream::ScannedCells(const Caller& caller) {
  const bool versions = place_->view->ShowsVersions();
  CELLFS_ASSIGN_OR_RETURN(RowCells cells,
                          ReadRow(mount_, caller, *place_, GetOf(*place_, ReadDetail::kLengths)));
  Children children;
  for (const Cell& cell : cells) {
    if (cell.family != place_->family) continue;
    const Place like = place_->As(versions ? PlaceKind::kVersion : PlaceKind::kCell,
                                  versions ? cell.timestamp : 0);
    // In the order in which they were returned.
    const auto number = static_cast<Timestamp>(children.size() + 1);
    Append(children, like, cell).key = VersionKey(-number);
  }
  return children;
}

OutcomeOr<DirectoryStream::Children> DirectoryStream::Versions(const Caller& caller) {
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, ListVersions(mount_, caller, *place_));
  Children children;
  for (const Cell& cell : cells) {
    const Place like = place_->As(PlaceKind::kVersionsFile, cell.timestamp);
    Append(children, like, cell).key = VersionKey(cell.timestamp);
  }
  return children;
}

OutcomeOr<DirectoryStream::Children> DirectoryStream::Deleted(const Caller& caller, bool& is_all) {
  CELLFS_ASSIGN_OR_RETURN(const DeletedValues deleted,
                          DeletedValuesAfter(mount_, caller, *place_, position_.key));
  const Place like = place_->As(PlaceKind::kDeletedCell);
  Children children;
  for (const Cell& cell : deleted.cells) Append(children, like, cell);
  is_all = !deleted.end;
  return children;
}

}  // namespace cellfs::fs
