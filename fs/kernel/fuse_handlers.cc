// SPDX-License-Identifier: MIT
//
// Each callback runs inside Guarded, which turns what the operation returns, or throws, into the
// one reply that the kernel gets. Replies are sent with no lock held: they may end the life of a
// node.
#include "fs/kernel/fuse_handlers.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "fs/requests/running_request.h"

namespace cellfs::fs {
namespace {

constexpr int kReplied = -1;

FuseTarget& TargetOf(fuse_req_t request) {
  return *static_cast<FuseTarget*>(fuse_req_userdata(request));
}

// libfuse calls back with a lock of the request held, which fuse_req_interrupt_func takes: so it
// waits for a call that is under way.
class FuseInterruption final : public Interruption {
 public:
  explicit FuseInterruption(fuse_req_t request) : request_(request) {}

  void Hear(const std::function<void()>* heard) override {
    heard_ = heard;
    fuse_req_interrupt_func(
        request_, [](fuse_req_t, void* data) { (*static_cast<FuseInterruption*>(data)->heard_)(); },
        this);
  }
  void StopHearing() override { fuse_req_interrupt_func(request_, nullptr, nullptr); }
  bool HasHappened() const noexcept override { return fuse_req_interrupted(request_) != 0; }

 private:
  const fuse_req_t request_;
  const std::function<void()>* heard_ = nullptr;
};

class FuseGroups : public GroupsOfAsker {
 public:
  explicit FuseGroups(fuse_req_t request) : request_(request) {}

  // Where the others cannot be found the effective group alone counts: that is less than is
  // allowed, never more.
  std::vector<gid_t> All() const override {
    std::vector<gid_t> groups(kFewGroups + 1);
    groups[0] = fuse_req_ctx(request_)->gid;
    int found = Read(groups);
    if (found > kFewGroups) {
      groups.resize(static_cast<size_t>(found) + 1);
      found = std::min(found, Read(groups));
    }
    groups.resize(static_cast<size_t>(std::max(found, 0)) + 1);
    return groups;
  }

 private:
  static constexpr int kFewGroups = 32;

  int Read(std::vector<gid_t>& groups) const {
    return fuse_req_getgroups(request_, static_cast<int>(groups.size()) - 1, groups.data() + 1);
  }

  const fuse_req_t request_;
};

// The reply of a running request, by libfuse's function for it: the request is gone then.
template <auto function, typename... Values>
int Send(fuse_req_t request, Values... values) {
  RunningRequest::OfThisThread()->WillReply();
  return function(request, values...);
}

// `operation` returns an errno to reply, 0 included, or kReplied.
template <typename Operation>
void Guarded(fuse_req_t request, Operation&& operation) noexcept {
  FuseInterruption interruption(request);
  const FuseGroups groups(request);
  const fuse_ctx* const asker = fuse_req_ctx(request);
  RunningRequest running(asker->uid, &interruption, &groups, asker->pid);
  int error = EIO;
  try {
    error = operation(TargetOf(request));
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
  } catch (...) {
    error = EIO;
  }
  if (error != kReplied) Send<fuse_reply_err>(request, error);
}

// Where nothing can be written and everybody may read what the modes allow, the kernel opens by
// itself, reads without a handle and keeps pages for ever.
bool KernelOpens(FuseTarget& target) {
  const MountOptions& options = target.options();
  return options.read_only && !options.authorization && target.filesystem().freshness().is_exact();
}

FileHandle* HandleOf(const fuse_file_info* info) {
  return info == nullptr ? nullptr : reinterpret_cast<FileHandle*>(info->fh);
}
OpenDirectory& DirectoryOf(const fuse_file_info* info) {
  return *reinterpret_cast<OpenDirectory*>(info->fh);
}

OpenMode ModeOf(int flags) {
  OpenMode mode;
  mode.truncate = (flags & O_TRUNC) != 0;
  mode.append = (flags & O_APPEND) != 0;
  mode.read = (flags & O_ACCMODE) != O_WRONLY;
  mode.write = (flags & O_ACCMODE) != O_RDONLY || mode.truncate;
  return mode;
}

fuse_entry_param ParametersOf(FuseTarget& target, const Entry& entry) {
  fuse_entry_param parameters{};
  parameters.ino = target.IdOf(*entry.node);
  parameters.attr = entry.attributes;
  parameters.entry_timeout = entry.name_valid_seconds;
  parameters.attr_timeout = entry.attributes_valid_seconds;
  return parameters;
}

// A reply that does not arrive (an interrupted request) was not counted by the kernel either.
int ReplyEntry(fuse_req_t request, FuseTarget& target, const OutcomeOr<Entry>& entry) {
  if (!entry.ok()) return entry.error();
  const fuse_entry_param parameters = ParametersOf(target, *entry);
  const bool arrived = Send<fuse_reply_entry>(request, &parameters) == 0;
  if (!arrived) target.filesystem().Forget(*entry->node, 1);
  return kReplied;
}

int ReplyAttributes(fuse_req_t request, const OutcomeOr<AttributesReply>& reply) {
  if (!reply.ok()) return reply.error();
  Send<fuse_reply_attr>(request, &reply->attributes, reply->valid_seconds);
  return kReplied;
}

AttributeChange ChangeOf(const struct stat& wanted, int which) {
  AttributeChange change;
  if (which & FUSE_SET_ATTR_MODE) change.mode = wanted.st_mode & 07777;
  if (which & FUSE_SET_ATTR_UID) change.uid = wanted.st_uid;
  if (which & FUSE_SET_ATTR_GID) change.gid = wanted.st_gid;
  if (which & FUSE_SET_ATTR_SIZE) change.size = static_cast<uint64_t>(wanted.st_size);
  if (which & FUSE_SET_ATTR_MTIME) change.mtime = wanted.st_mtim;
  if (which & FUSE_SET_ATTR_MTIME_NOW) {
    change.mtime.emplace();
    clock_gettime(CLOCK_REALTIME, &*change.mtime);
  }
  return change;
}

// ---- Session ------------------------------------------------------------------------------------

// Beyond that many RELEASEs and reads ahead the kernel keeps them back, and sends an OPEN before a
// RELEASE that came earlier (docs/kernel.md): as many as it knows.
constexpr unsigned kMostInBackground = 65535;
// With that many it reads less ahead: the kernel's own figure.
constexpr unsigned kFewInBackground = 9;

void Init(void* user_data, fuse_conn_info* connection) {
  FuseTarget& target = *static_cast<FuseTarget*>(user_data);
  // No writeback cache: the daemon knows at each moment how long a file being written is.
  // The kernel clears set-user-id bits: FUSE_CAP_HANDLE_KILLPRIV would say that the daemon does.
  uint64_t wanted = FUSE_CAP_ASYNC_READ | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_PARALLEL_DIROPS |
                    FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO;
  // Pages that an appended byte's new time would make the kernel drop are being filled by the next
  // one (docs/kernel.md). Where the daemon sees no open, it cannot say which pages are stale.
  wanted |= KernelOpens(target)
                ? FUSE_CAP_NO_OPEN_SUPPORT | FUSE_CAP_AUTO_INVAL_DATA
                : FUSE_CAP_EXPLICIT_INVAL_DATA;
  connection->want = static_cast<uint32_t>(connection->capable & wanted);
  const bool in_parallel = (connection->capable & FUSE_CAP_PARALLEL_DIROPS) != 0;
  if (in_parallel) target.init_reply().Ask(FUSE_PARALLEL_DIROPS);
  connection->max_background = kMostInBackground;
  connection->congestion_threshold = kFewInBackground;
}

// ---- Names --------------------------------------------------------------------------------------

void LookUp(fuse_req_t request, fuse_ino_t parent, const char* name) {
  Guarded(request, [&](FuseTarget& target) {
    return ReplyEntry(
        request, target,
        target.filesystem().LookUp(target.RequestOf(request), target.NodeOf(parent), name));
  });
}

void Forget(fuse_req_t request, fuse_ino_t id, uint64_t count) {
  FuseTarget& target = TargetOf(request);
  target.filesystem().Forget(target.NodeOf(id), count);
  fuse_reply_none(request);
}

void ForgetMulti(fuse_req_t request, size_t count, fuse_forget_data* forgets) {
  FuseTarget& target = TargetOf(request);
  for (size_t i = 0; i < count; ++i) {
    target.filesystem().Forget(target.NodeOf(forgets[i].ino), forgets[i].nlookup);
  }
  fuse_reply_none(request);
}

void ReadLink(fuse_req_t request, fuse_ino_t id) {
  Guarded(request, [&](FuseTarget& target) {
    const auto link = target.filesystem().ReadLink(target.RequestOf(request), target.NodeOf(id));
    if (!link.ok()) return link.error();
    Send<fuse_reply_readlink>(request, link->c_str());
    return kReplied;
  });
}

void MakeDirectory(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  Guarded(request, [&](FuseTarget& target) {
    return ReplyEntry(request, target,
                      target.filesystem().MakeDirectory(target.RequestOf(request),
                                                        target.NodeOf(parent), name, mode));
  });
}

void MakeNode(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, dev_t) {
  Guarded(request, [&](FuseTarget& target) -> int {
    if (!S_ISREG(mode)) return EPERM;
    return ReplyEntry(
        request, target,
        target.filesystem().MakeFile(target.RequestOf(request), target.NodeOf(parent), name, mode));
  });
}

void RefuseSymbolicLink(fuse_req_t request, const char*, fuse_ino_t, const char*) {
  fuse_reply_err(request, EPERM);
}
void RefuseLink(fuse_req_t request, fuse_ino_t, fuse_ino_t, const char*) {
  fuse_reply_err(request, EPERM);
}

void Unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
  Guarded(request, [&](FuseTarget& target) {
    return target.filesystem()
        .Unlink(target.RequestOf(request), target.NodeOf(parent), name)
        .error();
  });
}

void RemoveDirectory(fuse_req_t request, fuse_ino_t parent, const char* name) {
  Guarded(request, [&](FuseTarget& target) {
    return target.filesystem()
        .RemoveDirectory(target.RequestOf(request), target.NodeOf(parent), name)
        .error();
  });
}

void Rename(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t new_parent,
            const char* new_name, unsigned flags) {
  Guarded(request, [&](FuseTarget& target) {
    return target.filesystem()
        .Rename(target.RequestOf(request), target.NodeOf(parent), name, target.NodeOf(new_parent),
                new_name, flags)
        .error();
  });
}

// ---- Attributes ---------------------------------------------------------------------------------

void GetAttributes(fuse_req_t request, fuse_ino_t id, fuse_file_info*) {
  Guarded(request, [&](FuseTarget& target) {
    return ReplyAttributes(
        request, target.filesystem().GetAttributes(target.RequestOf(request), target.NodeOf(id)));
  });
}

void SetAttributes(fuse_req_t request, fuse_ino_t id, struct stat* wanted, int which,
                   fuse_file_info* info) {
  Guarded(request, [&](FuseTarget& target) {
    return ReplyAttributes(
        request, target.filesystem().SetAttributes(target.RequestOf(request), target.NodeOf(id),
                                                   ChangeOf(*wanted, which), HandleOf(info)));
  });
}

void GetXattr(fuse_req_t request, fuse_ino_t id, const char* name, size_t size) {
  Guarded(request, [&](FuseTarget& target) -> int {
    const auto value =
        target.filesystem().GetXattr(target.RequestOf(request), target.NodeOf(id), name);
    if (!value.ok()) return value.error();
    if (size == 0) {
      Send<fuse_reply_xattr>(request, value->size());
      return kReplied;
    }
    if (value->size() > size) return ERANGE;
    Send<fuse_reply_buf>(request, value->data(), value->size());
    return kReplied;
  });
}

void SetXattr(fuse_req_t request, fuse_ino_t id, const char* name, const char* value, size_t size,
              int flags) {
  Guarded(request, [&](FuseTarget& target) {
    return target.filesystem()
        .SetXattr(target.RequestOf(request), target.NodeOf(id), name, {value, size}, flags)
        .error();
  });
}

// The attributes are virtual: there to ask for, not to copy.
void ListXattr(fuse_req_t request, fuse_ino_t, size_t size) {
  Guarded(request, [&](FuseTarget&) {
    if (size == 0) {
      Send<fuse_reply_xattr>(request, 0);
    } else {
      Send<fuse_reply_buf>(request, nullptr, 0);
    }
    return kReplied;
  });
}

void StatFs(fuse_req_t request, fuse_ino_t id) {
  Guarded(request, [&](FuseTarget& target) {
    const auto shown = target.filesystem().StatFs(target.RequestOf(request), target.NodeOf(id));
    if (!shown.ok()) return shown.error();
    Send<fuse_reply_statfs>(request, &*shown);
    return kReplied;
  });
}

// ---- Files --------------------------------------------------------------------------------------

void Create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode,
            fuse_file_info* info) {
  Guarded(request, [&](FuseTarget& target) {
    FileSystem& filesystem = target.filesystem();
    auto created = filesystem.Create(target.RequestOf(request), target.NodeOf(parent), name, mode,
                                     ModeOf(info->flags), (info->flags & O_EXCL) != 0);
    if (!created.ok()) return created.error();
    info->fh = reinterpret_cast<uint64_t>(created->handle);
    info->keep_cache = created->keep_cache;
    info->direct_io = created->direct_io;
    const fuse_entry_param parameters = ParametersOf(target, created->entry);
    if (Send<fuse_reply_create>(request, &parameters, info) != 0) {
      filesystem.Release(*created->entry.node, created->handle);
      filesystem.Forget(*created->entry.node, 1);
    }
    return kReplied;
  });
}

void Open(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
  Guarded(request, [&](FuseTarget& target) -> int {
    const OpenMode mode = ModeOf(info->flags);
    if (KernelOpens(target) && !mode.write) return ENOSYS;
    Node& node = target.NodeOf(id);
    const auto opened = target.filesystem().Open(target.RequestOf(request), node, mode);
    if (!opened.ok()) return opened.error();
    info->fh = reinterpret_cast<uint64_t>(opened->handle);
    info->keep_cache = opened->keep_cache;
    info->direct_io = opened->direct_io;
    info->noflush = opened->no_flush;
    const bool arrived = Send<fuse_reply_open>(request, info) == 0;
    if (!arrived) target.filesystem().Release(node, opened->handle);
    return kReplied;
  });
}

void Read(fuse_req_t request, fuse_ino_t id, size_t size, off_t offset, fuse_file_info* info) {
  Guarded(request, [&](FuseTarget& target) {
    // Reads that go past the pages name who reads (FUSE_READ_LOCKOWNER).
    const bool is_for_pages = info == nullptr || info->lock_owner == 0;
    const auto bytes = target.filesystem().Read(
        target.RequestOf(request), target.NodeOf(id), HandleOf(info),
        static_cast<uint64_t>(offset), size, is_for_pages ? ReadFor::kPages : ReadFor::kProgram);
    if (!bytes.ok()) return bytes.error();
    Send<fuse_reply_buf>(request, bytes->bytes.data(), bytes->bytes.size());
    return kReplied;
  });
}

void Write(fuse_req_t request, fuse_ino_t id, const char* bytes, size_t size, off_t offset,
           fuse_file_info* info) {
  Guarded(request, [&](FuseTarget& target) -> int {
    const auto from = info->writepage != 0 ? WriteFrom::kMapping : WriteFrom::kProgram;
    const auto written = target.filesystem().Write(
        target.NodeOf(id), *HandleOf(info), {bytes, size}, static_cast<uint64_t>(offset), from);
    if (!written.ok()) return written.error();
    Send<fuse_reply_write>(request, *written);
    return kReplied;
  });
}

// Without it libc would write zeros in its place, and a file that cannot be that long would be lost.
void Allocate(fuse_req_t request, fuse_ino_t id, int mode, off_t offset, off_t length,
              fuse_file_info* info) {
  Guarded(request, [&](FuseTarget& target) {
    if (mode != 0) return EOPNOTSUPP;
    const auto end = static_cast<uint64_t>(offset) + static_cast<uint64_t>(length);
    return target.filesystem().Allocate(target.NodeOf(id), *HandleOf(info), end).error();
  });
}

void Flush(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
  Guarded(request, [&](FuseTarget& target) {
    FileHandle* handle = HandleOf(info);
    if (handle == nullptr) return ENOSYS;  // read-only: never ask again
    return target.filesystem().Flush(target.NodeOf(id), *handle).error();
  });
}

void Release(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
  Guarded(request, [&](FuseTarget& target) {
    target.filesystem().Release(target.NodeOf(id), HandleOf(info));
    return 0;
  });
}

void Sync(fuse_req_t request, fuse_ino_t id, int, fuse_file_info* info) {
  Guarded(request, [&](FuseTarget& target) {
    FileHandle* handle = HandleOf(info);
    if (handle == nullptr) return 0;
    return target.filesystem().Sync(target.NodeOf(id), *handle).error();
  });
}

// ---- Directories --------------------------------------------------------------------------------

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

void FuseTarget::Keep(std::unique_ptr<OpenDirectory> directory) {
  OpenDirectory* const address = directory.get();
  std::lock_guard lock(directories_mutex_);
  directories_.emplace(address, std::move(directory));
}

void FuseTarget::Release(OpenDirectory* directory) {
  std::unique_ptr<OpenDirectory> released;  // declared before the lock: dies after it
  std::lock_guard lock(directories_mutex_);
  const auto found = directories_.find(directory);
  if (found == directories_.end()) return;
  released = std::move(found->second);
  directories_.erase(found);
}

Request FuseTarget::RequestOf(fuse_req_t request) {
  const fuse_ctx* context = fuse_req_ctx(request);
  Request made;
  made.uid = context->uid;
  made.gid = context->gid;
  made.pid = context->pid;
  made.umask = context->umask;
  made.caller = &filesystem_.parts().callers.Of(context->uid);
  return made;
}

fuse_lowlevel_ops FuseHandlers(const MountOptions& options) {
  fuse_lowlevel_ops handlers{};
  handlers.init = Init;
  handlers.lookup = LookUp;
  handlers.forget = Forget;
  handlers.forget_multi = ForgetMulti;
  handlers.readlink = ReadLink;
  handlers.mkdir = MakeDirectory;
  handlers.mknod = MakeNode;
  handlers.symlink = RefuseSymbolicLink;
  handlers.link = RefuseLink;
  handlers.unlink = Unlink;
  handlers.rmdir = RemoveDirectory;
  handlers.rename = Rename;
  handlers.getattr = GetAttributes;
  handlers.setattr = SetAttributes;
  handlers.statfs = StatFs;
  handlers.create = Create;
  handlers.open = Open;
  handlers.read = Read;
  handlers.write = Write;
  handlers.fallocate = Allocate;
  handlers.flush = Flush;
  handlers.release = Release;
  handlers.fsync = Sync;
  handlers.opendir = OpenListing;
  handlers.releasedir = ReleaseListing;
  handlers.readdir = ReadDirectory;
  handlers.readdirplus = ReadDirectoryPlus;
  handlers.fsyncdir = SyncDirectory;
  if (options.xattr) {  // else libfuse answers ENOSYS once and the kernel never asks again
    handlers.getxattr = GetXattr;
    handlers.setxattr = SetXattr;
    handlers.listxattr = ListXattr;
  }
  return handlers;
}

}  // namespace cellfs::fs
