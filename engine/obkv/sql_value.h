// SPDX-License-Identifier: MIT
//
// What goes into a statement and comes out of it. Bytes are bytes: no character set is known here.
#ifndef CELLFS_ENGINE_OBKV_SQL_VALUE_H_
#define CELLFS_ENGINE_OBKV_SQL_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cellfs::obkv {

// Of a `?`; the bytes outlive the call.
using SqlParameter = std::variant<std::monostate, int64_t, std::string_view>;
using SqlParameters = std::vector<SqlParameter>;

// monostate: NULL. Numbers of any kind are int64_t, all else is bytes.
using SqlValue = std::variant<std::monostate, int64_t, std::string>;
using SqlRow = std::vector<SqlValue>;

inline bool IsNull(const SqlValue& value) { return value.index() == 0; }
// REQUIRES: it is a number, or bytes; NULL is 0, or none.
inline int64_t NumberOf(const SqlValue& value) {
  return IsNull(value) ? 0 : std::get<int64_t>(value);
}
inline std::string BytesOf(SqlValue&& value) {
  return IsNull(value) ? std::string() : std::get<std::string>(std::move(value));
}
inline std::string BytesOf(const SqlValue& value) { return BytesOf(SqlValue(value)); }

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_SQL_VALUE_H_
