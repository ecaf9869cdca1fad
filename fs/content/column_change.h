// SPDX-License-Identifier: MIT
//
// ColumnChange: one change of a column, or of the two of a rename, from its locks to the kernel's
// notice. Everything that changes what a column shows goes through here, so that the others learn
// of it in one order:
//
//   1. The locks are taken. Readers of the file take them as well.
//   2. The caller makes the mutation and says how it ended.
//        Done: the nodes of the column are told; a file that lost its name becomes an orphan.
//        Unknown (kOutcomeUnknown, or an exception on the way): it may be done. What was cached of
//        the column is dropped.
//        Not done: nothing follows.
//   3. What else is to be remembered (owners, times) may fail; that is logged
//      (ErrorLog), and the change stays done.
//   4. The locks are let go, and only then the kernel is notified: it may first have to finish a
//      request that needs them.
#ifndef CELLFS_FS_CONTENT_COLUMN_CHANGE_H_
#define CELLFS_FS_CONTENT_COLUMN_CHANGE_H_

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "fs/base/outcome.h"
#include "fs/content/contents.h"
#include "fs/content/orphaning.h"
#include "fs/nodes/column_lock.h"
#include "fs/nodes/live_tree.h"
#include "fs/nodes/node.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Of one thread, which takes no other lock of a column meanwhile.
class ColumnChange {
 public:
  // Of the column in which the file is now, through that file: the kernel has seen what it did.
  ColumnChange(LiveTree& tree, const Contents& contents, const NodePtr& file);
  // Of a column by its name. `by`: the file through which it is changed, if any. The place must
  // outlive the change, as those of a rename.
  ColumnChange(LiveTree& tree, const Contents& contents, const Place& column,
               const Node* by = nullptr);
  ColumnChange(LiveTree& tree, const Contents& contents, const Place& from, const Place& to);
  ColumnChange(const ColumnChange&) = delete;
  ColumnChange& operator=(const ColumnChange&) = delete;
  ~ColumnChange();

  // Where the file is, or as it was named.
  const Place& place();
  // Guarded by the lock that is held.
  Column& column() { return *sides_[0].column; }

  // How the mutation ended. Where it is done, before anybody can miss what was there before: an
  // unstored entry goes afterwards.
  void Ended(const Outcome& mutation);
  // Lets the locks go and notifies the kernel, before the change itself goes: for who waits then.
  void Finish() noexcept;
  // Nothing visible changed but what ends it (a TTL), or a file that was made is not there after
  // all: the kernel shall ask again.
  void Revalidate();
  // The column's family, or its row, shows another time than when the file was made.
  void DirectoryTimesChanged() { has_directory_times_ = true; }

  // ---- Names ----------------------------------------------------------------------------------
  // Before the mutation: the file at the place is about to lose its name. What it holds is read for
  // those who have it open. With a counter its column goes, and so the cell's file.
  void PrepareOrphan(const Place& place);
  // Instead of Ended, where the mutation is done: the name is gone.
  void NameRemoved();
  // Likewise: the file has its other name, and what was there is replaced. The node at the new
  // name; null where the kernel does not know the file.
  NodePtr NameMoved();

 private:
  enum class Notice { kNone, kChanged, kRevalidate };
  struct Side {
    Column* column = nullptr;
    const Place* place = nullptr;
    Notice notice = Notice::kNone;
  };

  void LoseTrack() noexcept;
  void KeepTimesAbove(const Place& column);
  void KeepDirectoryTimes() noexcept;
  void CellRemoved(const Place& cell);
  void NamesChanged();
  // Whether bytes of a column are there.
  static bool IsColumn(const Side& side) { return side.place != nullptr && side.place->IsColumn(); }
  void Notify();

  LiveTree& tree_;
  const Contents& contents_;
  const NodePtr file_;  // null: the change is not made through a file's handle
  std::shared_ptr<const Place> file_place_;
  const Node* by_ = nullptr;
  std::array<Side, 2> sides_;
  bool has_ended_ = false;
  bool has_directory_times_ = false;
  bool has_notices_ = false;  // for the kernel
  const int exceptions_ = std::uncaught_exceptions();
  ColumnLock lock_;
  ColumnLock second_lock_;
  std::optional<Orphaning> orphan_;  // whose name goes, if the mutation is done
  std::optional<Orphaning> cell_orphan_;  // likewise, with its counter
  NodePtr renamed_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_COLUMN_CHANGE_H_
