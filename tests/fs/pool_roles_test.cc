// SPDX-License-Identifier: MIT
//
// Every order of events that a few threads and requests can have is tried: who gets the mutex next
// is all that a pool leaves to chance.
#include "fs/requests/pool_roles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cellfs::fs {
namespace {

using Role = PoolRoles::Role;

constexpr int kNone = -1;

// A request of a plan.
struct Job {
  enum class Kind {
    kPlain,
    kWaitsLong,   // for what ends by itself
    kWaitsShort,  // likewise
    kWaitsFor,    // the kernel has `other` answered first, without a notice to the pool in advance
    kUrgent,
  };
  Kind kind = Kind::kPlain;
  int after = kNone;  // who asks has got the answer of that one before
  int other = kNone;
};
using Plan = std::vector<Job>;

enum class Progress { kUnsent, kAside, kServed, kWaits, kWaited, kDone };

// A pool as far as it is bookkeeping, with a plan to work on.
struct World {
  PoolRoles roles;
  std::vector<Progress> jobs;
  std::vector<int> aside;

  friend auto operator<=>(const World&, const World&) = default;
};

class Explorer {
 public:
  Explorer(Plan plan, int limit, bool threads_fail)
      : plan_(std::move(plan)), threads_fail_(threads_fail) {
    World start{.roles = PoolRoles(limit),
                .jobs = std::vector<Progress>(plan_.size(), Progress::kUnsent),
                .aside = {}};
    CallOthers(start, true);
    Visit(start);
  }

  // Tries all; says what is wrong.
  std::string Run() {
    while (!open_.empty() && problem_.empty()) {
      const World world = std::move(open_.back());
      open_.pop_back();
      Step(world);
    }
    return problem_;
  }
  size_t worlds() const { return seen_.size(); }
  bool has_finished() const { return has_finished_; }

 private:
  void Visit(const World& world) {
    if (problem_.empty()) problem_ = WrongWith(world);
    if (seen_.insert(world).second) open_.push_back(world);
  }

  // A new thread may not be had, if it is not the first.
  void CallOthers(World& world, bool reader) {
    while (const auto call = world.roles.NextCall(reader)) {
      const bool fails = threads_fail_ && call->is_new && world.roles.threads() > 1;
      if (fails) {
        world.roles.CallFailed(call->role);
        return;
      }
      if (call->role == Role::kServes) TakeFromAside(world);
    }
  }

  void TakeFromAside(World& world) {
    world.jobs[static_cast<size_t>(world.aside.front())] = Progress::kServed;
    world.aside.erase(world.aside.begin());
  }

  std::string WrongWith(const World& world) const {
    const PoolRoles& roles = world.roles;
    const auto count = [&](Progress progress) {
      return static_cast<int>(std::count(world.jobs.begin(), world.jobs.end(), progress));
    };
    if (roles.reading() > 1) return "two read";
    if (roles.resting() < 0 || roles.serving() < 0) return "less than none";
    if (roles.serving() != count(Progress::kServed) + count(Progress::kWaited))
      return "who serves is counted wrong";
    if (roles.waiting() != count(Progress::kWaits)) return "who waits is counted wrong";
    if (roles.put_aside() != count(Progress::kAside)) return "what lies aside is counted wrong";
    if (!threads_fail_ && roles.put_aside() > 0 && !roles.IsAtLimit())
      return "something lies aside and fewer serve than may";
    return {};
  }

  bool IsDone(const World& world, int job) const {
    return job == kNone || world.jobs[static_cast<size_t>(job)] == Progress::kDone;
  }

  void Step(const World& world) {
    bool has_moved = false;
    for (size_t job = 0; job < plan_.size(); ++job) has_moved |= StepOf(world, job);
    World watched = world;
    CallOthers(watched, true);
    Visit(watched);
    has_moved |= watched != world;
    const bool all_done = std::all_of(world.jobs.begin(), world.jobs.end(),
                                      [](Progress p) { return p == Progress::kDone; });
    has_finished_ |= all_done;
    if (!has_moved && !all_done && problem_.empty()) problem_ = "it stands still";
  }

  // All that can happen next to this request.
  bool StepOf(const World& world, size_t job) {
    switch (world.jobs[job]) {
      case Progress::kUnsent:
        return Receive(world, job);
      case Progress::kServed:
        if (plan_[job].kind == Job::Kind::kPlain || plan_[job].kind == Job::Kind::kUrgent)
          return Finish(world, job);
        return BeginWait(world, job);
      case Progress::kWaits:
        return EndWait(world, job);
      case Progress::kWaited:
        return Finish(world, job);
      case Progress::kAside:
      case Progress::kDone:
        return false;
    }
    return false;
  }

  // Those that are sent are received in any order: the kernel's queues are not ours.
  bool Receive(World world, size_t job) {
    if (world.roles.reading() == 0 || !IsDone(world, plan_[job].after)) return false;
    if (plan_[job].kind != Job::Kind::kUrgent && world.roles.ShallPutAside()) {
      world.roles.PutAside();
      world.jobs[job] = Progress::kAside;
      world.aside.push_back(static_cast<int>(job));
    } else {
      world.roles.Received();
      world.jobs[job] = Progress::kServed;
    }
    Visit(world);
    return true;
  }

  bool BeginWait(World world, size_t job) {
    world.roles.WaitBegins();
    world.jobs[job] = Progress::kWaits;
    CallOthers(world, plan_[job].kind == Job::Kind::kWaitsLong);
    Visit(world);
    return true;
  }

  bool EndWait(World world, size_t job) {
    if (plan_[job].kind == Job::Kind::kWaitsFor && !IsDone(world, plan_[job].other)) return false;
    world.roles.WaitEnds();
    world.jobs[job] = Progress::kWaited;
    Visit(world);
    return true;
  }

  bool Finish(World world, size_t job) {
    world.jobs[job] = Progress::kDone;
    if (world.roles.Served() == Role::kServes) TakeFromAside(world);
    CallOthers(world, false);
    Visit(world);
    return true;
  }

  const Plan plan_;
  const bool threads_fail_;
  std::set<World> seen_;
  std::vector<World> open_;
  std::string problem_;
  bool has_finished_ = false;
};

Job Plain() { return {}; }
Job Of(Job::Kind kind, int other = kNone) { return {.kind = kind, .other = other}; }

void ExpectNoOrderFails(const Plan& plan, bool threads_fail = false) {
  for (int limit = 1; limit <= 4; ++limit) {
    Explorer explorer(plan, limit, threads_fail);
    EXPECT_EQ(explorer.Run(), "") << "with " << limit << " threads";
    EXPECT_TRUE(explorer.has_finished());
  }
}

// One writer with O_SYNC: each request comes when the one before has been answered.
TEST(PoolRolesTest, OneClientThatWaitsForTheDiskGoesOn) {
  Plan plan;
  for (int i = 0; i < 6; ++i)
    plan.push_back({.kind = Job::Kind::kWaitsLong, .after = i - 1});
  ExpectNoOrderFails(plan);
}

TEST(PoolRolesTest, ClientsOfAllKindsGoOn) {
  ExpectNoOrderFails({Of(Job::Kind::kWaitsLong), Of(Job::Kind::kWaitsShort), Plain(),
                      Of(Job::Kind::kUrgent), Plain()});
}

TEST(PoolRolesTest, MoreRequestsThanThreadsAreAllServed) {
  ExpectNoOrderFails(Plan(6));
}

// A notice to the kernel waits for a page, so for the answer to a read that comes later.
TEST(PoolRolesTest, WaitsForLaterRequestsEnd) {
  const auto waits_for = [](int other) { return Of(Job::Kind::kWaitsFor, other); };
  ExpectNoOrderFails({waits_for(3), waits_for(4), waits_for(5), Plain(), Plain(), Plain()});
  // In a chain, each until the next has been answered.
  ExpectNoOrderFails({waits_for(1), waits_for(2), waits_for(3), waits_for(4), Plain()});
}

TEST(PoolRolesTest, OneThreadAloneServesWhatItCan) {
  ExpectNoOrderFails({Of(Job::Kind::kWaitsLong), Plain(), Of(Job::Kind::kUrgent), Plain()}, true);
}

// As many serve as may, beside one that reads; what comes then lies aside.
PoolRoles AtItsLimit(int limit) {
  PoolRoles roles(limit);
  roles.NextCall(true);
  for (int i = 0; i < limit; ++i) {
    roles.Received();
    roles.NextCall(true);
  }
  return roles;
}

TEST(PoolRolesTest, AtTheLimitOneReadsAndPutsAside) {
  PoolRoles roles = AtItsLimit(3);
  EXPECT_EQ(roles.serving(), 3);
  EXPECT_EQ(roles.reading(), 1);
  for (int i = 0; i < PoolRoles::kMostPutAside; ++i) {
    ASSERT_TRUE(roles.ShallPutAside());
    roles.PutAside();
  }
  EXPECT_FALSE(roles.ShallPutAside());
  EXPECT_FALSE(roles.NextCall(true));
  EXPECT_EQ(roles.Served(), Role::kServes);  // the oldest that lies aside
  EXPECT_EQ(roles.put_aside(), PoolRoles::kMostPutAside - 1);
}

TEST(PoolRolesTest, WhoWaitsMakesRoomForWhatLiesAside) {
  PoolRoles roles = AtItsLimit(1);
  roles.PutAside();
  roles.WaitBegins();
  const auto call = roles.NextCall(false);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->role, Role::kServes);
  EXPECT_TRUE(call->is_new);
  EXPECT_FALSE(roles.NextCall(false));
}

TEST(PoolRolesTest, SpareThreadsLeaveWhenTheyHaveRested) {
  PoolRoles roles(1);
  roles.NextCall(true);
  for (int i = 0; i < 4; ++i) {
    roles.Received();
    roles.WaitBegins();
    roles.NextCall(true);
  }
  for (int i = 0; i < 4; ++i) {
    roles.WaitEnds();
    EXPECT_EQ(roles.Served(), Role::kRests);
  }
  EXPECT_EQ(roles.threads(), 5);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(roles.Rested(), Role::kLeaves);
  EXPECT_EQ(roles.Rested(), Role::kRests);
  EXPECT_EQ(roles.threads(), 2);
}

TEST(PoolRolesTest, AtTheEndWhatLiesAsideIsServed) {
  PoolRoles roles = AtItsLimit(1);
  roles.PutAside();
  roles.PutAside();
  EXPECT_EQ(roles.FoundEnd(), Role::kServes);
  EXPECT_EQ(roles.Served(), Role::kServes);
  EXPECT_EQ(roles.Served(), Role::kLeaves);
  EXPECT_EQ(roles.Served(), Role::kLeaves);
  EXPECT_EQ(roles.threads(), 0);
}

TEST(PoolRolesTest, NoMoreThreadsThanTheMost) {
  PoolRoles roles(1);
  int made = 0;
  while (roles.NextCall(true)) {
    ++made;
    roles.Received();
    roles.WaitBegins();
  }
  EXPECT_EQ(made, PoolRoles::kMostThreads);
}

}  // namespace
}  // namespace cellfs::fs
