// SPDX-License-Identifier: MIT
//
// What the filter language accepts, what it refuses, and what it means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/filter/filter_reader.h"

namespace cellfs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LanguageTest, AcceptsEveryFilter) {
  for (const char* text : {
           "KeyOnlyFilter()",
           "KeyOnlyFilter(TRUE)",
           "FirstKeyOnlyFilter ()",
           "PrefixFilter('row')",
           "ColumnPrefixFilter('')",
           "MultipleColumnPrefixFilter()",
           "MultipleColumnPrefixFilter('a', 'b','c')",
           "ColumnCountGetFilter(4)",
           "PageFilter(9223372036854775807)",
           "ColumnPaginationFilter(2, 0)",
           "InclusiveStopFilter('stop')",
           "TimestampsFilter(1,2 , 3)",
           "TimestampsFilter(-)",
           "RowFilter(=, 'regexstring:a.*b')",
           "FamilyFilter(!=,'substring:x')",
           "QualifierFilter(<=, 'binary:a:b')",
           "ValueFilter(>, 'binaryprefix:')",
           "ValueFilter(=, 'regexstringnocase:a')",
           "ColumnRangeFilter('', true, 'z', False)",
           "SingleColumnValueFilter('f', 'q', =, 'binary:v')",
           "SingleColumnValueFilter('f', 'q', >=, 'binary:v', true, false)",
           "SingleColumnValueExcludeFilter('f', 'q', !=, 'substring:v')",
           "DependentColumnFilter('f', 'q')",
           "DependentColumnFilter('f', 'q', true)",
           "DependentColumnFilter('f', 'q', false, <, 'substring:v')",
           "ColumnValueFilter('f', 'q', =, 'binary:v')",
           "  KeyOnlyFilter()\t",
           "(KeyOnlyFilter())AND(KeyOnlyFilter())",
           "SKIP KeyOnlyFilter()",
           "WHILE(SKIP KeyOnlyFilter())",
           "((KeyOnlyFilter() OR KeyOnlyFilter() AND SKIP KeyOnlyFilter()))",
           "(KeyOnlyFilter()",
           "PrefixFilter('a)b')",
       }) {
    EXPECT_TRUE(ParseFilter(text).ok()) << text << ": " << ParseFilter(text).status().ToString();
  }
}

TEST(LanguageTest, RefusesAndSaysWhere) {
  const std::pair<const char*, const char*> refused[] = {
      {"", "from character 1 on"},
      {"  ", "from character 3 on"},
      {"()", "from character 3 on"},
      {"keyonlyfilter()", "unknown filter"},
      {"NoFilter('a')", "unknown filter 'NoFilter'"},
      {"RandomRowFilter(1)", "unknown filter"},
      {"KeyOnlyFilter", "from character 1 on"},
      {"KeyOnlyFilter())", "from character 16 on"},
      {"KeyOnlyFilter() KeyOnlyFilter()", "from character 17 on"},
      {"KeyOnlyFilter() and KeyOnlyFilter()", "from character 17 on"},
      {"KeyOnlyFilter() AND", "from character 17 on"},
      {"KeyOnlyFilter() AND ", "from character 17 on"},
      {"KeyOnlyFilter()\tAND KeyOnlyFilter()", "from character 17 on"},
      {"AND KeyOnlyFilter()", "from character 1 on"},
      {"SKIP ", "from character 1 on"},
      {"WHILE (", "is missing"},
      {"PrefixFilter(row)", "must be in quotes"},
      {"PrefixFilter('row'", "from character 1 on"},
      {"PrefixFilter()", "0 arguments"},
      {"PrefixFilter('a','b')", "2 arguments"},
      {"PageFilter('4')", "not a number"},
      {"PageFilter(-4)", "negative"},
      {"PageFilter(9223372036854775808)", "64 bits"},
      {"ColumnCountGetFilter(2147483648)", "32 bits"},
      {"TimestampsFilter(1x)", "not a number"},
      {"KeyOnlyFilter(yes)", "neither true nor false"},
      {"MultipleColumnPrefixFilter('a','a')", "twice"},
      {"RowFilter(==, 'binary:a')", "not a comparison"},
      {"RowFilter('=', 'binary:a')", "not a comparison"},
      {"RowFilter(=, 'a')", "not a comparator"},
      {"RowFilter(=, 'Binary:a')", "not a comparator"},
      {"RowFilter(<, 'regexstring:a')", "= and != only"},
      {"ColumnValueFilter('f','q',>,'substring:a')", "= and != only"},
      {"RowFilter(=, 'regexstring:(')", "regular expression"},
      {"SingleColumnValueFilter('f','q',=,'binary:v',true)", "4 or 6"},
      {"DependentColumnFilter('f','q',true,=)", "2, 3 or 5"},
      {"KeyOnlyFilter() OR PageFilter(x)", "from character 20 on"},
  };
  for (const auto& [text, message] : refused) {
    const FilterOr filter = ParseFilter(text);
    EXPECT_EQ(filter.status().code(), StatusCode::kIllegalArgument) << text;
    EXPECT_THAT(filter.status().message(), HasSubstr(message)) << text;
  }
}

TEST(LanguageTest, BoundsDepthAndLength) {
  const auto repeated = [](std::string_view text, int count) {
    std::string all;
    while (count-- > 0) all += text;
    return all;
  };
  EXPECT_TRUE(ParseFilter(repeated("SKIP ", 99) + "KeyOnlyFilter()").ok());
  EXPECT_THAT(ParseFilter(repeated("SKIP ", 10000) + "KeyOnlyFilter()").status().message(),
              HasSubstr("too deep"));
  EXPECT_TRUE(ParseFilter(repeated("(", 30000) + "KeyOnlyFilter()" + repeated(")", 30000)).ok());
  EXPECT_THAT(ParseFilter(repeated("(", 100000)).status().message(), HasSubstr("too long"));
  EXPECT_TRUE(ParseFilter(repeated("PageFilter(1) OR ", 3000) + "PageFilter(1)").ok());
}

// The rows "a", "ab", "b", "c'd", "x" that pass.
std::vector<std::string> Passing(const char* text) {
  std::vector<Cell> table;
  for (const char* row : {"a", "ab", "b", "c'd", "x"}) {
    table.push_back(MakeCell(row, "f", "q", 1, row));
  }
  std::vector<std::string> rows;
  for (const std::string& cell : ReadThrough(ParseFilter(text), table)) {
    rows.push_back(cell.substr(0, cell.find('/')));
  }
  return rows;
}

TEST(LanguageTest, AndBindsTighterThanOr) {
  EXPECT_THAT(Passing("ValueFilter(=,'binary:x') OR ValueFilter(=,'binaryprefix:a') AND "
                      "ValueFilter(!=,'binary:ab')"),
              ElementsAre("a", "x"));
  EXPECT_THAT(Passing("(ValueFilter(=,'binary:x') OR ValueFilter(=,'binaryprefix:a')) AND "
                      "ValueFilter(!=,'binary:x')"),
              ElementsAre("a", "ab"));
  EXPECT_THAT(Passing("(ValueFilter(=,'binary:x') OR ValueFilter(=,'binary:a') AND "
                      "ValueFilter(!=,'binary:a'))"),
              ElementsAre("x"));
}

TEST(LanguageTest, SkipAndWhileTakeOneFilter) {
  EXPECT_THAT(Passing("WHILE RowFilter(!=,'binary:b') AND RowFilter(!=,'binary:a')"),
              ElementsAre("ab"));
  EXPECT_THAT(Passing("SKIP ValueFilter(!=,'binary:b') OR PrefixFilter('zz')"),
              ElementsAre("a", "ab", "c'd", "x"));
}

TEST(LanguageTest, AQuoteInQuotesIsDoubled) {
  EXPECT_THAT(Passing("RowFilter(=,'binary:c''d')"), ElementsAre("c'd"));
  EXPECT_THAT(Passing("RowFilter(=, 'binary:OR (')"), IsEmpty());
}

}  // namespace
}  // namespace cellfs
