// SPDX-License-Identifier: MIT
#include "fs/content/counters.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "fs/reading/raw_pieces.h"

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

Outcome Counters::Increase(const Caller& caller, ColumnChange& change, int64_t amount) const {
  const Place& place = change.place();
  IncrementCell cell{place.family, place.qualifier, amount};
  CELLFS_ASSIGN_OR_RETURN(auto present, ReadColumn(reading_, caller, place, ReadDetail::kLengths));
  if (!present) {  // one that begins must lie above what was deleted there
    CELLFS_ASSIGN_OR_RETURN(cell.timestamp, FirstTimestampAbove(reading_, caller, place));
  }
  Increment increment{place.row, {std::move(cell)}};
  RowStep step{RowMutations::Of(std::move(increment), options_.durability), {}, {}};
  return change.Send(caller, step).status();
}

Outcome Counters::Add(const Caller& caller, const NodePtr& counter, std::string_view text) const {
  CELLFS_ASSIGN_OR_RETURN(const int64_t amount, ReadIncrements(text));
  ColumnChange change(changing_, counter);
  if (counter->unlinked()) return {};  // a file without a name
  CELLFS_RETURN_IF_FAILED(Increase(caller, change, amount));
  change.Did(effect::Put{});
  return change.AwaitDisk();
}

}  // namespace cellfs::fs
