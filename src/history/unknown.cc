// SPDX-License-Identifier: MIT
#include "src/history/unknown.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/history/columns.h"
#include "src/history/dropped_tables.h"

namespace cellfs {
namespace {

constexpr Timestamp kAlways = std::numeric_limits<Timestamp>::max();

// From which time on a delete keeps what it hides through flush and compaction.
std::optional<Timestamp> DeletesKeptSince(const FamilySchema& family, Timestamp now) {
  if (family.new_version_behavior()) return kAlways;
  switch (family.keep_deleted_cells()) {
    case KeepDeletedCells::kFalse:
      return kAlways;
    case KeepDeletedCells::kTtl:
      if (family.time_to_live() == kForever) return std::nullopt;
      return now - int64_t{family.time_to_live()} * 1000;
    case KeepDeletedCells::kTrue:
      if (!family.deleted_ttl()) return std::nullopt;
      return now - *family.deleted_ttl() * 1000;
  }
  return kAlways;
}

constexpr char kAnyFamily[] = "";  // in StoreKnowledge::emptied

std::string Quoted(const std::string& family) { return "family '" + family + "': "; }

}  // namespace

StoreKnowledge StoreKnowledge::Ask(Store& store, const TableName& table) {
  StoreKnowledge knowledge;
  for (TableStatistics& of_table : store.GetStatistics().tables) {
    if (of_table.table != table) continue;
    knowledge.emptied = std::move(of_table.emptied);
    knowledge.past = std::move(of_table.past);
    knowledge.created = of_table.created;
    knowledge.begun = of_table.begun;
    if (of_table.major_compactions.empty()) continue;
    knowledge.flushed = of_table.flushed;
    knowledge.major_compactions = std::move(of_table.major_compactions);
  }
  return knowledge;
}

Timestamp StoreKnowledge::MajorCompaction(const std::string& family) const {
  const auto found = major_compactions.find(family);
  return found == major_compactions.end() ? kAlways : found->second;
}

bool StoreKnowledge::KeptLessAfter(const std::string& family, Timestamp time) const {
  const auto found = past.find(family);
  return found != past.end() && time < found->second.widened &&
         time < found->second.complete_since;
}

bool StoreKnowledge::IsEmptiedAfter(const std::string& family, Timestamp since,
                                    Timestamp until) const {
  return begun <= until && since < EmptiedAt(family);
}

Timestamp StoreKnowledge::EmptiedAt(const std::string& family) const {
  Timestamp latest = 0;
  for (const auto& name : {family, std::string(kAnyFamily)})
    if (const auto found = emptied.find(name); found != emptied.end())
      latest = std::max(latest, found->second);
  return latest;
}

std::string StoreKnowledge::ExplainEmptied(const std::string& family) const {
  const std::string what = family == kAnyFamily ? "what the table held"
                                                : Quoted(family) + "what it held";
  return what + " before " + ExactTime(EmptiedAt(family)) +
         " was thrown away, by a truncate or a drop; what was dropped and is kept is in .deleted";
}

bool StoreKnowledge::WasNotThere(Timestamp time) const {
  const bool may_have_been = std::any_of(emptied.begin(), emptied.end(),
                                         [&](const auto& of) { return of.second > time; });
  return begun > time || (created > time && !may_have_been);
}

FamilyKnowledge::FamilyKnowledge(const FamilySchema& family, const StoreKnowledge& store,
                                 Timestamp time, Timestamp now)
    : family_(family),
      store_(store),
      time_(time),
      now_(now),
      deletes_kept_since_(DeletesKeptSince(family, now)),
      shows_nothing_(store.WasNotThere(time) ||
                     (family.time_to_live() != kForever && family.min_versions() == 0 &&
                      time < now - int64_t{family.time_to_live()} * 1000)),
      version_deletes_(family, {.up_to = time, .now = time}) {}

void FamilyKnowledge::BeginFamily() {
  family_delete_loses_ = family_has_newer_delete_ = false;
  version_deletes_.BeginFamily();
  BeginColumn();
}

void FamilyKnowledge::BeginColumn() {
  column_delete_loses_ = has_older_put_ = older_put_has_ended_ = false;
  column_has_newer_delete_ = false;
  newer_flushed_puts_ = 0;
  version_deletes_.BeginColumn();
}

void FamilyKnowledge::See(const Cell& cell) {
  version_deletes_.See(cell, LosesWhatItHides(cell));
  if (cell.type == CellType::kPut) {
    const bool is_flushed = cell.sequence_id <= store_.flushed;
    if (cell.timestamp > time_) {
      newer_flushed_puts_ += is_flushed ? 1 : 0;
    } else if (!std::exchange(has_older_put_, true)) {
      older_put_has_ended_ = is_flushed && family_.min_versions() > 0 &&
                             family_.time_to_live() != kForever &&
                             cell.timestamp < now_ - int64_t{family_.time_to_live()} * 1000;
    }
  } else if (cell.timestamp > time_) {
    (IsFamilyTombstone(cell.type) ? family_has_newer_delete_ : column_has_newer_delete_) = true;
    if (!LosesWhatItHides(cell)) return;
    if (cell.type == CellType::kDeleteFamily) family_delete_loses_ = true;
    if (cell.type == CellType::kDeleteColumn) column_delete_loses_ = true;
  }
}

// What is still there, and has nothing newer over it, nothing has pushed out.
bool FamilyKnowledge::MayHaveGoneByOtherRules() const {
  const bool has_newer =
      newer_flushed_puts_ > 0 || column_has_newer_delete_ || family_has_newer_delete_;
  return (has_newer || !has_older_put_) && store_.KeptLessAfter(family_.name(), time_);
}

bool FamilyKnowledge::LosesWhatItHides(const Cell& tombstone) const {
  // There a flush drops nothing, and a compaction drops the delete with what it hides.
  if (family_.new_version_behavior()) return false;
  return tombstone.sequence_id <= store_.flushed && deletes_kept_since_ &&
         tombstone.timestamp < *deletes_kept_since_;
}

std::optional<UnknownReason> FamilyKnowledge::ColumnReason() {
  if (shows_nothing_) return std::nullopt;
  if (const auto reason = LossReason()) return reason;
  if (DependsOnVersionDeletes()) return UnknownReason::kVersionDeleted;
  return std::nullopt;
}

std::optional<UnknownReason> FamilyKnowledge::LossReason() const {
  if (store_.IsEmptiedAfter(family_.name(), time_)) return UnknownReason::kEmptied;
  if (column_delete_loses_ || family_delete_loses_) return UnknownReason::kDeleted;
  // There a flush drops nothing, and of a compaction the last line tells. Elsewhere one may have
  // dropped what was last, and an older version may be left in a file of its own.
  const bool flush_drops = !family_.new_version_behavior();
  if (flush_drops && newer_flushed_puts_ >= family_.max_versions()) return UnknownReason::kVersions;
  if (MayHaveGoneByOtherRules()) return UnknownReason::kKeptLess;
  if (older_put_has_ended_) return UnknownReason::kMinVersions;
  if (has_older_put_) return std::nullopt;
  if (flush_drops && family_.time_to_live() != kForever && family_.min_versions() > 0 &&
      newer_flushed_puts_ >= family_.min_versions())
    return UnknownReason::kMinVersions;
  return FamilyReason();
}

std::optional<UnknownReason> FamilyKnowledge::UnnamedReason() const {
  if (shows_nothing_) return std::nullopt;
  if (family_delete_loses_) return UnknownReason::kDeleted;
  if (version_deletes_.MatterToUnnamed()) return UnknownReason::kVersionDeleted;
  return std::nullopt;
}

// A delete between the time and the compaction has left no trace, unless it was young then.
std::optional<UnknownReason> FamilyKnowledge::FamilyReason() const {
  if (shows_nothing_) return std::nullopt;
  if (store_.IsEmptiedAfter(family_.name(), time_)) return UnknownReason::kEmptied;
  if (store_.KeptLessAfter(family_.name(), time_)) return UnknownReason::kKeptLess;
  if (!deletes_kept_since_) return std::nullopt;
  const Timestamp compacted = store_.MajorCompaction(family_.name());
  if (compacted <= time_) return std::nullopt;
  const Timestamp kept_for =
      *deletes_kept_since_ == kAlways ? 0 : now_ - *deletes_kept_since_;
  if (std::min(compacted, now_) - kept_for <= time_) return std::nullopt;
  return UnknownReason::kCompacted;
}

std::string FamilyKnowledge::HowDeletesAreKept() const {
  if (family_.new_version_behavior()) return "NEW_VERSION_BEHAVIOR is true";
  if (!deletes_kept_since_) return "KEEP_DELETED_CELLS is TRUE";
  if (*deletes_kept_since_ == kAlways) return "KEEP_DELETED_CELLS is FALSE";
  const int64_t seconds = (now_ - *deletes_kept_since_) / 1000;
  return "deleted cells are kept for " + std::to_string(seconds) + " seconds";
}

std::string FamilyKnowledge::Explain(UnknownReason reason) const {
  const std::string kept = HowDeletesAreKept();
  switch (reason) {
    case UnknownReason::kVersions:
      return Quoted(family_.name()) + "VERSIONS is " + std::to_string(family_.max_versions()) +
             ", and so many newer versions have pushed out what may have been before them";
    case UnknownReason::kDeleted:
      return Quoted(family_.name()) + kept +
             ", so what was deleted since that time may have been removed for good";
    case UnknownReason::kCompacted:
      return Quoted(family_.name()) + kept +
             ", and a compaction after that time may have removed what was deleted without a trace";
    case UnknownReason::kMinVersions:
      return Quoted(family_.name()) + "MIN_VERSIONS is " + std::to_string(family_.min_versions()) +
             ": of what a TTL has ended only so many versions are kept, and not their deletes";
    case UnknownReason::kKeptLess:
      return Quoted(family_.name()) + "its schema kept less until " +
             ExactTime(store_.past.at(family_.name()).widened) +
             ", and something that was there at that time has gone since";
    case UnknownReason::kVersionDeleted:
      return Quoted(family_.name()) +
             "a version was deleted by its timestamp, and whether before that time or after, is not "
             "kept";
    case UnknownReason::kEmptied:
      return store_.ExplainEmptied(family_.name());
  }
  return {};
}

namespace {

class UnknownVisitor : public ColumnVisitor {
 public:
  UnknownVisitor(const Scope& scope, const StoreKnowledge& store, Timestamp time, Timestamp now,
                 Unknown& unknown)
      : scope_(scope), store_(store), time_(time), now_(now), unknown_(unknown) {}

  Status BeginFamily(const std::string& row, const FamilySchema& family) override {
    row_ = row;
    family_ = &family;
    knowledge_.emplace(family, store_, time_, now_);
    return {};
  }
  void BeginColumn(const std::string& qualifier) override {
    qualifier_ = qualifier;
    has_column_ = false;
    knowledge_->BeginColumn();
  }
  void See(const Cell& cell) override {
    has_column_ |= !IsFamilyTombstone(cell.type);
    knowledge_->See(cell);
  }
  Status EndColumn() override {
    if (!has_column_) return {};
    has_any_ = true;
    if (const auto reason = knowledge_->ColumnReason()) Add(*reason, qualifier_);
    return {};
  }
  Status EndFamily() override {
    const bool is_known = scope_.qualifier && has_any_;
    const auto reason = knowledge_->UnnamedReason();
    if (reason && !is_known) Add(*reason, scope_.qualifier);
    return {};
  }

  // What the pass has not come across.
  void AddUnseen(const TableSchema& schema) {
    if (scope_.qualifier && has_any_) return;
    for (const auto& [name, family] : schema.families) {
      if (scope_.family && *scope_.family != name) continue;
      const FamilyKnowledge knowledge(family, store_, time_, now_);
      const auto reason = knowledge.FamilyReason();
      if (reason) unknown_.families[{name, *reason}].reason = knowledge.Explain(*reason);
    }
    if (scope_.family) return;
    for (const auto& [name, when] : store_.emptied) {
      if (schema.FindFamily(name) != nullptr || !store_.IsEmptiedAfter(name, time_)) continue;
      if (name == kAnyFamily && !schema.families.empty()) continue;  // these say it
      unknown_.families[{name, UnknownReason::kEmptied}].reason = store_.ExplainEmptied(name);
    }
  }

 private:
  void Add(UnknownReason reason, std::optional<std::string> qualifier) {
    Unknown::OfFamily& of_family = unknown_.families[{family_->name(), reason}];
    if (of_family.reason.empty()) of_family.reason = knowledge_->Explain(reason);
    if (qualifier) ++of_family.columns;
    unknown_.columns.Add({row_, family_->name(), std::move(qualifier)});
  }

  const Scope& scope_;
  const StoreKnowledge& store_;
  const Timestamp time_;
  const Timestamp now_;
  Unknown& unknown_;
  bool has_any_ = false;
  std::string row_;
  const FamilySchema* family_ = nullptr;
  std::string qualifier_;
  bool has_column_ = false;
  std::optional<FamilyKnowledge> knowledge_;
};

}  // namespace

StatusOr<Unknown> FindUnknown(const HistoryAccess& access, const Scope& scope, Timestamp time) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, CheckScope(access, scope));
  CELLFS_RETURN_IF_ERROR(CheckNotInFuture(access, time));
  return FindUnknownOf(access, scope, *schema, time, nullptr,
                       StoreKnowledge::Ask(access.store, scope.table));
}

StatusOr<Unknown> FindUnknownOf(const HistoryAccess& access, const Scope& scope,
                                const TableSchema& schema, Timestamp time,
                                std::shared_ptr<const Moment> moment,
                                const StoreKnowledge& knowledge) {
  const Timestamp now = access.clock.Now();
  Unknown unknown;
  UnknownVisitor visitor(scope, knowledge, time, now, unknown);
  StoredCells cells(access, scope, {.times = {}, .moment = std::move(moment)});
  CELLFS_RETURN_IF_ERROR(VisitColumns(cells, schema, visitor));
  visitor.AddUnseen(schema);
  return unknown;
}

Status CheckNotInFuture(const HistoryAccess& access, Timestamp time) {
  if (time <= access.clock.Now()) return {};
  return {StatusCode::kIllegalArgument,
          "that time lies in the future, so nothing is known of it"};
}

}  // namespace cellfs
