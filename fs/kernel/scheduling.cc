// SPDX-License-Identifier: MIT
#include "fs/kernel/scheduling.h"

#include <exception>
#include <thread>

namespace cellfs::fs {
namespace {

bool SetPolicy(pid_t thread, int policy) {
  const sched_param parameters{};
  return sched_setscheduler(thread, policy, &parameters) == 0;
}

}  // namespace

Processors::Processors() {
  if (sched_getaffinity(0, sizeof all_, &all_) != 0) CPU_ZERO(&all_);
  pthread_attr_t attributes;
  if (CPU_COUNT(&all_) == 0 || pthread_getattr_default_np(&attributes) != 0) return;
  pthread_attr_setaffinity_np(&attributes, sizeof all_, &all_);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

bool Processors::KeepThreadOn(unsigned number) const {
  if (number >= CPU_SETSIZE || !CPU_ISSET(number, &all_)) return false;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(number, &one);
  return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
}

void Processors::LetRunAnywhere(pthread_t thread) const {
  pthread_setaffinity_np(thread, sizeof all_, &all_);
}

// A thread tries it that ends then, for who may not come forward stays behind.
bool MayStepBack() {
  bool may = false;
  if (sched_getscheduler(0) != SCHED_OTHER) return may;
  try {
    std::thread([&may] { may = SetPolicy(0, SCHED_IDLE) && SetPolicy(0, SCHED_OTHER); }).join();
  } catch (const std::exception&) {
    return false;
  }
  return may;
}

void StepBack() { SetPolicy(0, SCHED_IDLE); }

void ComeForward(pid_t thread) { SetPolicy(thread, SCHED_OTHER); }

}  // namespace cellfs::fs
