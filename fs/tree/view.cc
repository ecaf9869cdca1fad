// SPDX-License-Identifier: MIT
#include "fs/tree/view.h"

#include <limits>

#include "fs/tree/asof.h"

namespace cellfs::fs {

PlaceKind View::Directory() const {
  return kind == Kind::kAsof ? PlaceKind::kAsofDirectory : PlaceKind::kScanDirectory;
}

std::string View::ToString() const { return (kind == Kind::kAsof ? "as of " : "in scan ") + name; }

void View::Narrow(Query& read) const {
  if (query() != nullptr) {
    read = scan;
    return;
  }
  const Timestamp time = asof->time();
  if (time < std::numeric_limits<Timestamp>::max() - 1) read.time_range.max = time + 1;
  read.moment = asof->Use();
}

std::shared_ptr<const Moment> View::Use() const {
  return kind == Kind::kAsof ? asof->Use() : nullptr;
}

}  // namespace cellfs::fs
