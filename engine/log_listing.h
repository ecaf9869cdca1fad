// SPDX-License-Identifier: MIT
//
// What stands in the write-ahead log of an embedded store, piece by piece, for who looks into it.
#ifndef CELLFS_ENGINE_LOG_LISTING_H_
#define CELLFS_ENGINE_LOG_LISTING_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/cell.h"
#include "engine/schema.h"
#include "engine/status_or.h"

namespace cellfs {

// Views are good while it is shown.
struct LogEntry {
  enum class Kind {
    kRecord,      // what one sequence id wrote to one row of a table
    kNote,        // what the segments say of each other: `what`
    kDamage,      // what cannot be read, up to `end`: `what`
    kUnfinished,  // a write that is under way, or what a crash left of one: the log ends here
  };
  Kind kind = Kind::kRecord;
  uint64_t segment = 0;
  uint64_t offset = 0;  // in the segment's file
  uint64_t end = 0;     // likewise; the next entry begins there
  TableId table_id = 0;
  std::string table = {};  // its name now, also of one that was dropped and is kept; empty: none is known
  SequenceId sequence_id = 0;
  std::string_view row = {};
  std::span<const CellView> cells = {};
  std::string what = {};
};

// What a cell of a record is: TypeName, or "Withdrawn" and the type of what was taken back.
std::string LoggedTypeName(const CellView& cell);

// False: that is enough.
using TakeLogEntry = std::function<bool(const LogEntry&)>;

// Shows the entries of the log of the store in `directory`, or of one segment of it, in their order.
// It changes nothing, and the store may be open meanwhile, in another process too: then what is
// written comes as far as it was when its segment was read, and segments that are no longer needed
// may go. Behind damage it goes on where there is a whole record. Holds one segment in memory.
// kCorruption: not a store. kIllegalArgument: there is no such segment.
Status ListLog(const std::string& directory, std::optional<uint64_t> segment,
               const TakeLogEntry& take);
// Likewise what was cut off the log and is kept beside it, as "0000000000000001.log.damaged-1234":
// offsets are those that its records had in the segment.
Status ListCutOffLog(const std::string& directory, const std::string& name,
                     const TakeLogEntry& take);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_LISTING_H_
