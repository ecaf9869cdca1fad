// SPDX-License-Identifier: MIT
//
// What a server gets to see of each filter, read back from the bytes that came.
#include "engine/hbase/filters.h"

#include <gtest/gtest.h>

#include "engine/hbase/reads.h"
#include "engine/hbase/writes.h"
#include "tests/engine/hbase/fake_cluster.h"

namespace cellfs::hbase {
namespace {

using std::chrono::seconds;

constexpr char kPackage[] = "org.apache.hadoop.hbase.filter.";

FilterPtr ParsedFilter(std::string_view text) {
  auto filter = ParseFilter(text);
  EXPECT_TRUE(filter.ok()) << filter.status().ToString();
  return filter.ok() ? *filter : nullptr;
}

// What a Get with the filter brings to the server.
pb::Filter Sent(const FilterPtr& filter, bool lengths_only = false) {
  FakeCluster cluster({}, kRows);
  pb::Filter sent;
  cluster.PutInTheWay([&](const ReceivedCall& call) -> std::optional<Reaction> {
    sent = call.As<pb::GetRequest>().get().filter();
    return Reaction{AnswerFrame(call.id, pb::GetResponse())};
  });
  Get get;
  get.row = "a";
  get.filter = filter;
  get.lengths_only = lengths_only;
  const auto cells = Read(cluster.regions(), kTable, get, seconds(10));
  EXPECT_TRUE(cells.ok()) << cells.status().ToString();
  return sent;
}

template <typename Message>
Message As(const std::string& class_name, const pb::Filter& filter) {
  EXPECT_EQ(filter.name(), kPackage + class_name);
  Message message;
  EXPECT_TRUE(message.ParseFromString(filter.serialized_filter()));
  return message;
}

template <typename Message>
Message As(const std::string& class_name, const pb::Comparator& comparator) {
  EXPECT_EQ(comparator.name(), kPackage + class_name);
  Message message;
  EXPECT_TRUE(message.ParseFromString(comparator.serialized_comparator()));
  return message;
}

template <typename Message>
Message SentAs(const std::string& class_name, const std::string& arguments) {
  return As<Message>(class_name, Sent(ParsedFilter(class_name + "(" + arguments + ")")));
}

TEST(Filters, OfColumnsAreSentWithTheirParameters) {
  EXPECT_EQ(SentAs<pb::ColumnCountGetFilter>("ColumnCountGetFilter", "3").limit(), 3);
  const auto page = SentAs<pb::ColumnPaginationFilter>("ColumnPaginationFilter", "3, 4");
  EXPECT_EQ(page.limit(), 3);
  EXPECT_EQ(page.offset(), 4);
  EXPECT_EQ(SentAs<pb::ColumnPrefixFilter>("ColumnPrefixFilter", "'ab'").prefix(), "ab");
  const auto prefixes =
      SentAs<pb::MultipleColumnPrefixFilter>("MultipleColumnPrefixFilter", "'b', 'a'");
  ASSERT_EQ(prefixes.sorted_prefixes_size(), 2);
  EXPECT_EQ(prefixes.sorted_prefixes(0), "a");
  EXPECT_EQ(prefixes.sorted_prefixes(1), "b");
}

TEST(Filters, OfARangeTellNoBoundFromAnEmptyOne) {
  const auto range =
      SentAs<pb::ColumnRangeFilter>("ColumnRangeFilter", "'a', false, 'c', true");
  EXPECT_EQ(range.min_column(), "a");
  EXPECT_FALSE(range.min_column_inclusive());
  EXPECT_EQ(range.max_column(), "c");
  EXPECT_TRUE(range.max_column_inclusive());
  const auto open = As<pb::ColumnRangeFilter>(
      "ColumnRangeFilter", Sent(*MakeColumnRangeFilter(std::nullopt, true, "", true)));
  EXPECT_FALSE(open.has_min_column());
  EXPECT_TRUE(open.has_max_column());
}

TEST(Filters, OfTimestampsSayWhetherTheyHint) {
  for (const bool can_hint : {false, true}) {
    const auto sent = As<pb::TimestampsFilter>("TimestampsFilter",
                                               Sent(*MakeTimestampsFilter({7, 3}, can_hint)));
    ASSERT_EQ(sent.timestamps_size(), 2);
    EXPECT_EQ(sent.timestamps(0), 3);
    EXPECT_EQ(sent.timestamps(1), 7);
    EXPECT_EQ(sent.can_hint(), can_hint);
  }
}

TEST(Filters, OfRowsAndKeysAreSentWithTheirParameters) {
  SentAs<pb::FirstKeyOnlyFilter>("FirstKeyOnlyFilter", "");
  EXPECT_TRUE(SentAs<pb::KeyOnlyFilter>("KeyOnlyFilter", "true").len_as_val());
  EXPECT_FALSE(SentAs<pb::KeyOnlyFilter>("KeyOnlyFilter", "").len_as_val());
  EXPECT_EQ(SentAs<pb::PageFilter>("PageFilter", "5000000000").page_size(), 5'000'000'000);
  EXPECT_EQ(SentAs<pb::PrefixFilter>("PrefixFilter", "'a'").prefix(), "a");
  EXPECT_TRUE(SentAs<pb::PrefixFilter>("PrefixFilter", "''").has_prefix());
  EXPECT_EQ(SentAs<pb::InclusiveStopFilter>("InclusiveStopFilter", "'z'").stop_row_key(), "z");
}

template <typename Message>
void ExpectCompares(const std::string& class_name) {
  const auto filter = SentAs<Message>(class_name, "<=, 'binary:x'");
  EXPECT_EQ(filter.compare_filter().compare_op(), pb::LESS_OR_EQUAL);
  EXPECT_EQ(As<pb::BinaryComparator>("BinaryComparator", filter.compare_filter().comparator())
                .comparable()
                .value(),
            "x");
}

TEST(Filters, ThatCompareAreSentWithOperatorAndComparator) {
  ExpectCompares<pb::RowFilter>("RowFilter");
  ExpectCompares<pb::FamilyFilter>("FamilyFilter");
  ExpectCompares<pb::QualifierFilter>("QualifierFilter");
  ExpectCompares<pb::ValueFilter>("ValueFilter");
  const auto column =
      SentAs<pb::ColumnValueFilter>("ColumnValueFilter", "'f', 'q', >, 'binaryprefix:x'");
  EXPECT_EQ(column.family(), "f");
  EXPECT_EQ(column.qualifier(), "q");
  EXPECT_EQ(column.compare_op(), pb::GREATER);
  EXPECT_EQ(As<pb::BinaryPrefixComparator>("BinaryPrefixComparator", column.comparator())
                .comparable()
                .value(),
            "x");
}

TEST(Filters, OfOneColumnSayWhatBecomesOfTheRow) {
  const auto judges = SentAs<pb::SingleColumnValueFilter>(
      "SingleColumnValueFilter", "'f', 'q', !=, 'substring:x', true, false");
  EXPECT_EQ(judges.column_family(), "f");
  EXPECT_EQ(judges.column_qualifier(), "q");
  EXPECT_EQ(judges.compare_op(), pb::NOT_EQUAL);
  EXPECT_TRUE(judges.filter_if_missing());
  EXPECT_FALSE(judges.latest_version_only());
  EXPECT_EQ(As<pb::SubstringComparator>("SubstringComparator", judges.comparator()).substr(), "x");
  const auto excludes = SentAs<pb::SingleColumnValueExcludeFilter>(
      "SingleColumnValueExcludeFilter", "'f', 'q', =, 'binary:x'");
  EXPECT_EQ(excludes.single_column_value_filter().column_qualifier(), "q");
  EXPECT_TRUE(excludes.single_column_value_filter().latest_version_only());
}

TEST(Filters, OfADependentColumnMayHaveNoComparator) {
  const auto plain = SentAs<pb::DependentColumnFilter>("DependentColumnFilter", "'f', 'q', true");
  EXPECT_EQ(plain.column_family(), "f");
  EXPECT_EQ(plain.column_qualifier(), "q");
  EXPECT_TRUE(plain.drop_dependent_column());
  EXPECT_FALSE(plain.compare_filter().has_comparator());
  const auto compares = SentAs<pb::DependentColumnFilter>("DependentColumnFilter",
                                                          "'f', 'q', false, >=, 'binary:x'");
  EXPECT_EQ(compares.compare_filter().compare_op(), pb::GREATER_OR_EQUAL);
  EXPECT_TRUE(compares.compare_filter().has_comparator());
}

TEST(Filters, OfRegularExpressionsSayHowCaseIsFolded) {
  for (const std::string kind : {"regexstring", "regexstringnocase"}) {
    const auto filter = SentAs<pb::ValueFilter>("ValueFilter", "=, '" + kind + ":a.b'");
    const auto regex = As<pb::RegexStringComparator>("RegexStringComparator",
                                                     filter.compare_filter().comparator());
    EXPECT_EQ(regex.pattern(), "a.b");
    // DOTALL; CASE_INSENSITIVE and UNICODE_CASE.
    EXPECT_EQ(regex.pattern_flags(), kind == "regexstring" ? 32 : 32 + 2 + 64);
    EXPECT_EQ(regex.charset(), "UTF-8");
    EXPECT_EQ(regex.engine(), "JAVA");
  }
}

TEST(Filters, InFiltersAreSentInTheirOrder) {
  const pb::Filter sent =
      Sent(ParsedFilter("(SKIP PageFilter(1)) AND (WHILE KeyOnlyFilter() OR PrefixFilter('a'))"));
  const auto all = As<pb::FilterList>("FilterList", sent);
  EXPECT_EQ(all.operator_(), pb::FilterList::MUST_PASS_ALL);
  ASSERT_EQ(all.filters_size(), 2);
  const auto skip = As<pb::SkipFilter>("SkipFilter", all.filters(0));
  EXPECT_EQ(As<pb::PageFilter>("PageFilter", skip.filter()).page_size(), 1);
  const auto one = As<pb::FilterList>("FilterList", all.filters(1));
  EXPECT_EQ(one.operator_(), pb::FilterList::MUST_PASS_ONE);
  ASSERT_EQ(one.filters_size(), 2);
  const auto while_match = As<pb::WhileMatchFilter>("WhileMatchFilter", one.filters(0));
  As<pb::KeyOnlyFilter>("KeyOnlyFilter", while_match.filter());
  As<pb::PrefixFilter>("PrefixFilter", one.filters(1));
}

TEST(Filters, AreJoinedByLengthsWhereOnlyTheseAreAskedFor) {
  EXPECT_TRUE(As<pb::KeyOnlyFilter>("KeyOnlyFilter", Sent(nullptr, true)).len_as_val());
  const auto both = As<pb::FilterList>("FilterList", Sent(ParsedFilter("PageFilter(1)"), true));
  EXPECT_EQ(both.operator_(), pb::FilterList::MUST_PASS_ALL);
  ASSERT_EQ(both.filters_size(), 2);
  As<pb::PageFilter>("PageFilter", both.filters(0));
  EXPECT_TRUE(As<pb::KeyOnlyFilter>("KeyOnlyFilter", both.filters(1)).len_as_val());
}

// With a filter a raw scan counts tombstones as versions, and not without one.
TEST(Filters, AreNotAddedToARawScanThatCountsVersions) {
  for (const int32_t versions : {1, kAllVersions}) {
    FakeCluster cluster({}, kRows);
    bool has_filter = false;
    cluster.PutInTheWay([&](const ReceivedCall& call) {
      has_filter = call.As<pb::ScanRequest>().scan().has_filter();
      return std::nullopt;
    });
    Scan scan;
    scan.raw = true;
    scan.max_versions = versions;
    scan.lengths_only = true;
    const auto scanner = *OpenScanner(cluster.regions(), kTable, scan, seconds(10));
    const auto rows = scanner->Next({.max_rows = 1});
    EXPECT_EQ(has_filter, versions == kAllVersions);
    if (has_filter) continue;  // the values of the false cluster are no lengths
    ASSERT_TRUE(rows.ok()) << rows.status().ToString();
    EXPECT_EQ(rows->front().front().value, "");
    EXPECT_EQ(rows->front().front().value_length, 1u);
  }
}

// ---- Filters that are run here ------------------------------------------------------------------

FilterPtr Hides(const std::string& row, const FilterPtr& inner) {
  return MakeVisibleCellsFilter([row](const CellView& cell) { return cell.row != row; }, inner);
}

TEST(Filters, ThatAreCodeAreNotSentNeitherInOthers) {
  const FilterPtr visible = Hides("b", nullptr);
  const FilterPtr list = *MakeFilterList(ListOperator::kMustPassOne, {visible});
  for (const FilterPtr& filter : {visible, *MakeSkipFilter(visible), list}) {
    EXPECT_FALSE(CanBeSent(*filter));
    EXPECT_FALSE(Sent(filter).has_name());
  }
}

TEST(FiltersHere, SeeOnlyWhatMayBeSeen) {
  FakeCluster cluster({"d", "g"}, kRows);
  for (const std::string row : {"b", "c"}) {
    Get get;
    get.row = row;
    get.filter = Hides("b", ParsedFilter("ValueFilter(=, 'binary:" + row + "')"));
    const auto cells = Read(cluster.regions(), kTable, get, seconds(10));
    ASSERT_TRUE(cells.ok()) << cells.status().ToString();
    EXPECT_EQ(cells->size(), row == "b" ? 0u : 1u);
  }
}

TEST(FiltersHere, CountOverAllRegions) {
  FakeCluster cluster({"c", "g"}, kRows);
  for (const bool reversed : {false, true}) {
    Scan scan;
    scan.reversed = reversed;
    scan.filter = Hides("b", ParsedFilter("PageFilter(4)"));
    const auto rows = ScanRows(cluster, scan);
    ASSERT_TRUE(rows.ok()) << rows.status().ToString();
    EXPECT_EQ(*rows, reversed ? (Rows{"j", "i", "h", "g"}) : (Rows{"a", "c", "d", "e"}));
    scan.limit = 2;
    EXPECT_EQ(ScanRows(cluster, scan)->size(), 2u) << "of the rows that are left";
  }
}

TEST(FiltersHere, EndTheScan) {
  FakeCluster cluster({"c", "g"}, kRows);
  Scan scan;
  scan.filter = Hides("b", ParsedFilter("InclusiveStopFilter('d')"));
  const auto rows = ScanRows(cluster, scan);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_EQ(*rows, (Rows{"a", "c", "d"}));
}

TEST(Filters, AreConditionsToo) {
  FakeCluster cluster({}, kRows);
  const cellfs::CheckAndMutate check{
      .row = "a",
      .condition = ParsedFilter("PageFilter(1)"),
      .time_range = {.min = 3, .max = 9},
      .action = RowMutations::Of(Put{.row = "a", .cells = {{"f", "q", 5, "v", {}}}})};
  pb::Condition sent;
  cluster.PutInTheWay([&](const ReceivedCall& call) -> std::optional<Reaction> {
    sent = call.As<pb::MutateRequest>().condition();
    return std::nullopt;
  });
  const auto checked = CheckAndMutate(cluster.regions(), kTable, check, seconds(10));
  ASSERT_TRUE(checked.ok()) << checked.status().ToString();
  EXPECT_TRUE(checked->done);
  EXPECT_EQ(sent.row(), "a");
  EXPECT_FALSE(sent.has_family());
  EXPECT_EQ(sent.time_range().from(), 3u);
  EXPECT_EQ(As<pb::PageFilter>("PageFilter", sent.filter()).page_size(), 1);
}

}  // namespace
}  // namespace cellfs::hbase
