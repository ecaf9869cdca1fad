// SPDX-License-Identifier: MIT
#include "src/commands/import_applier.h"

#include <iterator>
#include <variant>

#include "src/commands/import_schema.h"

namespace cellfs {
namespace {

// What is wrong with a line itself, and would be the next time: others may still be done.
bool IsOfLine(const Status& status) { return ExitCodeOf(status) != kExitFailed; }

// Takes cells out of mutations, from the first on.
class CellTaker {
 public:
  explicit CellTaker(std::vector<Mutation>& mutations) : mutations_(mutations) {}

  // Those of one line are of one mutation.
  Mutation Next(size_t cells) {
    auto* const put = std::get_if<Put>(&mutations_[index_]);
    if (put == nullptr || (cell_ == 0 && put->cells.size() == cells))
      return std::move(mutations_[index_++]);
    Put part{.row = put->row, .cells = {}, .time_to_live = put->time_to_live};
    const auto first = put->cells.begin() + static_cast<ptrdiff_t>(cell_);
    std::move(first, first + static_cast<ptrdiff_t>(cells), std::back_inserter(part.cells));
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

Status ImportApplier::Do(ImportWork work) {
  if (auto* const batch = std::get_if<ImportBatch>(&work))
    return Store(batch->table, std::move(batch->steps));
  if (const auto* const line = std::get_if<SchemaLine>(&work)) return MakeSchema(*line);
  const auto& refused = std::get<RefusedLine>(work);
  Refuse(refused.line, refused.why);
  return {};
}

// Of a step that is refused each line is tried alone.
Status ImportApplier::Store(const TableName& table, std::vector<ImportStep> steps) {
  std::vector<RowMutations> rows;
  rows.reserve(steps.size());
  for (ImportStep& step : steps) rows.push_back(std::move(step.mutations));
  const auto results = session_.store.Import(session_.caller, table, rows);
  std::vector<ImportStep> alone;
  for (size_t i = 0; i < results.size(); ++i) {
    const Status& status = results[i].status();
    const std::vector<CellsOfLine>& lines = steps[i].lines;
    if (status.ok()) {
      cells_ += steps[i].cells;
    } else if (!IsOfLine(status)) {
      return {status.code(),
              "line " + std::to_string(lines.front().line) + ": " + status.message()};
    } else if (lines.size() == 1) {
      Refuse(lines.front().line, status.message());
    } else {
      CellTaker taker(rows[i].mutations);
      for (const CellsOfLine& line : lines) {
        alone.push_back({{rows[i].row, {}, rows[i].durability}, {line}, line.cells});
        alone.back().mutations.mutations.push_back(taker.Next(line.cells));
      }
    }
  }
  return alone.empty() ? Status() : Store(table, std::move(alone));
}

Status ImportApplier::MakeSchema(const SchemaLine& line) {
  const Status made = cellfs::MakeSchema(session_, into_, line.schema);
  if (made.ok() || !IsOfLine(made)) return made;
  Refuse(line.line, made.message());
  return {};
}

void ImportApplier::Refuse(int64_t line, const std::string& why) const {
  session_.take({{"line", line}, {"refused", why}});
}

}  // namespace cellfs
