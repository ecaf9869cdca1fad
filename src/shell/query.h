// SPDX-License-Identifier: MIT
//
// Query: what `get` and `scan` of HBase's shell ask for in their hash, as arguments of the commands
// of the command line, and how what they find is shown.
#ifndef CELLFS_SRC_SHELL_QUERY_H_
#define CELLFS_SRC_SHELL_QUERY_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "src/shell/value.h"
#include "engine/status_or.h"

namespace cellfs::shell {

class Query {
 public:
  enum class Kind { kGet, kScan, kCount };

  // kIllegalArgument: a key that the command has not, or a value that is none of it.
  static StatusOr<Query> Read(const Hash& hash, Kind kind);

  // "words" is the table and, of a get, the row; what the hash asks for goes beside.
  nlohmann::json Arguments(nlohmann::json words) const;

  StatusOr<std::string> ShownRow(const std::string& row) const;
  // "f1:q"
  StatusOr<std::string> ShownColumn(const nlohmann::json& cell) const;
  // "timestamp=..., value=...", as far as MAXLENGTH goes.
  StatusOr<std::string> ShownCell(const nlohmann::json& cell) const;

 private:
  Status Take(const std::string& key, const Value& value, Kind kind);
  Status TakeRange(const std::string& key, const Value& value);
  Status TakeColumns(const Value& value);
  Status TakeTimeRange(const Value& value);

  nlohmann::json options_ = nlohmann::json::object();
  std::vector<std::string> columns_;               // words
  std::map<std::string, std::string> converters_;  // by "family:qualifier"
  std::string converter_;                          // of all that is shown
  int64_t longest_ = -1;
};

}  // namespace cellfs::shell

#endif  // CELLFS_SRC_SHELL_QUERY_H_
