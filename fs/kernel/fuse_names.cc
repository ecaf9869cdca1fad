// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <cerrno>

#include "fs/kernel/fuse_callback.h"
#include "fs/kernel/fuse_requests.h"

namespace cellfs::fs {
namespace {

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

}  // namespace

void AddNameHandlers(fuse_lowlevel_ops& handlers) {
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
}

}  // namespace cellfs::fs
