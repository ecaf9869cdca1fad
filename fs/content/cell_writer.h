// SPDX-License-Identifier: MIT
//
// CellWriter: one open-for-write ... close of a cell or of a version of it. What is written is held
// in memory and put
//   - when a descriptor is closed (Flush), bytes or an ftruncate that are not yet put;
//   - when the last one is gone (Release), also a truncation by O_TRUNC alone and a new empty file;
//   - by fsync, everything, on disk when it returns;
//   - within a second of a write, where the file was opened without O_TRUNC, so that it can be
//   followed.
// What is put again through one handle takes the same timestamp, so that it stays one version. Once
// the name has gone nothing is put (fs/files/orphan_file.h).
//
// What it writes is held in one of two places. By the handle, all of the file, where it truncated
// it, or made it and is the first to put, unless somebody else opens it to write: that is put as it
// is. Else by the column, for all handles
// together: edits (fs/files/shared_edits.h), which are applied over the value that is the latest
// when they are put, in one atomic step, a compare and set by value, and appended bytes
// (fs/files/appended_tail.h), which are HBase's Append.
#ifndef CELLFS_FS_CONTENT_CELL_WRITER_H_
#define CELLFS_FS_CONTENT_CELL_WRITER_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "fs/attributes/attribute_store.h"
#include "fs/base/delayed_calls.h"
#include "fs/content/cell_put.h"
#include "fs/content/column_change.h"
#include "fs/content/contents.h"
#include "fs/content/disk_positions.h"
#include "fs/content/effect.h"
#include "fs/files/pending_edits.h"
#include "fs/files/shared_file.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/tree/error_log.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// What all writers of cells work with; it outlives them.
struct CellWriting {
  LiveTree& tree;
  const Reading& reading;
  const Contents& contents;
  const ColumnChanging& changing;
  DiskPositions& disk;
  AttributeStore& attributes;
  DelayedCalls& delayed;
  ErrorLog& errors;
  const MountOptions& options;
};

// Its state is guarded by the lock of the column in which the node is, as what handles share
// (fs/files/shared_file.h): so that one handle can put what others appended before, and a change of
// the name finds all of them as they are.
class CellWriter final : public FileHandle, public std::enable_shared_from_this<CellWriter> {
 public:
  // Where mode.created, the node's place stands among the unstored entries until the first put.
  // `file`: the node's.
  CellWriter(const CellWriting& with, const Request& request, NodePtr node,
             std::shared_ptr<SharedFile> file, const OpenMode& mode);
  ~CellWriter() override;
  // Opened with O_TRUNC: what others have appended is put before what is written here, what they
  // append from now on behind it. REQUIRES: the column's lock, since before it was made.
  void FollowAppended();

  OutcomeOr<SharedBytes> Read(uint64_t offset, size_t size, ReadFor what) override;
  Outcome Write(std::string_view bytes, uint64_t offset, WriteFrom from) override;
  Outcome Truncate(uint64_t size) override;
  Outcome Allocate(uint64_t size) override;
  Outcome Flush() override;
  Outcome PutAll() override;
  void PutClosedStart(bool made_too) override;
  void Share(bool with_reader) override;
  Outcome Sync() override;
  bool WaitsForDisk() const override { return true; }
  void Release() override;
  void Abandon() override;
  bool SeemsClosed() const override;
  std::optional<Outcome> SetTime(timespec mtime) override;
  void NameGoes() override;
  void NameWent() override;
  std::optional<PendingWrite> pending() const override;

  // The file was renamed, and its bytes put at the new name with this timestamp. REQUIRES: the
  // column's lock.
  void Renamed(Timestamp version);

  // Milliseconds; of what this handle puts from now on. False, and nothing was set: it has nothing to
  // put.
  bool SetTimeToLive(int64_t milliseconds);

 private:
  enum class Holds {
    kShared,  // nothing of its own: what it writes is the column's
    kWhole,   // whole_, which is all of the file
    kOrphan,  // nothing: the file has no name, and its handles share it
  };
  enum class Unput {
    kNothing,  // but perhaps bytes that are the column's
    kStart,    // the creation or the O_TRUNC alone
    kBytes,
  };
  // Whether the handle made the file, which is unstored until the first put.
  enum class Making {
    kNo,
    kJoins,   // others may put first: what was written here then goes over what they put
    kErases,  // it truncated the file since: what was written here replaces that
  };

  bool HasBytes() const {
    return unput_ == Unput::kBytes || file_->tail().Has(this) || file_->edits().Has(this);
  }
  void PutRest();
  void StopsWriting() noexcept;
  bool HasAnything() const { return unput_ != Unput::kNothing || HasBytes(); }
  bool IsVersion(const Place& place) const { return place.kind != PlaceKind::kCell; }
  void CountAsReplacer();

  // ---- What the program does
  template <typename Act>
  Outcome WithMemory(ColumnChange& change, Act&& act);
  template <typename Act>
  Outcome AwaitingRoom(const Act& act);
  Outcome KeepOrPutWritten(ColumnChange& change);
  bool MayLack(uint64_t end);
  Outcome Edit(ColumnChange& change, std::string_view bytes, uint64_t offset, bool appends);
  Outcome EditOrphan(const Place& place, std::string_view bytes, uint64_t offset, bool appends);
  Outcome EditWhole(ColumnChange& change, std::string_view bytes, uint64_t offset, bool appends);
  Outcome EditShared(ColumnChange& change, std::string_view bytes, uint64_t offset, bool appends);
  Outcome AppendToTail(ColumnChange& change, std::string_view bytes, uint64_t offset);
  Outcome EditLength(ColumnChange& change, uint64_t size);
  Outcome HoldLength(const Place& place, uint64_t size);
  Outcome CheckSize(const Place& place, uint64_t end) const;
  Outcome BeginEdits(ColumnChange& change);
  Outcome KeepOrPutEdits(ColumnChange& change);
  bool UpdateShare();
  Outcome KeepOrPut(ColumnChange& change);
  uint64_t BlocksOfEdits() const;
  Outcome CheckRoom(const Place& place, uint64_t before, uint64_t now) const;
  OutcomeOr<uint64_t> PresentSize(const Place& place);
  OutcomeOr<uint64_t> StoredSize(const Place& place);
  bool MayShareRun() const;
  bool MayShareEdits() const;
  void Wrote(Unput unput);
  void PutLater();
  OutcomeOr<SharedBytes> ReadOrphan(uint64_t offset, size_t size) const;
  OutcomeOr<SharedBytes> ReadShared(uint64_t offset, size_t size);

  // ---- Others who write at the same time
  bool OthersWereFirst() const;
  bool HasBeenThere(const Place& place) const;
  PendingEdits HeldEdits() const;
  Outcome JoinOthers(ColumnChange& change);
  Outcome ShareOwn(ColumnChange& change);
  Outcome ShareBytes(ColumnChange& change, bool replaces);
  Outcome Fail(ColumnChange& change, Outcome outcome);
  Outcome FailAll(ColumnChange& change, const Outcome& outcome);

  // ---- Putting
  enum class What {
    kBytes,
    kAll,   // also the creation or truncation alone
    kFile,  // also what others appended or edited
  };
  Outcome PutHeld(What what, Durability durability);
  Outcome TryPutHeld(RoomToAwait& room, What what, Durability durability);
  Outcome PutAndWait(ColumnChange& change, What what, Durability wanted);
  Outcome PutNow(ColumnChange& change, What what, Durability durability);
  Outcome PutPending(ColumnChange& change, What what, Durability durability);
  Outcome PutOwn(ColumnChange& change, Durability durability);
  Outcome PutEdits(ColumnChange& change, Durability durability);
  Outcome PutEditsNow(ColumnChange& change, Durability durability);
  Outcome PutTail(ColumnChange& change, Durability durability, const CellWriter* through);
  Outcome PutFrontRun(ColumnChange& change, Durability promised);
  Outcome PutRun(ColumnChange& change, const std::string& bytes, Durability durability);
  bool IsPlain(ColumnChange& change) const;
  PutAs put_as() const { return {last_put_, requested_time_, time_to_live_}; }
  void AfterPut(ColumnChange& change, const effect::Put& put);
  void IsPutAs(const ColumnChange& change, Timestamp stamp);
  void IsPutAt(DiskPosition position) { disk_position_ = std::max(disk_position_, position); }
  void RememberTime(const Place& place, Timestamp stamp);
  void LeaveBytes(Column& column);

  const CellWriting& with_;
  const Caller caller_;
  const NodePtr node_;
  const std::shared_ptr<SharedFile> file_;
  const bool append_;
  const bool truncates_;  // opened without O_TRUNC it puts within a second

  Holds holds_;
  Unput unput_;
  Making making_;
  bool exclusive_;  // the first put must find nothing
  bool is_flushed_ = false;  // once at least
  bool put_is_due_ = false;
  bool is_writer_ = true;     // counted by file_, as the next
  bool is_replacer_ = false;
  uint64_t first_behind_ = 0;  // of the runs that others append; those before are put first
  std::string whole_;
  OpenFileMemory::Share share_;    // of whole_
  UnputBytes::Share unput_bytes_;  // likewise; what file_ holds is not counted
  uint64_t known_generation_;    // of the node, as far as this handle has made it
  std::optional<Timestamp> last_put_;
  DiskPosition disk_position_ = 0;  // of what was written here and is put, by whomever
  std::optional<timespec> requested_time_;  // set while bytes are not put
  bool time_is_remembered_ = false;         // beside the version of the last put
  timespec written_{};
  uint64_t writes_ = 0;  // that it held
  int64_t time_to_live_ = kNoCellTtl;
  std::optional<Outcome> failed_;
  Outcome may_read_orphan_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_CELL_WRITER_H_
