// SPDX-License-Identifier: MIT
//
// ColumnEffects: who is told of what when a column has changed (fs/content/effect.h): the one
// function for it, whoever makes the change and by whatever name.
#ifndef CELLFS_FS_CONTENT_COLUMN_EFFECTS_H_
#define CELLFS_FS_CONTENT_COLUMN_EFFECTS_H_

#include <optional>

#include "engine/caller.h"
#include "fs/content/effect.h"
#include "fs/nodes/column.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe; holds nothing of its own.
// Which of the file's directories show another time than when it was made.
enum class OtherTimes { kNone, kOfFamily, kOfFamilyAndRow };

class ColumnEffects {
 public:
  ColumnEffects(LiveTree& tree, const Reading& reading) : tree_(tree), reading_(reading) {}

  struct Target {
    Column& column;
    const Place& place;  // the name by which it was changed
    // Who looks whether its directories are empty now; null: they cannot be, or somebody else
    // looks. UnstoredEntries::Emptying is there since before the mutation.
    const Caller* looker = nullptr;
  };
  // What is left to do when this returns is the name's (its node, who has it open), and the kernel's
  // notice, which waits until no lock is held. REQUIRES: the column's lock.
  OtherTimes Apply(const Target& target, const Effect& effect) const;

  // Family and row stay as empty directories where the column's value was their last. What cannot
  // be read is taken for empty: a directory that is kept in vain does no harm.
  void KeepEmptied(const Caller& looker, const Place& column) const;

 private:
  void KeepTimes(const Place& column) const noexcept;
  void KeepTimesAbove(const Place& column) const;
  void Learn(const Target& target, const Effect& effect) const;
  std::optional<CachedCell> CellOf(const Place& place, const Effect& effect) const;
  bool TakeClaim(const Place& place) const noexcept;
  void Stamp(const Target& target, const Effect& effect, bool had_claim) const;
  OtherTimes FillDirectories(const Place& place, Timestamp came) const;
  bool FillMade(const Place& family, Timestamp came) const;
  // `looked_at`: Node::NewestGeneration() from before the cells were read.
  void NoteFilled(const Place& family, const RowCells& cells, uint64_t looked_at) const;

  LiveTree& tree_;
  const Reading& reading_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_COLUMN_EFFECTS_H_
