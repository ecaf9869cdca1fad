// SPDX-License-Identifier: MIT
//
// What follows the intact records of a segment: nothing, zeros, what a crash leaves of the last
// write, or what it does not. Pure functions over the segment's bytes.
#ifndef CELLFS_ENGINE_LOG_LOG_TAIL_H_
#define CELLFS_ENGINE_LOG_LOG_TAIL_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/log/log_format.h"

namespace cellfs {

// Where, from `from` on, the next intact record of a segment begins; npos: nowhere.
size_t FindNextRecord(std::string_view segment, size_t from, LogPosition base);
// How many intact records, without notes, a segment has from `from` on.
size_t CountRecords(std::string_view segment, size_t from, LogPosition base);

// What follows the intact records of a segment.
enum class LogTail {
  kNothing,
  kEnd,      // the note that the next segment is on disk
  kZeros,    // written ahead
  kTorn,     // what the death of the process or of the machine may leave of the last write
  kDamaged,  // what neither does
};
LogTail TailOf(std::string_view segment, size_t end, LogPosition base);
// Of a newest segment whose tail is kDamaged.
inline constexpr std::string_view kDamagedTail =
    "is not what was written, and no crash leaves that";

// Whether a record from `from` on says that the log was on disk beyond a position. Its header has a
// checksum of its own, so the record itself may be damaged.
bool SaysSynced(std::string_view segment, size_t from, LogPosition base, LogPosition position);

// How long the log was on disk when a file was written that says so, and which that is. A log that
// ends before is an older copy, or has lost its end: no crash takes what was synced.
struct KnownEnd {
  LogPosition position = 0;
  std::string by;
};
std::string DescribeShortLog(LogPosition end, const KnownEnd& known);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_LOG_TAIL_H_
