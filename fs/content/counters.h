// SPDX-License-Identifier: MIT
//
// Counters: .counters/q, to which "+5" is written. HBase's Increment.
#ifndef CELLFS_FS_CONTENT_COUNTERS_H_
#define CELLFS_FS_CONTENT_COUNTERS_H_

#include <cstdint>
#include <string_view>

#include "engine/store.h"
#include "fs/base/outcome.h"
#include "fs/content/contents.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// Thread-safe; holds nothing of its own.
class Counters {
 public:
  Counters(Store& store, const Reading& reading, LiveTree& tree, const Contents& contents,
           const MountOptions& options)
      : store_(store), reading_(reading), tree_(tree), contents_(contents), options_(options) {}

  // "+5 -1": the sum of them. EINVAL: that is no such text.
  Outcome Add(const Caller& caller, const NodePtr& counter, std::string_view text) const;

 private:
  OutcomeOr<Timestamp> FirstTimestamp(const Caller& caller, const Place& place) const;
  Outcome Increase(const Caller& caller, const Place& place, int64_t amount) const;

  Store& store_;
  const Reading& reading_;
  LiveTree& tree_;
  const Contents& contents_;
  const MountOptions& options_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_COUNTERS_H_
