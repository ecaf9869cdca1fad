// SPDX-License-Identifier: MIT
#include <fcntl.h>

#include <cerrno>

#include "fs/kernel/fuse_callback.h"
#include "fs/kernel/fuse_requests.h"

namespace cellfs::fs {
namespace {

OpenMode ModeOf(int flags) {
  OpenMode mode;
  mode.truncate = (flags & O_TRUNC) != 0;
  mode.append = (flags & O_APPEND) != 0;
  mode.read = (flags & O_ACCMODE) != O_WRONLY;
  mode.write = (flags & O_ACCMODE) != O_RDONLY || mode.truncate;
  return mode;
}

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
    if (target.KernelOpens() && !mode.write) return ENOSYS;
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

// Without it libc would write zeros in its place, and a file that cannot be that long would be
// lost.
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

}  // namespace

void AddFileHandlers(fuse_lowlevel_ops& handlers) {
  handlers.create = Create;
  handlers.open = Open;
  handlers.read = Read;
  handlers.write = Write;
  handlers.fallocate = Allocate;
  handlers.flush = Flush;
  handlers.release = Release;
  handlers.fsync = Sync;
}

}  // namespace cellfs::fs
