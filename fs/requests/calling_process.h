// SPDX-License-Identifier: MIT
//
// CallingProcess: whose request the thread works on, for people: "bash (1234)".
#ifndef CELLFS_FS_REQUESTS_CALLING_PROCESS_H_
#define CELLFS_FS_REQUESTS_CALLING_PROCESS_H_

#include <sys/types.h>

#include <string>

namespace cellfs::fs {

struct NamedProcess {
  pid_t id = 0;
  std::string name;  // empty: it has gone, or cannot be seen
};
// Of a thread as the kernel names who asks; 0: it is no process that the daemon could know. Reads
// /proc.
NamedProcess ProcessOf(pid_t thread);

// Its name and its process id; the id alone where it has gone or cannot be seen. Empty: it is no
// process that the daemon could know, because the kernel asks for itself (RELEASE, pages of a
// mapping), the process is in a pid namespace beside or above the daemon's, or the daemon works by
// itself. Reads /proc: for what happens rarely.
std::string CallingProcess();

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_CALLING_PROCESS_H_
