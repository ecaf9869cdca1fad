// SPDX-License-Identifier: MIT
//
// ErrorLog: the reasons, in words, of the operations that failed lately: what /.cellfs/errors and
// user.cellfs.error show, and what the daemon's log gets.
//
// Failures of one kind, which differ in names and numbers only, share a line: a full disk that
// refuses a thousand files does not hide why a schema was refused before. Those of different users
// never share one, and who fails in many ways pushes out his own lines first. Nor does anybody fill
// the daemon's log: beyond some lines a minute of a user there is but a number (LineRate).
#ifndef CELLFS_FS_TREE_ERROR_LOG_H_
#define CELLFS_FS_TREE_ERROR_LOG_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/clock.h"
#include "fs/base/line_rate.h"
#include "fs/base/outcome.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe.
class ErrorLog {
 public:
  explicit ErrorLog(const Clock& clock) : clock_(clock) {}

  using Sink = std::function<void(const std::string& line)>;

  // Called with each line that its user's rate allows, as it comes, from the thread that failed.
  void SetSink(Sink sink);
  // Outcomes without a reason are left out: their errno says it all. Who asked is the process of
  // the thread's request (fs/requests/running_request.h). `user`: whose it is, where the request
  // does not say so; else the daemon's own.
  void Record(std::string_view operation, const Place& place, const Outcome& outcome,
              std::optional<uid_t> user = {});
  // What was done as it was asked for, and may be another thing than was meant. One kind for each
  // operation, and for each hint without the names in it.
  void Hint(std::string_view operation, const Place& place, const std::string& hint);
  // A line, with its newline, for each kind: its latest failure, who asked, and how many there were
  // since when. The kind that failed last comes last. Nullopt: of all users.
  std::string Text(std::optional<uid_t> user = {}) const;

  // Failures that are alike: the latest, how many there were, and since when.
  struct Kind {
    uid_t user = 0;
    std::string key;  // in what they are alike
    std::string latest;
    Timestamp first_time = 0;
    Timestamp latest_time = 0;
    uint64_t count = 0;
  };
  // What Text says, in its order.
  std::vector<Kind> Kinds(std::optional<uid_t> user) const;

  // A single failure.
  struct Told {
    uint64_t number = 0;  // they are counted from 1
    Timestamp time = 0;
    uid_t user = 0;
    Place place;
    std::string line;
  };
  // Those after that number, as far as they are still known, in their order.
  std::vector<Told> After(uint64_t number, std::optional<uid_t> user) const;
  // The latest reason recorded for the place or for something in it; empty where there is none.
  std::string ReasonFor(const Place& place) const;

 private:
  static constexpr size_t kKinds = 200;
  static constexpr size_t kFailures = 200;
  static constexpr size_t kBytesOfFailures = size_t{1} << 20;
  struct Failure {
    Told told;
    std::string reason;
    size_t bytes() const;
  };

  void Add(const Place& place, const std::string& reason, const std::string& line, std::string key,
           std::optional<uid_t> user);
  void CountLocked(uid_t user, std::string key, std::string what, Timestamp now);
  void DropKindLocked();
  void RememberLocked(Failure failure);
  void DropFailureLocked();

  const Clock& clock_;
  mutable std::mutex mutex_;  // guards the rest
  Sink sink_;
  LineRate log_rate_;
  std::list<Kind> kinds_;
  std::list<Failure> failures_;
  size_t failure_bytes_ = 0;
  uint64_t failures_ever_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_ERROR_LOG_H_
