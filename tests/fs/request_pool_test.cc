// SPDX-License-Identifier: MIT
#include "fs/requests/request_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <queue>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace cellfs::fs {
namespace {

using Work = std::function<void()>;

// Requests are what the test sends.
class FakeSource : public RequestSource {
 public:
  void Send(Work work, bool is_urgent = false) {
    const std::lock_guard lock(mutex_);
    sent_.push({std::move(work), is_urgent});
    changed_.notify_all();
  }
  // Sends it, and waits for its end.
  void Ask(const Work& work, bool is_urgent = false) {
    const auto done = std::make_shared<std::promise<void>>();
    const auto all = [&work, done] {
      work();
      done->set_value();
    };
    Send(all, is_urgent);
    done->get_future().wait();
  }
  void EndAll() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }
  // From now on no memory is left for copies, or for more threads.
  void RunOutOfMemory() { has_memory_ = false; }

  std::unique_ptr<RawRequest> MakeEmpty() override {
    if (!has_memory_) throw std::bad_alloc();
    return std::make_unique<FakeRequest>();
  }
  std::unique_ptr<RawRequest> CopyOf(const RawRequest& request) override {
    if (!has_memory_) throw std::bad_alloc();
    return std::make_unique<FakeRequest>(static_cast<const FakeRequest&>(request));
  }
  Received Receive(RawRequest& request) override {
    EXPECT_EQ(receiving_.fetch_add(1), 0) << "two receive";
    const Received received = ReceiveAlone(static_cast<FakeRequest&>(request));
    receiving_.fetch_sub(1);
    return received;
  }
  bool IsUrgent(const RawRequest& request) override {
    return static_cast<const FakeRequest&>(request).is_urgent;
  }
  void Serve(RawRequest& request) override { static_cast<FakeRequest&>(request).work(); }
  void Interrupt(std::thread::native_handle_type) override {
    const std::lock_guard lock(mutex_);
    is_interrupted_ = true;
    changed_.notify_all();
  }

 private:
  struct FakeRequest : RawRequest {
    FakeRequest() = default;
    FakeRequest(Work its_work, bool urgent) : work(std::move(its_work)), is_urgent(urgent) {}
    Work work;
    bool is_urgent = false;
  };

  Received ReceiveAlone(FakeRequest& request) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !sent_.empty() || is_interrupted_ || has_ended_; });
    if (std::exchange(is_interrupted_, false)) return Received::kNothing;
    if (sent_.empty()) return Received::kEnd;
    request = sent_.front();
    sent_.pop();
    return Received::kRequest;
  }

  std::atomic<bool> has_memory_{true};
  std::atomic<int> receiving_{0};
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::queue<FakeRequest> sent_;
  bool is_interrupted_ = false;
  bool has_ended_ = false;
};

template <typename Condition>
void YieldUntil(const Condition& condition) {
  while (!condition()) std::this_thread::yield();
}

void Yield(unsigned times) {
  for (unsigned i = 0; i < times; ++i) std::this_thread::yield();
}

// A writer with O_SYNC, alone: whoever wakes when, somebody reads his next request.
TEST(RequestPoolTest, OneClientThatWaitsForTheDiskGoesOn) {
  for (const int threads : {1, 2, 10}) {
    FakeSource source;
    RequestPool pool(source, {.threads = threads});
    ASSERT_TRUE(pool.Start());
    for (unsigned i = 0; i < 3000; ++i) {
      source.Ask([i] {
        const Waiting waiting(Wait::kIsLong);
        Yield(i % 4);
      });
    }
  }
}

// What a client asks for, again and again.
class Client {
 public:
  Client(FakeSource& source, std::array<std::mutex, 3>& columns, unsigned seed)
      : source_(source), columns_(columns), random_(seed) {}

  void Ask() {
    source_.Ask([this] { Serve(); }, Draw(8) == 0);
    ++asked_;
  }
  int asked() const { return asked_; }
  int served() const { return served_; }

 private:
  unsigned Draw(unsigned bound) { return std::uniform_int_distribution(0u, bound - 1)(random_); }

  void Serve() {
    ++served_;
    switch (Draw(20)) {
      case 0: {  // as a notice to the kernel, which has another request answered first
        const Waiting waiting(Wait::kMayBeShort);
        return source_.Ask([] {});
      }
      case 1:
      case 2:
      case 3: {
        const Waiting waiting(Draw(2) == 0 ? Wait::kIsLong : Wait::kMayBeShort);
        return Yield(Draw(8));
      }
      case 4:
      case 5:
      case 6:
        return ServeUnderLock();
      default:
        return Yield(Draw(4));
    }
  }

  void ServeUnderLock() {
    std::unique_lock lock(columns_[Draw(3)], std::defer_lock);
    LockOrWait(lock);
    if (Draw(2) == 0) return;
    const Waiting waiting(Wait::kIsLong);
    Yield(Draw(8));
  }

  FakeSource& source_;
  std::array<std::mutex, 3>& columns_;
  std::minstd_rand random_;
  int asked_ = 0;
  std::atomic<int> served_{0};
};

TEST(RequestPoolTest, EveryRequestIsServedOnceWithAnyNumberOfThreadsAndClients) {
  constexpr int kRequests = 600;
  std::array<std::mutex, 3> columns;
  for (const int threads : {1, 2, 3, 10, 64, 256}) {
    for (const int clients : {1, 2, 5, 40, 256}) {
      FakeSource source;
      RequestPool pool(source, {.threads = threads});
      ASSERT_TRUE(pool.Start());
      std::list<Client> all;
      std::vector<std::thread> asking;
      for (int i = 0; i < clients; ++i) {
        Client& client = all.emplace_back(source, columns, static_cast<unsigned>(i + threads));
        asking.emplace_back([&client, times = kRequests / clients + 1] {
          for (int j = 0; j < times; ++j) client.Ask();
        });
      }
      for (std::thread& thread : asking) thread.join();
      for (const Client& client : all) EXPECT_EQ(client.served(), client.asked());
      pool.Stop();
      EXPECT_EQ(pool.roles().threads(), 0);
    }
  }
}

TEST(RequestPoolTest, TheWatchHasAnotherReadWhereARequestDoesNotEnd) {
  FakeSource source;
  RequestPool pool(source, {.threads = 2});
  ASSERT_TRUE(pool.Start());
  source.Ask([&] { source.Ask([] {}); });
}

TEST(RequestPoolTest, AtTheLimitAnUrgentRequestIsServedBeforeThoseThatLieAside) {
  FakeSource source;
  RequestPool pool(source, {.threads = 1});
  ASSERT_TRUE(pool.Start());
  std::promise<void> interrupted;
  source.Send([&] { interrupted.get_future().wait(); });
  std::vector<int> served;  // by the one thread that may serve
  std::atomic<int> left{10};
  for (int i = 0; i < 10; ++i) {
    source.Send([&, i] {
      served.push_back(i);
      --left;
    });
  }
  YieldUntil([&] { return pool.roles().put_aside() == 10; });
  source.Ask([&] { EXPECT_TRUE(served.empty()); }, true);
  interrupted.set_value();
  YieldUntil([&] { return left == 0; });
  EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(RequestPoolTest, WhatWaitsDoesNotCountAgainstTheLimit) {
  constexpr int kAtOnce = 100;
  FakeSource source;
  RequestPool pool(source, {.threads = 1});
  ASSERT_TRUE(pool.Start());
  std::atomic<int> waiting_now{0};
  std::atomic<int> done{0};
  for (int i = 0; i < kAtOnce; ++i) {
    source.Send([&] {
      {
        const Waiting waiting(Wait::kIsLong);
        ++waiting_now;
        YieldUntil([&] { return waiting_now == kAtOnce; });
      }
      ++done;
    });
  }
  YieldUntil([&] { return done == kAtOnce; });
}

TEST(RequestPoolTest, SpareThreadsEndWhenTheyHaveRested) {
  FakeSource source;
  RequestPool pool(source, {.threads = 2, .longest_rest = std::chrono::milliseconds(1)});
  ASSERT_TRUE(pool.Start());
  std::atomic<int> waiting_now{0};
  for (int i = 0; i < 20; ++i) {
    source.Send([&] {
      const Waiting waiting(Wait::kIsLong);
      ++waiting_now;
      YieldUntil([&] { return waiting_now == 20; });
    });
  }
  YieldUntil([&] { return waiting_now == 20 && pool.roles().waiting() == 0; });
  YieldUntil([&] { return pool.roles().threads() == 3; });
  source.Ask([] {});
}

TEST(RequestPoolTest, StoppingServesWhatWasReadAndReadsNoMore) {
  FakeSource source;
  RequestPool pool(source, {.threads = 1});
  ASSERT_TRUE(pool.Start());
  std::promise<void> released;
  std::atomic<int> served{0};
  source.Send([&] { released.get_future().wait(); });
  for (int i = 0; i < 5; ++i) source.Send([&] { ++served; });
  YieldUntil([&] { return pool.roles().put_aside() == 5; });
  std::thread stop([&] { pool.Stop(); });
  YieldUntil([&] { return pool.roles().has_ended(); });
  released.set_value();
  stop.join();
  EXPECT_EQ(served, 5);
  source.Send([&] { ++served; });
  EXPECT_EQ(served, 5);
}

TEST(RequestPoolTest, NothingMoreToReceiveEndsAllThreads) {
  FakeSource source;
  RequestPool pool(source, {.threads = 3});
  ASSERT_TRUE(pool.Start());
  for (int i = 0; i < 20; ++i) source.Ask([] { const Waiting waiting(Wait::kIsLong); });
  source.EndAll();
  YieldUntil([&] { return pool.roles().threads() == 0; });
}

TEST(RequestPoolTest, WithoutMemoryThoseThatAreThereServeAll) {
  FakeSource source;
  RequestPool pool(source, {.threads = 1});
  ASSERT_TRUE(pool.Start());
  source.RunOutOfMemory();
  std::atomic<int> served{0};
  for (int i = 0; i < 100; ++i) {
    source.Send([&] {
      const Waiting waiting(Wait::kIsLong);
      ++served;
    });
  }
  YieldUntil([&] { return served == 100; });
}

TEST(RequestPoolTest, WithoutAThreadItDoesNotStart) {
  FakeSource source;
  source.RunOutOfMemory();
  RequestPool pool(source, {.threads = 1});
  EXPECT_FALSE(pool.Start());
}

}  // namespace
}  // namespace cellfs::fs
