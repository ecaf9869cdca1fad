// SPDX-License-Identifier: MIT
//
// Converter: how values are shown, by the names of methods of HBase's class Bytes: 'f:q:toLong', or
// FORMATTER => 'toString' of all that is shown.
#ifndef CELLFS_SRC_SHELL_CONVERTER_H_
#define CELLFS_SRC_SHELL_CONVERTER_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "engine/status_or.h"

namespace cellfs::shell {

bool IsConverter(std::string_view name);
// kIllegalArgument: the bytes are too few for what they are to be.
StatusOr<std::string> Convert(std::string_view bytes, std::string_view converter);

// The number of 8 bytes that a record's value is.
StatusOr<std::string> ShownNumber(const nlohmann::json& cell);

struct ColumnSpec {
  std::string column;     // "f" or "f:q"
  std::string converter;  // empty: none is said
};
// "f", "f:q", "f:q:toLong", "f:q:c(org.apache.hadoop.hbase.util.Bytes).toLong". What follows a second
// colon and is no converter is of the qualifier.
ColumnSpec ParseColumnSpec(const std::string& text);

}  // namespace cellfs::shell

#endif  // CELLFS_SRC_SHELL_CONVERTER_H_
