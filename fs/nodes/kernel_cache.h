// SPDX-License-Identifier: MIT
//
// KernelCache: what the kernel must forget when something changed otherwise than by its own
// request: under another name of the same cell, or by a command. Names that can change unseen
// (history, counters, deleted cells, queries) are never cached at all, so the plain names are all
// there is to tell of.
#ifndef CELLFS_FS_NODES_KERNEL_CACHE_H_
#define CELLFS_FS_NODES_KERNEL_CACHE_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "fs/nodes/inode_table.h"
#include "fs/nodes/notice_queue.h"
#include "fs/tree/file_names.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// The way to the kernel; fs/kernel/fuse_session.cc implements it.
class KernelNotifier {
 public:
  virtual ~KernelNotifier() = default;
  // Drops attributes, pages and listing. May be called from a thread that serves a request.
  virtual void InvalidateInode(const Node& node) = 0;
  // Drops the attributes alone. May be called likewise.
  virtual void InvalidateAttributes(const Node& node) = 0;
  // Drops a name. Takes the directory's lock in the kernel: never from a thread that serves a
  // request.
  virtual void InvalidateEntry(const Node& directory, const std::string& name) = 0;
  // Likewise, and the kernel forgets what it has of it, where nobody uses it. Who does stays in a
  // directory that has lost its path.
  virtual void ThrowOutEntry(const Node& directory, const std::string& name) {
    InvalidateEntry(directory, name);
  }
};

// The kernel's, of a file, as long as it lives.
struct FilePages {
  std::shared_ptr<SharedFile> file;
  std::unique_lock<std::mutex> no_writer_comes;
  bool is_written = false;
  bool are_stale = false;  // and cannot be dropped now: not all is put, or there is nobody to tell
};

// Thread-safe. Nothing here is called under a column's lock (fs/nodes/column_lock.h): the kernel
// may first finish a request that needs it. What throws, for want of memory, has told a part at
// most: ForgetAllLater is for who cannot throw in turn.
class KernelCache {
 public:
  KernelCache(InodeTable& inodes, const FileNames& names);
  ~KernelCache();

  // Null before mount and after unmount.
  void SetNotifier(KernelNotifier* notifier);

  // The visible value of the column was put, deleted or otherwise changed, but not under the plain
  // name, by an operation on the file `by` (null: on none). Call it before the reply. `by` itself is
  // left alone.
  void ColumnChanged(const Place& column, const Node* by);
  // Anything in the table changed otherwise than by a request of the kernel.
  void TableChanged(const TableName& table);
  void NamespaceChanged(const std::string& namespace_name);
  // A family came or went that no row shows: nothing else of the table is otherwise than before.
  void FamilyChanged(const TableName& table, const std::string& family);
  // The kernel shall drop the name: a command or a drop took away a file that was open, whose node
  // has no name any more, and one would write into a file that nobody finds again; or an emptied
  // directory is kept no longer. May be called under a column's lock: other threads tell.
  void NameWent(const Place& place);
  // Likewise a name that is there and takes memory as long as the kernel knows it.
  void ForgetName(const Place& directory, const std::string& name);
  // Until the kernel has dropped the names that were queued before, or somebody keeps one of their
  // directories locked. Not in a request.
  void AwaitNames();
  // The kernel shall ask again about the node and, where it has gone, about its name.
  void Changed(const NodePtr& node, bool is_gone);
  // The column may not be as the kernel believes: a file that was made is not there after all, or a
  // change may or may not have been made. Leaves pages alone: those of the very write that failed
  // are locked until its reply.
  void Revalidate(const Place& column);
  // Pages of the file that are not as it is are dropped, those of mappings too, unless something of
  // it is not put. Nobody opens it to write meanwhile; who has it open to write, and has put all, may
  // stay for long, and others map the file: he is watched (fs/files/dropped_pages.h). For an open: a
  // read or write of the file keeps pages locked until its reply.
  FilePages DropStalePages(Node& file);
  // Likewise, by another thread: the file was put, or will not be, or somebody ended to write it.
  void DropStalePagesLater(const NodePtr& file);
  // Of the row or family, as `directory` says, that the column is in, the kernel shall ask for the
  // attributes again.
  void DirectoryTimeChanged(const Place& column, PlaceKind directory);
  // The kernel drops its listing of the directory.
  void DropListing(const Node& directory);
  // Whoever had something to tell did not get to it: memory has run out. As soon as there is some
  // again the kernel is told to forget everything.
  void ForgetAllLater() noexcept;
  // The file has another name now, and with it another inode number; its pages are right.
  void Renamed(const Node& node);
  // The attributes alone of this place, changed under another name.
  void AttributesChanged(const Place& place, const Node* by);

 private:
  // False: there is nobody to tell.
  bool Notify(const std::function<void(KernelNotifier&)>& tell);
  void InvalidateNode(const Place& place, const Node* by);
  void InvalidateParents(const Place& cell, const Node* by);
  void InvalidateAll(const TreePart& part);
  KernelNotice NoticeOf(const TreePart& part) const;
  void DropNames(const TreePart& part);
  void AskAgain(const Place& place);
  void QueueNameIfKnown(const Place& place);
  void TellLater(const KernelNotice& notice);
  void Tell(const KernelNotice& notice);
  bool DropPages(const Node& node);

  InodeTable& inodes_;
  const FileNames& file_names_;
  std::mutex mutex_;
  std::condition_variable idle_;
  int notifying_ = 0;                   // calls under way; guarded by mutex_
  KernelNotifier* notifier_ = nullptr;  // guarded by mutex_
  NoticeQueue later_;                   // last: its threads use the rest
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_KERNEL_CACHE_H_
