// SPDX-License-Identifier: MIT
#include "fs/content/counters.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "fs/content/column_change.h"

namespace cellfs::fs {
namespace {

// "+5", or several of them, to their sum.
OutcomeOr<int64_t> ReadIncrements(std::string_view text) {
  const Outcome refused(EINVAL,
                        "a counter takes +N or -N, not '" + std::string(text.substr(0, 40)) + "'");
  int64_t sum = 0;
  bool any = false;
  while (true) {
    size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
    text.remove_prefix(word.size());
    bool plus = word[0] == '+';
    if (!plus && word[0] != '-') return refused;
    if (plus) word.remove_prefix(1);
    int64_t amount = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), amount);
    bool is_number = error == std::errc() && end == word.data() + word.size();
    if (!is_number || (plus && amount < 0) || __builtin_add_overflow(sum, amount, &sum))
      return refused;
    any = true;
  }
  if (!any) return refused;
  return sum;
}

}  // namespace

// A counter that begins must lie above what was deleted there.
OutcomeOr<Timestamp> Counters::FirstTimestamp(const Caller& caller, const Place& place) const {
  CELLFS_ASSIGN_OR_RETURN(RowCells raw, RawColumn(reading_, caller, place, ReadDetail::kLengths));
  Timestamp timestamp = tree_.clock.Now();
  for (const Cell& cell : raw) {
    if (cell.timestamp < kLatestTimestamp - 1) timestamp = std::max(timestamp, cell.timestamp + 1);
  }
  return timestamp;
}

// REQUIRES: the column's lock.
Outcome Counters::Increase(const Caller& caller, const Place& place, int64_t amount) const {
  IncrementCell cell{place.family, place.qualifier, amount};
  CELLFS_ASSIGN_OR_RETURN(auto present, ReadColumn(reading_, caller, place, ReadDetail::kLengths));
  if (!present) {
    CELLFS_ASSIGN_OR_RETURN(cell.timestamp, FirstTimestamp(caller, place));
  }
  Increment increment{place.row, {std::move(cell)}};
  increment.return_results = false;
  return store_
      .Mutate(caller, place.table, RowMutations::Of(std::move(increment), options_.durability))
      .status();
}

Outcome Counters::Add(const Caller& caller, const NodePtr& counter, std::string_view text) const {
  CELLFS_ASSIGN_OR_RETURN(const int64_t amount, ReadIncrements(text));
  ColumnChange change(tree_, contents_, counter);
  Outcome added = Increase(caller, change.place(), amount);
  change.Ended(added);
  if (added.ok()) tree_.unstored.Remove(change.place());
  return added;
}

}  // namespace cellfs::fs
