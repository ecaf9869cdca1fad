// SPDX-License-Identifier: MIT
//
// Names and texts as they stand in a statement.
#ifndef CELLFS_ENGINE_OBKV_SQL_TEXT_H_
#define CELLFS_ENGINE_OBKV_SQL_TEXT_H_

#include <string>
#include <string_view>

#include "engine/names.h"

namespace cellfs::obkv {

// `x`, whatever is in it.
std::string Identifier(std::string_view name);
// 'x', in the mode that sessions of ours are in.
std::string Literal(std::string_view text);
// Others may have put rows that are no cells: of the empty row, or whose T is no negated timestamp.
// They are passed over. The second part of a condition.
inline constexpr char kIsCell[] = " AND T <= 0 AND T > -9223372036854775807";
// The table of a family: `namespace`.`table$family`.
std::string TableOfFamily(const TableName& table, std::string_view family);

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_SQL_TEXT_H_
