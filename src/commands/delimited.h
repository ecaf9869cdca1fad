// SPDX-License-Identifier: MIT
//
// Delimited text (TSV, CSV) as lines about cells, by a list of columns as HBase's ImportTsv takes it:
//
//     HBASE_ROW_KEY,f:name,f:age,HBASE_TS_KEY
#ifndef CELLFS_SRC_COMMANDS_DELIMITED_H_
#define CELLFS_SRC_COMMANDS_DELIMITED_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/status_or.h"

namespace cellfs {

class Delimited {
 public:
  // `columns`: one is HBASE_ROW_KEY; HBASE_TS_KEY and HBASE_CELL_TTL may be there, and a field that is
  // left out has an empty name. `quoted`: a field may stand in double quotes, as in CSV.
  static StatusOr<Delimited> Make(const std::string& columns, char separator, bool quoted);

  // The record goes on in the next line: a quote is open.
  bool GoesOn(const std::string& text) const;
  // A line about each cell. kIllegalArgument: too few fields or too many, no row, no number.
  StatusOr<std::vector<nlohmann::json>> CellsOf(const std::string& text) const;

 private:
  Delimited(std::vector<std::string> columns, char separator, bool quoted)
      : columns_(std::move(columns)), separator_(separator), quoted_(quoted) {}
  std::vector<std::string> FieldsOf(const std::string& text) const;

  std::vector<std::string> columns_;
  char separator_;
  bool quoted_;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_DELIMITED_H_
