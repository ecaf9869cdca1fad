// SPDX-License-Identifier: MIT
//
// UnstoredEntries: what is in the tree by being made there and not by a cell in the store: rows and
// families made by mkdir or emptied by unlink, files between CREATE and their first put, files held
// in memory. Gone after unmount. All of them are bounded: files that are open and those in memory
// elsewhere, directories here.
#ifndef CELLFS_FS_NODES_UNSTORED_ENTRIES_H_
#define CELLFS_FS_NODES_UNSTORED_ENTRIES_H_

#include <sys/types.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fs/base/outcome.h"
#include "fs/base/shared_limit.h"
#include "fs/files/memory_files.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

enum class UnstoredReason {
  kMade,     // mkdir
  kEmptied,  // its last visible cell was unlinked
  kClaimed,  // a file from CREATE to its first put
  kMemory,   // a file or directory held in memory
};

// One of the directories that mkdir made and that nothing is in, among all of them.
class MadeDirectory {
 public:
  MadeDirectory(std::shared_ptr<SharedLimit> limit, uid_t maker)
      : limit_(std::move(limit)), share_(*limit_, maker) {}
  // False: its maker has too many.
  [[nodiscard]] bool Count() { return share_.Resize(1); }

 private:
  const std::shared_ptr<SharedLimit> limit_;  // outlives the share
  SharedLimit::Share share_;
};

struct UnstoredEntry {
  Place place;
  UnstoredReason reason = UnstoredReason::kMade;
  timespec made{};
  std::shared_ptr<MemoryFile> file;  // kMemory
  pid_t maker = 0;                   // of a kMade row: the process that made it
  std::shared_ptr<MadeDirectory> counted;  // kMade: as long as it is here
  uid_t user = 0;                          // kEmptied: who did that
};
using UnstoredPtr = std::shared_ptr<const UnstoredEntry>;  // shared, as it has a place's strings

// What orders a place among the entries of its directory: the row, family, qualifier (with
// "@<timestamp>" for a version) or name.
std::string OrderKey(const Place& place);

// Thread-safe. Entries are kept by their directory, Place::Parent().
class UnstoredEntries {
 public:
  // How many there may be, for each is memory. rsync makes all rows of a table before it writes the
  // first file.
  struct Limits {
    uint64_t made = uint64_t{1} << 20;  // shared by their makers (fs/base/shared_limit.h)
    size_t emptied = size_t{1} << 16;
  };
  UnstoredEntries() : UnstoredEntries(Limits()) {}
  explicit UnstoredEntries(const Limits& limits)
      : made_(std::make_shared<SharedLimit>(limits.made)), most_emptied_(limits.emptied) {}

  // For a directory that mkdir is about to make. ENOSPC: the maker has too many.
  OutcomeOr<std::shared_ptr<MadeDirectory>> CountMade(uid_t maker) const;

  // False, and nothing changed, where the place is already here (an emptied directory that is made
  // stays one).
  bool Add(UnstoredPtr entry);
  // The same of a directory whose last visible cell went, by the request of this thread. Of too
  // many of these the oldest goes of the user who has most, as all would on HBase: it is returned,
  // for the kernel knows its name. One with entries stays.
  std::optional<Place> AddEmptied(const Place& directory, timespec now);
  // Whether it was here. Allocates nothing: what is made is taken away also where memory has run
  // out.
  bool Remove(const Place& place) noexcept;
  // Null: it is not here.
  UnstoredPtr Find(const Place& place) const;
  bool IsEmpty() const {
    const std::lock_guard lock(mutex_);
    return entries_.empty() && emptying_.empty();
  }
  // A row or family that mkdir made has a cell now. It stays here for a while, so that a copy may
  // go on making the row's families, and then goes; but not if it was emptied, or made anew,
  // meanwhile.
  enum class Filled { kIsNotHere, kBefore, kNow };
  Filled Fill(const Place& row_or_family);
  // Whether Fill, or AddEmptied, was ever called for the directory since it is here.
  bool HasHeldCells(const Place& row_or_family) const;
  // Whether there is one that Fill would be the first for: mostly there is not.
  bool HasUnfilled() const { return unfilled_.load(std::memory_order_acquire) != 0; }
  // A memory file under another name or in another directory; what was there goes.
  void Move(const Place& from, const Place& to);
  // The table has another name: all that is below it goes along.
  void MoveTable(const TableName& from, const TableName& to);
  bool HasChildren(const Place& directory) const;
  // Removes everything below a directory (a row with its families), itself not.
  void RemoveBelow(const Place& directory);
  // A family was dropped: removes it from every row, with what is below it.
  void RemoveFamily(const TableName& table, const std::string& family);
  // Whether another row has the family, or something in it.
  bool HasFamilyBeside(const Place& family) const;
  // In the order of OrderKey, those above `after` (nullopt: from the first), at most `limit`.
  std::vector<UnstoredPtr> ChildrenAfter(const Place& directory,
                                         const std::optional<std::string>& after,
                                         size_t limit) const;

  // While it lives the row and the family of the column are here, as emptied ones at least: its
  // last cell may be about to go. Made before that is seen, so that no look misses them: who looks
  // at the store after the unstored entries asks emptied() before and after.
  class Emptying {
   public:
    // The column outlives it.
    Emptying(UnstoredEntries& entries, const Place& column, timespec now);
    ~Emptying();
    Emptying(const Emptying&) = delete;
    Emptying& operator=(const Emptying&) = delete;

   private:
    friend class UnstoredEntries;
    UnstoredPtr At(PlaceKind kind) const;

    UnstoredEntries& entries_;
    const Place& column_;
    const timespec now_;
  };
  // Counts them.
  uint64_t emptied() const { return emptied_.load(); }
  // Counts what has left because its cells show it. As long as it is the same, whatever was here
  // and is there still is here.
  uint64_t handed_over() const { return handed_over_.load(); }
  // Whether one is under way in the row or family.
  bool IsEmptying(const Place& row_or_family) const;

  // A table made by mkdir, and what had its .toml removed, shows it once that is written or
  // something is made in it; a namespace made by mkdir at once. For an hour, until it is written, it
  // can be made with O_EXCL though it shows: a copy makes all that is in a directory of its own.
  void HideToml(const Place& table_or_namespace);
  void ShowToml(const Place& table_or_namespace);  // it is written, or the directory is another
  void ShowTomlUnwritten(const Place& name_space);  // mkdir made that
  void SomethingIsMadeIn(const Place& table_or_namespace);
  bool IsTomlHidden(const Place& table_or_namespace) const;
  bool MayMakeToml(const Place& table_or_namespace) const;  // with O_EXCL, though it shows

 private:
  using Children = std::map<std::string, UnstoredPtr, std::less<>>;
  using ByAge = std::list<UnstoredPtr>;
  struct Directory {
    Place place;
    Children children;
  };
  // By PlaceHash, which is reckoned once for each.
  using Directories = std::unordered_multimap<uint64_t, Directory>;
  struct Known {
    UnstoredPtr entry;
    Directories::pointer directory;  // stays where it is until it is erased
    Children::iterator child;
    mutable bool is_filled = false;  // and in filled_; guarded as all is
    mutable bool has_held_cells = false;
    std::optional<ByAge::iterator> aging;  // kEmptied: among its user's in by_age_
  };
  using Entries = std::unordered_multimap<uint64_t, Known>;
  struct UnwrittenToml {
    bool is_hidden = true;
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  };

  // Without the lock: whether the place can be here. Mostly no file is between CREATE and its first
  // put, and each request about a file asks.
  bool MayHave(const Place& place) const {
    return place.IsDirectory() || files_.load(std::memory_order_acquire) != 0;
  }
  Entries::const_iterator FindLocked(const Place& place) const;
  Entries::const_iterator FindLocked(const Place& place, uint64_t hash) const;
  Directories::iterator FindDirectoryLocked(const Place& place, uint64_t hash);
  Directories::const_iterator FindDirectoryLocked(const Place& place) const;
  Directories::pointer DirectoryLocked(Place&& place);  // made where there is none
  void EraseIfEmptyLocked(Directories::pointer directory);
  bool AddLocked(UnstoredPtr entry, bool has_held_cells);
  void SetFilledLocked(const Known& known, bool is_filled);
  void EraseLocked(Entries::const_iterator entry);
  void RemoveLocked(Entries::const_iterator entry);
  std::optional<Place> ForgetOldestLocked();
  const Emptying* EmptyingLocked(const Place& row_or_family) const;
  void AddEmptyingLocked(const Place& directory, const std::optional<std::string>& after,
                         size_t limit, std::vector<UnstoredPtr>& children) const;

  mutable std::mutex mutex_;
  Directories directories_;
  // Of all entries, by PlaceHash: most questions are about places that are not here.
  Entries entries_;
  // Rows and families of these, by Known::is_filled; changed under the mutex.
  std::atomic<size_t> unfilled_ = 0;
  std::atomic<size_t> files_ = 0;  // entries that are no directories; likewise
  const std::shared_ptr<SharedLimit> made_;
  const size_t most_emptied_;
  std::map<uid_t, ByAge> by_age_;  // those that were emptied, by user, the oldest first
  size_t aging_ = 0;               // all of them
  std::deque<Place> filled_;  // the oldest first; some have gone, or are filled no more
  std::unordered_map<Place, UnwrittenToml, PlaceHash> unwritten_tomls_;
  std::vector<const Emptying*> emptying_;
  std::atomic<uint64_t> emptied_{0};
  std::atomic<uint64_t> handed_over_{0};
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_UNSTORED_ENTRIES_H_
