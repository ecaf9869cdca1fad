// SPDX-License-Identifier: MIT
//
// RegionScanner: puts the visible cells of a row's families together and shows them to the filter
// (HBase's RegionScannerImpl). The engine's whole read path above the cursors; it knows neither
// disk nor locks.
#ifndef CELLFS_ENGINE_VISIBILITY_REGION_SCANNER_H_
#define CELLFS_ENGINE_VISIBILITY_REGION_SCANNER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/read.h"
#include "engine/schema.h"
#include "engine/status_or.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {

// Opens the cursor of a family, on the state that the present batch shall see. `lengths_only`
// allows the cursor to leave values out.
using CursorSource = std::function<StatusOr<std::unique_ptr<CellCursor>>(const std::string& family,
                                                                         bool lengths_only)>;

struct ScanContext {
  std::shared_ptr<const TableSchema> schema;
  int64_t max_row_size = 0;  // bytes; <= 0: no bound. A row over it is kDoNotRetry (RowTooBig).
};

// Not thread-safe.
class RegionScanner {
 public:
  // kDoNotRetry for a raw scan with columns, and for a reversed scan whose filter loads families on
  // demand.
  static StatusOr<std::unique_ptr<RegionScanner>> Open(const Scan& scan, ScanContext context);
  // A Get is a scan of one row.
  static StatusOr<RowCells> Read(const Get& get, ScanContext context, const CursorSource& source,
                                 Timestamp now);

  ~RegionScanner();

  // The next rows. `source` is used during the call only; a scan goes on after its last row.
  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch, const CursorSource& source,
                                       Timestamp now);
  bool at_end() const;

 private:
  class Implementation;
  RegionScanner(Scan scan, ScanContext context);
  const Scan scan_;
  const std::unique_ptr<Implementation> implementation_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_REGION_SCANNER_H_
