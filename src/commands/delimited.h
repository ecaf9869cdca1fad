// SPDX-License-Identifier: MIT
//
// Delimited: lines of fields with something between them, TSV and CSV, and what each field is, as
// HBase's ImportTsv says it:
//
//     HBASE_ROW_KEY,f:a,f:b,,HBASE_TS_KEY,HBASE_CELL_TTL     (nothing: the field is left out)
// An empty HBASE_CELL_TTL is none.
//
// CSV's fields may stand in double quotes, within which two of them are one, and lines end.
#ifndef CELLFS_SRC_COMMANDS_DELIMITED_H_
#define CELLFS_SRC_COMMANDS_DELIMITED_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mutation.h"
#include "engine/status_or.h"
#include "src/commands/arguments.h"
#include "src/commands/syntax.h"
#include "src/commands/target.h"

namespace cellfs {

class Delimited {
 public:
  enum class Field { kLeftOut, kRow, kTimestamp, kTtl, kValue };
  struct Column {
    Field field = Field::kLeftOut;
    std::string family;  // of kValue
    std::string qualifier;
  };

  // kIllegalArgument: no row is among the columns, two are, or one is none.
  static StatusOr<Delimited> Make(const std::string& columns, char separator, bool quoted);

  const std::vector<Column>& columns() const { return columns_; }
  // Empty fields are no values, and no cells.
  void SkipEmpty() { skips_empty_ = true; }

  // How long the first record in the text is, with its end; nullopt: its end is not in the text.
  std::optional<size_t> FindRecord(std::string_view text) const;
  // A record without its end, as one put. kIllegalArgument: what is wrong with it.
  StatusOr<Put> PutOf(std::string_view record) const;
  // The other way: a record with its end. kIllegalArgument: a field has what cannot stand in one.
  StatusOr<std::string> RecordOf(const std::vector<std::string>& fields) const;

 private:
  Delimited(std::vector<Column> columns, char separator, bool quoted)
      : columns_(std::move(columns)), separator_(separator), quoted_(quoted) {}
  StatusOr<std::vector<std::string>> FieldsOf(std::string_view record) const;

  std::vector<Column> columns_;
  char separator_;
  bool quoted_;
  bool skips_empty_ = false;
};

// What --tsv or --csv, --columns and --separator say; nullopt: neither of the first.
StatusOr<std::optional<Delimited>> DelimitedOf(const Arguments& arguments);
void AddDelimitedOptions(Syntax& syntax);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_DELIMITED_H_
