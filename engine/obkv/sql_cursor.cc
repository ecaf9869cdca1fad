// SPDX-License-Identifier: MIT
#include "engine/obkv/sql_cursor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/obkv/sql_text.h"

namespace cellfs::obkv {
namespace {

// Rows of a batch: the first is small, for most readers want little.
constexpr size_t kFirstBatch = 32;
constexpr size_t kLargestBatch = 1024;
// A longer value is fetched by itself, so that a batch is at most a few megabytes.
const std::string kInlineBytes = "4096";

// The columns of a SELECT, in this order.
enum Column : size_t { kK, kQ, kT, kBytes, kV, kTtlOfCell };

class SqlCursor : public CellCursor {
 public:
  SqlCursor(Connection& connection, SqlScope scope, const Patience& patience)
      : connection_(connection), scope_(std::move(scope)), patience_(patience) {}

  Status Seek(const CellPlace& place) override {
    if (IsInBatch(place)) {
      const auto is_before = [&](const SqlRow& row) { return IsBefore(ViewOf(row), place); };
      at_ = static_cast<size_t>(std::ranges::partition_point(rows_, is_before) - rows_.begin());
      Show();
      return {};
    }
    batch_size_ = kFirstBatch;
    return ReadFrom(place);
  }

  Status SeekToRowBefore(std::string_view row) override {
    if (scope_.only_row) {
      if (row.empty() || *scope_.only_row < row) return ReadFrom({*scope_.only_row});
      StandAtEnd();
      return {};
    }
    std::string sql = "SELECT K FROM " + scope_.table + " WHERE K > ''";
    SqlParameters parameters;
    if (!row.empty()) {
      sql += " AND K < ?";
      parameters.emplace_back(row);
    }
    sql += std::string(kIsCell) + " ORDER BY K DESC, Q DESC, T DESC LIMIT 1";
    CELLFS_ASSIGN_OR_RETURN(const auto found, connection_.Query(sql, parameters, patience_));
    if (found.empty()) {
      StandAtEnd();
      return {};
    }
    const std::string before = BytesOf(found.front().front());
    return ReadFrom({before});
  }

  Status Next() override {
    ++at_;
    if (at_ < rows_.size() || is_last_) {
      Show();
      return {};
    }
    const std::string row = BytesOf(rows_.back()[kK]);
    const std::string qualifier = BytesOf(rows_.back()[kQ]);
    const Timestamp timestamp = -NumberOf(rows_.back()[kT]);
    batch_size_ = std::min(4 * batch_size_, kLargestBatch);
    // Behind it; before the column's oldest timestamp there is nothing.
    return ReadFrom({row, qualifier, timestamp - 1});
  }

  bool valid() const override { return at_ < rows_.size(); }
  const CellView& cell() const override { return view_; }

  Status LoadValue() override {
    if (scope_.lengths_only || has_value_) return {};
    const SqlRow& row = rows_[at_];
    CELLFS_ASSIGN_OR_RETURN(
        auto found, connection_.Query("SELECT V FROM " + scope_.table +
                                          " WHERE K = ? AND Q = ? AND T = ?" + Locking(),
                                      {view_.row, view_.qualifier, NumberOf(row[kT])},
                                      patience_));
    if (found.empty()) return {StatusCode::kUnavailable, "a cell has gone while it was read"};
    value_ = BytesOf(std::move(found.front().front()));
    view_.value = value_;
    view_.value_length = value_.size();
    has_value_ = true;
    return {};
  }
  void TakeValue(std::string* value) override {
    if (view_.value.data() == value_.data() && !value_.empty()) {
      *value = std::exchange(value_, {});
      view_.value = {};
    } else {
      value->assign(view_.value);
    }
  }

  StatusOr<bool> MayHaveFamilyTombstones(std::string_view) override { return false; }

 private:
  const char* Locking() const { return scope_.for_update ? " FOR UPDATE" : ""; }

  // Whether the first cell that is not before the place is known.
  bool IsInBatch(const CellPlace& place) const {
    if (rows_.empty() || !IsBefore(ViewOf(rows_.front()), place)) return false;
    return is_last_ || !IsBefore(ViewOf(rows_.back()), place);
  }

  static CellView ViewOf(const SqlRow& row) {
    CellView view;
    view.row = std::get<std::string>(row[kK]);
    view.qualifier = std::get<std::string>(row[kQ]);
    view.timestamp = -NumberOf(row[kT]);
    return view;
  }

  void StandAtEnd() {
    rows_.clear();
    at_ = 0;
    is_last_ = true;
  }

  void Show() {
    if (!valid()) return;
    const SqlRow& row = rows_[at_];
    view_ = ViewOf(row);
    view_.value_length = static_cast<uint64_t>(NumberOf(row[kBytes]));
    has_value_ = scope_.lengths_only || !IsNull(row[kV]) || view_.value_length == 0;
    if (!IsNull(row[kV])) view_.value = std::get<std::string>(row[kV]);
    if (scope_.has_ttl && !IsNull(row[kTtlOfCell])) view_.time_to_live = NumberOf(row[kTtlOfCell]);
  }

  Status ReadFrom(const CellPlace& place) {
    std::string sql = "SELECT K, Q, T, LENGTH(V)";
    sql += scope_.lengths_only ? ", NULL" : ", IF(LENGTH(V) <= " + kInlineBytes + ", V, NULL)";
    if (scope_.has_ttl) sql += ", TTL";
    sql += " FROM " + scope_.table;
    SqlParameters parameters;
    AddConditions(place, sql, parameters);
    sql += std::string(kIsCell) + " ORDER BY K, Q, T LIMIT " + std::to_string(batch_size_) + Locking();
    // The place may lie in the rows that are given up.
    CELLFS_ASSIGN_OR_RETURN(auto rows, connection_.Query(sql, parameters, patience_));
    rows_ = std::move(rows);
    is_last_ = rows_.size() < batch_size_;
    at_ = 0;
    Show();
    return {};
  }

  // K, Q and T at or after the place. In this form servers find it in the primary key.
  void AddConditions(const CellPlace& place, std::string& sql, SqlParameters& parameters) const {
    const bool is_whole_row = place.qualifier.empty() && place.timestamp == kLatestTimestamp;
    std::string behind;  // of the row
    if (!is_whole_row) behind = "(Q > ? OR (Q = ? AND T >= ?))";
    const auto add_behind = [&] {
      if (is_whole_row) return;
      parameters.insert(parameters.end(), {place.qualifier, place.qualifier, -place.timestamp});
    };
    if (scope_.only_row) {
      const bool is_past = place.row > *scope_.only_row;
      sql += " WHERE K = ?";
      parameters.emplace_back(std::string_view(*scope_.only_row));
      if (is_past) sql += " AND FALSE";
      if (place.row == *scope_.only_row && !is_whole_row) {
        sql += " AND " + behind;
        add_behind();
      }
      return;
    }
    sql += place.row.empty() ? " WHERE K > ?" : " WHERE K >= ?";
    parameters.emplace_back(place.row);
    if (!is_whole_row) {
      sql += " AND (K > ? OR " + behind + ")";
      parameters.emplace_back(place.row);
      add_behind();
    }
    if (!scope_.stop_row.empty()) {
      sql += " AND K < ?";
      parameters.emplace_back(std::string_view(scope_.stop_row));
    }
  }

  Connection& connection_;
  const SqlScope scope_;
  const Patience patience_;
  std::vector<SqlRow> rows_;  // of the batch
  size_t at_ = 0;             // among them
  bool is_last_ = false;      // there are no others behind it
  size_t batch_size_ = kFirstBatch;
  CellView view_;
  bool has_value_ = false;
  std::string value_;  // a long one that was fetched
};

}  // namespace

std::unique_ptr<CellCursor> OpenSqlCursor(Connection& connection, SqlScope scope,
                                          const Patience& patience) {
  return std::make_unique<SqlCursor>(connection, std::move(scope), patience);
}

}  // namespace cellfs::obkv
