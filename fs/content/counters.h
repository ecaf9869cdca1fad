// SPDX-License-Identifier: MIT
//
// Counters: .counters/q, to which "+5" is written. HBase's Increment.
#ifndef CELLFS_FS_CONTENT_COUNTERS_H_
#define CELLFS_FS_CONTENT_COUNTERS_H_

#include <cstdint>
#include <string_view>

#include "fs/base/outcome.h"
#include "fs/content/column_change.h"
#include "fs/nodes/node.h"
#include "fs/reading/reading.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// Thread-safe; holds nothing of its own.
class Counters {
 public:
  Counters(const Reading& reading, const ColumnChanging& changing, const MountOptions& options)
      : reading_(reading), changing_(changing), options_(options) {}

  // "+5 -1": the sum of them. EINVAL: that is no such text.
  Outcome Add(const Caller& caller, const NodePtr& counter, std::string_view text) const;

 private:
  Outcome Increase(const Caller& caller, ColumnChange& change, int64_t amount) const;

  const Reading& reading_;
  const ColumnChanging& changing_;
  const MountOptions& options_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_COUNTERS_H_
