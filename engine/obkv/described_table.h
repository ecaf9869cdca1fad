// SPDX-License-Identifier: MIT
//
// DescribedTable: a table as the database had it when it was asked: the schema that its families'
// tables make together, and what of these the schema does not say.
#ifndef CELLFS_ENGINE_OBKV_DESCRIBED_TABLE_H_
#define CELLFS_ENGINE_OBKV_DESCRIBED_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/obkv/table_note.h"
#include "engine/schema.h"

namespace cellfs::obkv {

struct DescribedFamily {
  TableNote note;
  bool has_note = true;      // else the comment is somebody's
  std::string attributes;    // KV_ATTRIBUTES, where the server keeps them; empty: none
  bool has_ttl = false;      // it has the column TTL
  uint64_t row_bytes = 0;    // that K takes at most
  uint64_t qualifier_bytes = 0;  // Q
  uint64_t value_bytes = 0;      // V
  int64_t made = 0;          // milliseconds; anew where others have altered it
};

struct DescribedTable {
  std::shared_ptr<const TableSchema> schema;
  std::map<std::string, DescribedFamily, std::less<>> families;
  bool is_enabled = true;
};

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_DESCRIBED_TABLE_H_
