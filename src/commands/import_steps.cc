// SPDX-License-Identifier: MIT
#include "src/commands/import_steps.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace cellfs {
namespace {

constexpr size_t kCellsOfStep = 1000;     // of one row
constexpr size_t kCellsOfSteps = 16384;  // that are stored at a time: others wait meanwhile

size_t CellsIn(const Mutation& mutation) {
  if (const auto* put = std::get_if<Put>(&mutation)) return put->cells.size();
  return 1;
}

// Whether it can go on as one put with that before it, which is cheaper.
bool JoinPuts(Mutation& before, Mutation& added) {
  auto* const into = std::get_if<Put>(&before);
  auto* const put = std::get_if<Put>(&added);
  if (into == nullptr || put == nullptr || into->time_to_live != put->time_to_live) return false;
  std::move(put->cells.begin(), put->cells.end(), std::back_inserter(into->cells));
  return true;
}

// Takes the first cells out of the mutations, which are those of a line; `index` is where they begin.
class CellsOfLines {
 public:
  explicit CellsOfLines(std::vector<Mutation>& mutations) : mutations_(mutations) {}

  Mutation Next(size_t cells) {
    auto* const put = std::get_if<Put>(&mutations_[index_]);
    if (put == nullptr || (cell_ == 0 && put->cells.size() == cells))
      return std::move(mutations_[index_++]);
    Put part{.row = put->row, .cells = {}, .time_to_live = put->time_to_live};
    const auto first = put->cells.begin() + static_cast<ptrdiff_t>(cell_);
    const auto last = first + static_cast<ptrdiff_t>(cells);
    std::move(first, last, std::back_inserter(part.cells));
    cell_ += cells;
    if (cell_ == put->cells.size()) {
      ++index_;
      cell_ = 0;
    }
    return Mutation(std::move(part));
  }

 private:
  std::vector<Mutation>& mutations_;
  size_t index_ = 0;
  size_t cell_ = 0;
};

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

void ImportSteps::Refuse(int64_t line, const Status& why) {
  if (row_.empty()) return TakeRefused(line, why.message());
  refused_.push_back({line, why.message()});
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
  for (const Refused& refused : refused_) TakeRefused(refused.line, refused.why);
  refused_.clear();
  if (!row_.empty() && table_of_row_ != table_) {
    CELLFS_RETURN_IF_ERROR(Finish());
    table_ = table_of_row_;
  }
  bool is_first = true;
  one_time_ = OneTime();
  for (Added& added : row_) {
    if (std::exchange(is_first, false)) BeginStep(RowOf(added.mutation));
    CELLFS_RETURN_IF_ERROR(AddToSteps(std::move(added)));
  }
  DropRow();
  return cells_of_steps_ >= kCellsOfSteps ? Finish() : Status();
}

Status ImportSteps::AddToSteps(Added added) {
  if (!one_time_.Add(added.mutation, added.sequence)) {
    const std::string row = RowOf(added.mutation);
    CELLFS_RETURN_IF_ERROR(Finish());
    one_time_ = OneTime();
    one_time_.Add(added.mutation, added.sequence);
    BeginStep(row);
  }
  const size_t cells = CellsIn(added.mutation);
  if (steps_.back().cells + cells > kCellsOfStep && steps_.back().cells > 0)
    BeginStep(RowOf(added.mutation));
  Step& step = steps_.back();
  step.lines.push_back({added.line, cells});
  step.cells += cells;
  cells_of_steps_ += cells;
  std::vector<Mutation>& mutations = step.mutations.mutations;
  if (mutations.empty() || !JoinPuts(mutations.back(), added.mutation))
    mutations.push_back(std::move(added.mutation));
  return {};
}

void ImportSteps::BeginStep(const std::string& row) {
  steps_.push_back({{row, {}, durability_}, {}, 0});
}

Status ImportSteps::Finish() {
  cells_of_steps_ = 0;
  if (steps_.empty()) return {};
  return Apply(std::exchange(steps_, {}));
}

// Of a step that is refused each line is tried alone.
Status ImportSteps::Apply(std::vector<Step> steps) {
  std::vector<RowMutations> rows;
  rows.reserve(steps.size());
  for (Step& step : steps) rows.push_back(std::move(step.mutations));
  const auto results = session_.store.Import(session_.caller, table_, rows);
  std::vector<Step> alone;
  for (size_t i = 0; i < results.size(); ++i) {
    const Status& status = results[i].status();
    const std::vector<OfLine>& lines = steps[i].lines;
    if (status.ok()) {
      cells_ += steps[i].cells;
    } else if (!IsOfLine(status)) {
      return {status.code(),
              "line " + std::to_string(lines.front().number) + ": " + status.message()};
    } else if (lines.size() == 1) {
      TakeRefused(lines.front().number, status.message());
    } else {
      CellsOfLines cells(rows[i].mutations);
      for (const OfLine& line : lines) {
        alone.push_back({{rows[i].row, {}, durability_}, {line}, line.cells});
        alone.back().mutations.mutations.push_back(cells.Next(line.cells));
      }
    }
  }
  return alone.empty() ? Status() : Apply(std::move(alone));
}

void ImportSteps::TakeRefused(int64_t line, const std::string& why) const {
  session_.take({{"line", line}, {"refused", why}});
}

}  // namespace cellfs
