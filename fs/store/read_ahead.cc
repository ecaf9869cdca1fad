// SPDX-License-Identifier: MIT
#include "fs/store/read_ahead.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/filters.h"
#include "fs/nodes/generation.h"

namespace cellfs::fs {
namespace {

constexpr size_t kFirstAmount = 16;
constexpr size_t kGrowth = 4;
constexpr size_t kMostAmount = 1024;
constexpr size_t kMostBytes = size_t{1} << 20;
constexpr size_t kMostWindows = 16;
constexpr size_t kMostAsked = 32;

// The first rows, or pieces of one, of about kMostBytes; the last may be cut off unless the scan is
// at its end.
StatusOr<std::vector<RowCells>> FirstRows(Scanner& scanner, size_t amount) {
  std::vector<RowCells> rows;
  size_t bytes = 0;
  while (!scanner.at_end() && rows.size() < amount && bytes < kMostBytes) {
    CELLFS_ASSIGN_OR_RETURN(auto more, scanner.Next({.max_rows = amount - rows.size(),
                                                     .max_bytes = kMostBytes - bytes,
                                                     .partial_rows = true}));
    for (RowCells& row : more) {
      for (const Cell& cell : row)
        bytes += cell.row.size() + cell.qualifier.size() + cell.value.size() + sizeof cell;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace

std::optional<ReadAhead::Question> ReadAhead::QuestionOf(const Caller& caller,
                                                         const TableName& table, const Get& get) {
  const bool is_plain = caller.is_superuser() && get.filter == nullptr && get.moment == nullptr &&
                        get.store_offset == 0 && get.time_range.IsAll() &&
                        get.family_time_ranges.empty();
  if (!is_plain) return std::nullopt;
  Question question{.table = table,
                    .lengths_only = get.lengths_only,
                    .max_versions = get.max_versions,
                    .row = get.row,
                    .store_limit = get.store_limit};
  for (const auto& [family, qualifiers] : get.columns) {
    question.families.insert(family);
    if (qualifiers.empty()) continue;
    if (qualifiers.size() > 1 || get.columns.size() > 1) return std::nullopt;
    question.qualifier = *qualifiers.begin();
  }
  return question;
}

ReadAhead::Sequence ReadAhead::SequenceOf(const Question& question, bool by_column) {
  Sequence sequence{.table = question.table,
                    .lengths_only = question.lengths_only,
                    .max_versions = question.max_versions};
  if (by_column) sequence.row = question.row;
  if (by_column || !question.lengths_only) sequence.families = question.families;
  return sequence;
}

bool ReadAhead::Covers(const Window& window, const Question& question) {
  const Sequence& sequence = window.sequence;
  if (sequence.table != question.table || sequence.lengths_only != question.lengths_only ||
      sequence.max_versions != question.max_versions) {
    return false;
  }
  // Whether the table has a family that no cell is in, and that was not asked for, says the store.
  const auto& families = sequence.families.empty() ? window.families : sequence.families;
  if (!std::ranges::includes(families, question.families)) return false;
  if (question.families.empty() && !sequence.families.empty()) return false;
  if (window.forgotten.contains(question.row)) return false;
  if (sequence.row && (*sequence.row != question.row || !question.qualifier)) return false;
  if (window.BringsNothing()) return false;
  const std::string& key = KeyIn(sequence, question);
  return key >= window.first && (window.is_to_end || key <= window.last);
}

RowCells ReadAhead::AnswerFrom(const Window& window, const Question& question) {
  RowCells answer;
  const auto cells = window.cells.find(KeyIn(window.sequence, question));
  if (cells == window.cells.end()) return answer;
  int32_t of_family = 0;
  for (const Cell& cell : cells->second) {
    if (!question.families.empty() && !question.families.contains(cell.family)) continue;
    if (question.qualifier && cell.qualifier != *question.qualifier) continue;
    if (answer.empty() || answer.back().family != cell.family) of_family = 0;
    if (question.store_limit >= 0 && of_family >= question.store_limit) continue;
    ++of_family;
    answer.push_back(cell);
  }
  return answer;
}

bool ReadAhead::IsStill(const Window& window) const {
  return freshness_.IsFresh(window.read_at) && window.changes == CountChanges();
}

uint64_t ReadAhead::CountChanges() const {
  return changes_ == Changes::kAny ? Generation::Newest() : 0;
}

void ReadAhead::Forget(const TableName& table, const std::string& row) {
  const std::lock_guard lock(mutex_);
  ++forgotten_;
  for (const WindowPtr& window : windows_) {
    if (window->sequence.table == table) window->forgotten.insert(row);
  }
}

std::optional<ReadAhead::Answer> ReadAhead::Find(const Question& question) {
  for (const WindowPtr& window : windows_) {
    if (!Covers(*window, question) || !IsStill(*window)) continue;
    ++window->used;
    return Answer{AnswerFrom(*window, question), window->read_at};
  }
  return std::nullopt;
}

// What was brought for nothing keeps from bringing more until other reads have displaced it.
size_t ReadAhead::AmountFor(const Sequence& sequence, const std::string& key) const {
  for (const WindowPtr& window : windows_) {
    if (window->sequence != sequence || window->first >= key) continue;
    if (window->BringsNothing()) return 0;
    const bool was_used = window->used * 2 >= std::min(window->asked_for, window->cells.size());
    return was_used ? std::min(window->asked_for * kGrowth, kMostAmount) : 0;
  }
  const bool follows = std::ranges::any_of(asked_, [&](const Asked& asked) {
    return asked.sequence == sequence && asked.key < key;
  });
  return follows ? kFirstAmount : 0;
}

void ReadAhead::Note(Sequence sequence, std::string key) {
  std::erase_if(asked_, [&](const Asked& asked) { return asked.sequence == sequence; });
  asked_.push_front({std::move(sequence), std::move(key)});
  if (asked_.size() > kMostAsked) asked_.pop_back();
}

StatusOr<ReadAhead::WindowPtr> ReadAhead::Bring(const Caller& caller, const Sequence& sequence,
                                                const std::string& first, size_t amount) const {
  auto window = std::make_shared<Window>();
  window->sequence = sequence;
  window->first = first;
  window->asked_for = amount;
  window->read_at = freshness_.Now();
  window->changes = CountChanges();
  Scan scan;
  scan.lengths_only = sequence.lengths_only;
  scan.max_versions = sequence.max_versions;
  for (const std::string& family : sequence.families) scan.columns[family];
  if (sequence.row) {
    scan.start_row = scan.stop_row = *sequence.row;
    scan.include_stop_row = true;
    scan.store_limit = static_cast<int32_t>(amount);
    CELLFS_ASSIGN_OR_RETURN(scan.filter, MakeColumnRangeFilter(first, true, std::nullopt, false));
  } else {
    scan.start_row = first;
    scan.limit = static_cast<int64_t>(amount);
  }
  CELLFS_ASSIGN_OR_RETURN(const auto scanner, store_.OpenScanner(caller, sequence.table, scan));
  CELLFS_ASSIGN_OR_RETURN(std::vector<RowCells> rows, FirstRows(*scanner, amount));
  auto& cells = window->cells;
  for (RowCells& row : rows) {
    for (Cell& cell : row) {
      window->families.insert(cell.family);
      RowCells& of_key = cells[sequence.row ? cell.qualifier : cell.row];
      of_key.push_back(std::move(cell));
    }
  }
  const bool is_whole = scanner->at_end();
  if (!sequence.row && !is_whole && !cells.empty()) cells.erase(std::prev(cells.end()));
  if (!cells.empty()) window->last = cells.rbegin()->first;
  window->is_to_end = is_whole && cells.size() < amount;
  return window;
}

StatusOr<RowCells> ReadAhead::Read(const Caller& caller, const TableName& table, const Get& get) {
  CELLFS_ASSIGN_OR_RETURN(Answer answer, Ask(caller, table, get));
  return std::move(answer.cells);
}

StatusOr<ReadAhead::Answer> ReadAhead::Ask(const Caller& caller, const TableName& table,
                                           const Get& get) {
  const auto read_alone = [&]() -> StatusOr<Answer> {
    const Timestamp read_at = freshness_.Now();
    CELLFS_ASSIGN_OR_RETURN(RowCells cells, store_.Read(caller, table, get));
    return Answer{std::move(cells), read_at};
  };
  const auto question = QuestionOf(caller, table, get);
  const bool is_history = get.max_versions != 1 && changes_ == Changes::kAny;  // and may be long
  if (!question || is_history) return read_alone();
  Sequence sequence;
  size_t amount = 0;
  uint64_t forgotten = 0;
  {
    const std::lock_guard lock(mutex_);
    if (auto answer = Find(*question)) return *std::move(answer);
    forgotten = forgotten_;
    for (const bool by_column : {true, false}) {
      const bool has_columns = question->qualifier && question->max_versions == 1;
      if (amount != 0 || (by_column && !has_columns)) continue;
      sequence = SequenceOf(*question, by_column);
      const std::string& key = KeyIn(sequence, *question);
      amount = AmountFor(sequence, key);
      Note(sequence, key);
    }
  }
  if (amount == 0) return read_alone();
  CELLFS_ASSIGN_OR_RETURN(const WindowPtr window,
                          Bring(caller, sequence, KeyIn(sequence, *question), amount));
  const bool answers = Covers(*window, *question) && IsStill(*window);
  window->used = answers ? 1 : 0;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(windows_, [&](const WindowPtr& old) { return old->sequence == sequence; });
    if (forgotten == forgotten_) windows_.push_front(window);
    if (windows_.size() > kMostWindows) windows_.pop_back();
  }
  if (!answers) return read_alone();
  return Answer{AnswerFrom(*window, *question), window->read_at};
}

}  // namespace cellfs::fs
