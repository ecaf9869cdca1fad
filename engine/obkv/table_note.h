// SPDX-License-Identifier: MIT
//
// TableNote: what the comment of a family's table says, as JSON:
//
//     {"Hbase": {"TimeToLive": 3600, "MaxVersions": 3},
//      "cellfs": {"id": 1763800000000, "disabled": true, "table": {...}, "family": {...}}}
//
// "Hbase" is what OceanBase's own KV_ATTRIBUTES say, in the same words (MaxVersions missing: no
// bound; TimeToLive missing: for ever), for servers that do not know these; where they are there they
// count. "cellfs" is ours: what neither has a word for.
#ifndef CELLFS_ENGINE_OBKV_TABLE_NOTE_H_
#define CELLFS_ENGINE_OBKV_TABLE_NOTE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/schema.h"

namespace cellfs::obkv {

struct TableNote {
  FamilySchema family;
  Attributes table;       // of the table that the family is of
  int64_t id = 0;         // when that was made, milliseconds; 0: not by us
  bool is_disabled = false;
};

// Of a comment that is no such JSON: nullopt, and the comment is somebody's.
std::optional<TableNote> ReadNote(const std::string& family, std::string_view comment);
std::string WriteNote(const TableNote& note);

// What KV_ATTRIBUTES say, if they are JSON, in place of the note's.
void ReadAttributes(std::string_view attributes, FamilySchema& family);
// The same with what the family says; whatever else is in them stays. Empty: they are not needed.
std::string WriteAttributes(const FamilySchema& family, std::string_view before);

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_TABLE_NOTE_H_
