// SPDX-License-Identifier: MIT
//
// What a major compaction would drop, removed from the table of a family: versions beyond
// MaxVersions, and what is past its time to live. For servers that do not do it by themselves.
#ifndef CELLFS_ENGINE_OBKV_COMPACTION_H_
#define CELLFS_ENGINE_OBKV_COMPACTION_H_

#include <chrono>
#include <string>

#include "engine/clock.h"
#include "engine/obkv/connection_pool.h"
#include "engine/obkv/described_table.h"

namespace cellfs::obkv {

// Step by step, each of so many rows that nobody waits for it for long, and of one transaction.
// Outlives nothing of what it is made with.
class Compaction {
 public:
  Compaction(ConnectionPool& pool, const Clock& clock, std::chrono::milliseconds step_timeout)
      : pool_(pool), clock_(clock), step_timeout_(step_timeout) {}

  // `sql_name` is the table's as it stands in a statement. What ends it before its end leaves what
  // it has removed until then.
  Status Run(const std::string& sql_name, const DescribedFamily& family);

 private:
  ConnectionPool& pool_;
  const Clock& clock_;
  const std::chrono::milliseconds step_timeout_;
};

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_COMPACTION_H_
