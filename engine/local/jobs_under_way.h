// SPDX-License-Identifier: MIT
//
// JobsUnderWay: the flushes and compactions of a store that run now, whoever began them: the
// background, a command, or a writer who waits for room.
#ifndef CELLFS_ENGINE_LOCAL_JOBS_UNDER_WAY_H_
#define CELLFS_ENGINE_LOCAL_JOBS_UNDER_WAY_H_

#include <mutex>
#include <set>
#include <string>

namespace cellfs {

// Thread-safe.
class JobsUnderWay {
 public:
  // A job, for as long as it lives.
  class Job {
   public:
    // "flush t"; `jobs` outlives it.
    Job(JobsUnderWay& jobs, std::string what);
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

   private:
    JobsUnderWay& jobs_;
    const std::multiset<std::string>::iterator place_;
  };

  // "compact t, flush u"; empty: none.
  std::string Text() const;

 private:
  mutable std::mutex mutex_;
  std::multiset<std::string> jobs_;  // guarded by mutex_
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_JOBS_UNDER_WAY_H_
