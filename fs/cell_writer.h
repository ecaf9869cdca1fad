// SPDX-License-Identifier: MIT
//
// CellWriter: one open-for-write ... close of a cell or of a version of it. What is written is held
// here and put
//   - when a descriptor is closed (Flush), bytes or an ftruncate that are not yet put;
//   - when the last one is gone (Release), also a truncation by O_TRUNC alone and a new empty file;
//   - by fsync, everything, on disk when it returns;
//   - within a second of a write, where the file was opened without O_TRUNC, so that it can be
//   followed.
// What is put again through one handle takes the same timestamp, so that it stays one version. Once
// the name has gone nothing is put: it goes to what all who have the file open share
// (fs/nameless_file.h).
//
// A handle that truncated the file, or made it and is the first to put, puts its bytes as they are.
// Afterwards, and where the file was opened as it was, it keeps what it does (fs/pending_edits.h)
// and applies that over the value that is the latest when it puts, in one atomic step: a compare
// and set by value, or HBase's Append.
#ifndef CELLFS_FS_CELL_WRITER_H_
#define CELLFS_FS_CELL_WRITER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "fs/column_mutations.h"
#include "fs/mount_context.h"
#include "fs/nameless_file.h"
#include "fs/pending_edits.h"
#include "fs/request.h"

namespace cellfs::fs {

class CellWriter final : public FileHandle, public std::enable_shared_from_this<CellWriter> {
 public:
  // Where mode.created, the node's place stands among the unstored entries until the first put.
  CellWriter(MountContext& mount, const Caller& caller, NodePtr node, const OpenMode& mode);

  OutcomeOr<SharedBytes> Read(uint64_t offset, size_t size) override;
  Outcome Write(std::string_view bytes, uint64_t offset, WriteFrom from) override;
  Outcome Truncate(uint64_t size) override;
  Outcome Flush() override;
  Outcome PutAll() override;
  Outcome Sync() override;
  void Release() override;
  void Abandon() override;
  std::optional<Outcome> SetTime(timespec mtime) override;
  void BeforeNameGoes(const std::shared_ptr<NamelessFile>& file) override;
  void NameWent() override;
  std::optional<PendingWrite> pending() const override;

  // The file was renamed, and its bytes put at the new name with this timestamp.
  void Renamed(Timestamp version);

  // Milliseconds; of what this handle puts from now on.
  void SetTimeToLive(int64_t milliseconds);

 private:
  bool HasBytes() const { return bytes_unput_; }
  bool HasAnything() const { return bytes_unput_ || start_unput_; }
  uint64_t Size() const;
  bool IsVersion(const Place& place) const { return place.kind != PlaceKind::kCell; }

  Outcome Fail(Outcome outcome, ColumnLocks::Lock lock = {});
  template <typename Act>
  Outcome WithMemory(Act&& act);
  Outcome Edit(std::string_view bytes, uint64_t offset, bool appends);
  Outcome EditLength(uint64_t size);
  Outcome GoNameless();
  Outcome ChangeNameless(const std::function<void(std::string&)>& change);
  void Wrote();
  void PutLater();
  void LeaveBytes();
  bool OthersWereFirst() const;
  void JoinOthers();
  Outcome PutNow(Durability durability);
  Outcome PutPending(Durability durability);
  struct Stored {
    explicit Stored(const MutationResult& result)
        : stamp(result.timestamps.front()), alone(result.columns_were_empty) {}
    Timestamp stamp;
    bool alone;  // nothing else lies on the column
  };
  StatusOr<Stored> PutWhole(const Place& place, Durability durability);
  StatusOr<Stored> PutEdited(const Place& place, Durability durability);
  StatusOr<Stored> PutAppended(const Place& place, const std::string& bytes, Durability durability);
  RowStep StepFor(const Place& place, std::string value, Durability durability) const;
  StatusOr<std::optional<Stored>> PutIf(const Place& place, RowStep& step, std::string present);
  void SettleDirectories(const Place& place, Timestamp stamp);
  void RememberTime(const Place& place, Timestamp stamp);
  void HasPut(const Place& place, Timestamp stamp, bool others_changed_it);
  void TellNode(const Place& place, const Stored& stored);
  StatusOr<std::string> LatestValue(const Place& place);
  Outcome LoadView();

  MountContext& mount_;
  const Caller caller_;
  const NodePtr node_;
  const bool append_;
  const bool truncates_;  // opened without O_TRUNC it puts within a second

  NamelessAccess nameless_;
  mutable std::mutex mutex_;  // guards the rest; the store is called while it is held
  bool claimed_;
  bool exclusive_;
  bool is_nameless_ = false;  // what was held here has gone to the nameless file
  bool whole_;                // view_ is all of the file: nothing of an older value comes in
  bool truncated_ = false;    // by ftruncate
  bool bytes_unput_ = false;
  bool start_unput_;  // the O_TRUNC or the creation is not put yet
  bool put_is_due_ = false;
  PendingEdits edits_;  // where !whole_
  // The file as this handle reads it: always where whole_, else where it was wanted.
  std::optional<std::string> view_;
  uint64_t view_generation_ = 0;
  bool misplaced_ = false;     // the kernel appended elsewhere in its pages than was done here
  uint64_t known_generation_;  // of the node, as far as this handle has made it
  uint64_t base_size_ = 0;     // of the value that edits_ will be applied to, as far as is known
  std::optional<Timestamp> last_put_;
  std::optional<timespec> wish_;  // a time set while bytes are not put
  bool wish_was_kept_ = false;    // the last put remembers a time beside its version
  timespec written_{};
  int64_t time_to_live_ = kNoCellTtl;
  std::optional<Outcome> failed_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CELL_WRITER_H_
