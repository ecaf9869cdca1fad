// SPDX-License-Identifier: MIT
//
// View: through what the places below `.asof/<time>` or `.scan/<query>` see the store. Shared by
// all of them; immutable but for the moment that an `.asof` holds.
#ifndef CELLFS_FS_TREE_VIEW_H_
#define CELLFS_FS_TREE_VIEW_H_

#include <memory>
#include <string>

#include "engine/names.h"
#include "engine/read.h"

namespace cellfs::fs {

class AsofMoment;  // fs/tree/asof.h
class ScanEnd;     // fs/reading/scan_end.h

struct View {
  enum class Kind { kAsof, kScan };
  Kind kind = Kind::kAsof;
  std::string name;                   // as it stands below .asof or .scan
  TableName scope{"", ""};            // where that stands: the root, a namespace or a table
  std::shared_ptr<AsofMoment> asof;   // kAsof
  Scan scan;                          // kScan; also says which versions and columns a row shows
  std::shared_ptr<ScanEnd> scan_end;  // kScan with a limit

  bool IsAsof() const { return kind == Kind::kAsof; }
  // Whether a family lists q@<timestamp> for each version: `.scan` with versions=N.
  bool ShowsVersions() const { return kind == Kind::kScan && scan.max_versions > 1; }
  // Whether a query's filter takes part.
  bool Filters() const { return kind == Kind::kScan && scan.filter != nullptr; }
  // Whether it says of what is in a row if the row is in it.
  bool LooksIntoRows() const {
    return kind == Kind::kScan &&
           (scan.filter != nullptr || !scan.columns.empty() || scan.time_range != TimeRange());
  }
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_VIEW_H_
