// SPDX-License-Identifier: MIT
//
// HiddenRows: the rows of a table in which something is stored and nothing is visible, in their
// order and in constant memory: two scans go side by side, one of them sees what is stored.
#ifndef CELLFS_FS_READING_HIDDEN_ROWS_H_
#define CELLFS_FS_READING_HIDDEN_ROWS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fs/base/outcome.h"
#include "fs/reading/reading.h"
#include "fs/reading/row_scan.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Not thread-safe.
class HiddenRows {
 public:
  // Those behind the row `after` (nullopt: from the first).
  static OutcomeOr<std::unique_ptr<HiddenRows>> Open(const Reading& reading, const Caller& caller,
                                                     const Place& table,
                                                     const std::optional<std::string>& after);

  // The next of them, at most `max`; none at the end. Errors as of RowScan::Next.
  OutcomeOr<std::vector<std::string>> Next(size_t max);
  // Whether Next may be called again after it has failed: it goes on where it was.
  bool goes_on() const { return stored_.scan->goes_on() && visible_.scan->goes_on(); }

 private:
  struct Rows {
    // The row at hand; null at the end.
    OutcomeOr<const std::string*> Peek(size_t batch);

    std::unique_ptr<RowScan> scan;
    std::vector<std::string> keys;
    size_t next = 0;
    bool at_end = false;
  };

  HiddenRows() = default;
  OutcomeOr<std::optional<std::string>> NextRow(size_t batch);

  Rows stored_;
  Rows visible_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_HIDDEN_ROWS_H_
