// SPDX-License-Identifier: MIT
//
// A look-up does not say what is to follow it. Where it finds the name, the kernel answers an
// open(2) with O_CREAT and O_EXCL by itself (EEXIST), and the daemon never hears of it: only /proc
// tells that the thread that asks is in one.
#ifndef CELLFS_FS_REQUESTS_EXCLUSIVE_OPEN_H_
#define CELLFS_FS_REQUESTS_EXCLUSIVE_OPEN_H_

#include <sys/types.h>

#include <string>

namespace cellfs::fs {

// Whether the thread, which waits for an answer, makes a file so. False also where that cannot be
// seen: a daemon without root needs kernel.yama.ptrace_scope = 0. Reads /proc: for what happens
// rarely.
bool MakesExclusively(pid_t thread);
// The same of what /proc/<thread>/syscall says.
bool IsExclusiveOpen(const std::string& system_call);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_EXCLUSIVE_OPEN_H_
