// SPDX-License-Identifier: MIT
//
// ListedVersions: the timestamps that `.versions/q` lists, the newest VERSIONS at which
// q@<timestamp> reads, piece by piece: VERSIONS can be as many as one likes.
#ifndef CELLFS_FS_READING_LISTED_VERSIONS_H_
#define CELLFS_FS_READING_LISTED_VERSIONS_H_

#include <cstddef>
#include <optional>

#include "engine/read.h"
#include "fs/base/outcome.h"
#include "fs/reading/reading.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Not thread-safe. The place outlives it.
class ListedVersions {
 public:
  ListedVersions(const Reading& reading, const Place& column)
      : reading_(reading), column_(column) {}

  // The next of them, newest first, `most` at most (lengths only); fewer: there are no more. A
  // failure leaves it where it was.
  OutcomeOr<RowCells> Next(const Caller& caller, size_t most);

 private:
  const Reading& reading_;
  const Place& column_;
  std::optional<Timestamp> last_;  // that Next has given, or has passed by
  size_t given_ = 0;
};

// Whether there is any.
OutcomeOr<bool> HasListedVersions(const Reading& reading, const Caller& caller,
                                  const Place& column);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_LISTED_VERSIONS_H_
