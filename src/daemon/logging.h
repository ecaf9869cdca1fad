// SPDX-License-Identifier: MIT
//
// The daemon's log: one spdlog logger to standard error, syslog or a file.
#ifndef CELLFS_SRC_DAEMON_LOGGING_H_
#define CELLFS_SRC_DAEMON_LOGGING_H_

#include <chrono>
#include <string>
#include <vector>

#include "engine/status.h"

namespace cellfs {

// `target`: "stderr", "syslog" or a file's path; `level`: trace, debug, info, warn, error, off.
Status SetUpLogging(const std::string& target, const std::string& level);
// From now on. Where that fails the log stays where it is. REQUIRES: SetUpLogging.
Status SetLogTarget(const std::string& target);
// Goes on in a new file of the same name, where the log is a file: what rotates logs has moved it
// away. Where that fails the log stays where it is.
Status ReopenLog();
// kIllegalArgument where there is no such level.
Status SetLogLevel(const std::string& level);
std::string LogLevel();

// Logs a warning that may name tables or keys.
void WarnWithNames(const std::string& line);

struct LogLine {
  std::chrono::system_clock::time_point time;
  std::string level;
  std::string text;
  bool may_have_names = false;
};
// The latest ones, the newest last, wherever the log goes.
std::vector<LogLine> RecentLog();

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_LOGGING_H_
