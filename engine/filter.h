// SPDX-License-Identifier: MIT
//
// What a filter is: a small state machine that a read shows its rows and cells, in order, and that
// says for each cell whether it comes back. HBase's Filter, call for call; see FilterBase there.
//
// For each row: Reset; FilterRowKey; FilterCell for each visible cell; then, if HasFilterRow,
// FilterRowCells; then FilterRow, which a filter without HasFilterRow is asked only if cells came
// through. FilterAllRemaining ends the read. A filter sees only cells that are visible to the read
// without it.
//
// A read holds a prototype and works on a Clone of it. Not thread-safe.
#ifndef CELLFS_ENGINE_FILTER_H_
#define CELLFS_ENGINE_FILTER_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cell.h"
#include "engine/status_or.h"

namespace cellfs {

struct FilterParameters;  // engine/filter_parameters.h

enum class FilterReturn {
  kInclude,
  kIncludeAndNextColumn,
  kIncludeAndSeekNextRow,
  kSkip,
  kNextColumn,
  kNextRow,
  kSeekNextUsingHint,
};

// Where a filter would like to go on: the first cell at or after this one.
struct CellHint {
  std::string row;
  std::string family;
  std::string qualifier;
  Timestamp timestamp = kLatestTimestamp;
};

class Filter {
 public:
  virtual ~Filter() = default;

  // A filter of the same parameters that has seen nothing yet.
  virtual std::unique_ptr<Filter> Clone() const = 0;
  // What it was made with, for who sends it elsewhere; without a value where it is code alone.
  virtual FilterParameters Parameters() const;

  virtual void Reset() {}
  virtual bool FilterRowKey(std::string_view /*row*/) { return FilterAllRemaining(); }
  virtual bool FilterAllRemaining() { return false; }
  virtual FilterReturn FilterCell(const CellView& /*cell*/) { return FilterReturn::kInclude; }
  // The included cell as it shall be returned (KeyOnlyFilter); may change value and value_length.
  virtual void TransformCell(Cell& /*cell*/) const {}
  // Asked after kSeekNextUsingHint; nothing means "the next cell".
  virtual std::optional<CellHint> GetNextCellHint(const CellView& /*cell*/) { return std::nullopt; }
  // HBase's marker HintingFilter: a list that passes all asks this filter for its hint even where
  // another filter has refused the row or the cell.
  virtual bool IsHinting() const { return false; }

  virtual bool HasFilterRow() const { return false; }
  virtual void FilterRowCells(std::vector<Cell>& /*cells*/) {}
  virtual bool FilterRow() { return false; }

  // False where the rows to return can be found without reading this family.
  virtual bool IsFamilyEssential(std::string_view /*family*/) const { return true; }
  // True where FilterCell looks at values: a read that is asked for lengths only has to bring them.
  virtual bool ReadsValues() const { return false; }
  // Ours: what it says of a row may hang on rows before, all of whose cells are hidden.
  virtual bool RemembersHiddenRows() const { return false; }
  // Ours: lets nothing but family tombstones through before this column, and is not changed by what
  // it would see there, so that a read of one row may begin at it. Empty: there is none.
  virtual std::string_view FirstColumn() const { return {}; }
  // Ours: the one column that it lets through, beside family tombstones.
  virtual std::optional<std::string> OnlyColumn() const { return std::nullopt; }
  // Told once before the first row; most filters do not care.
  virtual void SetReversed(bool /*reversed*/) {}
};

using FilterPtr = std::shared_ptr<const Filter>;

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILTER_H_
