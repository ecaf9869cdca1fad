// SPDX-License-Identifier: MIT
//
// Scheduling: on which processors a thread runs, and before whom.
//
// A thread that replies wakes the one that asked. The kernel's scheduler takes it elsewhere if
// another processor has nothing to do, as this one is still busy, and there it first has to be
// woken: that takes longer than most requests. So a thread steps back for its reply: who asked goes
// on here at once, and the thread after it.
#ifndef CELLFS_FS_KERNEL_SCHEDULING_H_
#define CELLFS_FS_KERNEL_SCHEDULING_H_

#include <pthread.h>
#include <sched.h>
#include <sys/types.h>

namespace cellfs::fs {

// The processors that this program may run on.
class Processors {
 public:
  // Threads that are started from now on, by whichever thread, may run on all of them.
  Processors();

  // The calling thread runs on this one alone. False: it may not.
  bool KeepThreadOn(unsigned number) const;
  void LetRunAnywhere(pthread_t thread) const;

 private:
  cpu_set_t all_{};
};

// Whether a thread of this program may step back and come forward again: that needs the right to
// change priorities (CAP_SYS_NICE or RLIMIT_NICE), and that it has no other than the usual.
bool MayStepBack();
// The calling thread: any other one that can run goes first. May return late.
void StepBack();
// 0: the calling thread.
void ComeForward(pid_t thread);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_SCHEDULING_H_
