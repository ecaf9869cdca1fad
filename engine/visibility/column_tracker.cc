// SPDX-License-Identifier: MIT
#include "engine/visibility/column_tracker.h"

namespace cellfs {
namespace {

class WildcardColumnTracker : public ColumnTracker {
 public:
  explicit WildcardColumnTracker(const VersionLimits& limits) : limits_(limits) {}

  void Reset() override { has_column_ = false; }
  bool Done() const override { return false; }
  bool IsDone(Timestamp timestamp) const override {
    return limits_.min_versions <= 0 && IsExpired(timestamp);
  }
  MatchCode CheckColumn(const CellView&) override { return MatchCode::kInclude; }

  MatchCode CheckVersions(const CellView& cell) override {
    if (!has_column_ || cell.qualifier != qualifier_) {
      has_column_ = true;
      qualifier_ = cell.qualifier;
      count_ = 0;
      has_last_ = false;
    } else if (has_last_ && cell.timestamp == last_timestamp_ && cell.type == last_type_) {
      return MatchCode::kSkip;
    }
    if (cell.type == CellType::kPut) ++count_;  // tombstones are no versions
    if (count_ > limits_.max_versions) return MatchCode::kSeekNextColumn;
    if (count_ > limits_.min_versions && IsExpired(cell.timestamp)) {
      return MatchCode::kSeekNextColumn;
    }
    has_last_ = true;
    last_timestamp_ = cell.timestamp;
    last_type_ = cell.type;
    return MatchCode::kInclude;
  }

  MatchCode NextRowOrNextColumn(const CellView&) override { return MatchCode::kSeekNextColumn; }

 private:
  bool IsExpired(Timestamp timestamp) const { return timestamp < limits_.oldest_unexpired; }

  const VersionLimits limits_;
  bool has_column_ = false;
  std::string qualifier_;
  int32_t count_ = 0;
  bool has_last_ = false;
  Timestamp last_timestamp_ = 0;
  CellType last_type_ = CellType::kPut;
};

class ExplicitColumnTracker : public ColumnTracker {
 public:
  ExplicitColumnTracker(ColumnNames columns, const VersionLimits& limits)
      : columns_(*columns), limits_(limits) {
    Reset();
  }

  void Reset() override {
    column_ = columns_.begin();
    BeginColumn();
  }
  bool Done() const override { return column_ == columns_.end(); }
  bool IsDone(Timestamp timestamp) const override {
    return limits_.min_versions <= 0 && IsExpired(timestamp);
  }

  MatchCode CheckColumn(const CellView& cell) override {
    while (!Done()) {
      if (cell.qualifier == *column_) return MatchCode::kInclude;
      has_last_ = false;
      if (cell.qualifier < *column_) return MatchCode::kSeekNextColumn;
      NextColumn();
    }
    return MatchCode::kSeekNextRow;
  }

  MatchCode CheckVersions(const CellView& cell) override {
    if (has_last_ && cell.timestamp == last_timestamp_) return MatchCode::kSkip;
    ++count_;
    if (count_ >= limits_.max_versions ||
        (count_ >= limits_.min_versions && IsExpired(cell.timestamp))) {
      NextColumn();
      return Done() ? MatchCode::kIncludeAndSeekNextRow : MatchCode::kIncludeAndSeekNextColumn;
    }
    has_last_ = true;
    last_timestamp_ = cell.timestamp;
    return MatchCode::kInclude;
  }

  void DoneWithColumn(const CellView& cell) override {
    while (!Done() && cell.qualifier >= *column_) NextColumn();
    has_last_ = false;
  }

  MatchCode NextRowOrNextColumn(const CellView& cell) override {
    DoneWithColumn(cell);
    return Done() ? MatchCode::kSeekNextRow : MatchCode::kSeekNextColumn;
  }

  std::optional<std::string_view> ColumnHint() const override {
    if (Done()) return std::nullopt;
    return *column_;
  }

 private:
  bool IsExpired(Timestamp timestamp) const { return timestamp < limits_.oldest_unexpired; }
  void BeginColumn() {
    count_ = 0;
    has_last_ = false;
  }
  void NextColumn() {
    ++column_;
    BeginColumn();
  }

  const std::set<std::string>& columns_;
  const VersionLimits limits_;
  std::set<std::string>::const_iterator column_;
  int32_t count_ = 0;
  bool has_last_ = false;
  Timestamp last_timestamp_ = 0;
};

class CountingColumnTracker : public ColumnTracker {
 public:
  CountingColumnTracker(ColumnNames columns, const VersionLimits& limits)
      : columns_(columns), limits_(limits) {
    Reset();
  }

  void Reset() override {
    if (columns_ != nullptr) column_ = columns_->begin();
    has_column_ = false;
  }
  bool Done() const override { return columns_ != nullptr && column_ == columns_->end(); }
  // What is expired may still push other puts out.
  bool IsDone(Timestamp) const override { return false; }

  MatchCode CheckColumn(const CellView& cell) override {
    if (columns_ == nullptr) return MatchCode::kInclude;
    for (; !Done(); ++column_) {
      if (cell.qualifier < *column_) return MatchCode::kSeekNextColumn;
      if (cell.qualifier == *column_) return MatchCode::kInclude;
    }
    return MatchCode::kSeekNextRow;
  }

  MatchCode CheckVersions(const CellView& cell) override {
    if (!has_column_ || qualifier_ != cell.qualifier) {
      has_column_ = true;
      qualifier_ = cell.qualifier;
      count_ = 0;
    }
    ++count_;
    if (cell.timestamp < limits_.oldest_unexpired) {
      if (count_ == limits_.min_versions) return MatchCode::kIncludeAndSeekNextColumn;
      if (count_ > limits_.min_versions) return MatchCode::kSeekNextColumn;
    }
    if (count_ == limits_.max_versions) return MatchCode::kIncludeAndSeekNextColumn;
    if (count_ > limits_.max_versions) return MatchCode::kSeekNextColumn;
    return MatchCode::kInclude;
  }

  MatchCode NextRowOrNextColumn(const CellView&) override { return MatchCode::kSeekNextColumn; }

  std::optional<std::string_view> ColumnHint() const override {
    if (columns_ == nullptr || Done()) return std::nullopt;
    return *column_;
  }

 private:
  ColumnNames columns_;
  const VersionLimits limits_;
  std::set<std::string>::const_iterator column_;
  bool has_column_ = false;
  std::string qualifier_;
  int32_t count_ = 0;
};

}  // namespace

std::unique_ptr<ColumnTracker> MakeWildcardColumnTracker(const VersionLimits& limits) {
  return std::make_unique<WildcardColumnTracker>(limits);
}
std::unique_ptr<ColumnTracker> MakeExplicitColumnTracker(ColumnNames columns,
                                                         const VersionLimits& limits) {
  return std::make_unique<ExplicitColumnTracker>(columns, limits);
}
std::unique_ptr<ColumnTracker> MakeCountingColumnTracker(ColumnNames columns,
                                                         const VersionLimits& limits) {
  return std::make_unique<CountingColumnTracker>(columns, limits);
}

}  // namespace cellfs
