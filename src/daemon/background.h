// SPDX-License-Identifier: MIT
//
// A command that goes on in the background: the parent waits until the child says that it is ready
// or why it is not, and exits with that.
#ifndef CELLFS_SRC_DAEMON_BACKGROUND_H_
#define CELLFS_SRC_DAEMON_BACKGROUND_H_

#include <functional>
#include <string>

namespace cellfs {

// Called once, by the child: nothing where it is ready, else the line for the user.
using Report = std::function<void(const std::string& failure)>;

// Forks; runs `daemon` in the child, a session of its own whose standard streams are closed once it
// has reported. Answers in the parent: the failure reported, or nothing. REQUIRES: one thread.
std::string RunInBackground(const std::function<int(const Report&)>& daemon);

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_BACKGROUND_H_
