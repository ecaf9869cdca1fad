// SPDX-License-Identifier: MIT
//
// FilterHere: runs a filter that cannot be sent, over rows that came without it. The query goes
// without its filter, and without what is counted behind a filter: versions, rows, cells of a
// family. Of a filter for one column the servers send that column alone. ColumnCountGetFilter, which
// is made for Gets, ends no scan here: it counts anew in each row.
//
//     FilterHere filter(scan);
//     auto scanner = OpenScanner(..., filter.WhatToAsk());
//     for (RowCells& row : rows) { auto left = filter.Take(std::move(row)); ... }
#ifndef CELLFS_ENGINE_HBASE_FILTER_HERE_H_
#define CELLFS_ENGINE_HBASE_FILTER_HERE_H_

#include <memory>

#include "engine/read.h"
#include "engine/status_or.h"

namespace cellfs::hbase {

// Not thread-safe.
class FilterHere {
 public:
  // REQUIRES: there is a filter.
  explicit FilterHere(const Scan& scan);

  const Scan& WhatToAsk() const { return asked_; }

  // What the read returns of the row; nothing where the filter leaves it out. Rows come in order.
  StatusOr<RowCells> Take(RowCells row);
  // The filter has had enough.
  bool is_over() const;

 private:
  const std::shared_ptr<Filter> filter_;  // one for all rows: it may count
  Scan scan_;                             // of the row at hand
  Scan asked_;
};

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_FILTER_HERE_H_
