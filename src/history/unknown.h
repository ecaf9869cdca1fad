// SPDX-License-Identifier: MIT
//
// FindUnknown: of which columns nobody can say what a reader at T saw, for flushes and compactions
// have removed what would tell it. Said on the safe side: what may have been lost counts as lost.
//
//   - VERSIONS: as many versions newer than T as the family keeps have been flushed. One that is
//     not newer may be left, and need not be the one that was last at T.
//   - A delete newer than T has been flushed, and does not keep what it hides: KEEP_DELETED_CELLS
//     FALSE, or it is older than DELETED_TTL (of KEEP_DELETED_CELLS TTL: than the TTL).
//   - A major compaction after T: with KEEP_DELETED_CELLS FALSE deletes leave no trace, and so do
//     those older than DELETED_TTL. Of no column without a version up to T can be said that it was
//     not there; of which others there were, nobody knows the names.
//   - A truncate after T, or a drop of the family or of a table of that name: nothing of what was in
//     it is left to tell by. Of older stores it is not known that there was one.
//   - A schema that kept less (VERSIONS, TTL, KEEP_DELETED_CELLS, DELETED_TTL) was in force after T,
//     and something has gone.
//   - MIN_VERSIONS: of versions that a TTL has ended only that number is kept, and their deletes
//     are not.
//
// What is still in the memstore is complete. What a TTL has ended since T is not unknown: it is
// gone, and restoring a state does not bring it back.
//
//   - A version up to T that was deleted by its timestamp, where a reader without that delete saw it,
//     or may have: the delete has that timestamp too, so it may have come before T or after.
//
// Not told, for nothing is left to tell it by: such a delete that a compaction has dropped.
#ifndef CELLFS_SRC_HISTORY_UNKNOWN_H_
#define CELLFS_SRC_HISTORY_UNKNOWN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/history/replay.h"
#include "src/history/scope.h"
#include "src/history/version_deletes.h"

namespace cellfs {

enum class UnknownReason {
  kVersions,
  kDeleted,
  kCompacted,
  kMinVersions,
  kEmptied,
  kVersionDeleted,
  kKeptLess
};

struct Unknown {
  // In a family, for one reason.
  struct OfFamily {
    uint64_t columns = 0;  // 0: none that has a name
    std::string reason;    // one line for people: "VERSIONS is 3, and ..."
  };

  ToldColumns columns;  // of all, also those without a name: once for their row
  std::map<std::pair<std::string, UnknownReason>, OfFamily> families;

  bool empty() const { return families.empty(); }
};

// One raw scan of the scope. kIllegalArgument: T lies in the future.
StatusOr<Unknown> FindUnknown(const HistoryAccess& access, const Scope& scope, Timestamp time);
Status CheckNotInFuture(const HistoryAccess& access, Timestamp time);

// What the store itself says of a table: asked once, before its cells are looked at.
struct StoreKnowledge {
  SequenceId flushed = kMaxSequenceId;
  std::map<std::string, Timestamp> major_compactions;
  std::map<std::string, Timestamp> emptied;  // as of TableStatistics
  std::map<std::string, FamilyPast> past;    // likewise
  Timestamp created = 0;                     // of the table; 0: not known
  Timestamp begun = 0;                       // of the first of that name; 0: not known

  // A store that does not say it of the table may have flushed and compacted everything just now.
  static StoreKnowledge Ask(Store& store, const TableName& table);
  Timestamp MajorCompaction(const std::string& family) const;
  // All that the family held at that time has been thrown away since.
  bool IsEmptiedAfter(const std::string& family, Timestamp time) const {
    return IsEmptiedAfter(family, time, time);
  }
  // All that it held at some of these times, both included.
  bool IsEmptiedAfter(const std::string& family, Timestamp since, Timestamp until) const;
  Timestamp EmptiedAt(const std::string& family) const;  // 0: it was not
  // Something that was there at that time may have gone by rules of the family that were others then.
  bool KeptLessAfter(const std::string& family, Timestamp time) const;
  std::string ExplainEmptied(const std::string& family) const;
  // The table was not there at that time, and so had no cells, whatever timestamps those have that
  // were put later.
  bool WasNotThere(Timestamp time) const;
  // When one was made after that. REQUIRES: WasNotThere(time).
  Timestamp MadeAfter(Timestamp time) const { return time < begun ? begun : created; }
};

// FindUnknown of what a moment shows (null: the present), as the store knew it before that.
StatusOr<Unknown> FindUnknownOf(const HistoryAccess& access, const Scope& scope,
                                const TableSchema& schema, Timestamp time,
                                std::shared_ptr<const Moment> moment,
                                const StoreKnowledge& knowledge);

// Judges the columns of one family after another. Is shown all cells of a column, newest first, and
// the family's tombstones before. Not thread-safe.
class FamilyKnowledge {
 public:
  // `family` and `store` outlive it.
  FamilyKnowledge(const FamilySchema& family, const StoreKnowledge& store, Timestamp time,
                  Timestamp now);

  void BeginFamily();  // of a row
  void BeginColumn();
  void See(const Cell& cell);
  // Why nobody can say what the column was; nullopt: it can be said.
  std::optional<UnknownReason> ColumnReason();
  // That reason which cells up to the time are enough to tell of.
  bool DependsOnVersionDeletes() { return !shows_nothing_ && version_deletes_.Matter(); }
  // The same of columns of the row of which no cell is left.
  std::optional<UnknownReason> UnnamedReason() const;
  // The same of columns in rows of which no cell is left.
  std::optional<UnknownReason> FamilyReason() const;
  std::string Explain(UnknownReason reason) const;

 private:
  bool LosesWhatItHides(const Cell& tombstone) const;
  bool MayHaveGoneByOtherRules() const;
  std::optional<UnknownReason> LossReason() const;
  std::string HowDeletesAreKept() const;

  const FamilySchema& family_;
  const StoreKnowledge& store_;
  const Timestamp time_;
  const Timestamp now_;
  std::optional<Timestamp> deletes_kept_since_;  // nullopt: all; newer ones keep what they hide
  bool shows_nothing_ = false;  // the TTL has ended what was there, or the table was not there
  bool family_delete_loses_ = false;
  bool column_delete_loses_ = false;
  bool family_has_newer_delete_ = false;
  bool column_has_newer_delete_ = false;
  bool has_older_put_ = false;
  bool older_put_has_ended_ = false;  // the newest of them, by the family's TTL
  int64_t newer_flushed_puts_ = 0;
  VersionDeletes version_deletes_;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_UNKNOWN_H_
