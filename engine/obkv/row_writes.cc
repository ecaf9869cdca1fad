// SPDX-License-Identifier: MIT
#include "engine/obkv/row_writes.h"

#include <string>
#include <string_view>
#include <variant>

#include "engine/obkv/sql_text.h"

namespace cellfs::obkv {
namespace {

Status CheckLength(const char* what, uint64_t bytes, uint64_t most, StatusCode code) {
  if (bytes <= most) return {};
  return {code, std::string(what) + " of " + std::to_string(bytes) +
                    " bytes is longer than its column takes: " + std::to_string(most)};
}

Status CheckCell(const DescribedFamily& family, const std::string& row,
                 const std::string& qualifier, uint64_t value_bytes, bool has_ttl) {
  constexpr StatusCode kKey = StatusCode::kIllegalArgument;
  CELLFS_RETURN_IF_ERROR(CheckLength("a row", row.size(), family.row_bytes, kKey));
  CELLFS_RETURN_IF_ERROR(
      CheckLength("a qualifier", qualifier.size(), family.qualifier_bytes, kKey));
  CELLFS_RETURN_IF_ERROR(
      CheckLength("a value", value_bytes, family.value_bytes, StatusCode::kValueTooLarge));
  if (!has_ttl || family.has_ttl) return {};
  return {StatusCode::kUnsupportedOperation,
          "the table of family '" + family.note.family.name() +
              "' has no column TTL, so its cells have no time to live of their own"};
}

class RowWriter {
 public:
  RowWriter(const Transaction& transaction, const DescribedTable& table, const std::string& row)
      : transaction_(transaction), table_(table), row_(row) {}

  Status Write(const Cell& cell) {
    if (cell.type == CellType::kPut) return WritePut(cell);
    const bool is_of_family = IsFamilyTombstone(cell.type);
    const bool is_of_one_time =
        cell.type == CellType::kDelete || cell.type == CellType::kDeleteFamilyVersion;
    return Remove(cell.family, is_of_family ? nullptr : &cell.qualifier,
                  is_of_one_time ? "T = ?" : "T >= ?", cell.timestamp);
  }
  Status Withdraw(const WithdrawCell& cell) {
    if (cell.type != CellType::kPut) return {};  // no tombstone is there
    return Remove(cell.family, &cell.qualifier, "T = ?", cell.timestamp);
  }

 private:
  Status WritePut(const Cell& cell) {
    const DescribedFamily& family = table_.families.find(cell.family)->second;
    CELLFS_RETURN_IF_ERROR(CheckCell(family, row_, cell.qualifier, cell.value.size(),
                                     cell.time_to_live != kNoCellTtl));
    std::string sql = "INSERT INTO " + NameOf(cell.family);
    SqlParameters parameters = {row_, cell.qualifier, -cell.timestamp, cell.value};
    if (family.has_ttl) {
      sql += " (K, Q, T, V, TTL) VALUES (?, ?, ?, ?, ?)"
             " ON DUPLICATE KEY UPDATE V = VALUES(V), TTL = VALUES(TTL)";
      parameters.emplace_back(cell.time_to_live != kNoCellTtl ? SqlParameter(cell.time_to_live)
                                                              : SqlParameter());
    } else {
      sql += " (K, Q, T, V) VALUES (?, ?, ?, ?) ON DUPLICATE KEY UPDATE V = VALUES(V)";
    }
    return Change(sql, parameters);
  }

  Status Remove(const std::string& family, const std::string* qualifier, const char* times,
                Timestamp timestamp) {
    std::string sql = "DELETE FROM " + NameOf(family) + " WHERE K = ? AND ";
    SqlParameters parameters = {row_};
    if (qualifier != nullptr) {
      sql += "Q = ? AND ";
      parameters.emplace_back(std::string_view(*qualifier));
    }
    parameters.emplace_back(-timestamp);
    return Change(sql + times, parameters);
  }

  Status Change(const std::string& sql, const SqlParameters& parameters) {
    return transaction_.connection().Change(sql, parameters, transaction_.patience()).status();
  }
  std::string NameOf(const std::string& family) const {
    return TableOfFamily(table_.schema->name(), family);
  }

  const Transaction& transaction_;
  const DescribedTable& table_;
  const std::string& row_;
};

}  // namespace

Status CheckFits(const DescribedTable& table, const RowMutations& mutations) {
  for (const Mutation& mutation : mutations.mutations) {
    const auto* const put = std::get_if<Put>(&mutation);
    if (put == nullptr) continue;
    for (const PutCell& cell : put->cells) {
      const auto family = table.families.find(cell.family);
      if (family == table.families.end()) continue;  // the region says so
      CELLFS_RETURN_IF_ERROR(CheckCell(family->second, mutations.row, cell.qualifier,
                                       cell.value.size(), put->time_to_live != kNoCellTtl));
    }
  }
  return {};
}

Status WriteRow(const Transaction& transaction, const DescribedTable& table,
                const RowBatch& batch) {
  RowWriter writer(transaction, table, batch.row);
  for (const WithdrawCell& cell : batch.withdrawn) CELLFS_RETURN_IF_ERROR(writer.Withdraw(cell));
  for (const Cell& cell : batch.cells) CELLFS_RETURN_IF_ERROR(writer.Write(cell));
  return {};
}

}  // namespace cellfs::obkv
