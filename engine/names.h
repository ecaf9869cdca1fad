// SPDX-License-Identifier: MIT
//
// Names of namespaces, tables and families, and what HBase allows in them
// (TableName.isLegal*, ColumnFamilyDescriptorBuilder.isLegalColumnFamilyName).
#ifndef CELLFS_ENGINE_NAMES_H_
#define CELLFS_ENGINE_NAMES_H_

#include <compare>
#include <string>
#include <string_view>

#include "engine/status_or.h"

namespace cellfs {

inline constexpr std::string_view kDefaultNamespace = "default";
inline constexpr std::string_view kSystemNamespace = "hbase";

struct TableName {
  std::string namespace_name{kDefaultNamespace};
  std::string name;  // HBase's "table qualifier"

  // "t" in the default namespace, else "ns:t".
  std::string ToString() const;
  bool IsSystemTable() const { return namespace_name == kSystemNamespace; }

  friend auto operator<=>(const TableName&, const TableName&) = default;
};

// The inverse of ToString; "default:t" is "t". Does not check what the names are made of.
TableName ParseTableName(std::string_view text);

// [_ letter digit]+, letters and digits of any script; not "zookeeper". kIllegalArgument.
Status CheckNamespaceName(std::string_view name);
// [_ letter digit][- _ . letter digit]*; not "zookeeper". kIllegalArgument.
Status CheckTableName(const TableName& name);
// 1 to 127 bytes, no leading '.', none of ':' '/' '\\' and control bytes. kIllegalArgument.
Status CheckFamilyName(std::string_view name);
// 1 to 32767 bytes. kIllegalArgument.
inline constexpr size_t kMaxRowLength = 32767;
Status CheckRow(std::string_view row);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_NAMES_H_
