// SPDX-License-Identifier: MIT
#include "fs/tree/error_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "fs/base/line_rate.h"
#include "fs/requests/running_request.h"
#include "tests/fs/names.h"

namespace cellfs::fs {
namespace {

class ErrorLogTest : public testing::Test {
 protected:
  static Place File(const std::string& name) { return CellPlace(kTable, "r", "f", name); }
  size_t Lines() const {
    const std::string text = errors.Text();
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  ManualClock clock{1700000000000};
  ErrorLog errors{clock};
};

TEST_F(ErrorLogTest, AThousandOfOneKindHideNoOther) {
  errors.Record("close", File("schema"), {EINVAL, "line 7 makes no sense"});
  for (int i = 0; i < 1000; ++i) {
    clock.Advance(10);
    const std::string name = "note" + std::to_string(i);
    errors.Record("create", File(name),
                  {ENOSPC, "'" + name + "': " + std::to_string(i) + " bytes are free"});
  }
  EXPECT_EQ(Lines(), 2u) << errors.Text();
  EXPECT_EQ(errors.Text(),
            "2023-11-14T22:13:20Z close default:t/r/f:schema: line 7 makes no sense (EINVAL)\n"
            "2023-11-14T22:13:30Z create default:t/r/f:note999: 'note999': 999 bytes are free "
            "(ENOSPC); 1000 times since 2023-11-14T22:13:20Z\n");
}

TEST_F(ErrorLogTest, OperationErrnoAndReasonAreAKind) {
  errors.Record("create", File("q"), {ENOSPC, "the disk is full"});
  errors.Record("close", File("q"), {ENOSPC, "the disk is full"});
  errors.Record("close", File("q"), {EIO, "the disk is full"});
  errors.Record("close", File("q"), {ENOSPC, "too many files"});
  errors.Record("create", File("q"), {ENOSPC, "the disk is full"});
  EXPECT_EQ(Lines(), 4u);
  EXPECT_NE(errors.Text().find("too many files (ENOSPC)\n2023"), std::string::npos)
      << "the latest is the last: " << errors.Text();
  errors.Record("create", File("q"), ENOSPC);
  EXPECT_EQ(Lines(), 4u) << "without a reason";
}

TEST_F(ErrorLogTest, EachPlaceHasItsReason) {
  errors.Record("create", File("a"), {ENOSPC, "1 byte is free"});
  errors.Record("create", File("b"), {ENOSPC, "2 byte is free"});
  EXPECT_EQ(errors.ReasonFor(File("a")), "1 byte is free");
  EXPECT_EQ(errors.ReasonFor(File("b")), "2 byte is free");
  EXPECT_EQ(errors.ReasonFor(File("a").Parent()), "2 byte is free");
  EXPECT_EQ(errors.ReasonFor(File("c")), "");
}

TEST_F(ErrorLogTest, HoldsABoundedAmount) {
  const std::string key(32000, 'k');
  for (int i = 0; i < 1000; ++i) {
    std::string reason(100 + static_cast<size_t>(i), 'r');
    errors.Record("create", CellPlace(kTable, key, "f", key), {EIO, reason + key});
  }
  EXPECT_LE(Lines(), 200u);
  EXPECT_LT(errors.Text().size(), 600000u);
  EXPECT_NE(errors.ReasonFor(CellPlace(kTable, key, "f", key)), "");
}

TEST_F(ErrorLogTest, NamesTheProcessThatAsked) {
  std::string line;
  errors.SetSink([&](const std::string& told) { line = told; });
  {
    const RunningRequest running(0, nullptr, nullptr, gettid());
    errors.Record("create", File("q"), {EIO, "reason"});
  }
  std::string name = program_invocation_short_name;
  name.resize(std::min<size_t>(name.size(), 15));
  EXPECT_EQ(line, "create default:t/r/f:q: reason (EIO), by " + name + " (" +
                      std::to_string(getpid()) + ")");
  const RunningRequest of_the_kernel(0, nullptr);
  errors.Record("release", File("q"), {EIO, "reason"});
  EXPECT_EQ(line, "release default:t/r/f:q: reason (EIO)");
}

TEST_F(ErrorLogTest, OddNamesStayInTheirLine) {
  errors.Record("mkdir", RowPlace(kTable, "a\nb"), {EPERM, "'it's': \n 'x"});
  EXPECT_EQ(Lines(), 1u);
}

TEST_F(ErrorLogTest, EachUserHasLinesOfHisOwn) {
  for (const uid_t user : {1000U, 1001U}) {
    const RunningRequest running(user, nullptr, nullptr, getpid());
    errors.Record("open", File("of" + std::to_string(user)), {EACCES, "no right"});
  }
  EXPECT_EQ(Lines(), 2U) << "of one kind, and not to be shared";
  EXPECT_EQ(errors.Text(1000).find("of1001"), std::string::npos);
  EXPECT_NE(errors.Text(1001).find("of1001"), std::string::npos);
  const auto told = errors.After(0, std::nullopt);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told.front().user, 1000U);
  EXPECT_TRUE(errors.After(told.back().number, std::nullopt).empty());
  EXPECT_EQ(errors.After(0, 1001).size(), 1U);
}

TEST_F(ErrorLogTest, WhoFailsInManyWaysPushesOutHisOwn) {
  errors.Record("close", File("a"), {EINVAL, "of the daemon"});
  const RunningRequest running(1000, nullptr, nullptr, getpid());
  for (int i = 0; i < 1000; ++i)
    errors.Record("close", File("b"), {EINVAL, "way " + std::string(static_cast<size_t>(i), 'x')});
  EXPECT_NE(errors.Text().find("of the daemon"), std::string::npos);
}

TEST_F(ErrorLogTest, WhoFailsOftenPushesOutHisOwnFailures) {
  errors.Record("close", File("a"), {EINVAL, "of the daemon"});
  const std::string key(32000, 'k');
  const RunningRequest running(1000, nullptr, nullptr, getpid());
  for (int i = 0; i < 1000; ++i) errors.Record("close", File("b"), {EINVAL, "again"});
  EXPECT_EQ(errors.ReasonFor(File("a")), "of the daemon");
  for (int i = 0; i < 1000; ++i)
    errors.Record("close", CellPlace(kTable, key, "f", key), {EINVAL, "again"});
  EXPECT_EQ(errors.ReasonFor(File("a")), "of the daemon");
}

// 25 MB came into the log in six minutes.
TEST_F(ErrorLogTest, NobodyFillsTheLog) {
  std::vector<std::string> lines;
  errors.SetSink([&](const std::string& line) { lines.push_back(line); });
  const auto fail = [&](uid_t user) {
    const RunningRequest running(user, nullptr, nullptr, getpid());
    errors.Record("setxattr", File("q"), {EINVAL, "no number"});
  };
  for (int i = 0; i < 10000; ++i) fail(1000);
  ASSERT_EQ(lines.size(), 200U);
  EXPECT_NE(lines.back().find("/.cellfs/errors alone"), std::string::npos) << lines.back();
  EXPECT_EQ(lines.front().find("/.cellfs/errors"), std::string::npos) << lines.front();
  EXPECT_NE(errors.Text().find("10000 times"), std::string::npos) << errors.Text();
  fail(1001);
  EXPECT_EQ(lines.size(), 201U) << "another has lines of his own";
  clock.Advance(LineRate::kPause);
  fail(1000);
  fail(1000);
  ASSERT_EQ(lines.size(), 202U);
  EXPECT_NE(lines.back().find("9800 of this user before it"), std::string::npos) << lines.back();
}

}  // namespace
}  // namespace cellfs::fs
