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
// Clean replies. The kernel joins the replies to several streams to one listing, and takes it for
// as new as the stream that began last. Where the directory changed while streams were open, that
// listing may be older than a change it is taken to contain, and it may lack the name behind which
// a stream stands; if it also ends where a page ends, the kernel takes that stream to be at its end
// (fs/fuse/readdir.c, Linux 4.20 to 6.18). So while a stream is open that was opened before the
// latest change, every reply first drops what the kernel has cached.
#ifndef CELLFS_FS_CACHED_LISTING_H_
#define CELLFS_FS_CACHED_LISTING_H_

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
  static constexpr uint64_t kEndOfOffsets = uint64_t{1} << 30;

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

  // One open directory stream. `changes` is the directory's count of changes (Node::changes()).
  class Stream {
   public:
    Stream(std::shared_ptr<CachedListing> listing, uint64_t changes);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    CachedListing& listing() const { return *listing_; }
    // Before each reply: whether the kernel must drop its listing first. `names`: how many the
    // stream has listed since its beginning; `is_end`: there are no more.
    bool MustDrop(uint64_t changes, size_t names, bool is_end);

   private:
    friend class CachedListing;

    const std::shared_ptr<CachedListing> listing_;
    const uint64_t opened_;  // `changes` then
    uint64_t oldest_;        // the least opened_ of it and of those that were open then
  };

  // Nobody has replied from it yet: the kernel may still have an older one.
  bool is_fresh() const;
  // No stream is open and most of its names are gone: a new one, with offsets from `end` on, is
  // smaller.
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
  bool is_fresh_ = true;
  bool is_full_ = false;     // streams have offsets of their own: nothing may be cached
  bool is_unclean_ = false;  // the kernel may hold the beginning of a listing that is not clean
  size_t listed_ = 0;        // names of the latest whole listing
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CACHED_LISTING_H_
