// SPDX-License-Identifier: MIT
#include "engine/obkv/sql_text.h"

namespace cellfs::obkv {

std::string Identifier(std::string_view name) {
  std::string quoted = "`";
  for (const char c : name) {
    if (c == '`') quoted += c;
    quoted += c;
  }
  return quoted + "`";
}

std::string Literal(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string TableOfFamily(const TableName& table, std::string_view family) {
  return Identifier(table.namespace_name) + "." +
         Identifier(table.name + "$" + std::string(family));
}

}  // namespace cellfs::obkv
