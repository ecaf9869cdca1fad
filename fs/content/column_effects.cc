// SPDX-License-Identifier: MIT
#include "fs/content/column_effects.h"

#include <algorithm>
#include <exception>

#include "engine/filters.h"
#include "fs/content/column_traces.h"

namespace cellfs::fs {
namespace {

constexpr int32_t kMostSeen = 16;

// Of what lies in the family a few cells. First what comes behind the column: names are mostly
// removed in order, and what lies before them is then nothing but tombstones to be read past.
OutcomeOr<RowCells> SomeOfFamily(const Reading& reading, const Caller& caller, const Place& family,
                                 const std::string& qualifier) {
  Get behind = GetOf(family, ReadDetail::kLengths);
  const std::string after = RowAfter(qualifier);
  CELLFS_ASSIGN_OR_RETURN(behind.filter, MakeColumnRangeFilter(after, true, std::nullopt, true));
  behind.store_limit = kMostSeen;
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, reading.Read(caller, family.table, behind));
  if (!cells.empty()) return cells;
  CELLFS_ASSIGN_OR_RETURN(auto first, FirstVisibleCell(reading, caller, family));
  if (first) cells.push_back(*std::move(first));
  return cells;
}

// Of the plain name and of its counter, which are the newest version.
bool IsNewest(const Place& place) {
  return place.kind == PlaceKind::kCell || place.kind == PlaceKind::kCounter;
}

// Null: no rename brought one.
const CachedCell* MovedCell(const Effect& effect) {
  if (const auto* const moved = std::get_if<effect::MovedHere>(&effect)) return &moved->cell;
  const auto* const brought = std::get_if<effect::Brought>(&effect);
  return brought == nullptr ? nullptr : &brought->cell;
}

// When the version came: one is put at a time of its own.
Timestamp CameAt(const Effect& effect, Timestamp now) {
  const auto* const put = std::get_if<effect::Put>(&effect);
  return put != nullptr && put->stamp ? std::min(*put->stamp, now) : now;
}

}  // namespace

// What directories show is kept before anybody can see the change, and an unstored entry goes only
// after it.
OtherTimes ColumnEffects::Apply(const Target& target, const Effect& effect) const {
  const Telling& telling = TellingOf(effect);
  const Place& place = target.place;
  if (telling.shows != Shows::kSame) {
    KeepTimes(place);
    target.column.Changed(telling.shows == Shows::kLess ? Change::kTookAway : Change::kAny);
  }
  if (telling.pages == Pages::kDoubtful) target.column.PagesAreStale();
  Learn(target, effect);
  const bool had_claim = telling.unstored == Unstored::kGoes && TakeClaim(place);
  Stamp(target, effect, had_claim);
  if (telling.directories == Directories::kEmptied && target.looker != nullptr)
    KeepEmptied(*target.looker, place);
  if (telling.look_ups == LookUps::kBeginAnew) tree_.inodes.InvalidateLookUps();
  const bool fills = telling.directories == Directories::kFilledByQ
                         ? place.kind == PlaceKind::kCell
                         : telling.directories == Directories::kFilled && had_claim;
  return fills ? FillDirectories(place, CameAt(effect, tree_.clock.Now())) : OtherTimes::kNone;
}

// ---- Directories --------------------------------------------------------------------------------

// A directory changes when names come and go: not when its first cell, which may tell its time, is
// put, and a row not by what happens in its families. For want of memory it shows another time.
void ColumnEffects::KeepTimes(const Place& column) const noexcept {
  try {
    KeepTimesAbove(column);
  } catch (const std::exception&) {
  }
}

void ColumnEffects::KeepTimesAbove(const Place& column) const {
  if (!Node::AnyFirstTimes() || tree_.last_changed_family.IsStill(column)) return;
  const uint64_t looked_at = Node::FirstTimesEver();
  for (const PlaceKind kind : {PlaceKind::kRow, PlaceKind::kFamily}) {
    const NodePtr node = tree_.inodes.FindDirectory(column, kind);
    if (node == nullptr || node->first_time() < 0) continue;
    const Snapshot<Place> directory = node->place();
    tree_.directory_times.Keep(*directory, node->first_time());
    node->ForgetFirstTime();
  }
  tree_.last_changed_family.Note(column, looked_at);
}

// A row or family that mkdir made holds a cell now, which tells its time as well. One that was
// emptied has the time that it had.
OtherTimes ColumnEffects::FillDirectories(const Place& place, Timestamp came) const {
  const Place family = FamilyPlace(place.table, place.row, place.family);
  const bool of_family = tree_.directory_times.Settle(family, came);
  // Each file that is made comes here.
  const bool of_row = tree_.unstored.HasUnfilled() && FillMade(family, came);
  if (of_row) return OtherTimes::kOfFamilyAndRow;
  return of_family ? OtherTimes::kOfFamily : OtherTimes::kNone;
}

// Whether the row shows another time: it does by its first cell, and by none that comes later. Who
// has filled the family before has seen to the row.
bool ColumnEffects::FillMade(const Place& family, Timestamp came) const {
  using Filled = UnstoredEntries::Filled;
  if (tree_.unstored.Fill(family) == Filled::kBefore) return false;
  const Place row = family.Parent();
  const UnstoredPtr unstored = tree_.unstored.Find(row);
  if (!unstored) {
    tree_.unstored.Remove(family);
    return false;
  }
  const bool is_first = tree_.unstored.Fill(row) == Filled::kNow;
  return is_first && unstored->reason == UnstoredReason::kMade &&
         tree_.directory_times.Settle(row, came);
}

void ColumnEffects::KeepEmptied(const Caller& looker, const Place& column) const {
  const bool sees_all = looker.is_superuser();
  if (sees_all && tree_.columns.IsFilledBeside(column)) return;
  const Place family = FamilyPlace(column.table, column.row, column.family);
  const bool may_be_noted = MayBeCached(reading_, looker, family);
  const uint64_t comings = Generation::Comings();
  const uint64_t looked_at = Node::NewestGeneration();
  const auto cells = SomeOfFamily(reading_, looker, family, column.qualifier);
  if (cells.ok() && !cells->empty()) {
    if (sees_all) NoteFilled(family, *cells, looked_at);
    return;
  }
  fs::KeepEmptied(tree_, family);
  if (cells.ok() && may_be_noted) tree_.empty_directories.Note(family, comings);
  const auto beside = FirstVisibleCellBeside(reading_, looker, family);
  if (beside.ok() && *beside) return;
  const Place row = family.Parent();
  fs::KeepEmptied(tree_, row);
  if (cells.ok() && beside.ok() && may_be_noted) tree_.empty_directories.Note(row, comings);
}

void ColumnEffects::NoteFilled(const Place& family, const RowCells& cells,
                               uint64_t looked_at) const {
  const auto schema = reading_.DescribeTable(family);
  if (!reading_.freshness().is_exact() || !schema.ok()) return;
  const FamilySchema* const rules = (*schema)->FindFamily(family.family);
  std::vector<ColumnPtr> columns;
  Place place = family.As(PlaceKind::kCell);
  for (const Cell& cell : cells) {
    if (CachedCellOf(cell, rules).expires) continue;
    place.qualifier = cell.qualifier;
    columns.push_back(tree_.columns.Get(place));
  }
  tree_.columns.NoteFilled(std::move(columns), looked_at);
}

// ---- The column ---------------------------------------------------------------------------------

// Of q alone.
void ColumnEffects::Learn(const Target& target, const Effect& effect) const {
  if (target.place.kind != PlaceKind::kCell) return;
  const auto* const put = std::get_if<effect::Put>(&effect);
  if (!reading_.freshness().is_exact()) {
    const CachedCell* const moved = MovedCell(effect);
    if (moved != nullptr) target.column.SeeVersion(moved->version);
    if (put != nullptr && put->stamp) target.column.SeeVersion(*put->stamp);
    return;
  }
  // First: a schema that changes from here on is told of, and ends what was reckoned by the old
  // one.
  const uint64_t generation = target.column.generation();
  const auto cell = CellOf(target.place, effect);
  if (!cell) return;
  target.column.Learn(*cell, generation);
  if (cell->expires) target.column.PagesExpire(*cell->expires);
}

// Where the effect says it.
std::optional<CachedCell> ColumnEffects::CellOf(const Place& place, const Effect& effect) const {
  const CachedCell* const moved = MovedCell(effect);
  const auto* const put = std::get_if<effect::Put>(&effect);
  if (moved == nullptr && (put == nullptr || !put->stamp || !put->size)) return std::nullopt;
  const auto schema = reading_.DescribeTable(place);
  if (!schema.ok()) return std::nullopt;
  const FamilySchema* const family = (*schema)->FindFamily(place.family);
  if (moved != nullptr) {
    // Its expiry is by the schema that the rename began with.
    CachedCell known = *moved;
    const auto now = CachedCellOf(moved->version, 0, kNoCellTtl, family).expires;
    if (now && (!known.expires || *now < *known.expires)) known.expires = now;
    return known;
  }
  CachedCell known = CachedCellOf(*put->stamp, *put->size, put->time_to_live, family);
  known.alone = put->alone;
  return known;
}

// Also where another handle made the file. With its counter q itself goes.
bool ColumnEffects::TakeClaim(const Place& place) const noexcept {
  if (place.kind == PlaceKind::kCounter) tree_.unstored.Remove(place.As(PlaceKind::kCell));
  return tree_.unstored.Remove(place);
}

void ColumnEffects::Stamp(const Target& target, const Effect& effect, bool had_claim) const {
  Column& column = target.column;
  switch (TellingOf(effect).stamps) {
    case Stamps::kStay:
      return;
    case Stamps::kForgotten:
      return column.ForgetStamps();
    case Stamps::kFirst: {
      if (!IsNewest(target.place)) return;
      const auto& put = std::get<effect::Put>(effect);
      if (had_claim || column.renamed_away()) column.ForgetStamps();
      if (had_claim && put.stamp) column.NoteCreated(*put.stamp);
      return;
    }
    case Stamps::kMovedHere:
      if (!IsNewest(target.place)) return;
      column.ForgetStamps();
      return column.NoteCreated(MovedCell(effect)->version);
    case Stamps::kMovedAway: {
      column.ForgetStamps();
      const auto& away = std::get<effect::MovedAway>(effect);
      if (away.tombstone && IsNewest(target.place))
        column.NoteRenamedAway(*away.tombstone, away.owner);
      return;
    }
  }
}

}  // namespace cellfs::fs
