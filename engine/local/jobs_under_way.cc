// SPDX-License-Identifier: MIT
#include "engine/local/jobs_under_way.h"

#include <utility>

namespace cellfs {

JobsUnderWay::Job::Job(JobsUnderWay& jobs, std::string what)
    : jobs_(jobs), place_([&] {
        const std::lock_guard lock(jobs.mutex_);
        return jobs.jobs_.insert(std::move(what));
      }()) {}

JobsUnderWay::Job::~Job() {
  const std::lock_guard lock(jobs_.mutex_);
  jobs_.jobs_.erase(place_);
}

std::string JobsUnderWay::Text() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const std::string& job : jobs_) text += (text.empty() ? "" : ", ") + job;
  return text;
}

}  // namespace cellfs
