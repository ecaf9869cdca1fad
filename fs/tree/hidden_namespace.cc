// SPDX-License-Identifier: MIT
#include "fs/tree/hidden_namespace.h"

namespace cellfs::fs {

bool IsHiddenRow(const TableName& table, std::string_view row) {
  if (!table.IsSystemTable()) return false;
  // The quota table's rows begin with what they speak of: n.<namespace>, t.<table>.
  if (table.name == "quota" && row.size() > 2 && row[1] == '.') row.remove_prefix(2);
  if (!row.starts_with(kHiddenNamespace)) return false;
  row.remove_prefix(kHiddenNamespace.size());
  return row.empty() || row.front() == ':';
}

}  // namespace cellfs::fs
