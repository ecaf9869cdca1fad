// SPDX-License-Identifier: MIT
//
// FileSystem: the file operations, by node, over a Store. It calls no FUSE function, so it is used
// and tested without a mount; fs/kernel/fuse_requests.h is the way from the kernel to here.
//
// What it works with is in parts.h. Reads are answered here; what changes the tree is in
// mkdir.h, rmdir.h, unlink.h, rename.h and attribute_changes.h.
#ifndef CELLFS_FS_OPERATIONS_FILESYSTEM_H_
#define CELLFS_FS_OPERATIONS_FILESYSTEM_H_

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/controlled_store.h"
#include "fs/listing/directory_stream.h"
#include "fs/nodes/kept_queries.h"
#include "fs/nodes/restoring_readers.h"
#include "fs/nodes/rewritten_nodes.h"
#include "fs/operations/attribute_changes.h"
#include "fs/operations/parts.h"
#include "fs/store/read_once.h"

namespace cellfs::fs {

// What a look-up tells the kernel. The node was counted once.
struct Entry {
  NodePtr node;
  struct stat attributes {};
  double name_valid_seconds = 0;
  double attributes_valid_seconds = 0;
  bool raced = false;  // by a put; never given out
};

struct AttributesReply {
  struct stat attributes {};
  double valid_seconds = 0;
  bool raced = false;  // as in Entry
};

struct CreatedFile {
  Entry entry;
  FileHandle* handle = nullptr;
  bool keep_cache = false;
  bool direct_io = false;
};

struct OpenReply {
  FileHandle* handle = nullptr;
  bool keep_cache = false;
  bool direct_io = false;
  bool no_flush = false;
};

struct OpenDirectory {
  OpenDirectory(const Listing& with, NodePtr directory, std::shared_ptr<CachedListing> cached,
                OpenFileMemory& memory, uid_t user)
      : node(directory),
        stream(with, std::move(directory), std::move(cached)),
        share(memory, user) {}
  NodePtr node;
  std::mutex mutex;  // guards the rest
  DirectoryStream stream;
  OpenFileMemory::Share share;
};

struct OpenDirectoryReply {
  std::unique_ptr<OpenDirectory> directory;
  bool cache_listing = false;
};

// Thread-safe. Handles given out must be released before it dies.
class FileSystem {
 public:
  // `controls` is null where the store is not in this process: then nobody tells of what it
  // rewrites.
  FileSystem(Store& store, MountOptions options, std::shared_ptr<const Clock> clock,
             StoreControls* controls);
  ~FileSystem();

  const MountOptions& options() const { return parts_.options; }
  const Freshness& freshness() const { return parts_.freshness; }
  KernelCache& kernel() { return parts_.tree.kernel; }
  ScanSlots& scan_slots() { return parts_.scan_slots; }
  RequestCounts& request_counts() { return parts_.request_counts; }
  ErrorLog& errors() { return parts_.errors; }
  AsofRegistry& asof() { return parts_.asof; }
  Parts& parts() { return parts_; }  // for commands, and tests
  Node& root() { return *parts_.tree.inodes.root(); }

  // Reads what every stat needs of the attributes, so that a mount fails that cannot know them.
  Status LoadAttributes() { return parts_.attributes.BeLoaded(); }
  // Until the kernel has been told of all that flushes, compactions and commands have changed up to
  // now. Not in a request.
  void AwaitKernel() {
    rewritten_.Await();
    parts_.tree.kernel.AwaitNames();
  }
  // These columns were changed by a command, not by a request of the kernel: it is told by the next
  // AwaitKernel. While their locks are held, so that nobody keeps what was there before.
  void CellsChanged(const TableName& table, const std::vector<RewrittenColumn>& columns) {
    rewritten_.Rewritten(table, columns);
  }
  // An entry of the directory came or went likewise.
  void NamesChanged(const Place& directory);
  // Lets go of what an .asof has kept for nobody for long, and gives memory back after the kernel
  // has forgotten very much. To be called every minute or so.
  void LetGoUnused();
  // After an unmount: the kernel may not have come to say that it has closed the last files. What
  // somebody was still writing, as when it was forced, is left, and not put.
  void ReleaseClosed();

  // ---- Names ----------------------------------------------------------------------------------
  OutcomeOr<Entry> LookUp(const Request& request, Node& directory, std::string_view name);
  void Forget(Node& node, uint64_t count) { parts_.tree.inodes.Forget(node, count); }
  OutcomeOr<std::string> ReadLink(const Request& request, Node& node);
  OutcomeOr<Entry> MakeDirectory(const Request& request, Node& directory, std::string_view name,
                                 mode_t mode);
  Outcome Unlink(const Request& request, Node& directory, std::string_view name);
  Outcome RemoveDirectory(const Request& request, Node& directory, std::string_view name);
  Outcome Rename(const Request& request, Node& directory, std::string_view name,
                 Node& new_directory, std::string_view new_name, unsigned flags);

  // ---- Attributes -----------------------------------------------------------------------------
  OutcomeOr<AttributesReply> GetAttributes(const Request& request, Node& node);
  OutcomeOr<AttributesReply> SetAttributes(const Request& request, Node& node,
                                           const AttributeChange& change, FileHandle* handle);
  OutcomeOr<std::string> GetXattr(const Request& request, Node& node, const std::string& name);
  Outcome SetXattr(const Request& request, Node& node, const std::string& name,
                   std::string_view value, int flags);
  OutcomeOr<struct statvfs> StatFs(const Request& request, Node& node);

  // ---- Files ----------------------------------------------------------------------------------
  OutcomeOr<CreatedFile> Create(const Request& request, Node& directory, std::string_view name,
                                mode_t mode, OpenMode open_mode, bool exclusive);
  // An empty file, there when this returns.
  OutcomeOr<Entry> MakeFile(const Request& request, Node& directory, std::string_view name,
                            mode_t mode);
  OutcomeOr<OpenReply> Open(const Request& request, Node& node, const OpenMode& mode);
  OutcomeOr<SharedBytes> Read(const Request& request, Node& node, FileHandle* handle,
                              uint64_t offset, size_t size, ReadFor what = ReadFor::kProgram);
  OutcomeOr<size_t> Write(Node& node, FileHandle& handle, std::string_view bytes, uint64_t offset,
                          WriteFrom from = WriteFrom::kProgram);
  Outcome Allocate(Node& node, FileHandle& handle, uint64_t size);
  Outcome Flush(Node& node, FileHandle& handle);
  Outcome Sync(Node& node, FileHandle& handle);
  void Release(Node& node, FileHandle* handle);

  // ---- Directories ----------------------------------------------------------------------------
  OutcomeOr<OpenDirectoryReply> OpenListing(const Request& request, Node& directory);
  // Calls `take` with each entry; false: it did not fit. Where there was none, how the stream ends.
  OutcomeOr<CachedListing::End> List(const Request& request, OpenDirectory& directory,
                                     uint64_t offset, const DirectoryStream::Take& take);
  // The node of a listed entry, counted as a look-up, with its attributes; ENOENT where it has
  // been removed since it was read.
  OutcomeOr<Entry> EntryOf(const Request& request, const DirectoryEntry& listed);
  // As its attributes show it.
  uint64_t InodeNumberOf(const DirectoryEntry& listed) const;
  Outcome SyncDirectory(Node& directory);

 private:
  void EndHandles(void (FileHandle::*end)(), bool (*is_meant)(const FileHandle&));
  struct QuotaUse {
    int64_t limit = 0;  // bytes
    int64_t used = 0;
  };

  // The kernel shall ask again about the node, which may have changed or gone.
  void Revalidate(const NodePtr& node);
  Outcome CheckWritable(const Place& place);
  OutcomeOr<ResolvedEntry> FindNode(const Request& request, Node& node);
  static OutcomeOr<ResolvedEntry> FindOrphan(const Node& node, const Place& place);
  OutcomeOr<Entry> MakeEntry(const ResolvedEntry& found);
  OutcomeOr<AttributesReply> ReplyOf(const ResolvedEntry& found, Node& node);
  // As long as it lives, of a request about the file or family: its table is described, and what is
  // stored of directories read, once. Requests that may change a table ask each time.
  ReadOnce AskOnce(const Node& node) const;
  OutcomeOr<Entry> LookUpOnce(const Request& request, Node& directory, std::string_view name);
  OutcomeOr<AttributesReply> GetAttributesOnce(const Request& request, Node& node);
  void NoticeOtherWriters(const ResolvedEntry& found, Node& node);
  void ForgetOlder(const Place& cell, Timestamp before, Timestamp version);
  static bool IsRaced(const ResolvedEntry& found, const Node& node);
  double AttributesValidSeconds(const ResolvedEntry& found, const Node& node, bool is_pending);
  // Records a failure, and passes it on.
  Outcome LogFailure(std::string_view operation, const Place& place, Outcome outcome);
  Outcome LogFailure(std::string_view operation, const Node& node, Outcome outcome);
  // The same after an operation that adds or removes a name of the directory.
  Outcome FinishChange(std::string_view operation, Node& directory, Outcome outcome);
  OutcomeOr<ResolvedEntry> MakeOrFind(const Request& request, const Place& place, mode_t mode,
                                      bool exclusive, OpenMode& open_mode);
  void StoreDirectoryTimes();
  // An entry came or went.
  void EntriesChanged(Node& directory);
  void NoteDirectoryTime(const Place& directory);
  OutcomeOr<Entry> LookUpRestored(const Request& request, const Place& directory,
                                  std::string_view name);
  void KeepQuery(const Place& scan_directory, std::string_view name, const Place& query);
  bool MayOpenLate(const Request& request, const OpenMode& mode) const;
  Outcome CheckMayPutOver(const Node& node, const Place& place, const OpenMode& mode);
  Outcome CheckMayToday(const Request& request, const Place& past, mode_t permissions);
  Outcome CheckMayToday(const Request& request, const Place& past, Timestamp version,
                        mode_t permissions);
  Outcome CheckStillReaches(const Request& request, const Place& directory, mode_t permissions);
  Outcome CheckMayReadVersion(const Request& request, const Place& place, Timestamp version);
  bool IsAskedAtEachStep(const Place& place) const;
  Outcome CheckMayOpen(const Request& request, const Node& node, const Place& place,
                       const OpenMode& mode);
  static bool IsEdited(const Node& node, const SharedFile& file);
  static void PutClosedStarts(const Node& node, bool made_too);
  void PutClosedStartOf(const Place& history) const;
  OutcomeOr<OpenedFile> OpenForReading(const Request& request, NodePtr node, const Place& place);
  void HintAtVersion(const Place& made);
  void HintAtSeconds(const Place& asof_directory, std::string_view name);
  void HintAtLosses(const Place& past_table);
  Outcome CheckMayOpenFound(const Request& request, const ResolvedEntry& found,
                            const OpenMode& mode) const;
  OutcomeOr<CreatedFile> CreateOnce(const Request& request, Node& directory, const Place& place,
                                    mode_t mode, OpenMode open_mode, bool exclusive);
  // As it was when it was looked at.
  struct SeenFile {
    bool unlinked;
    uint64_t closings;  // ColumnTable::closings()
  };
  FileHandle* AddHandle(Node& node, const Place& place, const OpenedFile& opened,
                        const OpenMode& mode, const SeenFile& seen);
  std::shared_ptr<FileHandle> MakeReader(const Request& request, NodePtr node);
  OutcomeOr<SharedBytes> ReadUnopened(const Request& request, Node& node, uint64_t offset,
                                      size_t size);
  OutcomeOr<std::optional<QuotaUse>> QuotaOf(const Place& place);

  Parts parts_;
  StoreControls* const controls_;
  RestoringReaders restoring_readers_{*parts_.clock};
  KeptQueries queries_;

  std::mutex last_read_mutex_;
  const Node* last_read_node_ = nullptr;     // guarded by last_read_mutex_
  std::shared_ptr<FileHandle> last_reader_;  // guarded by last_read_mutex_

  RewrittenNodes rewritten_;  // last: its thread uses the rest
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_FILESYSTEM_H_
