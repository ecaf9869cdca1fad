// SPDX-License-Identifier: MIT
//
// What the filter of a query may look at: the values of files that who asks may read, and no
// others.
#include <gtest/gtest.h>

#include <optional>

#include "fs/requests/running_request.h"
#include "tests/fs/names.h"
#include "tests/fs/tree.h"

namespace cellfs::fs {
namespace {

using Names = std::vector<std::string>;


constexpr const char* kWithValue = "default/t/.scan/filter=ValueFilter(=%2C 'binary:secret')";
constexpr const char* kWithColumn =
    "default/t/.scan/filter=SingleColumnValueFilter('f'%2C 'q'%2C =%2C 'binary:secret'%2C true%2C "
    "true)";

class Groups : public CallerGroups {
 public:
  explicit Groups(std::vector<gid_t> groups) : groups_(std::move(groups)) {}
  std::vector<gid_t> All() const override { return groups_; }

 private:
  const std::vector<gid_t> groups_;
};

class FilterRightsTest : public testing::Test {
 protected:
  explicit FilterRightsTest(bool allow_other = true) : tree_(OptionsWith(allow_other)) {
    tree_.MakeTable();
    tree_.Put("open", "q", "secret");
    tree_.Put("shut", "q", "secret");
  }

  static MountOptions OptionsWith(bool allow_other) {
    MountOptions options;
    options.allow_other = allow_other;
    return options;
  }

  void Set(const Place& place, mode_t mode, gid_t group = 0) {
    AttributeUpdate update;
    update.uid = kOwner;
    update.gid = group;
    update.mode = mode;
    EXPECT_TRUE(tree_.filesystem->parts().attributes.Update(place, update).ok());
  }
  Place Column(const std::string& row, const std::string& qualifier = "q") const {
    return CellPlace(tree_.table, row, "f", qualifier);
  }

  Names ListAs(uid_t uid, const std::string& path, std::vector<gid_t> groups = {}) {
    const Groups all(std::move(groups));
    const RunningRequest running(uid, nullptr, &all);
    return tree_.List(path);
  }
  int ErrorAs(uid_t uid, const std::string& path) {
    const RunningRequest running(uid, nullptr);
    return tree_.Error(path);
  }

  Tree tree_;
};

TEST_F(FilterRightsTest, AValueOfAClosedFileIsNotThere) {
  Set(Column("shut"), 0600);
  for (const char* query : {kWithValue, kWithColumn}) {
    EXPECT_EQ(ListAs(kStranger, query), Names{"open"}) << query;
    EXPECT_EQ(ListAs(kOwner, query), (Names{"open", "shut"})) << query;
    EXPECT_EQ(ListAs(0, query), (Names{"open", "shut"})) << query;
    EXPECT_EQ(tree_.List(query), (Names{"open", "shut"})) << query;  // nobody asks
    EXPECT_EQ(ErrorAs(kStranger, std::string(query) + "/shut"), ENOENT);
    EXPECT_EQ(ErrorAs(kStranger, std::string(query) + "/shut/f/q"), ENOENT);
    EXPECT_EQ(ErrorAs(kStranger, std::string(query) + "/open/f/q"), 0);
    EXPECT_EQ(ErrorAs(kOwner, std::string(query) + "/shut/f/q"), 0);
  }
}

TEST_F(FilterRightsTest, AFilterThatIsPartOfAnotherLooksNoFurther) {
  Set(Column("shut"), 0600);
  for (const char* filter :
       {"SKIP ValueFilter(=%2C 'binary:secret')", "WHILE ValueFilter(=%2C 'binary:secret')",
        "ValueFilter(=%2C 'binary:secret') AND KeyOnlyFilter()",
        "PrefixFilter('none') OR ValueFilter(=%2C 'binary:secret')",
        "DependentColumnFilter('f'%2C 'q'%2C false%2C =%2C 'binary:secret')"}) {
    const std::string query = std::string("default/t/.scan/filter=") + filter;
    EXPECT_EQ(ListAs(kStranger, query), Names{"open"}) << query;
  }
}

TEST_F(FilterRightsTest, WhatIsClosedIsMissingForAColumnsFilterToo) {
  Set(Column("shut"), 0600);
  tree_.Put("shut", "free", "v");
  const std::string query =
      "default/t/.scan/filter=SingleColumnValueFilter('f'%2C 'q'%2C !=%2C 'binary:secret')";
  EXPECT_EQ(ListAs(kStranger, query), Names{"shut"});
  EXPECT_EQ(ListAs(kStranger, query + "/shut/f"), Names{"free"});
  EXPECT_EQ(ListAs(0, query), Names{});
}

TEST_F(FilterRightsTest, NamesAreSeenAsInAnyDirectory) {
  Set(Column("shut"), 0600);
  for (const char* query : {"prefix=", "filter=QualifierFilter(=%2C 'binary:q')"}) {
    EXPECT_EQ(ListAs(kStranger, std::string("default/t/.scan/") + query), (Names{"open", "shut"}));
  }
}

TEST_F(FilterRightsTest, AClosedRowOrFamilyClosesWhatIsInIt) {
  Set(RowPlace(tree_.table, "shut"), 0700);
  EXPECT_EQ(ListAs(kStranger, kWithValue), Names{"open"});
  Set(RowPlace(tree_.table, "shut"), 0711);
  EXPECT_EQ(ListAs(kStranger, kWithValue), (Names{"open", "shut"}));
  Set(FamilyPlace(tree_.table, "shut", "f"), 0744);
  EXPECT_EQ(ListAs(kStranger, kWithValue), Names{"open"});
}

TEST_F(FilterRightsTest, NamesOfADirectoryThatCannotBeListedAreNotTold) {
  const auto sees = [&] {
    std::vector<Names> seen;
    for (const char* query :
         {"filter=QualifierFilter(=%2C 'binary:q')", "columns=f:q", "columns=f"}) {
      seen.push_back(ListAs(kStranger, std::string("default/t/.scan/") + query));
    }
    return seen;
  };
  EXPECT_EQ(sees(), std::vector<Names>(3, {"open", "shut"}));
  for (const mode_t mode : {0700, 0711}) {
    Set(RowPlace(tree_.table, "shut"), mode);
    EXPECT_EQ(sees(), std::vector<Names>(3, {"open"}));
  }
  Set(RowPlace(tree_.table, "shut"), 0755);
  Set(FamilyPlace(tree_.table, "shut", "f"), 0711);
  EXPECT_EQ(sees(), std::vector<Names>(3, {"open"}));
}

TEST_F(FilterRightsTest, WhatAFileInheritsCounts) {
  Set(TablePlace(tree_.table), 0700);
  EXPECT_EQ(ListAs(kStranger, kWithValue), Names{});
  EXPECT_EQ(ListAs(kOwner, kWithValue), (Names{"open", "shut"}));
  Set(RowPlace(tree_.table, "open"), 0755);
  Set(FamilyPlace(tree_.table, "open", "f"), 0755);
  Set(Column("open"), 0644);
  EXPECT_EQ(ListAs(kStranger, kWithValue), Names{"open"});
}

TEST_F(FilterRightsTest, AnyGroupOfWhoAsksCounts) {
  Set(Column("shut"), 0640, kGroup);
  EXPECT_EQ(ListAs(kStranger, kWithValue, {kStranger}), Names{"open"});
  EXPECT_EQ(ListAs(kStranger, kWithValue, {kStranger, kGroup}), (Names{"open", "shut"}));
  Set(Column("shut"), 0604, kGroup);  // who is in the group is not one of the others
  EXPECT_EQ(ListAs(kStranger, kWithValue, {kStranger, kGroup}), Names{"open"});
}

// Before there are any attributes all files of a family are alike, and afterwards not any more.
TEST_F(FilterRightsTest, AModeThatIsSetBetweenTwoListingsCounts) {
  EXPECT_EQ(ListAs(kStranger, kWithValue), (Names{"open", "shut"}));
  Set(Column("shut"), 0600);
  EXPECT_EQ(ListAs(kStranger, kWithValue), Names{"open"});
  Set(Column("shut"), 0644);
  EXPECT_EQ(ListAs(kStranger, kWithValue), (Names{"open", "shut"}));
}

TEST_F(FilterRightsTest, EachHasAnEndOfALimitedQueryOfTheirOwn) {
  tree_.Put("z", "q", "secret");
  Set(Column("shut"), 0600);
  const std::string query = "default/t/.scan/limit=2,filter=ValueFilter(=%2C 'binary:secret')";
  EXPECT_EQ(ErrorAs(0, query + "/shut"), 0);
  EXPECT_EQ(ErrorAs(0, query + "/z"), ENOENT);
  EXPECT_EQ(ListAs(kStranger, query), (Names{"open", "z"}));
  EXPECT_EQ(ErrorAs(kStranger, query + "/z"), 0);
  EXPECT_EQ(ErrorAs(0, query + "/z"), ENOENT);
}

class UnsharedFilterRightsTest : public FilterRightsTest {
 protected:
  UnsharedFilterRightsTest() : FilterRightsTest(false) {}
};

// The kernel does not enforce modes there, and lets nobody else in.
TEST_F(UnsharedFilterRightsTest, WithoutAllowOtherModesAreNotAsked) {
  Set(Column("shut"), 0600);
  EXPECT_EQ(ListAs(kStranger, kWithValue), (Names{"open", "shut"}));
}

}  // namespace
}  // namespace cellfs::fs
