// SPDX-License-Identifier: MIT
#include <sys/stat.h>
#include <time.h>

#include <cerrno>

#include "fs/kernel/fuse_callback.h"
#include "fs/kernel/fuse_requests.h"

namespace cellfs::fs {
namespace {

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
      Send<fuse_reply_xattr>(request, size_t{0});
    } else {
      Send<fuse_reply_buf>(request, nullptr, size_t{0});
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

}  // namespace

void AddAttributeHandlers(fuse_lowlevel_ops& handlers, bool xattr) {
  handlers.getattr = GetAttributes;
  handlers.setattr = SetAttributes;
  handlers.statfs = StatFs;
  if (!xattr) return;
  handlers.getxattr = GetXattr;
  handlers.setxattr = SetXattr;
  handlers.listxattr = ListXattr;
}

}  // namespace cellfs::fs
