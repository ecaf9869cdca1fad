// SPDX-License-Identifier: MIT
#include "src/commands/export_delimited.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/commands/cells.h"
#include "src/commands/text_out.h"

namespace cellfs {
namespace {

using Field = Delimited::Field;

class Records {
 public:
  Records(Session& session, const Delimited& delimited)
      : session_(session),
        columns_(delimited.columns()),
        delimited_(delimited),
        out_(session) {
    for (const Delimited::Column& column : columns_) {
      has_timestamp_ |= column.field == Field::kTimestamp;
      has_ttl_ |= column.field == Field::kTtl;
    }
  }

  // Whether somebody still listens.
  bool Add(Cell&& cell) {
    if (cell.row != row_) {
      EndRow();
      row_ = cell.row;
    }
    const Key key{has_timestamp_ ? -cell.timestamp : 0, has_ttl_ ? cell.time_to_live : 0};
    auto [record, is_new] = records_.try_emplace(key);
    std::vector<std::string>& fields = record->second;
    if (is_new) fields.resize(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) FillIn(columns_[i], cell, fields[i]);
    return out_.is_listened_to();
  }
  void Finish() {
    EndRow();
    out_.Send();
  }

 private:
  using Key = std::pair<Timestamp, int64_t>;  // the newest first

  static void FillIn(const Delimited::Column& column, const Cell& cell, std::string& field) {
    switch (column.field) {
      case Field::kRow:
        field = cell.row;
        break;
      case Field::kTimestamp:
        field = std::to_string(cell.timestamp);
        break;
      case Field::kTtl:
        if (cell.time_to_live != kNoCellTtl) field = std::to_string(cell.time_to_live);
        break;
      case Field::kValue:
        if (column.family == cell.family && column.qualifier == cell.qualifier) field = cell.value;
        break;
      case Field::kLeftOut:
        break;
    }
  }
  void EndRow() {
    for (const auto& [key, fields] : records_) {
      const auto record = delimited_.RecordOf(fields);
      if (record.ok()) {
        out_.text() += *record;
        out_.Count();
      } else {
        session_.take({{"refused", record.status().message()}, {"row", row_}});
      }
    }
    records_.clear();
  }

  Session& session_;
  const std::vector<Delimited::Column>& columns_;
  const Delimited& delimited_;
  bool has_timestamp_ = false;
  bool has_ttl_ = false;
  std::string row_;
  std::map<Key, std::vector<std::string>> records_;  // of the row, by fields
  TextOut out_;
};

}  // namespace

Status ExportDelimited(Session& session, const TableName& table, const Delimited& delimited) {
  Scan scan;
  for (const Delimited::Column& column : delimited.columns())
    if (column.field == Field::kValue) scan.columns[column.family].insert(column.qualifier);
  CELLFS_ASSIGN_OR_RETURN(const auto scanner,
                          session.store.OpenScanner(session.caller, table, scan));
  Records records(session, delimited);
  CELLFS_RETURN_IF_ERROR(ForEachCell(
      session, *scanner, [&](Cell&& cell) { return records.Add(std::move(cell)); }));
  records.Finish();
  return {};
}

}  // namespace cellfs
