// SPDX-License-Identifier: MIT
//
// What filters that stand around others hand on to them: whoever forgets a question answers it
// with the default, and a read goes wrong only where that matters.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/catalog/access_filter.h"
#include "engine/filters.h"

namespace cellfs {
namespace {

using Names = std::set<std::string>;

// Notes each call, and answers what no filter answers by default.
class Spy : public Filter {
 public:
  explicit Spy(std::shared_ptr<Names> called) : called_(std::move(called)) {}

  std::unique_ptr<Filter> Clone() const override { return std::make_unique<Spy>(called_); }
  void Reset() override { called_->insert("Reset"); }
  bool FilterRowKey(std::string_view) override { return Note("FilterRowKey", false); }
  bool FilterAllRemaining() override { return Note("FilterAllRemaining", false); }
  FilterReturn FilterCell(const CellView&) override {
    return Note("FilterCell", FilterReturn::kSeekNextUsingHint);
  }
  void TransformCell(Cell&) const override { called_->insert("TransformCell"); }
  std::optional<CellHint> GetNextCellHint(const CellView&) override {
    return Note("GetNextCellHint", CellHint{"r", "f", "q"});
  }
  bool IsHinting() const override { return Note("IsHinting", true); }
  bool HasFilterRow() const override { return Note("HasFilterRow", true); }
  void FilterRowCells(std::vector<Cell>&) override { called_->insert("FilterRowCells"); }
  bool FilterRow() override { return Note("FilterRow", true); }
  bool IsFamilyEssential(std::string_view) const override {
    return Note("IsFamilyEssential", false);
  }
  bool ReadsValues() const override { return Note("ReadsValues", true); }
  std::string_view FirstColumn() const override { return Note("FirstColumn", "q"); }
  std::optional<std::string> OnlyColumn() const override { return Note("OnlyColumn", "q"); }
  void SetReversed(bool) override { called_->insert("SetReversed"); }

 private:
  template <typename T>
  T Note(const char* name, T answer) const {
    called_->insert(name);
    return answer;
  }

  const std::shared_ptr<Names> called_;
};

const Names kAll = {"Reset",          "FilterRowKey",    "FilterAllRemaining", "FilterCell",
                    "TransformCell",  "GetNextCellHint", "IsHinting",          "HasFilterRow",
                    "FilterRowCells", "FilterRow",       "IsFamilyEssential",  "ReadsValues",
                    "FirstColumn",    "OnlyColumn",      "SetReversed"};

// What the wrapper does not hand on when it is asked everything.
Names Forgotten(const std::function<FilterOr(FilterPtr)>& wrap) {
  const auto called = std::make_shared<Names>();
  const std::unique_ptr<Filter> filter = (*wrap(std::make_shared<Spy>(called)))->Clone();
  called->clear();
  Cell cell{"r", "f", "q", 1};
  std::vector<Cell> cells;
  filter->SetReversed(true);
  filter->Reset();
  filter->FilterAllRemaining();
  filter->FilterRowKey("r");
  filter->FilterCell(ViewOf(cell));
  filter->GetNextCellHint(ViewOf(cell));
  filter->TransformCell(cell);
  filter->HasFilterRow();
  filter->FilterRowCells(cells);
  filter->FilterRow();
  filter->IsFamilyEssential("f");
  static_cast<void>(filter->IsHinting());
  static_cast<void>(filter->ReadsValues());
  static_cast<void>(filter->FirstColumn());
  static_cast<void>(filter->OnlyColumn());
  Names forgotten;
  for (const std::string& name : kAll) {
    if (!called->contains(name)) forgotten.insert(name);
  }
  return forgotten;
}

TEST(FilterWrappersTest, WhatHidesCellsHandsEverythingOn) {
  const auto wrap = [](FilterPtr inner) -> FilterOr {
    return MakeAccessFilter({{"", ParseTableName("t"), "f"}}, std::move(inner), nullptr);
  };
  EXPECT_EQ(Forgotten(wrap), Names());
}

// HBase's own leave out what is named here (FilterListBase, SkipFilter, WhileMatchFilter); where a
// read may begin is ours, and they would miss cells by it.
TEST(FilterWrappersTest, HBasesHandOnWhatTheirsDo) {
  const auto list = [](ListOperator op) {
    return [op](FilterPtr inner) { return MakeFilterList(op, {std::move(inner)}); };
  };
  const Names where_to_begin = {"FirstColumn", "OnlyColumn"};
  for (const ListOperator op : {ListOperator::kMustPassAll, ListOperator::kMustPassOne}) {
    Names forgotten = Forgotten(list(op));
    forgotten.erase("IsHinting");      // a list asks while it judges,
    forgotten.erase("TransformCell");  // and only those that let the cell through
    EXPECT_EQ(forgotten, where_to_begin);
  }
  EXPECT_EQ(
      Forgotten(MakeSkipFilter),
      (Names{"FilterAllRemaining", "FilterRowKey", "FilterRow", "FilterRowCells", "FirstColumn",
             "GetNextCellHint", "HasFilterRow", "IsHinting", "OnlyColumn", "SetReversed"}));
  EXPECT_EQ(Forgotten(MakeWhileMatchFilter),
            (Names{"FilterRowCells", "FirstColumn", "GetNextCellHint", "HasFilterRow", "IsHinting",
                   "OnlyColumn", "SetReversed"}));
}

}  // namespace
}  // namespace cellfs
