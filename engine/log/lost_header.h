// SPDX-License-Identifier: MIT
//
// The header of a segment that is damaged, told by what is around it: its number is in the file's
// name, and where its records lie in the log is told by these, as their checksums are right in one
// place only. And the newest segment that a loss of power has left without what lies before it.
// Pure functions.
#ifndef CELLFS_ENGINE_LOG_LOST_HEADER_H_
#define CELLFS_ENGINE_LOG_LOST_HEADER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/log/log_format.h"
#include "engine/log/log_tail.h"

namespace cellfs {

// What is known of it from elsewhere.
struct HeaderSurroundings {
  uint64_t number = 0;
  uint64_t store_id = 0;
  std::optional<LogPosition> end_before;  // where the segment before ends, of one that is whole
};

// nullopt: the records, if there are any, do not tell it.
std::optional<SegmentHeader> TellLostHeader(std::string_view segment,
                                            const HeaderSurroundings& around);

// Whether the newest segment counts as not begun: its header, or the end of the segment before it,
// never got to the disk, and so nothing in it was ever synced. `expected` is its header where the
// segment before is whole, and says where the records of that end in any case; `before`: what
// follows them. nullopt: there is no segment before.
bool IsUnbegun(std::string_view segment, const SegmentHeader& expected,
               std::optional<LogTail> before);
// How many records are in such a one, as far as that can be told.
size_t CountInUnbegun(std::string_view segment, const SegmentHeader& expected);

// For people: what is damaged, and what can be made of it.
std::string DescribeLostHeader(std::string_view segment, const std::optional<SegmentHeader>& told);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_LOST_HEADER_H_
