// SPDX-License-Identifier: MIT
//
// ScanEnd: the last row that a query with a limit returns, so that look-up finds the rows that a
// listing shows. Found by running the scan; kept until something was put, or for a second (expiry),
// for those who see the same: rights can make it end elsewhere for others.
#ifndef CELLFS_FS_READING_SCAN_END_H_
#define CELLFS_FS_READING_SCAN_END_H_

#include <mutex>
#include <optional>
#include <string>

#include "fs/base/outcome.h"
#include "fs/reading/reading.h"
#include "fs/requests/running_request.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe.
class ScanEnd {
 public:
  // Whether the row, which lies in the scan's range, comes before its limit is reached.
  OutcomeOr<bool> IsBefore(const Reading& reading, const Caller& caller, const Place& row);

 private:
  // By whom it was found, as far as that matters.
  struct Finder {
    std::string user;            // Caller
    std::optional<Credentials> credentials;  // where modes take part

    friend bool operator==(const Finder&, const Finder&) = default;
  };
  struct End {
    Finder finder;
    std::optional<std::string> last_row;  // nullopt: no row at all
    uint64_t mutations = 0;               // of the store, when it was found
    Timestamp found_at = 0;
  };

  std::optional<End> FindCached(const Finder& finder, uint64_t mutations, Timestamp now);

  std::mutex mutex_;
  std::optional<End> end_;  // guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_SCAN_END_H_
