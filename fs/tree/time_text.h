// SPDX-License-Identifier: MIT
//
// Times as people say them: the names of `.asof` that are not milliseconds, and the TIME of
// commands.
//
//   now  today  yesterday              the last two: their midnight
//   18:00  18:00:30                    today
//   today 18:00  yesterday 18:00
//   -2h  -1h30m  -1w2d                 ago; units w, d, h, m, s
//   2026-11-22  2026-11-22 18:00       also with T for the blank, seconds, a fraction
//   2026-11-22T18:00:00Z               RFC 3339; also +01:00
//   @1767225600  @1767225600.5         seconds since 1970
//   1767225600123                      milliseconds since 1970, which timestamps are
//
// Where no zone is named it is the process's own (TZ). A blank may be written as "_" or "T", for
// names that are awkward to quote.
#ifndef CELLFS_FS_TREE_TIME_TEXT_H_
#define CELLFS_FS_TREE_TIME_TEXT_H_

#include <string>
#include <string_view>

#include "engine/cell.h"
#include "engine/status_or.h"

namespace cellfs::fs {

// Reckoned from `now`. kIllegalArgument, with what would do: it is no time, or before 1970.
StatusOr<Timestamp> ParseTime(std::string_view text, Timestamp now);

// "2026-11-22T17:00:00Z"; what ParseTime reads, but for the fraction of a second.
std::string TimeText(Timestamp time);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_TIME_TEXT_H_
