// SPDX-License-Identifier: MIT
//
// What was cut off the end of the log, and is kept beside the segments. The opening of a store cuts
// off a torn record with the whole ones behind it, also in a segment that was begun meanwhile:
// nobody can say whether power was lost before they were on disk, or whether a record that was
// there is damaged. A repair cuts off damage.
#ifndef CELLFS_ENGINE_LOG_CUT_OFF_LOG_H_
#define CELLFS_ENGINE_LOG_CUT_OFF_LOG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/disk/file_layer.h"

namespace cellfs {

enum class CutOffBy { kOpening, kRepair };

// "0000000000000001.log.cut-1234", by a repair "….log.damaged-1234": what lay in segment 1 from
// offset 1234 on; of another one at the same place "…-2".
//
// Keeps `bytes`, durably, in the log's directory; what is kept already is not kept twice. Answers
// with the name.
StatusOr<std::string> KeepCutOff(FileLayer& files, const std::string& directory, CutOffBy by,
                                 uint64_t segment, size_t offset, std::string_view bytes);
// The name that it is given first.
std::string NameOfCutOff(CutOffBy by, uint64_t segment, size_t offset);
// The names of what is kept there.
StatusOr<std::vector<std::string>> FindCutOff(FileLayer& files, const std::string& directory);

struct CutOffPlace {
  uint64_t segment = 0;
  size_t offset = 0;
};
// nullopt: that is no name of one.
std::optional<CutOffPlace> PlaceOfCutOff(std::string_view name);

// For people: what it means, and what helps. The former once it is cut off, the latter before.
std::string DescribeCutOff(const std::string& directory, const std::string& name);
std::string DescribeTornBeforeRecords(size_t offset, size_t records);
// Of the newest segment, where it counts as not begun (lost_header.h).
std::string DescribeUnbegun(size_t records);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_CUT_OFF_LOG_H_
