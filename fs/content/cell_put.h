// SPDX-License-Identifier: MIT
//
// How bytes become a version of a column: whole, as edits over the value that is there, or appended
// to it. In one atomic step each, through the ColumnChange, which is not told of it yet.
#ifndef CELLFS_FS_CONTENT_CELL_PUT_H_
#define CELLFS_FS_CONTENT_CELL_PUT_H_

#include <time.h>

#include <cstdint>
#include <optional>
#include <string>

#include "engine/caller.h"
#include "engine/mutation.h"
#include "fs/content/column_change.h"
#include "fs/content/effect.h"
#include "fs/nodes/pending_edits.h"
#include "fs/reading/reading.h"

namespace cellfs::fs {

// What the version shall be, beside its bytes.
struct PutAs {
  std::optional<Timestamp> again;  // this one once more, unless something newer has come
  std::optional<timespec> time;    // its timestamp, where that may be
  int64_t time_to_live = kNoCellTtl;
};

// The latest value there; empty where there is none.
StatusOr<std::string> LatestValue(const Reading& reading, const Caller& caller, const Place& place);

// The bytes are there again afterwards, however it ends. `must_be_first`: kTableExists where the
// column has a value.
StatusOr<effect::Put> PutWhole(ColumnChange& change, const Caller& caller, const PutAs& as,
                               std::string& bytes, bool must_be_first, Durability durability);

struct EditedPut {
  effect::Put effect;
  std::string value;
};
// Over the value that is the latest then: a compare and set by value.
StatusOr<EditedPut> PutEdited(ColumnChange& change, const Reading& reading, const Caller& caller,
                              const PutAs& as, const PendingEdits& edits, Durability durability);

// HBase's Append, of q. Which size the value has then is not known.
StatusOr<effect::Put> PutAppended(ColumnChange& change, const Caller& caller,
                                  const std::string& bytes, Durability durability);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_CELL_PUT_H_
