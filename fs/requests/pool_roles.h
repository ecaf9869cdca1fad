// SPDX-License-Identifier: MIT
//
// PoolRoles: how many threads of a pool do what, and what each does next. It starts no thread and
// waits for none, so every order of events can be tried (fs/requests/request_pool.h has the
// threads).
//
// One thread reads requests, and serves what it has read itself: a hand-over costs a wake-up, and so
// does a second thread that reads. While a request takes long another thread reads in its place.
// As many serve as may; those that wait do not count. Where that many serve, the one that reads puts
// aside what it reads, for there may come something that others wait for.
//
// What holds between any two calls, unless no thread can be made: where something lies aside as many
// serve as may; and who reads, serves or waits is counted as that from the moment it is called, not
// from the moment it wakes.
#ifndef CELLFS_FS_REQUESTS_POOL_ROLES_H_
#define CELLFS_FS_REQUESTS_POOL_ROLES_H_

#include <compare>
#include <optional>

namespace cellfs::fs {

// Guarded by the pool's mutex.
class PoolRoles {
 public:
  enum class Role { kReads, kServes, kRests, kLeaves };

  // Requests that lie aside: at most 64 MiB, if all are writes.
  static constexpr int kMostPutAside = 64;
  // Those that wait do not count against the limit, and many may wait.
  static constexpr int kMostThreads = 1024;

  // At most `limit` threads serve, at least one; more where some come back from waiting.
  explicit PoolRoles(int limit) : limit_(limit) {}

  // ---- What a thread says, and is told to do next ----

  // It has read a request: whether that is to be put aside, unless it is urgent.
  bool ShallPutAside() const { return IsAtLimit() && put_aside_ < kMostPutAside && !has_ended_; }
  // It has put it aside, and reads on.
  void PutAside() { ++put_aside_; }
  // It has read a request, and serves that.
  void Received() {
    --reading_;
    ++serving_;
  }
  // It has served a request. kServes: the one that has lain aside for longest.
  Role Served() {
    --serving_;
    if (reading_ > 0 || put_aside_ > 0 || has_ended_) return AfterServing();
    ++reading_;
    return Role::kReads;
  }
  // It found that there is nothing to read any more: nobody shall read from now on.
  Role FoundEnd();
  // It has rested for long. kRests: for as long as it likes.
  Role Rested();
  // It serves, and waits within.
  void WaitBegins();
  void WaitEnds();

  // Nobody reads any more, and who rests leaves.
  void End();

  // ---- Who else has to do something now ----

  struct Call {
    Role role = Role::kReads;
    bool is_new = false;  // a new thread has to be made, else one that rests is woken
  };
  // After each of the above, until it is nullopt: a thread is to take this role; it counts already.
  // `reader`: also where nobody reads but someone serves, who would read again if it did not take
  // so long.
  std::optional<Call> NextCall(bool reader);
  // The new thread could not be made.
  void CallFailed(Role role);

  int reading() const { return reading_; }
  int serving() const { return serving_; }
  int waiting() const { return waiting_; }
  int resting() const { return resting_; }
  int threads() const { return reading_ + serving_ + waiting_ + resting_; }
  int put_aside() const { return put_aside_; }
  bool has_ended() const { return has_ended_; }
  // As many serve as may.
  bool IsAtLimit() const { return serving_ >= limit_; }
  // As many threads as there is work for as a rule: one reads beside those that serve. More of them
  // leave when they have rested.
  bool has_spare() const { return threads() > limit_ + 1; }

  friend auto operator<=>(const PoolRoles&, const PoolRoles&) = default;

 private:
  std::optional<Role> Lacks(bool reader) const;
  bool MayAddThread() const;
  Role AfterServing();
  Role TakeFromAside();
  void Count(Role role, int change);

  int limit_;
  int reading_ = 0;  // or on its way there: 0 or 1
  int serving_ = 0;
  int waiting_ = 0;
  int resting_ = 0;
  int put_aside_ = 0;
  bool has_ended_ = false;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_POOL_ROLES_H_
