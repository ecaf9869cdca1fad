// SPDX-License-Identifier: MIT
//
// What mutations of HBase's shell have in common, and those that delete.
#ifndef CELLFS_SRC_SHELL_MUTATIONS_H_
#define CELLFS_SRC_SHELL_MUTATIONS_H_

#include <nlohmann/json.hpp>

#include "src/shell/call.h"

namespace cellfs::shell {

// Adds what stands from the argument `first` on: a timestamp, a hash ({TTL => 1000}), or both.
// kIllegalArgument: what is not kept, or not known.
Status TakeTimestampAndOptions(const Call& call, size_t first, nlohmann::json& arguments);

StatusOr<Value> RunDelete(Call& call);
StatusOr<Value> RunDeleteAll(Call& call);
StatusOr<Value> RunTruncate(Call& call);

}  // namespace cellfs::shell

#endif  // CELLFS_SRC_SHELL_MUTATIONS_H_
