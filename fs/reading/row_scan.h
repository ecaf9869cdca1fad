// SPDX-License-Identifier: MIT
//
// RowScan: a scan of the store that a request waits for, or several one after another (a listing).
// It takes its steps as long work does.
#ifndef CELLFS_FS_READING_ROW_SCAN_H_
#define CELLFS_FS_READING_ROW_SCAN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/read.h"
#include "fs/base/outcome.h"
#include "fs/reading/filter_rights.h"
#include "fs/reading/reading.h"
#include "fs/requests/long_work.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// What a query's filter refuses is not shown, and may be much: such a scan is long from its
// beginning.
LongWork::Kind KindOfScan(const Place& place);

// Not thread-safe.
class RowScan {
 public:
  // Of the table of `place`, for what the place shows, as who asks now may see it.
  static OutcomeOr<std::unique_ptr<RowScan>> Open(const Reading& reading, const Caller& caller,
                                                  const Place& place, const Scan& scan);

  // The next rows; none at the end. Of a query the first cells of each, for a row is as wide as its
  // maker likes. EINTR: nobody waits for them any more. ETIMEDOUT: the request
  // has an answer already, and shall give it.
  OutcomeOr<std::vector<RowCells>> Next(size_t max_rows);
  // The next cells of about so many bytes, all of one row; none at the end. A row of which the
  // filter judges the whole comes whole.
  OutcomeOr<RowCells> NextPiece(size_t max_bytes);
  // Whether Next may be called again after it has failed: the scan goes on where it was.
  bool goes_on() const { return goes_on_; }

 private:
  OutcomeOr<std::vector<RowCells>> NextBatch(ScanBatch batch);

  RowScan(ScanSlots& slots, const Place& place, std::shared_ptr<FilterRights> rights,
          std::unique_ptr<Scanner> scanner)
      : slots_(slots),
        kind_(KindOfScan(place)),
        is_query_(place.query() != nullptr),
        rights_(std::move(rights)),
        scanner_(std::move(scanner)) {}

  ScanSlots& slots_;
  const LongWork::Kind kind_;
  const bool is_query_;
  const std::shared_ptr<FilterRights> rights_;  // null: the filter sees all
  const std::unique_ptr<Scanner> scanner_;
  bool goes_on_ = true;
  std::optional<std::string> last_row_;  // that Next has given, of a query
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_ROW_SCAN_H_
