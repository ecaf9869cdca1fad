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
#include "fs/base/outcome.h"
#include "fs/content/column_change.h"
#include "fs/content/effect.h"
#include "fs/files/pending_edits.h"
#include "fs/reading/reading.h"

namespace cellfs::fs {

// What the version shall be, beside its bytes.
struct PutAs {
  std::optional<Timestamp> again;  // this one once more, unless something newer has come
  std::optional<timespec> time;    // its timestamp, where that may be
  int64_t time_to_live = kNoCellTtl;
};

// The latest value there; nullopt: there is none.
StatusOr<std::optional<std::string>> LatestValue(const Reading& reading, const Caller& caller,
                                                 const Place& place);

// The bytes are there again afterwards, however it ends. `must_be_first`: kTableExists where the
// column has a value.
StatusOr<effect::Put> PutWhole(ColumnChange& change, const Caller& caller, const PutAs& as,
                               std::string& bytes, bool must_be_first, Durability durability);

struct EditedPut {
  effect::Put effect;
  std::string value;
};
// What the edits go over: the value that is the latest then, or nothing where there is none; or
// that value and nothing else. Where it has gone, for another client has removed the file, the
// latter is ESTALE: what was written last would come back with zeros before it.
enum class Over { kAnything, kValue };
// A compare and set by value.
OutcomeOr<EditedPut> PutEdited(ColumnChange& change, const Reading& reading, const Caller& caller,
                               const PutAs& as, const PendingEdits& edits, Over over,
                               Durability durability);

// HBase's Append, of q. Which size the value has then is not known.
StatusOr<effect::Put> PutAppended(ColumnChange& change, const Caller& caller,
                                  const std::string& bytes, Durability durability);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_CELL_PUT_H_
