// SPDX-License-Identifier: MIT
//
// RingLoop: serves a session of libfuse over io_uring, by the very transport of cellfs
// (fs/kernel/ring_pool.h), with nothing of cellfs behind it. So what a mount takes beside the null
// file system is the same part of it by either way.
#ifndef CELLFS_BENCH_RING_LOOP_H_
#define CELLFS_BENCH_RING_LOOP_H_

#include <fuse3/fuse_lowlevel.h>

#include <string>

namespace cellfs::bench {

// Of a mounted session; returns when it is unmounted. 0, or 1 where the kernel gives no rings, with
// the reason on standard error.
int RingLoop(fuse_session* session, const std::string& mountpoint, int threads);

}  // namespace cellfs::bench

#endif  // CELLFS_BENCH_RING_LOOP_H_
