// SPDX-License-Identifier: MIT
//
// RunningRequest: the request that a thread works on, from its beginning to its reply: who asked,
// whether they still wait, and until when. What is far below asks here (fs/requests/long_work.h,
// fs/requests/calling_process.h, fs/reading/filter_rights.h), so that nothing in between has to
// hand it down.
#ifndef CELLFS_FS_REQUESTS_RUNNING_REQUEST_H_
#define CELLFS_FS_REQUESTS_RUNNING_REQUEST_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <vector>

#include "engine/giving_up.h"

namespace cellfs::fs {

// A way to hear that who asked has given up (a signal). Thread-safe.
class Interruption {
 public:
  virtual ~Interruption() = default;

  // `heard` is called from any thread, or at once where it has happened already.
  virtual void Hear(const std::function<void()>* heard) = 0;
  // After it has returned `heard` neither runs nor will. Before the reply.
  virtual void StopHearing() = 0;
  // Before the reply.
  virtual bool HasHappened() const noexcept = 0;
};

// The groups of who asked, which the kernel does not send with the request: whoever needs them pays
// for finding them. Thread-safe.
class CallerGroups {
 public:
  virtual ~CallerGroups() = default;

  // The effective one first.
  virtual std::vector<gid_t> All() const = 0;
};

// Who asked, as far as modes are concerned.
struct Credentials {
  uid_t uid = 0;
  std::vector<gid_t> groups;

  friend bool operator==(const Credentials&, const Credentials&) = default;
};

// Used by its own thread only, but for HasGivenUp.
class RunningRequest : public GivingUp {
 public:
  using Clock = std::chrono::steady_clock;

  // Both outlive this. `interruption`: null where nobody can interrupt it; `groups`: where who asks
  // is in none. `pid`: the thread that asks, 0 where that is not known.
  RunningRequest(uid_t uid, Interruption* interruption, const CallerGroups* groups = nullptr,
                 pid_t pid = 0);
  ~RunningRequest() override;
  RunningRequest(const RunningRequest&) = delete;
  RunningRequest& operator=(const RunningRequest&) = delete;

  // Null where the thread works for no request.
  static RunningRequest* OfThisThread();
  // Of the request of this thread: who asks, and the thread that does; 0: none that is known.
  static uid_t UserOfThisThread();
  static pid_t AskerOfThisThread();

  uid_t uid() const { return uid_; }
  pid_t pid() const { return pid_; }
  Interruption* interruption() const { return interruption_; }
  Credentials FindCredentials() const;

  bool HasGivenUp() const noexcept override;
  // Just before the reply: what comes then nobody waits for, and nobody gives up.
  void WillReply() { will_reply_ = true; }

  // A listing that has taken so long answers what it has found, if that is anything: the next
  // request goes on.
  void SetDeadline(Clock::time_point deadline) { deadline_ = deadline; }
  void HasAnAnswer() { has_an_answer_ = true; }
  bool ShallAnswer() const { return has_an_answer_ && Clock::now() >= deadline_; }

 private:
  const uid_t uid_;
  const pid_t pid_;
  Interruption* const interruption_;
  const CallerGroups* const groups_;
  RunningRequest* const before_;
  const GivingUp* const giving_up_before_;
  std::atomic<bool> will_reply_ = false;
  Clock::time_point deadline_ = Clock::time_point::max();
  bool has_an_answer_ = false;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_RUNNING_REQUEST_H_
