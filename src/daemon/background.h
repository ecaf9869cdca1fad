// SPDX-License-Identifier: MIT
//
// A command that goes on in the background: the parent waits until the child says that it is ready
// or why it is not, and exits with that.
#ifndef CELLFS_SRC_DAEMON_BACKGROUND_H_
#define CELLFS_SRC_DAEMON_BACKGROUND_H_

#include <functional>

#include "engine/status.h"

namespace cellfs {

// Called once, by the child: ok where it is ready, else why it will not be.
using Report = std::function<void(const Status& status)>;

// Forks; runs `daemon` in the child, a session of its own whose standard streams are closed once it
// has reported. Answers in the parent: what was reported; kIoError: there is no child;
// kOutcomeUnknown: it ended without a word; kCancelled: SIGINT, SIGTERM or SIGHUP came, and the
// child was ended.
// REQUIRES: one thread.
Status RunInBackground(const std::function<int(const Report&)>& daemon);

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_BACKGROUND_H_
