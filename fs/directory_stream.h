// SPDX-License-Identifier: MIT
//
// DirectoryStream: one open directory, listed in constant memory however large it is. Entries come
// in byte order of their keys, in small batches read from the store as it is then, merged with what
// is not stored; an entry that does not change while the listing runs comes exactly once.
//
// The offset of an entry finds its key again, behind which the listing goes on, whether or not the
// entry is still there. Where the kernel caches the listing, all streams of the directory share
// their offsets (fs/cached_listing.h); else each has its own (fs/stream_offsets.h).
#ifndef CELLFS_FS_DIRECTORY_STREAM_H_
#define CELLFS_FS_DIRECTORY_STREAM_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fs/mount_context.h"
#include "fs/node.h"
#include "fs/resolver.h"
#include "fs/row_scan.h"
#include "fs/stream_offsets.h"

namespace cellfs::fs {

struct DirectoryEntry {
  std::string name;
  const Found* found = nullptr;  // good until the stream goes on; for "." and ".." only the place
  uint64_t next_offset = 0;
};

// Not thread-safe: the kernel lists one open directory from one request at a time, FileSystem sees
// to it.
class DirectoryStream {
 public:
  // `cached`: null where the kernel does not cache what is listed.
  DirectoryStream(MountContext& mount, NodePtr directory, std::shared_ptr<CachedListing> cached);

  // Shows the entries from the offset on until `take` returns false (that entry comes again next
  // time), there are no more, or, in a long directory, they are enough for one request.
  using Take = std::function<bool(const DirectoryEntry& entry)>;
  Outcome Read(const Caller& caller, uint64_t offset, const Take& take);
  // Before the reply to Read: how the kernel must take it, where it says that there are no more.
  CachedListing::End BeforeReply();

 private:
  // Where a listing stands: after so many fixed entries and, once all of them are given, this key.
  struct Position {
    size_t fixed = 0;
    std::optional<std::string> key;
  };
  struct Child {
    explicit Child(const Place& place) : found{place} {}

    std::string key;  // orders the children
    Found found;
  };
  using Children = std::vector<Child>;

  void Rewind();
  Outcome Seek(const Caller& caller, uint64_t offset);
  // The entry after position_, which is entry_; null at the end.
  OutcomeOr<const DirectoryEntry*> Next(const Caller& caller);
  void Advance();
  uint64_t OffsetOf(const Child& child);

  // Reads the next batch.
  Outcome Fill(const Caller& caller);
  // Children after position_.key: all of them, in order (then `is_all`), or the first of them.
  OutcomeOr<Children> StoredChildren(const Caller& caller, bool& is_all);
  // The same of what is not stored; `end` is the last key of a part.
  Children UnstoredChildren(std::optional<std::string>& end);
  Outcome AddHiddenColumns(const Caller& caller, Children& children,
                           std::optional<std::string>& end);
  static Children Merge(Children stored, Children others);
  OutcomeOr<Children> Rows(const Caller& caller, bool& is_all);
  Outcome OpenRowScanner(const Caller& caller);
  OutcomeOr<Children> Columns(const Caller& caller, bool& is_all);
  OutcomeOr<Children> Deleted(const Caller& caller, bool& is_all);
  // The short listings, whole.
  OutcomeOr<Children> Names();
  OutcomeOr<Children> Families(const Caller& caller);
  OutcomeOr<Children> ScannedCells(const Caller& caller);
  OutcomeOr<Children> Versions(const Caller& caller);
  // ".", ".." and what stands before all children; nullopt: not there now.
  OutcomeOr<std::vector<std::optional<Found>>> FixedEntries(const Caller& caller);
  // The child of a directory of children like `like` that a cell shows.
  Child& Append(Children& children, const Place& like, const Cell& cell);
  const FamilySchema* FamilyOf(const Cell& cell);

  MountContext& mount_;
  Resolver resolver_;
  const NodePtr directory_;
  const std::shared_ptr<const Place> place_;
  std::optional<CachedListing::Stream> cached_;
  StreamOffsets own_offsets_;
  bool uses_own_offsets_;
  std::shared_ptr<const Moment> moment_;       // keeps what an .asof reads while this is open
  std::shared_ptr<const TableSchema> schema_;  // for the expiry of the batch
  const FamilySchema* family_ = nullptr;       // of schema_, that was asked for last

  std::vector<std::optional<Found>> fixed_;
  Position position_;
  uint64_t offset_ = 0;   // of the entry there
  DirectoryEntry entry_;  // the one behind it
  size_t names_ = 0;      // listed since the beginning
  bool is_at_end_ = false;

  Children batch_;
  size_t batch_next_ = 0;
  bool batch_is_last_ = false;
  bool filled_ = false;
  std::unique_ptr<RowScan> scanner_;  // of rows, standing after scanner_key_
  std::optional<std::string> scanner_key_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_DIRECTORY_STREAM_H_
