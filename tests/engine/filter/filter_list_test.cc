// SPDX-License-Identifier: MIT
//
// How lists combine the answers of their filters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/filter/filter_reader.h"

namespace cellfs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum FilterReturn;

// Answers with one code, and counts the cells it is shown.
class Scripted : public Filter {
 public:
  explicit Scripted(FilterReturn code, int* shown = nullptr) : code_(code), shown_(shown) {}
  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<Scripted>(code_, shown_);
  }
  FilterReturn FilterCell(const CellView& /*cell*/) override {
    if (shown_ != nullptr) ++*shown_;
    return code_;
  }

 private:
  const FilterReturn code_;
  int* const shown_;
};

FilterReturn Combined(ListOperator op, std::vector<FilterReturn> codes) {
  std::vector<FilterPtr> filters;
  for (FilterReturn code : codes) filters.push_back(std::make_shared<Scripted>(code));
  const auto list = (*MakeFilterList(op, std::move(filters)))->Clone();
  const Cell cell = MakeCell("r", "f", "q", 1, "");
  return list->FilterCell(ViewOf(cell));
}

TEST(FilterListTest, AllIncludesWhatAllIncludeAndGoesTheFurthest) {
  const auto all = [](FilterReturn a, FilterReturn b) {
    return Combined(ListOperator::kMustPassAll, {a, b});
  };
  EXPECT_EQ(all(kInclude, kInclude), kInclude);
  EXPECT_EQ(all(kInclude, kIncludeAndNextColumn), kIncludeAndNextColumn);
  EXPECT_EQ(all(kIncludeAndSeekNextRow, kIncludeAndNextColumn), kIncludeAndSeekNextRow);
  EXPECT_EQ(all(kIncludeAndNextColumn, kSkip), kNextColumn);
  EXPECT_EQ(all(kIncludeAndSeekNextRow, kSkip), kNextRow);
  EXPECT_EQ(all(kIncludeAndSeekNextRow, kNextColumn), kNextRow);
  EXPECT_EQ(all(kSkip, kNextRow), kSkip) << "the second is not asked";
  EXPECT_EQ(all(kInclude, kSeekNextUsingHint), kSeekNextUsingHint);
}

TEST(FilterListTest, OneIncludesWhatOneIncludesAndGoesTheShortest) {
  const auto one = [](FilterReturn a, FilterReturn b) {
    const FilterReturn code = Combined(ListOperator::kMustPassOne, {a, b});
    EXPECT_EQ(Combined(ListOperator::kMustPassOne, {b, a}), code);
    return code;
  };
  EXPECT_EQ(one(kInclude, kNextRow), kInclude);
  EXPECT_EQ(one(kIncludeAndNextColumn, kSkip), kInclude);
  EXPECT_EQ(one(kIncludeAndNextColumn, kNextRow), kIncludeAndNextColumn);
  EXPECT_EQ(one(kIncludeAndSeekNextRow, kNextColumn), kIncludeAndNextColumn);
  EXPECT_EQ(one(kIncludeAndSeekNextRow, kNextRow), kIncludeAndSeekNextRow);
  EXPECT_EQ(one(kSkip, kNextRow), kSkip);
  EXPECT_EQ(one(kNextColumn, kNextRow), kNextColumn);
  EXPECT_EQ(one(kSeekNextUsingHint, kNextRow), kSkip);
  EXPECT_EQ(one(kSeekNextUsingHint, kIncludeAndSeekNextRow), kInclude);
  EXPECT_EQ(one(kSeekNextUsingHint, kSeekNextUsingHint), kSeekNextUsingHint);
}

TEST(FilterListTest, AnEmptyListFiltersNothing) {
  for (ListOperator op : {ListOperator::kMustPassAll, ListOperator::kMustPassOne}) {
    const auto list = (*MakeFilterList(op, {}))->Clone();
    EXPECT_FALSE(list->FilterAllRemaining());
    EXPECT_FALSE(list->FilterRowKey("r"));
    EXPECT_EQ(Combined(op, {}), kInclude);
    EXPECT_FALSE(list->FilterRow());
    EXPECT_TRUE(list->IsFamilyEssential("f"));
  }
}

std::vector<Cell> TwoRows() {
  std::vector<Cell> cells;
  for (const char* row : {"r", "s"}) {
    for (const char* qualifier : {"a", "b", "c", "d"}) {
      for (Timestamp timestamp : {2, 1}) {
        cells.push_back(MakeCell(row, "f", qualifier, timestamp, ""));
      }
    }
  }
  return cells;
}

TEST(FilterListTest, AllShowsTheNextFilterOnlyWhatPassed) {
  // Pages of columns among those at or behind "b", not among all.
  const FilterPtr from_b =
      *MakeQualifierFilter(CompareOperator::kGreaterOrEqual, {Comparator::Kind::kBinary, "b"});
  const FilterPtr page = *MakeColumnPaginationFilter(1, 1);
  EXPECT_THAT(ReadThrough(MakeFilterList(ListOperator::kMustPassAll, {from_b, page}), TwoRows()),
              ElementsAre("r/f:c@2=", "s/f:c@2="));
}

TEST(FilterListTest, OneKeepsAFilterThatWantedToGoOnFromCellsInBetween) {
  int shown = 0;
  const FilterPtr once = std::make_shared<Scripted>(kNextColumn, &shown);
  const FilterPtr every = std::make_shared<Scripted>(kInclude);
  const FilterOr list = MakeFilterList(ListOperator::kMustPassOne, {once, every});
  EXPECT_EQ(ReadThrough(list, TwoRows()).size(), 16U);
  EXPECT_EQ(shown, 8);
}

TEST(FilterListTest, HintsAreTheFurthestOfAllAndTheNearestOfOne) {
  const FilterPtr b = *MakeColumnPrefixFilter("b");
  const FilterPtr c = *MakeColumnPrefixFilter("c");
  const std::vector<Cell> table = TwoRows();
  for (ListOperator op : {ListOperator::kMustPassAll, ListOperator::kMustPassOne}) {
    const auto list = (*MakeFilterList(op, {b, c}))->Clone();
    ASSERT_EQ(list->FilterCell(ViewOf(table[0])), kSeekNextUsingHint);
    EXPECT_EQ(list->GetNextCellHint(ViewOf(table[0]))->qualifier,
              op == ListOperator::kMustPassAll ? "c" : "b");
  }
  EXPECT_THAT(ReadThrough(MakeFilterList(ListOperator::kMustPassAll, {b, c}), table), IsEmpty());
  EXPECT_EQ(ReadThrough(MakeFilterList(ListOperator::kMustPassOne, {b, c}), table).size(), 8U);
}

TEST(FilterListTest, AHintingFilterKeepsInARowThatAnotherRefuses) {
  const FilterPtr row = *MakeRowFilter(CompareOperator::kEqual, {Comparator::Kind::kBinary, "s"});
  const FilterPtr column = *MakeColumnPrefixFilter("c");
  const FilterOr list = MakeFilterList(ListOperator::kMustPassAll, {row, column});
  const auto clone = (*list)->Clone();
  EXPECT_FALSE(clone->FilterRowKey("r"));
  EXPECT_EQ(clone->FilterCell(ViewOf(TwoRows()[0])), kSeekNextUsingHint);
  EXPECT_THAT(ReadThrough(list, TwoRows()), ElementsAre("s/f:c@2=", "s/f:c@1="));
}

TEST(FilterListTest, EveryFilterLearnsOfEveryRow) {
  const FilterPtr r = *MakePrefixFilter("r");
  const FilterPtr s = *MakePrefixFilter("s");
  EXPECT_EQ(ReadThrough(MakeFilterList(ListOperator::kMustPassOne, {r, s}), TwoRows()).size(), 16U);
  EXPECT_THAT(ReadThrough(MakeFilterList(ListOperator::kMustPassAll, {r, s}), TwoRows()),
              IsEmpty());
}

TEST(FilterListTest, OneTransformsByTheFiltersThatIncludedTheCell) {
  const FilterPtr key_only = *MakeFilterList(
      ListOperator::kMustPassAll,
      {*MakeQualifierFilter(CompareOperator::kEqual, {Comparator::Kind::kBinary, "a"}),
       *MakeKeyOnlyFilter(false)});
  const FilterPtr b =
      *MakeQualifierFilter(CompareOperator::kEqual, {Comparator::Kind::kBinary, "b"});
  const std::vector<Cell> table = {MakeCell("r", "f", "a", 1, "x"), MakeCell("r", "f", "b", 1, "y"),
                                   MakeCell("r", "f", "c", 1, "z")};
  EXPECT_THAT(ReadThrough(MakeFilterList(ListOperator::kMustPassOne, {key_only, b}), table),
              ElementsAre("r/f:a@1=", "r/f:b@1=y"));
}

TEST(FilterListTest, ReadsValuesWhereOneOfItsFiltersDoes) {
  const FilterPtr value = *MakeValueFilter(CompareOperator::kEqual, {});
  const FilterPtr key = *MakeKeyOnlyFilter(false);
  const auto list = [](std::vector<FilterPtr> filters) {
    return *MakeFilterList(ListOperator::kMustPassOne, std::move(filters));
  };
  EXPECT_FALSE(list({key, *MakeSkipFilter(key)})->ReadsValues());
  EXPECT_TRUE(list({key, *MakeSkipFilter(value)})->ReadsValues());
}

TEST(FilterListTest, PageInAnAllListCountsTheRowsLetThrough) {
  const FilterPtr not_r =
      *MakeRowFilter(CompareOperator::kNotEqual, {Comparator::Kind::kBinary, "r"});
  const FilterPtr page = *MakePageFilter(1);
  const FilterOr list = MakeFilterList(ListOperator::kMustPassAll, {not_r, page});
  EXPECT_EQ(ReadThrough(list, TwoRows()).size(), 8U);
}

}  // namespace
}  // namespace cellfs
