// SPDX-License-Identifier: MIT
//
// DirectoryStream: one open directory, listed in constant memory however large it is. Entries come in
// byte order of their keys, in small batches read from the store as it is then, merged with what is
// not stored; an entry that does not change while the listing runs comes exactly once.
//
// An offset is the number of entries before it. A stream remembers which key stood at the offsets it
// gave out lately, exactly, and at some of the older ones, so that going on, rewinddir and seekdir find
// their place although entries before it have come or gone. An offset it does not know (of another
// stream, out of the kernel's cache) is reached by counting; directories large enough for that to
// matter are not cached by the kernel (Node::large_directory).
#ifndef CELLFS_FS_DIRECTORY_STREAM_H_
#define CELLFS_FS_DIRECTORY_STREAM_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fs/mount_context.h"
#include "fs/node.h"
#include "fs/resolver.h"

namespace cellfs::fs {

struct DirectoryEntry {
  std::string name;
  Found found;  // for "." and ".." only the place
  uint64_t next_offset = 0;
};

// Not thread-safe: the kernel lists one open directory from one request at a time, FileSystem sees to it.
class DirectoryStream {
 public:
  DirectoryStream(MountContext& mount, NodePtr directory);

  // Shows the entries from the offset on until `take` returns false (that entry comes again next time)
  // or there are no more.
  using Take = std::function<bool(const DirectoryEntry& entry)>;
  Outcome Read(const Caller& caller, uint64_t offset, const Take& take);

 private:
  // Where a listing stands: after this key of this part of the directory.
  struct Position {
    size_t fixed = 0;                // entries of fixed_ already given
    std::optional<std::string> key;  // the last key given after them
  };
  struct Child {
    std::string key;
    Found found;
  };

  Outcome Seek(const Caller& caller, uint64_t offset);
  Outcome Fill(const Caller& caller);
  Outcome FillStored(const Caller& caller);
  void Remember(uint64_t offset, const Position& position);
  std::optional<DirectoryEntry> Peek();
  void Advance();
  OutcomeOr<std::vector<Child>> StoredChildren(const Caller& caller);
  OutcomeOr<std::vector<Child>> Rows(const Caller& caller);
  OutcomeOr<std::vector<Child>> Families(const Caller& caller);
  OutcomeOr<std::vector<Child>> Qualifiers(const Caller& caller, PlaceKind kind);
  OutcomeOr<std::vector<Child>> Names(const Caller& caller);
  std::vector<DirectoryEntry> FixedEntries();

  MountContext& mount_;
  Resolver resolver_;
  const NodePtr directory_;
  const std::shared_ptr<const Place> place_;
  std::shared_ptr<const Moment> moment_;  // keeps what an .asof reads while this is open

  std::vector<DirectoryEntry> fixed_;
  Position position_;
  uint64_t offset_ = 0;
  bool started_ = false;

  std::vector<Child> batch_;  // stored and unstored, merged
  size_t batch_next_ = 0;
  bool batch_is_last_ = false;
  std::unique_ptr<Scanner> scanner_;  // of rows, standing after scanner_key_
  std::optional<std::string> scanner_key_;

  std::map<uint64_t, Position> remembered_;
  uint64_t remember_every_ = 1;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_DIRECTORY_STREAM_H_
