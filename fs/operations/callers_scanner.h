// SPDX-License-Identifier: MIT
//
// CallersScanner: a scan of a command, as its caller may read, and by turns with the long work of
// others: between two batches it holds none of their turns, however long the caller takes to read
// what he got.
#ifndef CELLFS_FS_OPERATIONS_CALLERS_SCANNER_H_
#define CELLFS_FS_OPERATIONS_CALLERS_SCANNER_H_

#include <memory>
#include <utility>
#include <vector>

#include "engine/read.h"
#include "fs/reading/filter_rights.h"
#include "fs/requests/scan_slots.h"

namespace cellfs::fs {

class CallersScanner : public Scanner {
 public:
  // `rights`: null where they do not matter.
  CallersScanner(ScanSlots& slots, bool is_of_one_row, std::unique_ptr<Scanner> scanner,
                 std::shared_ptr<FilterRights> rights)
      : slots_(slots),
        may_be_short_(is_of_one_row),
        scanner_(std::move(scanner)),
        rights_(std::move(rights)) {}

  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override;
  bool at_end() const override { return scanner_->at_end(); }

 private:
  ScanSlots& slots_;
  bool may_be_short_;  // the next step
  const std::unique_ptr<Scanner> scanner_;
  const std::shared_ptr<FilterRights> rights_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_CALLERS_SCANNER_H_
