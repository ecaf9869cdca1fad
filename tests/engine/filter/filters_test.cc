// SPDX-License-Identifier: MIT
//
// What each filter lets through of a few rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/filter/filter_reader.h"

namespace cellfs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Strings = std::vector<std::string>;

Comparator Binary(std::string value) { return {Comparator::Kind::kBinary, std::move(value)}; }

// One row of columns a, ab, b, c with versions 3, 2, 1 of each.
std::vector<Cell> WideRow() {
  std::vector<Cell> cells;
  for (const char* qualifier : {"a", "ab", "b", "c"}) {
    for (Timestamp timestamp : {3, 2, 1}) {
      cells.push_back(MakeCell("r", "f", qualifier, timestamp, "v"));
    }
  }
  return cells;
}

// Rows "a1", "a2", "b1", "c1" of the one cell f:q = the row.
std::vector<Cell> Rows() {
  std::vector<Cell> cells;
  for (const char* row : {"a1", "a2", "b1", "c1"}) cells.push_back(MakeCell(row, "f", "q", 1, row));
  return cells;
}

Strings Qualifiers(const FilterOr& filter) {
  Strings qualifiers;
  for (const std::string& cell : ReadThrough(filter, WideRow())) {
    qualifiers.push_back(cell.substr(4, cell.find('=') - 4));
  }
  return qualifiers;
}

Strings RowsThrough(const FilterOr& filter, bool reversed = false) {
  std::vector<Cell> table = Rows();
  if (reversed) std::reverse(table.begin(), table.end());
  Strings rows;
  for (const std::string& cell : ReadThrough(filter, table, reversed)) {
    rows.push_back(cell.substr(0, cell.find('/')));
  }
  return rows;
}

TEST(ColumnFilterTest, CountGetGivesTheNewestOfTheFirstColumns) {
  EXPECT_THAT(Qualifiers(MakeColumnCountGetFilter(2)), ElementsAre("a@3", "ab@3"));
  EXPECT_THAT(Qualifiers(MakeColumnCountGetFilter(0)), IsEmpty());
}

TEST(ColumnFilterTest, CountGetEndsAScanAfterARowOfMoreColumns) {
  std::vector<Cell> table = WideRow();
  table.push_back(MakeCell("s", "f", "a", 1, "v"));
  EXPECT_EQ(ReadThrough(MakeColumnCountGetFilter(4), table).size(), 5U);
  // The next row is asked for before Reset, when the count is still over the limit.
  EXPECT_EQ(ReadThrough(MakeColumnCountGetFilter(3), table).size(), 3U);
}

TEST(ColumnFilterTest, PaginationLeavesOutTheOffset) {
  EXPECT_THAT(Qualifiers(MakeColumnPaginationFilter(2, 1)), ElementsAre("ab@3", "b@3"));
  EXPECT_THAT(Qualifiers(MakeColumnPaginationFilter(2147483647, 1)), IsEmpty());
}

TEST(ColumnFilterTest, PrefixSeeksItsColumns) {
  EXPECT_THAT(Qualifiers(MakeColumnPrefixFilter("ab")), ElementsAre("ab@3", "ab@2", "ab@1"));
  EXPECT_EQ(Qualifiers(MakeColumnPrefixFilter("")).size(), 12U);
  EXPECT_THAT(Qualifiers(MakeColumnPrefixFilter("d")), IsEmpty());
}

TEST(ColumnFilterTest, MultiplePrefixesJudgeByTheLargestNotAbove) {
  EXPECT_THAT(Qualifiers(MakeMultipleColumnPrefixFilter({"c", "ab"})),
              ElementsAre("ab@3", "ab@2", "ab@1", "c@3", "c@2", "c@1"));
  EXPECT_EQ(Qualifiers(MakeMultipleColumnPrefixFilter({})).size(), 12U);
  EXPECT_EQ(MakeMultipleColumnPrefixFilter({"a", "a"}).status().code(),
            StatusCode::kIllegalArgument);
  const std::vector<Cell> row = {MakeCell("r", "f", "abc", 1, ""), MakeCell("r", "f", "ac", 1, "")};
  EXPECT_THAT(ReadThrough(MakeMultipleColumnPrefixFilter({"a", "ab"}), row),
              ElementsAre("r/f:abc@1="));
}

TEST(ColumnFilterTest, RangeHasOpenAndClosedEnds) {
  EXPECT_THAT(Qualifiers(MakeColumnRangeFilter("ab", true, "b", false)),
              ElementsAre("ab@3", "ab@2", "ab@1"));
  EXPECT_THAT(Qualifiers(MakeColumnRangeFilter("ab", false, "b", true)),
              ElementsAre("b@3", "b@2", "b@1"));
  EXPECT_EQ(Qualifiers(MakeColumnRangeFilter(std::nullopt, true, std::nullopt, true)).size(), 12U);
}

TEST(CellFilterTest, TimestampsComeWithAndWithoutHints) {
  for (bool can_hint : {false, true}) {
    EXPECT_THAT(Qualifiers(MakeTimestampsFilter({1, 3}, can_hint)),
                ElementsAre("a@3", "a@1", "ab@3", "ab@1", "b@3", "b@1", "c@3", "c@1"));
  }
  EXPECT_THAT(Qualifiers(MakeTimestampsFilter({})), IsEmpty());
  EXPECT_EQ(MakeTimestampsFilter({-1, 5}).status().code(), StatusCode::kIllegalArgument);
}

TEST(CellFilterTest, FirstKeyOnlyGivesOneCellOfEachRow) {
  EXPECT_THAT(Qualifiers(MakeFirstKeyOnlyFilter()), ElementsAre("a@3"));
  EXPECT_EQ(RowsThrough(MakeFirstKeyOnlyFilter()).size(), 4U);
}

TEST(CellFilterTest, KeyOnlyEmptiesTheValueOrGivesItsLength) {
  const std::vector<Cell> table = {MakeCell("r", "f", "q", 1, std::string(258, 'x'))};
  EXPECT_THAT(ReadThrough(MakeKeyOnlyFilter(false), table), ElementsAre("r/f:q@1="));
  EXPECT_THAT(ReadThrough(MakeKeyOnlyFilter(true), table),
              ElementsAre("r/f:q@1=" + std::string("\0\0\1\2", 4)));
}

TEST(RowFilterTest, PageCountsRowsAndACloneStartsAgain) {
  const FilterOr page = MakePageFilter(2);
  EXPECT_THAT(RowsThrough(page), ElementsAre("a1", "a2"));
  EXPECT_THAT(RowsThrough(page), ElementsAre("a1", "a2"));
  EXPECT_THAT(RowsThrough(MakePageFilter(0)), IsEmpty());
}

TEST(RowFilterTest, PrefixEndsTheReadBehindItself) {
  EXPECT_THAT(RowsThrough(MakePrefixFilter("a")), ElementsAre("a1", "a2"));
  EXPECT_THAT(RowsThrough(MakePrefixFilter("a"), true), ElementsAre("a2", "a1"));
  EXPECT_THAT(RowsThrough(MakePrefixFilter("b")), ElementsAre("b1"));
  const auto filter = (*MakePrefixFilter("a"))->Clone();
  EXPECT_TRUE(filter->FilterRowKey("b1"));
  EXPECT_TRUE(filter->FilterAllRemaining());
}

TEST(RowFilterTest, InclusiveStopKeepsItsRow) {
  EXPECT_THAT(RowsThrough(MakeInclusiveStopFilter("a2")), ElementsAre("a1", "a2"));
  EXPECT_THAT(RowsThrough(MakeInclusiveStopFilter("b1"), true), ElementsAre("c1", "b1"));
}

TEST(CompareFilterTest, StoredComparesWithGiven) {
  using Op = CompareOperator;
  EXPECT_THAT(RowsThrough(MakeRowFilter(Op::kLess, Binary("a2"))), ElementsAre("a1"));
  EXPECT_THAT(RowsThrough(MakeRowFilter(Op::kLessOrEqual, Binary("a2"))), ElementsAre("a1", "a2"));
  EXPECT_THAT(RowsThrough(MakeRowFilter(Op::kEqual, Binary("b1"))), ElementsAre("b1"));
  EXPECT_THAT(RowsThrough(MakeRowFilter(Op::kNotEqual, Binary("b1"))),
              ElementsAre("a1", "a2", "c1"));
  EXPECT_THAT(RowsThrough(MakeValueFilter(Op::kGreater, Binary("b1"))), ElementsAre("c1"));
  EXPECT_THAT(RowsThrough(MakeValueFilter(Op::kGreaterOrEqual, Binary("b1"))),
              ElementsAre("b1", "c1"));
  EXPECT_THAT(RowsThrough(MakeRowFilter(Op::kNoOp, Binary("b1"))), IsEmpty());
}

TEST(CompareFilterTest, FamiliesAndQualifiersAreComparedCellByCell) {
  const std::vector<Cell> table = {MakeCell("r", "f", "a", 1, ""), MakeCell("r", "f", "b", 1, ""),
                                   MakeCell("r", "g", "a", 1, "")};
  EXPECT_THAT(ReadThrough(MakeFamilyFilter(CompareOperator::kEqual, Binary("g")), table),
              ElementsAre("r/g:a@1="));
  EXPECT_THAT(ReadThrough(MakeQualifierFilter(CompareOperator::kEqual, Binary("a")), table),
              ElementsAre("r/f:a@1=", "r/g:a@1="));
}

bool ValuePasses(Comparator::Kind kind, const std::string& given, const std::string& stored) {
  const FilterOr filter = MakeValueFilter(CompareOperator::kEqual, {kind, given});
  if (!filter.ok()) {
    ADD_FAILURE() << filter.status().ToString();
    return false;
  }
  const Cell cell = MakeCell("r", "f", "q", 1, stored);
  return (*filter)->Clone()->FilterCell(ViewOf(cell)) == FilterReturn::kInclude;
}

TEST(ComparatorTest, ABinaryPrefixLooksAtItsOwnLengthOnly) {
  EXPECT_TRUE(ValuePasses(Comparator::Kind::kBinaryPrefix, "ab", "abc"));
  EXPECT_FALSE(ValuePasses(Comparator::Kind::kBinaryPrefix, "ab", "a"));
  EXPECT_TRUE(ValuePasses(Comparator::Kind::kBinaryPrefix, "", ""));
}

TEST(ComparatorTest, ASubstringHasNoCaseAndNoPatternCharacters) {
  EXPECT_TRUE(ValuePasses(Comparator::Kind::kSubstring, "B.c", "aab.Cd"));
  EXPECT_FALSE(ValuePasses(Comparator::Kind::kSubstring, "b.c", "abxcd"));
  EXPECT_TRUE(ValuePasses(Comparator::Kind::kSubstring, "\xc3\x89", "x\xc3\xa9"));
  EXPECT_TRUE(ValuePasses(Comparator::Kind::kSubstring, "", ""));
}

TEST(ComparatorTest, ARegexIsSoughtAnywhereInJavaSyntax) {
  const auto matches = [](const std::string& regex, const std::string& stored) {
    return ValuePasses(Comparator::Kind::kRegexString, regex, stored);
  };
  EXPECT_TRUE(matches("b+", "abbc"));
  EXPECT_FALSE(matches("^b+$", "abbc"));
  EXPECT_TRUE(matches("a.c", "a\nc"));
  EXPECT_TRUE(matches("^.$", "\xc3\xa9"));
  EXPECT_TRUE(matches("^.$", "\xff"));
  EXPECT_FALSE(matches("^a", "A"));
  EXPECT_TRUE(matches("(?i)^a", "A"));
  EXPECT_TRUE(matches("^\\p{Lower}[\\p{Upper}1]\\P{Digit}$", "aZ-"));
  EXPECT_FALSE(matches("\\p{Lower}", "\xc3\xa9"));
  EXPECT_TRUE(matches("^\\u00e9$", "\xc3\xa9"));
  EXPECT_TRUE(matches("^\\Q(*[\\E$", "(*["));
  EXPECT_TRUE(matches("(?<x>a)\\k<x>", "aa"));
  EXPECT_TRUE(matches("[]a]", "]"));
  EXPECT_TRUE(ValuePasses(Comparator::Kind::kRegexStringNoCase, "^a", "A"));
}

TEST(ComparatorTest, ARegexThatIsNoneOrPcresOnlyIsRefused) {
  for (const char* regex :
       {"(", "[a&&[b]]", "[a[b]]", "(*UTF)a", "(?R)", "(?(1)a)", "a\\Kb", "\\C"}) {
    const FilterOr filter =
        MakeRowFilter(CompareOperator::kEqual, {Comparator::Kind::kRegexString, regex});
    EXPECT_EQ(filter.status().code(), StatusCode::kIllegalArgument) << regex;
  }
}

TEST(ComparatorTest, ARegexThatRunsAwayEndsAndFindsNothing) {
  EXPECT_FALSE(ValuePasses(Comparator::Kind::kRegexString, "(a*)*(a*)*(a*)*b\\1$",
                           std::string(5000, 'a') + "bc"));
}

SingleColumnValue Tested(std::string value) {
  SingleColumnValue column{"f", "q"};
  column.comparator = Binary(std::move(value));
  return column;
}

std::vector<Cell> ThreeRows() {
  return {MakeCell("r1", "f", "a", 1, "x"),   MakeCell("r1", "f", "q", 2, "old"),
          MakeCell("r1", "f", "q", 1, "yes"), MakeCell("r2", "f", "q", 1, "yes"),
          MakeCell("r2", "f", "z", 1, "x"),   MakeCell("r3", "f", "a", 1, "x")};
}

TEST(SingleColumnValueTest, KeepsWholeRowsAndThoseWithoutTheColumn) {
  EXPECT_THAT(ReadThrough(MakeSingleColumnValueFilter(Tested("yes")), ThreeRows()),
              ElementsAre("r2/f:q@1=yes", "r2/f:z@1=x", "r3/f:a@1=x"));
}

TEST(SingleColumnValueTest, CanAskForTheColumnAndLookAtOlderVersions) {
  SingleColumnValue column = Tested("yes");
  column.filter_if_missing = true;
  column.latest_version_only = false;
  EXPECT_THAT(
      ReadThrough(MakeSingleColumnValueFilter(column), ThreeRows()),
      ElementsAre("r1/f:a@1=x", "r1/f:q@2=old", "r1/f:q@1=yes", "r2/f:q@1=yes", "r2/f:z@1=x"));
}

TEST(SingleColumnValueTest, ExcludeTakesTheTestedColumnOut) {
  EXPECT_THAT(ReadThrough(MakeSingleColumnValueExcludeFilter(Tested("yes")), ThreeRows()),
              ElementsAre("r2/f:z@1=x", "r3/f:a@1=x"));
}

TEST(SingleColumnValueTest, OnlyItsFamilyIsEssentialWhereTheColumnMustBeThere) {
  SingleColumnValue column = Tested("yes");
  EXPECT_TRUE((*MakeSingleColumnValueFilter(column))->IsFamilyEssential("g"));
  column.filter_if_missing = true;
  const FilterPtr filter = *MakeSingleColumnValueFilter(column);
  for (const FilterPtr& each : {filter, *MakeSkipFilter(filter), *MakeWhileMatchFilter(filter),
                                *MakeFilterList(ListOperator::kMustPassAll, {filter})}) {
    EXPECT_TRUE(each->IsFamilyEssential("f"));
    EXPECT_FALSE(each->IsFamilyEssential("g"));
  }
}

TEST(CompareFilterTest, ColumnValueGivesTheColumnAlone) {
  EXPECT_THAT(ReadThrough(MakeColumnValueFilter("f", "q", CompareOperator::kEqual, Binary("yes")),
                          ThreeRows()),
              ElementsAre("r1/f:q@1=yes", "r2/f:q@1=yes"));
}

TEST(CompareFilterTest, DependentColumnKeepsTheCellsOfItsTimestamps) {
  EXPECT_THAT(
      ReadThrough(MakeDependentColumnFilter("f", "q", false, CompareOperator::kNoOp, {}),
                  ThreeRows()),
      ElementsAre("r1/f:a@1=x", "r1/f:q@2=old", "r1/f:q@1=yes", "r2/f:q@1=yes", "r2/f:z@1=x"));
  EXPECT_THAT(
      ReadThrough(MakeDependentColumnFilter("f", "q", true, CompareOperator::kEqual, Binary("old")),
                  ThreeRows()),
      IsEmpty());
}

TEST(WrapperFilterTest, SkipLeavesOutRowsOfWhichACellIsOut) {
  const FilterPtr no_old = *MakeValueFilter(CompareOperator::kNotEqual, Binary("old"));
  EXPECT_THAT(ReadThrough(MakeSkipFilter(no_old), ThreeRows()),
              ElementsAre("r2/f:q@1=yes", "r2/f:z@1=x", "r3/f:a@1=x"));
  const FilterPtr row = *MakeRowFilter(CompareOperator::kEqual, Binary("r1"));
  EXPECT_EQ(ReadThrough(MakeSkipFilter(row), ThreeRows()).size(), 6U) << "it hides the row key";
}

TEST(WrapperFilterTest, WhileMatchEndsTheReadAtTheFirstCellOut) {
  const FilterPtr yes = *MakeRowFilter(CompareOperator::kNotEqual, Binary("b1"));
  EXPECT_THAT(RowsThrough(MakeWhileMatchFilter(yes)), ElementsAre("a1", "a2"));
}

TEST(HoldsTest, NoOpNeverHolds) {
  EXPECT_FALSE(Holds(CompareOperator::kNoOp, std::strong_ordering::equal));
  EXPECT_TRUE(Holds(CompareOperator::kLessOrEqual, std::strong_ordering::equal));
}

}  // namespace
}  // namespace cellfs
