// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "fs/kernel/fuse_callback.h"
#include "fs/kernel/fuse_requests.h"

namespace cellfs::fs {
namespace {

OpenDirectory& DirectoryOf(const fuse_file_info* info) {
  return *reinterpret_cast<OpenDirectory*>(info->fh);
}

void OpenListing(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
  Guarded(request, [&](FuseTarget& target) {
    auto opened = target.filesystem().OpenListing(target.RequestOf(request), target.NodeOf(id));
    if (!opened.ok()) return opened.error();
    OpenDirectory* const directory = opened->directory.get();
    info->fh = reinterpret_cast<uint64_t>(directory);
    info->cache_readdir = opened->cache_listing;
    info->keep_cache = 1;  // else the kernel drops the listing that others fill
    target.Keep(std::move(opened->directory));
    if (Send<fuse_reply_open>(request, info) != 0) target.Release(directory);
    return kReplied;
  });
}

void ReleaseListing(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  TargetOf(request).Release(&DirectoryOf(info));
  fuse_reply_err(request, 0);
}

// The entries of one reply, packed as the kernel wants them.
class Listing {
 public:
  Listing(fuse_req_t request, FuseTarget& target, size_t size)
      : request_(request), target_(target), size_(size) {
    if (buffer_.size() < size) buffer_.resize(size);
  }

  bool AddName(const DirectoryEntry& entry) {
    const struct stat shown = TypeAndNumberOf(entry);
    const size_t size = fuse_add_direntry(request_, end(), left(), entry.name.c_str(), &shown,
                                          static_cast<off_t>(entry.next_offset));
    return Took(size);
  }

  bool AddWithAttributes(const DirectoryEntry& entry) {
    const size_t needed =
        fuse_add_direntry_plus(request_, nullptr, 0, entry.name.c_str(), nullptr, 0);
    if (needed > left()) return false;
    fuse_entry_param parameters{};
    bool has_attributes = false;
    if (entry.name != "." && entry.name != "..") {
      auto counted = target_.filesystem().EntryOf(target_.RequestOf(request_), entry);
      if (!counted.ok() && counted.error() == ENOENT) return true;
      // The name is there all the same: who looks at it gets the error.
      has_attributes = counted.ok();
      if (has_attributes) {
        parameters = ParametersOf(target_, *counted);
        counted_.push_back(std::move(counted->node));
      }
    }
    // The name alone: the kernel does not count it, and asks for the attributes when it needs them.
    if (!has_attributes) parameters.attr = TypeAndNumberOf(entry);
    return Took(fuse_add_direntry_plus(request_, end(), left(), entry.name.c_str(), &parameters,
                                       static_cast<off_t>(entry.next_offset)));
  }

  int Reply(const OutcomeOr<CachedListing::End>& listed) {
    // A listing that is interrupted says so: what it has found is found again from its offset on.
    const bool interrupted = listed.error() == EINTR;
    if (interrupted) ForgetCounted();
    if (interrupted || (!listed.ok() && used_ == 0)) return listed.error();
    if (used_ == 0 && *listed == CachedListing::End::kLeavesIt) used_ = AddNothing();
    if (Send<fuse_reply_buf>(request_, buffer_.data(), used_) != 0) ForgetCounted();
    return kReplied;
  }

 private:
  struct stat TypeAndNumberOf(const DirectoryEntry& entry) const {
    struct stat shown {};
    shown.st_ino = target_.filesystem().InodeNumberOf(entry);
    shown.st_mode = TypeOf(entry.found->place);
    return shown;
  }

  void ForgetCounted() {
    for (const NodePtr& node : counted_) target_.filesystem().Forget(*node, 1);
  }
  char* end() { return buffer_.data() + used_; }
  size_t left() const { return size_ - used_; }
  // Less than an entry has: the kernel ends the stream, but does not complete its listing.
  size_t AddNothing() {
    constexpr size_t kSize = 8;
    std::fill_n(buffer_.data(), kSize, '\0');
    return kSize;
  }
  bool Took(size_t size) {
    if (size > left()) return false;
    used_ += size;
    return true;
  }

  fuse_req_t request_;
  FuseTarget& target_;
  const size_t size_;
  size_t used_ = 0;
  std::vector<NodePtr> counted_;
  // Kept by each thread: clearing as much as the kernel asks for would cost more than a short
  // listing.
  static thread_local std::vector<char> buffer_;
};

thread_local std::vector<char> Listing::buffer_;

void List(fuse_req_t request, size_t size, off_t offset, fuse_file_info* info, bool attributes) {
  Guarded(request, [&](FuseTarget& target) {
    Listing listing(request, target, size);
    const auto listed = target.filesystem().List(
        target.RequestOf(request), DirectoryOf(info), static_cast<uint64_t>(offset),
        [&](const DirectoryEntry& entry) {
          return attributes ? listing.AddWithAttributes(entry) : listing.AddName(entry);
        });
    return listing.Reply(listed);
  });
}

void ReadDirectory(fuse_req_t request, fuse_ino_t, size_t size, off_t offset,
                   fuse_file_info* info) {
  List(request, size, offset, info, false);
}
void ReadDirectoryPlus(fuse_req_t request, fuse_ino_t, size_t size, off_t offset,
                       fuse_file_info* info) {
  List(request, size, offset, info, true);
}

void SyncDirectory(fuse_req_t request, fuse_ino_t id, int, fuse_file_info*) {
  Guarded(request, [&](FuseTarget& target) {
    return target.filesystem().SyncDirectory(target.NodeOf(id)).error();
  });
}

}  // namespace

void AddDirectoryHandlers(fuse_lowlevel_ops& handlers) {
  handlers.opendir = OpenListing;
  handlers.releasedir = ReleaseListing;
  handlers.readdir = ReadDirectory;
  handlers.readdirplus = ReadDirectoryPlus;
  handlers.fsyncdir = SyncDirectory;
}

}  // namespace cellfs::fs
