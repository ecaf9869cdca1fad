// SPDX-License-Identifier: MIT
//
// CachedListing: what the daemon knows of the listing that the kernel caches of one directory.
//
// Offsets. The kernel caches names with their offsets, serves every stream from them, and when it
// has dropped its cache it asks the daemon to go on behind an offset, whichever stream that came
// from. So an offset means one name in all streams: a name gets it when it is listed first, and
// keeps it when it is removed and made again. Names are bounded in bytes; a directory that needs
// more is cached no longer.
//
// Clean listings. The kernel appends each reply to its one listing if the stream that got it stands
// where that ends, and completes it when such a stream is told that it is at its end. A listing
// that was begun before a change may then lack the name at which another stream stands. If it also
// fills its last page exactly, the kernel takes that stream to be at its end and its other names
// are lost (fs/fuse/readdir.c, Linux 4.20 to 7.3). So a listing is completed only if no stream is
// open that was opened before the latest change; other streams end without completing it. So that a
// stream can always complete what others left, every listing ends at one offset, kEnd.
#ifndef CELLFS_FS_NODES_CACHED_LISTING_H_
#define CELLFS_FS_NODES_CACHED_LISTING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf.
class CachedListing {
 public:
  // What stands before the names (".", "..", files that are always there) has smaller offsets,
  // StreamOffsets larger ones. All of them fit a signed number of 32 bits.
  static constexpr uint64_t kFirstOffset = 256;
  // Of the last entry of a listing: there is nothing behind it.
  static constexpr uint64_t kEnd = uint64_t{1} << 30;

  // All listings together take at most what `bytes_left` was at first. The first name gets the
  // offset `first`.
  CachedListing(std::atomic<int64_t>& bytes_left, uint64_t first)
      : bytes_left_(bytes_left), first_(first) {}
  ~CachedListing();
  CachedListing(const CachedListing&) = delete;
  CachedListing& operator=(const CachedListing&) = delete;

  // The offset of a name's key. `expected` is where it probably is: behind the name listed before.
  // nullopt: no memory is left, and the kernel must not cache this directory any more.
  std::optional<uint64_t> OffsetOf(std::string_view key, uint64_t expected);
  // nullopt: no name ever had this offset.
  std::optional<std::string> KeyAt(uint64_t offset) const;

  // How a stream ends, in the kernel.
  enum class End {
    kCompletes,     // the listing is complete, and may be served to others
    kDropsListing,  // the same, after the kernel has dropped it: the next stream begins a new one
    kLeavesIt,      // the listing is not completed
  };

  // One open directory stream. `changes` is the directory's count of changes (Node::changes()).
  class Stream {
   public:
    Stream(std::shared_ptr<CachedListing> listing, uint64_t changes);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    CachedListing& listing() const { return *listing_; }
    // Before a reply with entries.
    void BeforeEntries(uint64_t changes);
    // Before the reply that says there are no more: how the stream must end. `names`: how many it
    // has listed since its beginning.
    End BeforeEnd(uint64_t changes, size_t names);

   private:
    friend class CachedListing;

    const std::shared_ptr<CachedListing> listing_;
    bool IsCleanLocked(uint64_t changes) const;

    const uint64_t opened_;  // `changes` then
    uint64_t oldest_;        // the least opened_ of it and of those that were open then
  };

  // No stream is open and most of its names are gone: a new one, with offsets from `end` on, is
  // smaller. The kernel must drop its listing first.
  bool IsOutgrown() const;
  uint64_t end() const;

 private:
  std::string_view NameLocked(size_t index) const;
  std::optional<size_t> FindLocked(std::string_view key) const;
  bool AddLocked(std::string_view key);
  void IndexLocked(size_t index);

  std::atomic<int64_t>& bytes_left_;
  const uint64_t first_;
  mutable std::mutex mutex_;    // guards the rest
  std::string names_;           // one after the other
  std::vector<uint32_t> ends_;  // where in names_ each ends
  bool is_sorted_ = true;       // the names, in order of their offsets
  // Where they are not sorted: an open hash table of index + 1, a power of two long.
  std::vector<uint32_t> index_;
  std::unordered_set<const Stream*> streams_;
  bool is_full_ = false;     // streams have offsets of their own: nothing may be cached
  bool is_unclean_ = false;  // the kernel may hold a listing, not complete, that is not clean
  size_t listed_ = 0;        // names of the latest whole listing
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_CACHED_LISTING_H_
