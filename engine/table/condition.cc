// SPDX-License-Identifier: MIT
#include "engine/table/condition.h"

namespace cellfs {
namespace {

// An empty given value asks "absent or empty?", and of the operators only NOT_EQUAL is heard.
bool HoldsForEmpty(CompareOperator op, const Cell* stored) {
  bool absent_or_empty = stored == nullptr || stored->value_length == 0;
  return absent_or_empty == (op != CompareOperator::kNotEqual);
}

bool HoldsFor(const ColumnCondition& condition, const Cell* stored) {
  if (condition.value.empty()) return HoldsForEmpty(condition.op, stored);
  return stored != nullptr && Holds(condition.op, condition.value <=> stored->value);
}

}  // namespace

StatusOr<Verdict> Judge(const CheckAndMutate& check, RowStorage& storage, Timestamp now) {
  Get get;
  get.row = check.row;
  get.time_range = check.time_range;
  const auto* column = std::get_if<ColumnCondition>(&check.condition);
  Verdict verdict;
  if (column != nullptr && column->value.empty()) {
    CELLFS_ASSIGN_OR_RETURN(verdict.head,
                            storage.ReadColumnHead(check.row, column->family, column->qualifier));
    verdict.holds = HoldsForEmpty(column->op, nullptr);
    if (verdict.head->IsEmpty()) return verdict;  // where a file is made mostly nothing has been
  }
  if (column != nullptr) {
    get.columns[column->family].insert(column->qualifier);
    get.lengths_only = column->value.empty();
  } else {
    get.filter = std::get<FilterPtr>(check.condition);
    get.load_families_on_demand = false;  // as HRegion.checkAndMutateInternal reads
  }
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, storage.Read(get, now));
  const Cell* stored = cells.empty() ? nullptr : &cells.front();
  verdict.holds = column != nullptr ? HoldsFor(*column, stored) : stored != nullptr;
  verdict.cell_timestamp = stored != nullptr ? stored->timestamp : 0;
  return verdict;
}

}  // namespace cellfs
