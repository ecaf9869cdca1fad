// SPDX-License-Identifier: MIT
//
// DirectoryStream: one open directory, listed in constant memory however large it is. Entries come
// in byte order of their keys, in small batches merged from the directory's sources
// (fs/listing/entry_sources.h) as they are then; one that does not change while the listing runs
// comes exactly once.
//
// The offset of an entry finds its key again, behind which the listing goes on, whether or not the
// entry is still there. Where the kernel caches the listing, all streams of the directory share
// their offsets (fs/nodes/cached_listing.h); else each has its own (fs/listing/stream_offsets.h).
#ifndef CELLFS_FS_LISTING_DIRECTORY_STREAM_H_
#define CELLFS_FS_LISTING_DIRECTORY_STREAM_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fs/listing/entry_sources.h"
#include "fs/listing/fixed_entries.h"
#include "fs/listing/listed_directory.h"
#include "fs/listing/stream_offsets.h"
#include "fs/nodes/node.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/reading/reading.h"
#include "fs/resolve/resolver.h"
#include "fs/tree/file_names.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

struct DirectoryEntry {
  std::string name;
  const ResolvedEntry* found =
      nullptr;  // good until the stream goes on; for "." and ".." only the place
  uint64_t next_offset = 0;
};

// What all listings work with; it outlives them.
struct Listing {
  const Reading& reading;
  const UnstoredEntries& unstored;
  const Resolver& resolver;
  const FileNames& names;
  const MountOptions& options;
};

// Not thread-safe: the kernel lists one open directory from one request at a time, FileSystem sees
// to it.
class DirectoryStream {
 public:
  // `cached`: null where the kernel does not cache what is listed.
  DirectoryStream(const Listing& with, NodePtr directory, std::shared_ptr<CachedListing> cached);

  // Shows the entries from the offset on until `take` returns false (that entry comes again next
  // time), there are no more, or, in a long directory, they are enough for one request.
  using Take = std::function<bool(const DirectoryEntry& entry)>;
  Outcome Read(const Caller& caller, uint64_t offset, const Take& take);
  // Before the reply to Read: how the kernel must take it, where it says that there are no more.
  CachedListing::End BeforeReply();

  // About how much memory it takes between two requests.
  size_t held_bytes() const { return own_offsets_.held_bytes() + batch_bytes_; }
  // What was read ahead of the names that were listed is read again when it is asked for.
  void LetGo();

 private:
  // Where a listing stands: after so many fixed entries and, once all of them are given, this key.
  struct Position {
    size_t fixed = 0;
    std::optional<std::string> key;
  };

  void Rewind();
  Outcome Seek(const Caller& caller, uint64_t offset);
  // The entry after position_, which is entry_; null at the end.
  OutcomeOr<const DirectoryEntry*> Next(const Caller& caller);
  void Advance();
  uint64_t OffsetOf(const SourceEntry& entry);

  // Reads the next batch.
  Outcome Fill(const Caller& caller);
  OutcomeOr<EntryBatch> ReadSources(const Caller& caller);
  Outcome ReadSource(const Caller& caller, EntrySource* source, EntryBatch& batch);
  Outcome ReadStored(const Caller& caller, const EntryBatch& unstored, EntryBatch& batch);
  bool HasNoStoredIn(const EntryBatch& unstored) const;

  const Listing& with_;
  const NodePtr node_;
  ListedDirectory directory_;
  std::optional<CachedListing::Stream> cached_;
  StreamOffsets own_offsets_;
  bool uses_own_offsets_;

  FixedEntries fixed_;
  Position position_;
  uint64_t offset_ = 0;   // of the entry there
  DirectoryEntry entry_;  // the one behind it
  size_t names_ = 0;      // listed since the beginning
  bool is_at_end_ = false;

  // Between these keys nothing was stored when that was looked at: what is deleted there need not be
  // gone through again for each batch of what is not stored.
  struct Gap {
    std::optional<std::string> after;  // nullopt: from the beginning
    std::optional<std::string> until;  // nullopt: to the end
    uint64_t handed_over = 0;          // UnstoredEntries::handed_over() from before
  };

  std::optional<EntrySources> sources_;  // none before the first batch
  std::optional<Gap> gap_;
  SourceEntries batch_;
  size_t batch_bytes_ = 0;
  size_t batch_next_ = 0;
  bool batch_is_last_ = false;
  bool filled_ = false;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_LISTING_DIRECTORY_STREAM_H_
