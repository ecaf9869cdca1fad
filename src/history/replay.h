// SPDX-License-Identifier: MIT
//
// FamilyReplay: what a reader saw of the columns of a family at a time, replayed from the stored
// cells, by HBase's rules (docs/data-model.md):
//
//   - of the cells whose timestamps are not later, the newest put that no tombstone among them
//     hides, and that has not expired;
//   - with NEW_VERSION_BEHAVIOR tombstones hide only what was written before them, and a put that
//     had VERSIONS newer ones over it stays out. A raw scan tells only the last of two tombstones
//     (or puts) of one column, timestamp and type, so there a put may count as pushed out that was
//     not.
//
// Is shown the cells of one row and family after another, in the order of the store (StoredCells).
#ifndef CELLFS_SRC_HISTORY_REPLAY_H_
#define CELLFS_SRC_HISTORY_REPLAY_H_

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/cell.h"
#include "engine/schema.h"

namespace cellfs {

// Which reader: the cells up to `up_to` count, and what was expired at `now` does not.
struct ReplayTime {
  Timestamp up_to = std::numeric_limits<Timestamp>::max();
  Timestamp now = 0;
};

// Not thread-safe.
class FamilyReplay {
 public:
  // `family` outlives it.
  FamilyReplay(const FamilySchema& family, ReplayTime time) : family_(family), time_(time) {}

  void BeginFamily();  // of a row
  void BeginColumn();
  void See(const Cell& cell);
  // The put that is seen of the column; the pointer is good until the next column.
  // REQUIRES: all cells of the column were shown, or IsDecided().
  const Cell* Visible();
  // Older cells of the column change nothing.
  bool IsDecided() const { return is_decided_; }

 private:

  bool IsExpired(const Cell& put) const;
  bool IsPastOwnTtl(const Cell& put) const;
  bool Hides(Timestamp put) const;
  void SeePut(const Cell& put);
  void ReplayInOrderOfWriting();
  void Apply(const Cell& cell, std::vector<Cell>& live) const;

  const FamilySchema& family_;
  const ReplayTime time_;
  // The family's tombstones in the row.
  Timestamp family_up_to_ = -1;
  std::set<Timestamp> family_exactly_;
  std::vector<Cell> family_written_;  // with NEW_VERSION_BEHAVIOR
  // The column's.
  Timestamp column_up_to_ = -1;
  Timestamp exactly_ = -1;
  std::vector<Cell> written_;  // with NEW_VERSION_BEHAVIOR
  bool is_decided_ = false;
  bool is_replayed_ = false;
  std::optional<Cell> visible_;
};

// Of one version, named by its timestamp: of a column, or of a family.
bool IsVersionTombstone(CellType type);
// Whether the family's TTL has ended what was put then.
bool HasTtlEnded(const FamilySchema& family, Timestamp put, Timestamp now);
// Whether the tombstone's rule covers a put of the same column (of the family, for a family's).
bool Covers(const Cell& tombstone, Timestamp put);

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_REPLAY_H_
