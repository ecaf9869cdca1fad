// SPDX-License-Identifier: MIT
#include "fs/store/read_ahead.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/filters.h"

namespace cellfs::fs {
namespace {

constexpr size_t kFirstAmount = 16;
constexpr size_t kGrowth = 4;
constexpr size_t kMostAmount = 1024;
constexpr size_t kMostBytes = size_t{1} << 20;
// For who reads here and there.
constexpr size_t kManyScattered = 32;
constexpr size_t kWorthIt = 16;  // of so many one is used
constexpr size_t kMostScattered = 20'000;
constexpr size_t kMostScatteredBytes = size_t{4} << 20;
// Of all that is kept.
constexpr size_t kMostBytesKept = size_t{16} << 20;
constexpr size_t kMostSequences = 64;
// Of one sequence.
constexpr size_t kMostWindows = 48;
constexpr size_t kMostUnused = 16;
constexpr size_t kMostKeys = 48;
// Of a short row or family: cells of each family, answers about each name.
constexpr int32_t kShort = 16;
constexpr int kAnswersOfEach = 2;  // look-up and open
constexpr size_t kMostBytesOfDirectory = size_t{64} << 10;
constexpr size_t kMostDirectories = 64;
// What was brought for nothing keeps from bringing more for so long.
constexpr int64_t kLongAgo = 10'000;  // milliseconds

size_t BytesOf(const RowCells& cells) {
  size_t bytes = 0;
  for (const Cell& cell : cells)
    bytes += cell.row.size() + cell.qualifier.size() + cell.value.size() + sizeof cell;
  return bytes;
}

// The last of them that begins below the key; its end where none does.
template <typename Windows>
auto LastBelow(Windows& windows, const std::string& key) {
  const auto behind = windows.lower_bound(key);
  return behind == windows.begin() ? windows.end() : std::prev(behind);
}

// The first rows, or pieces of one, of about so many bytes; the last may be cut off unless the scan
// is at its end.
StatusOr<std::vector<RowCells>> FirstRows(Scanner& scanner, size_t amount, size_t most_bytes) {
  std::vector<RowCells> rows;
  size_t bytes = 0;
  while (!scanner.at_end() && rows.size() < amount && bytes < most_bytes) {
    CELLFS_ASSIGN_OR_RETURN(auto more, scanner.Next({.max_rows = amount - rows.size(),
                                                     .max_bytes = most_bytes - bytes,
                                                     .partial_rows = true}));
    for (RowCells& row : more) {
      bytes += BytesOf(row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace

std::optional<ReadAhead::Question> ReadAhead::QuestionOf(const Caller& caller,
                                                         const TableName& table,
                                                         const Get& get) const {
  const bool is_of_time = get.time_range.IsAll() || histories_ == Histories::kBrought;
  const bool is_plain = caller.is_superuser() && get.filter == nullptr && get.moment == nullptr &&
                        get.store_offset == 0 && is_of_time && get.family_time_ranges.empty();
  if (!is_plain) return std::nullopt;
  Question question{.table = table,
                    .lengths_only = get.lengths_only,
                    .max_versions = get.max_versions,
                    .time_range = get.time_range,
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
                    .max_versions = question.max_versions,
                    .time_range = question.time_range};
  if (by_column) sequence.row = question.row;
  if (by_column || !question.lengths_only) sequence.families = question.families;
  return sequence;
}

bool ReadAhead::MayAnswer(const Sequence& sequence, const Question& question) {
  return sequence.table == question.table && sequence.lengths_only == question.lengths_only &&
         sequence.max_versions == question.max_versions &&
         sequence.time_range == question.time_range &&
         (!sequence.row || (*sequence.row == question.row && question.qualifier));
}

bool ReadAhead::Covers(const Window& window, const Question& question) const {
  const Sequence& sequence = window.sequence;
  if (!MayAnswer(sequence, question)) return false;
  const std::string& key = KeyIn(sequence, question);
  if (!IsInside(window, key) || window.forgotten.contains(key)) return false;
  // Of a family that the table does not have the store says so.
  const auto& families = sequence.families.empty() ? window.families : sequence.families;
  if (!std::ranges::includes(families, question.families)) return false;
  return !question.families.empty() || sequence.families.empty();
}

RowCells ReadAhead::AnswerFrom(const Window& window, const Question& question) {
  const auto cells = window.cells.find(KeyIn(window.sequence, question));
  return cells == window.cells.end() ? RowCells() : AnswerFrom(cells->second, question);
}

RowCells ReadAhead::AnswerFrom(const RowCells& cells, const Question& question) {
  RowCells answer;
  int32_t of_family = 0;
  for (const Cell& cell : cells) {
    if (!question.families.empty() && !question.families.contains(cell.family)) continue;
    if (question.qualifier && cell.qualifier != *question.qualifier) continue;
    if (answer.empty() || answer.back().family != cell.family) of_family = 0;
    if (question.store_limit >= 0 && of_family >= question.store_limit) continue;
    ++of_family;
    answer.push_back(cell);
  }
  return answer;
}

// ---- What this mount changes --------------------------------------------------------------------

void ReadAhead::ForgetKeyIn(Window& window, const std::string& key) {
  const bool is_being_read = window.last.empty();
  const bool is_inside =
      key >= window.first && (is_being_read || window.is_to_end || key <= window.last);
  if (is_inside) window.forgotten.insert(key);
}

void ReadAhead::ForgetIn(Window& window, const Mutation& mutation) const {
  const auto forget = [&](const std::string& key) { ForgetKeyIn(window, key); };
  if (!window.sequence.row) return forget(RowOf(mutation));
  if (*window.sequence.row != RowOf(mutation)) return;
  const std::string& family = *window.sequence.families.begin();
  const auto forget_cells = [&](const auto& cells) {
    for (const auto& cell : cells) {
      if (cell.family == family) forget(cell.qualifier);
    }
  };
  if (const auto* const put = std::get_if<Put>(&mutation)) return forget_cells(put->cells);
  if (const auto* const append = std::get_if<Append>(&mutation)) return forget_cells(append->cells);
  if (const auto* const added = std::get_if<Increment>(&mutation))
    return forget_cells(added->cells);
  window.is_void = true;
}

void ReadAhead::Forget(const TableName& table, const RowMutations& mutations) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  std::erase_if(directories_, [&](const Directory& directory) {
    return directory.table == table && directory.row == mutations.row;
  });
  const auto forget = [&](const WindowPtr& window) {
    for (const Mutation& mutation : mutations.mutations) ForgetIn(*window, mutation);
  };
  for (Asked& asked : asked_) {
    if (asked.sequence.table != table) continue;
    if (asked.sequence.row && *asked.sequence.row != mutations.row) continue;
    for (const auto& [key, window] : asked.windows) forget(window);
  }
  for (const WindowPtr& window : bringing_) {
    if (window->sequence.table == table) forget(window);
  }
}

void ReadAhead::Forget(const TableName& table, const std::string& row) {
  Delete all_of_it;
  all_of_it.row = row;
  Forget(table, RowMutations::Of(std::move(all_of_it)));
}

bool ReadAhead::SeenVersion::IsIn(const RowCells& cells) const {
  return std::ranges::any_of(cells, [&](const Cell& cell) {
    return cell.timestamp == version && cell.family == family && cell.qualifier == qualifier;
  });
}

void ReadAhead::ForgetWithout(const SeenVersion& seen, bool may_show, Window& window) {
  const Sequence& sequence = window.sequence;
  if (sequence.table != seen.table || (sequence.row && *sequence.row != seen.row)) return;
  if (!sequence.families.empty() && !sequence.families.contains(seen.family)) return;
  const std::string& key = sequence.row ? seen.qualifier : seen.row;
  const auto cells = may_show ? window.cells.find(key) : window.cells.end();
  if (cells == window.cells.end() || !seen.IsIn(cells->second)) ForgetKeyIn(window, key);
}

void ReadAhead::ForgetWithout(const SeenVersion& seen) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  std::erase_if(directories_, [&](const Directory& directory) {
    return directory.table == seen.table && directory.row == seen.row &&
           directory.families.contains(seen.family) && !seen.IsIn(directory.cells);
  });
  for (Asked& asked : asked_) {
    for (const auto& [key, window] : asked.windows) ForgetWithout(seen, true, *window);
  }
  for (const WindowPtr& window : bringing_) ForgetWithout(seen, false, *window);
}

void ReadAhead::Forget(const TableName& table) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  std::erase_if(directories_,
                [&](const Directory& directory) { return directory.table == table; });
  std::erase_if(asked_, [&](const Asked& asked) { return asked.sequence.table == table; });
  for (const WindowPtr& window : bringing_) window->is_void |= window->sequence.table == table;
}

// ---- What is at hand ----------------------------------------------------------------------------

ReadAhead::WindowPtr ReadAhead::Find(const Question& question) {
  for (Asked& asked : asked_) {
    if (!MayAnswer(asked.sequence, question)) continue;
    const std::string& key = KeyIn(asked.sequence, question);
    auto found = asked.windows.find(key);
    if (found == asked.windows.end()) found = LastBelow(asked.windows, key);
    if (found != asked.windows.end() && Covers(*found->second, question)) return found->second;
  }
  return nullptr;
}

ReadAhead::Asked& ReadAhead::AskedIn(const Sequence& sequence) {
  const auto found = std::ranges::find(asked_, sequence, &Asked::sequence);
  if (found != asked_.end()) {
    asked_.splice(asked_.begin(), asked_, found);
  } else {
    asked_.push_front({sequence, {}, {}, {}, {}});
    if (asked_.size() > kMostSequences) asked_.pop_back();
  }
  return asked_.front();
}

bool ReadAhead::IsInside(const Window& window, const std::string& key) const {
  return !window.BringsNothing() && !window.is_void && freshness_.IsFresh(window.read_at) &&
         key >= window.first && (window.is_to_end || key <= window.last);
}

bool ReadAhead::IsLongAgo(Timestamp when) const { return freshness_.Now() - when > kLongAgo; }

bool ReadAhead::Plan(Asked& asked, const std::string& key, Window& window) const {
  std::erase_if(asked.windows, [&](const auto& entry) {
    const Window& old = *entry.second;
    const bool is_waste = old.is_scattered && !freshness_.IsFresh(old.read_at) &&
                          old.used * kWorthIt < old.cells.size();
    if (is_waste) asked.not_worth_it = old.read_at;
    return is_waste || IsLongAgo(old.read_at);
  });
  window.sequence = asked.sequence;
  window.first = key;
  window.asked_for = AmountFor(asked, key);
  return window.asked_for != 0 || PlanScattered(asked, key, window);
}

// Of rows alone: columns of one row that are asked for one by one are not many, or are listed.
bool ReadAhead::PlanScattered(Asked& asked, const std::string& key, Window& window) const {
  if (asked.sequence.row || (asked.not_worth_it && !IsLongAgo(*asked.not_worth_it))) return false;
  auto before = asked.windows.find(key);
  if (before == asked.windows.end()) before = LastBelow(asked.windows, key);
  const bool is_inside = before != asked.windows.end() && before->second->is_scattered;
  const Window* const old = is_inside ? before->second.get() : nullptr;
  // It is there, but for what was changed since then.
  if (old != nullptr && freshness_.IsFresh(old->read_at)) return false;
  Scattered& scattered = asked.scattered;
  if (!freshness_.IsFresh(scattered.since)) scattered = {freshness_.Now(), 0, key, key};
  scattered.first = std::min(scattered.first, key);
  scattered.last = std::max(scattered.last, key);
  if (old != nullptr) scattered.first = std::min(scattered.first, old->first);
  if (++scattered.count < kManyScattered && old == nullptr) return false;
  window.first = scattered.first;
  window.asked_for = kMostScattered;
  window.is_scattered = true;
  return true;
}

size_t ReadAhead::AmountFor(Asked& asked, const std::string& key) const {
  const auto note = [&] {
    std::erase(asked.keys, key);
    asked.keys.push_front(key);
    if (asked.keys.size() > kMostKeys) asked.keys.pop_back();
  };
  const std::string* last_key = nullptr;
  for (const std::string& other : asked.keys) {
    if (other < key && (last_key == nullptr || other > *last_key)) last_key = &other;
  }
  auto window = asked.windows.find(key);
  if (window == asked.windows.end()) window = LastBelow(asked.windows, key);
  // What is there does not answer this, or was changed since then.
  if (window != asked.windows.end() && IsInside(*window->second, key)) return 0;
  window = LastBelow(asked.windows, key);
  // Where somebody has asked in between, it was not this window that he goes on from.
  if (window != asked.windows.end() && (last_key == nullptr || *last_key <= window->second->last ||
                                        *last_key <= window->first)) {
    const Window& before = *window->second;
    if (before.is_scattered) return 0;
    const auto known = before.cells.lower_bound(key);
    if (known == before.cells.end()) {
      if (before.WasUsed()) return std::min(before.asked_for * kGrowth, kMostAmount);
      if (!before.BringsNothing()) note();
      return 0;
    }
    // Somebody is in the midst of it, and it has grown old: it was too long for him.
    const auto behind = static_cast<size_t>(std::distance(before.cells.begin(), known));
    if (before.used * 2 < behind) return 0;
    asked.windows.erase(window);
    return std::clamp(behind * 2, kFirstAmount, kMostAmount);
  }
  const bool follows = last_key != nullptr;
  note();
  const auto unused = std::ranges::count_if(
      asked.windows, [](const auto& entry) { return !entry.second->WasUsed(); });
  return follows && static_cast<size_t>(unused) < kMostUnused ? kFirstAmount : 0;
}

void ReadAhead::Keep(const WindowPtr& window) {
  Asked& asked = AskedIn(window->sequence);
  std::erase_if(asked.windows, [&](const auto& entry) {
    const Window& old = *entry.second;
    const bool ends_there = window->is_to_end || (!old.is_to_end && old.last <= window->last);
    return old.first >= window->first && ends_there;
  });
  if (window->is_scattered) {
    if (!window->is_to_end && window->last < asked.scattered.last)
      asked.not_worth_it = window->read_at;
    asked.scattered = {};
  }
  asked.windows.insert_or_assign(window->first, window);
  DropOldest();
}

// Of the latest sequence, where there are too many; of all, where they are too large.
void ReadAhead::DropOldest() {
  const auto older = [](const auto& a, const auto& b) {
    return a.second->read_at < b.second->read_at;
  };
  auto& latest = asked_.front().windows;
  if (latest.size() > kMostWindows) latest.erase(std::ranges::min_element(latest, older));
  size_t bytes = 0;
  for (const Asked& asked : asked_) {
    for (const auto& [key, window] : asked.windows) bytes += window->bytes;
  }
  for (auto asked = asked_.rbegin(); asked != asked_.rend() && bytes > kMostBytesKept; ++asked) {
    while (!asked->windows.empty() && bytes > kMostBytesKept) {
      const auto oldest = std::ranges::min_element(asked->windows, older);
      bytes -= oldest->second->bytes;
      asked->windows.erase(oldest);
    }
  }
}

// ---- What a look at a directory brings ----------------------------------------------------------

bool ReadAhead::IsDirectory(const Question& question) {
  return question.lengths_only && question.max_versions == 1 && question.time_range.IsAll() &&
         !question.qualifier && question.store_limit == 1 && question.families.size() <= 1;
}

// Not about the directory that was asked for itself: who looks there again wants to see it.
std::optional<ReadAhead::Answer> ReadAhead::FindInDirectory(const Question& question) {
  if (!question.lengths_only || question.max_versions != 1 || question.families.size() != 1 ||
      !question.time_range.IsAll()) {
    return std::nullopt;
  }
  const std::string& family = *question.families.begin();
  for (Directory& directory : directories_) {
    if (directory.row != question.row || directory.table != question.table) continue;
    if (!freshness_.IsFresh(directory.read_at) || !directory.families.contains(family)) continue;
    if (!question.qualifier && !directory.is_row) continue;
    int& answers = directory.answers[family + ':' + question.qualifier.value_or("")];
    if (++answers > kAnswersOfEach) continue;
    return Answer{AnswerFrom(directory.cells, question), directory.read_at};
  }
  return std::nullopt;
}

StatusOr<ReadAhead::Answer> ReadAhead::ReadDirectory(const Caller& caller,
                                                     const Question& question, Get get) {
  Directory directory{
      question.table, question.row, question.families.empty(), question.families, {},
      freshness_.Now(), {}};
  uint64_t changes_before = 0;
  {
    const std::lock_guard lock(mutex_);
    changes_before = changes_;
  }
  get.store_limit = kShort;
  CELLFS_ASSIGN_OR_RETURN(directory.cells, store_.Read(caller, question.table, get));
  Answer answer{AnswerFrom(directory.cells, question), directory.read_at};
  if (directory.is_row) {
    const auto schema = store_.DescribeTable(question.table);
    if (!schema.ok()) return answer;
    for (const auto& [family, its_schema] : (*schema)->families) directory.families.insert(family);
  }
  std::map<std::string_view, int32_t> lengths;
  bool is_short = !directory.cells.empty() && BytesOf(directory.cells) <= kMostBytesOfDirectory;
  for (const Cell& cell : directory.cells) is_short &= ++lengths[cell.family] < kShort;
  const std::lock_guard lock(mutex_);
  if (!is_short || changes_ != changes_before) return answer;
  std::erase_if(directories_, [&](const Directory& other) {
    return other.row == question.row && other.table == question.table;
  });
  directories_.push_front(std::move(directory));
  if (directories_.size() > kMostDirectories) directories_.pop_back();
  return answer;
}

// ---- Reading ------------------------------------------------------------------------------------

// A window that is being read.
class ReadAhead::Bringing {
 public:
  Bringing(ReadAhead& ahead, const WindowPtr& window) : ahead_(ahead) {
    window->read_at = ahead_.freshness_.Now();
    const std::lock_guard lock(ahead_.mutex_);
    at_ = ahead_.bringing_.insert(ahead_.bringing_.end(), window);
  }
  Bringing(const Bringing&) = delete;
  Bringing& operator=(const Bringing&) = delete;
  ~Bringing() {
    const std::lock_guard lock(ahead_.mutex_);
    ahead_.bringing_.erase(at_);
  }

 private:
  ReadAhead& ahead_;
  std::list<WindowPtr>::iterator at_;
};

void ReadAhead::Take(RowCells cells, Window& window) {
  window.bytes += BytesOf(cells);
  for (Cell& cell : cells) {
    window.families.insert(cell.family);
    RowCells& of_key = window.cells[window.sequence.row ? cell.qualifier : cell.row];
    of_key.push_back(std::move(cell));
  }
}

Status ReadAhead::Bring(const Caller& caller, Window& window) const {
  const Sequence& sequence = window.sequence;
  const size_t amount = window.asked_for;
  const size_t most_bytes = window.is_scattered ? kMostScatteredBytes : kMostBytes;
  Scan scan;
  scan.lengths_only = sequence.lengths_only;
  scan.max_versions = sequence.max_versions;
  scan.time_range = sequence.time_range;
  for (const std::string& family : sequence.families) scan.columns[family];
  if (sequence.row) {
    scan.start_row = scan.stop_row = *sequence.row;
    scan.include_stop_row = true;
    scan.store_limit = static_cast<int32_t>(amount);
    CELLFS_ASSIGN_OR_RETURN(scan.filter,
                            MakeColumnRangeFilter(window.first, true, std::nullopt, false));
  } else {
    scan.start_row = window.first;
    scan.limit = static_cast<int64_t>(amount);
  }
  CELLFS_ASSIGN_OR_RETURN(const auto scanner, store_.OpenScanner(caller, sequence.table, scan));
  CELLFS_ASSIGN_OR_RETURN(std::vector<RowCells> rows, FirstRows(*scanner, amount, most_bytes));
  for (RowCells& row : rows) Take(std::move(row), window);
  if (sequence.families.empty()) {
    const auto schema = store_.DescribeTable(sequence.table);
    if (schema.ok()) {
      for (const auto& [family, its_schema] : (*schema)->families) window.families.insert(family);
    }
  }
  auto& cells = window.cells;
  const bool is_whole = scanner->at_end();
  if (!sequence.row && !is_whole && !cells.empty()) cells.erase(std::prev(cells.end()));
  window.is_to_end = is_whole && cells.size() < amount;
  return {};
}

StatusOr<RowCells> ReadAhead::Read(const Caller& caller, const TableName& table, const Get& get) {
  CELLFS_ASSIGN_OR_RETURN(Answer answer, Ask(caller, table, get));
  return std::move(answer.cells);
}

StatusOr<ReadAhead::Answer> ReadAhead::Ask(const Caller& caller, const TableName& table,
                                           const Get& get) {
  const auto question = QuestionOf(caller, table, get);
  const bool is_history = get.max_versions != 1 && histories_ == Histories::kAskedForAlone;
  const auto read_alone = [&]() -> StatusOr<Answer> {
    const Timestamp read_at = freshness_.Now();
    CELLFS_ASSIGN_OR_RETURN(RowCells cells, store_.Read(caller, table, get));
    return Answer{std::move(cells), read_at};
  };
  if (!question || is_history || !freshness_.KeepsAnything()) return read_alone();
  const auto window = std::make_shared<Window>();
  bool is_planned = false;
  {
    std::unique_lock lock(mutex_);
    if (const WindowPtr found = Find(*question)) {
      ++found->used;
      lock.unlock();  // values may be long
      return Answer{AnswerFrom(*found, *question), found->read_at};
    }
    if (auto answer = FindInDirectory(*question)) return *std::move(answer);
    for (const bool by_column : {true, false}) {
      const bool has_columns = question->qualifier && question->max_versions == 1;
      if (is_planned || (by_column && !has_columns)) continue;
      const Sequence sequence = SequenceOf(*question, by_column);
      is_planned = Plan(AskedIn(sequence), KeyIn(sequence, *question), *window);
    }
  }
  if (!is_planned && IsDirectory(*question)) return ReadDirectory(caller, *question, get);
  if (!is_planned) return read_alone();
  bool answers = false;
  {
    const Bringing bringing(*this, window);
    CELLFS_RETURN_IF_ERROR(Bring(caller, *window));
    const std::lock_guard lock(mutex_);
    if (!window->cells.empty()) window->last = window->cells.rbegin()->first;
    answers = Covers(*window, *question);
    window->used = answers ? 1 : 0;
    Keep(window);
  }
  if (!answers) return read_alone();
  return Answer{AnswerFrom(*window, *question), window->read_at};
}

}  // namespace cellfs::fs
