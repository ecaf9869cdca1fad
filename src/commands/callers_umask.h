// SPDX-License-Identifier: MIT
//
// CallersUmask: while it lives, files are made as open as who called wants his files to be. Else
// they are the owner's alone, as a store is (command_line.cc).
#ifndef CELLFS_SRC_COMMANDS_CALLERS_UMASK_H_
#define CELLFS_SRC_COMMANDS_CALLERS_UMASK_H_

#include <sys/stat.h>

#include "src/commands/arguments.h"

namespace cellfs {

// Of the process: one thread.
class CallersUmask {
 public:
  explicit CallersUmask(const Arguments& arguments) : before_(umask(UmaskOf(arguments))) {}
  ~CallersUmask() { umask(before_); }
  CallersUmask(const CallersUmask&) = delete;
  CallersUmask& operator=(const CallersUmask&) = delete;

 private:
  static mode_t UmaskOf(const Arguments& arguments) {
    return arguments.values().value("umask", mode_t{0077}) & 0777;
  }

  const mode_t before_;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_CALLERS_UMASK_H_
