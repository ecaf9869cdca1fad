// SPDX-License-Identifier: MIT
#include "src/commands/import_steps.h"

#include <algorithm>
#include <iterator>

namespace cellfs {
namespace {

constexpr size_t kCellsOfStep = 1000;    // of one row
constexpr size_t kCellsOfBatch = 4096;  // that are stored at a time: others wait meanwhile

size_t CellsIn(const Mutation& mutation) {
  const auto* const put = std::get_if<Put>(&mutation);
  return put == nullptr ? 1 : put->cells.size();
}

// Whether it can go on as one put with that before it, which is cheaper.
bool JoinPuts(Mutation& before, Mutation& added) {
  auto* const into = std::get_if<Put>(&before);
  auto* const put = std::get_if<Put>(&added);
  if (into == nullptr || put == nullptr || into->time_to_live != put->time_to_live) return false;
  std::move(put->cells.begin(), put->cells.end(), std::back_inserter(into->cells));
  return true;
}

}  // namespace

bool OneTime::Add(const Mutation& mutation, uint64_t sequence) {
  const Put* const put = std::get_if<Put>(&mutation);
  const bool is_mixed = has_any_ && sequence != sequence_ && (put == nullptr || !only_puts_);
  if (is_mixed || (put != nullptr && !AddPlaces(*put))) return false;
  only_puts_ = put != nullptr && only_puts_;
  has_any_ = true;
  sequence_ = sequence;
  return true;
}

bool OneTime::AddPlaces(const Put& put) {
  for (const PutCell& cell : put.cells) {
    Place place(cell.family, cell.qualifier, -cell.timestamp);
    if (ascending_.empty() || ascending_.back() < place) {
      ascending_.push_back(std::move(place));
      continue;
    }
    if (std::binary_search(ascending_.begin(), ascending_.end(), place)) return false;
    if (!others_.insert(std::move(place)).second) return false;
  }
  return true;
}

void ImportSteps::Add(const TableName& table, Mutation mutation, uint64_t sequence, int64_t line) {
  if (row_.empty()) table_of_row_ = table;
  in_order_ = in_order_ && (row_.empty() || row_.back().sequence <= sequence);
  row_.push_back({std::move(mutation), sequence, line});
}

Status ImportSteps::Refuse(int64_t line, const Status& why) {
  RefusedLine refused{line, why.message()};
  if (row_.empty()) return take_(std::move(refused));
  refused_.push_back(std::move(refused));
  return {};
}

void ImportSteps::DropRow() {
  row_.clear();
  refused_.clear();
  in_order_ = true;
}

// In the order in which it was written, where that is told: what has the same time counts by it.
Status ImportSteps::EndRow() {
  if (!in_order_) {
    std::stable_sort(row_.begin(), row_.end(), [](const Added& a, const Added& b) {
      return a.sequence < b.sequence;
    });
  }
  for (RefusedLine& refused : refused_) CELLFS_RETURN_IF_ERROR(take_(std::move(refused)));
  if (!row_.empty()) {
    if (table_of_row_ != batch_.table) CELLFS_RETURN_IF_ERROR(Finish());
    batch_.table = table_of_row_;
    BeginStep(RowOf(row_.front().mutation));
    one_time_ = OneTime();
  }
  const bool is_alone = row_.size() == 1;
  for (Added& added : row_) CELLFS_RETURN_IF_ERROR(AddToSteps(std::move(added), is_alone));
  DropRow();
  return cells_ >= kCellsOfBatch ? Finish() : Status();
}

// What is alone in its row meets nothing.
Status ImportSteps::AddToSteps(Added added, bool is_alone) {
  if (!is_alone && !one_time_.Add(added.mutation, added.sequence)) {
    const TableName table = batch_.table;
    CELLFS_RETURN_IF_ERROR(Finish());
    batch_.table = table;
    BeginStep(RowOf(added.mutation));
    one_time_ = OneTime();
    one_time_.Add(added.mutation, added.sequence);
  }
  const size_t cells = CellsIn(added.mutation);
  const size_t before = batch_.steps.back().cells;
  if (before > 0 && before + cells > kCellsOfStep) BeginStep(RowOf(added.mutation));
  ImportStep& step = batch_.steps.back();
  step.lines.push_back({added.line, cells});
  step.cells += cells;
  cells_ += cells;
  std::vector<Mutation>& mutations = step.mutations.mutations;
  if (mutations.empty() || !JoinPuts(mutations.back(), added.mutation))
    mutations.push_back(std::move(added.mutation));
  return {};
}

void ImportSteps::BeginStep(const std::string& row) {
  batch_.steps.push_back({{row, {}, durability_}, {}, 0});
}

Status ImportSteps::Finish() {
  cells_ = 0;
  if (batch_.steps.empty()) return {};
  return take_(std::exchange(batch_, {}));
}

}  // namespace cellfs
