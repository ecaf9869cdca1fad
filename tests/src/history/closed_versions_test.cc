// SPDX-License-Identifier: MIT
//
// What history tells of versions that the caller may not read: another's file had the name before
// his. They are there, with their times and lengths; only their bytes are not his to see.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include "fs/operations/callers_store.h"
#include "src/history/log.h"
#include "src/history/restore.h"
#include "src/history/states.h"
#include "src/history/stored_cells.h"
#include "tests/fs/mount_options.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"
#include "tests/src/history/history_fixture.h"

namespace cellfs {
namespace {

using fs::kOwner;
using fs::kQ;
using fs::kStranger;

// The owner's closed file of 6 bytes, at secret_; it is removed, and the stranger makes his own.
class ClosedVersionsTest : public testing::Test {
 protected:
  ClosedVersionsTest() : tree_(fs::ForAll()) {
    tree_.MakeTable();
    tree_.Put("r", "other", "x");
    EXPECT_EQ(tree_.Change("default/t/r/f", {.mode = 0777}), 0);
    tree_.Put("r", "beside", "x");
    EXPECT_EQ(tree_.Change("default/t/r/f/beside", {.mode = 0600}), 0);
    Pass();
    secret_ = SaveAs(kOwner, "secret");
    EXPECT_EQ(tree_.Change(kQ, {.mode = 0600}), 0);
    EXPECT_EQ(tree_.Unlink(kQ), 0);
    Pass();
    his_ = SaveAs(kStranger, "his");
    store_ = std::make_unique<fs::CallersStore>(*tree_.filesystem,
                                                fs::Credentials{kStranger, {kStranger}});
  }

  void Pass() { tree_.clock->Advance(1000); }
  Timestamp SaveAs(uid_t uid, const std::string& value, const std::string& path = kQ) {
    tree_.request.uid = uid;
    EXPECT_EQ(tree_.Save(path, value), 0);
    tree_.request.uid = 0;
    Pass();
    return tree_.clock->Now() - 1000;
  }
  HistoryAccess Access() { return {*store_, Caller::Superuser(), *tree_.clock}; }
  Scope Column() const { return {tree_.table, "r", "f", "q"}; }
  Scope Table() const { return {tree_.table, {}, {}, {}}; }
  std::string Text(const Cell& cell) const {
    if (!HasValue(cell)) return cell.qualifier + "#" + std::to_string(cell.value_length);
    return cell.qualifier + "=" + cell.value;
  }
  static std::string TextOfClosed(const ToldColumns& closed) {
    std::string text = std::to_string(closed.count);
    for (const ToldColumn& column : closed.first) text += " " + column.qualifier.value_or("*");
    return text;
  }

  fs::WritingTree tree_;
  Timestamp secret_ = 0;
  Timestamp his_ = 0;
  std::unique_ptr<fs::CallersStore> store_;
};

TEST_F(ClosedVersionsTest, RestoreLeavesWhatItMayNotReadAsItIs) {
  const HistoryAccess access = Access();
  for (const Scope& scope : {Column(), Table()}) {
    const auto report = RestoreTo(access, scope, secret_, {}, [](Change&&) { return true; });
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    EXPECT_EQ(TextOfClosed(report->closed), "1 q");
    EXPECT_EQ(report->puts + report->deletes, 0U);
    EXPECT_EQ(tree_.ReadFile(kQ), "his");
  }
}

TEST_F(ClosedVersionsTest, RestoreToATimeWithoutItIsNotKeptFromIt) {
  const HistoryAccess access = Access();
  const auto removed =
      RestoreTo(access, Column(), his_ - 1, {}, [](Change&&) { return true; });
  ASSERT_TRUE(removed.ok()) << removed.status().ToString();
  EXPECT_EQ(TextOfClosed(removed->closed), "0");
  EXPECT_EQ(removed->deletes, 1U);
  EXPECT_FALSE(store_->has_passed_over()) << "what lies beside it is nothing of it";
  Pass();
  const auto back = RestoreTo(access, Column(), his_, {}, [](Change&&) { return true; });
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->puts, 1U);
  EXPECT_EQ(tree_.ReadFile(kQ), "his");
}

// He has made the name his by a put that is older than what another had removed there.
TEST_F(ClosedVersionsTest, UndeleteBringsNoOlderValueBackInItsPlace) {
  const std::string path = "default/t/r/f/p";
  const Timestamp time = SaveAs(kOwner, "secret", path);
  EXPECT_EQ(tree_.Change(path, {.mode = 0600}), 0);
  EXPECT_EQ(tree_.Unlink(path), 0);
  Pass();
  const Put older{"r", {{"f", "p", time - 1, "older", {}}}};
  ASSERT_TRUE(tree_.store->Mutate(Caller::Superuser(), tree_.table, RowMutations::Of(older)).ok());
  fs::AttributeUpdate his;
  his.uid = kStranger;
  his.mode = 0644;
  his.anew = true;
  const fs::Place place = fs::CellPlace(tree_.table, "r", "f", "p");
  ASSERT_TRUE(tree_.filesystem->parts().attributes.Update(place, his).ok());
  Pass();
  const HistoryAccess access = Access();
  const auto report = Undelete(access, Table(), {}, [](Change&&) { return true; });
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(TextOfClosed(report->closed), "1 p");
  EXPECT_EQ(report->puts, 0U);
  EXPECT_EQ(tree_.ReadFile(path), "<ENOENT>");
}

TEST_F(ClosedVersionsTest, AStateNamesItWithItsLength) {
  const HistoryAccess access = Access();
  for (const ValueDetail detail : {ValueDetail::kLengths, ValueDetail::kValues}) {
    std::string text;
    const Status read = ReadState(access, Table(), secret_, detail, [&](Cell&& cell) {
      if (cell.qualifier == "q") text += Text(cell);
      return true;
    });
    EXPECT_TRUE(read.ok()) << read.ToString();
    EXPECT_EQ(text, "q#6");
  }
}

TEST_F(ClosedVersionsTest, ItIsADifferenceThatIsNotShown) {
  const HistoryAccess access = Access();
  ASSERT_EQ(SaveAs(kStranger, "length"), his_ + 1000);
  std::string text;
  const Status read = ReadDifferences(access, Column(), secret_, std::nullopt,
                                      ValueDetail::kValues, [&](Change&& change) {
                                        text += Text(*change.before) + " " + Text(*change.after);
                                        return true;
                                      });
  EXPECT_TRUE(read.ok()) << read.ToString();
  EXPECT_EQ(text, "q#6 q=length");
}

TEST_F(ClosedVersionsTest, TheLogTellsThatItWas) {
  const HistoryAccess access = Access();
  const LogOptions options{.detail = ValueDetail::kValues, .with_before = true};
  std::string text;
  const Status read = ReadLog(access, Column(), options, [&](Event&& event) {
    EXPECT_FALSE(event.value_is_gone);
    text += event.cell.type == CellType::kPut ? Text(event.cell) : "-";
    text += event.before ? "(" + Text(*event.before) + ") " : " ";
    return true;
  });
  EXPECT_TRUE(read.ok()) << read.ToString();
  EXPECT_EQ(text, "q=his -(q#6) q#6 ");
}

TEST_F(ClosedVersionsTest, ClosedIsNotGone) {
  const HistoryAccess access = Access();
  const Cell key{.row = "r", .family = "f", .qualifier = "q", .timestamp = secret_};
  EXPECT_EQ(ReadStoredPut(access, tree_.table, key).status().code(), StatusCode::kAccessDenied);
  EXPECT_EQ((*FindStoredPut(access, tree_.table, key))->value_length, 6U);
  Cell never = key;
  never.timestamp = secret_ - 7;
  EXPECT_FALSE(ReadStoredPut(access, tree_.table, never)->has_value());
  EXPECT_FALSE(FindStoredPut(access, tree_.table, never)->has_value());
  // Of a column that is closed as a whole nothing is known.
  Cell beside = key;
  beside.qualifier = "beside";
  beside.timestamp = fs::kStart;
  EXPECT_FALSE(ReadStoredPut(access, tree_.table, beside)->has_value());
}

}  // namespace
}  // namespace cellfs
