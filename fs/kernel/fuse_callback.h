// SPDX-License-Identifier: MIT
//
// How a callback of libfuse runs and replies: inside Guarded, which turns what the operation
// returns, or throws, into the one reply that the kernel gets. Replies are sent with no lock held:
// they may end the life of a node.
#ifndef CELLFS_FS_KERNEL_FUSE_CALLBACK_H_
#define CELLFS_FS_KERNEL_FUSE_CALLBACK_H_

#include <fuse3/fuse_lowlevel.h>

#include <cerrno>
#include <new>

#include "fs/kernel/fuse_caller.h"
#include "fs/kernel/fuse_target.h"
#include "fs/requests/running_request.h"

namespace cellfs::fs {

inline constexpr int kReplied = -1;

inline FuseTarget& TargetOf(fuse_req_t request) {
  return *static_cast<FuseTarget*>(fuse_req_userdata(request));
}

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
  const fuse_ctx* const credentials = fuse_req_ctx(request);
  RunningRequest running(credentials->uid, &interruption, &groups, credentials->pid);
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

// ---- What a request names -----------------------------------------------------------------------

inline FileHandle* HandleOf(const fuse_file_info* info) {
  return info == nullptr ? nullptr : reinterpret_cast<FileHandle*>(info->fh);
}

// ---- Replies with attributes --------------------------------------------------------------------

inline fuse_entry_param ParametersOf(FuseTarget& target, const Entry& entry) {
  fuse_entry_param parameters{};
  parameters.ino = target.IdOf(*entry.node);
  parameters.attr = entry.attributes;
  parameters.entry_timeout = entry.name_valid_seconds;
  parameters.attr_timeout = entry.attributes_valid_seconds;
  return parameters;
}

// A reply that does not arrive (an interrupted request) was not counted by the kernel either.
inline int ReplyEntry(fuse_req_t request, FuseTarget& target, const OutcomeOr<Entry>& entry) {
  if (!entry.ok()) return entry.error();
  const fuse_entry_param parameters = ParametersOf(target, *entry);
  const bool arrived = Send<fuse_reply_entry>(request, &parameters) == 0;
  if (!arrived) target.filesystem().Forget(*entry->node, 1);
  return kReplied;
}

inline int ReplyAttributes(fuse_req_t request, const OutcomeOr<AttributesReply>& reply) {
  if (!reply.ok()) return reply.error();
  Send<fuse_reply_attr>(request, &reply->attributes, reply->valid_seconds);
  return kReplied;
}

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_FUSE_CALLBACK_H_
