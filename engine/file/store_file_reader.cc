// SPDX-License-Identifier: MIT
#include "engine/file/store_file_reader.h"

namespace cellfs {
namespace {

constexpr char kInOrder[] = " ORDER BY K, Q, T, Y, S";

}  // namespace

StatusOr<Statement*> StoreFileReader::Prepared(std::optional<Statement>& statement,
                                               const std::string& sql) {
  if (!statement.has_value()) {
    CELLFS_ASSIGN_OR_RETURN(statement, database_->Prepare(sql));
  }
  return &*statement;
}

StatusOr<CellTree*> StoreFileReader::Cells(CellSet set) {
  std::optional<CellTree>& cells = Of(set).cells;
  if (!cells.has_value()) {
    CELLFS_ASSIGN_OR_RETURN(const uint32_t root, database_->RootOf(TableOf(set)));
    cells.emplace(*database_, root);
  }
  return &*cells;
}

StatusOr<Statement*> StoreFileReader::MarkersOf(MarkerKind kind, CellSet set, bool by_index) {
  const bool withdrawals = kind == MarkerKind::kWithdrawals;
  const std::string index =
      std::string(" INDEXED BY ") + (withdrawals ? "withdrawals" : TombstonesOf(set));
  // SQLite 3.40 takes a covering index of some rows in spite of NOT INDEXED, unless the condition
  // is none that it knows.
  const std::string y = by_index ? "Y" : "+Y";
  const std::string where =
      withdrawals ? " WHERE " + y + " < -255" : " WHERE " + y + " < -4 AND " + y + " > -256";
  OfSet& of_set = Of(set);
  return Prepared((by_index ? of_set.markers : of_set.unindexed_markers)[static_cast<size_t>(kind)],
                  std::string("SELECT K, Q, T, Y, S, X FROM ") + TableOf(set) +
                      (by_index ? index : "") + where + kInOrder);
}

StatusOr<Statement*> StoreFileReader::RowBefore(CellSet set) {
  return Prepared(Of(set).row_before, std::string("SELECT K FROM ") + TableOf(set) +
                                          " WHERE K < ?1 ORDER BY K DESC LIMIT 1");
}

StatusOr<Statement*> StoreFileReader::LastRow(CellSet set) {
  return Prepared(Of(set).last_row,
                  std::string("SELECT K FROM ") + TableOf(set) + " ORDER BY K DESC LIMIT 1");
}

StatusOr<Statement*> StoreFileReader::Value() {
  return Prepared(value_, "SELECT V FROM long_values WHERE R = ?1");
}

StatusOr<bool> StoreFileReader::LongValue(int64_t reference, std::string* value) {
  CELLFS_ASSIGN_OR_RETURN(Statement* const statement,
                          Prepared(has_value_, "SELECT 1 FROM long_values WHERE R = ?1"));
  statement->Bind(1, reference);
  CELLFS_ASSIGN_OR_RETURN(const bool found, statement->Step());
  statement->Reset();
  if (found) CELLFS_RETURN_IF_ERROR(database_->ReadBlob("long_values", "V", reference, value));
  return found;
}

StatusOr<bool> StoreFileReader::HasTombstones(CellSet set, std::string_view row,
                                              std::string_view qualifier) {
  CELLFS_ASSIGN_OR_RETURN(
      Statement* const statement,
      Prepared(Of(set).tombstone, std::string("SELECT 1 FROM ") + TableOf(set) + " INDEXED BY " +
                                      TombstonesOf(set) +
                                      " WHERE K = ?1 AND Q = ?2 AND Y < -4 AND Y > -256 LIMIT 1"));
  statement->Bind(1, row);
  statement->Bind(2, qualifier);
  CELLFS_ASSIGN_OR_RETURN(const bool has, statement->Step());
  statement->Reset();
  return has;
}

StatusOr<std::string> StoreFileReader::FilterBlock(int64_t number) {
  CELLFS_ASSIGN_OR_RETURN(Statement* const statement,
                          Prepared(filter_block_, "SELECT B FROM filter WHERE N = ?1"));
  statement->Bind(1, number);
  CELLFS_ASSIGN_OR_RETURN(const bool found, statement->Step());
  std::string block(found ? statement->Bytes(0) : std::string_view());
  statement->Reset();
  return block;
}

}  // namespace cellfs
