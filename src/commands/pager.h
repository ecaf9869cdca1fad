// SPDX-License-Identifier: MIT
//
// Pager: shows long output a page at a time, as git does: CELLFS_PAGER, else PAGER, else less(1),
// which ends by itself where all fits the terminal. "cat", or nothing, means none.
#ifndef CELLFS_SRC_COMMANDS_PAGER_H_
#define CELLFS_SRC_COMMANDS_PAGER_H_

#include <sys/types.h>

#include <memory>

namespace cellfs {

class Pager {
 public:
  // What is written to standard output from now on goes through it; null: there is none to be had.
  static std::unique_ptr<Pager> Start();
  // Ends the output, and waits until it has been read.
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

 private:
  explicit Pager(pid_t process) : process_(process) {}
  const pid_t process_;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_PAGER_H_
