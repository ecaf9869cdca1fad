// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "fs/base/closest_word.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

class HintsTest : public ::testing::Test {
 protected:
  HintsTest() { tree_.MakeTable(); }

  std::string Errors() { return tree_.ReadFile(".cellfs/errors"); }

  WritingTree tree_;
};

TEST_F(HintsTest, AFileThatBecomesAVersionSaysSo) {
  tree_.Put("r", "mail", "now");
  ASSERT_EQ(tree_.Save("default/t/r/f/mail@17", "then"), 0);
  EXPECT_NE(Errors().find("it is a version of 'mail'; a file of that name is 'mail%4017'"),
            std::string::npos)
      << Errors();
  ASSERT_EQ(tree_.Save("default/t/r/f/mail%4017", "other"), 0);
  EXPECT_EQ(tree_.ReadFile("default/t/r/f/mail@17"), "then");
  EXPECT_EQ(tree_.ReadFile("default/t/r/f/mail%4017"), "other");
}

TEST_F(HintsTest, ANameThatIsNearlyAnAttributesIsKeptAndAsksWhatWasMeant) {
  const std::string schema = tree_.ReadFile(kSchemaPath);
  ASSERT_EQ(tree_.Save(kSchemaPath, "owner_of_data = \"me\"\n" + schema), 0);
  EXPECT_EQ(Errors().find("did you mean"), std::string::npos) << Errors();
  ASSERT_EQ(tree_.Save(kSchemaPath, tree_.ReadFile(kSchemaPath) + "VERSION = 4\n"), 0);
  EXPECT_NE(Errors().find("'VERSION' is kept as metadata; did you mean 'VERSIONS'?"),
            std::string::npos)
      << Errors();
  const auto stored = *tree_.store->DescribeTable(kTable);
  EXPECT_EQ(stored->families.at("f").Get("VERSION"), "4");
}

TEST_F(HintsTest, SecondsThatAreReadAsMillisecondsSaySo) {
  EXPECT_EQ(tree_.Error("default/t/.asof/" + std::to_string(kStart)), 0);
  EXPECT_EQ(Errors().find("for seconds"), std::string::npos) << Errors();
  EXPECT_EQ(tree_.Error("default/t/.asof/1767225600"), 0);
  EXPECT_NE(Errors().find("1767225600 are milliseconds, 1970-01-21T10:53:45Z; for seconds: "
                          ".asof/@1767225600"),
            std::string::npos)
      << Errors();
}

TEST(MeantName, IsNearAndNotTheSame) {
  const std::vector<std::string> known = {"TTL", "VERSIONS"};
  EXPECT_EQ(MeantName("version", known), "VERSIONS");
  EXPECT_EQ(MeantName("versions", known), "");
  EXPECT_EQ(MeantName("TTTL", known), "TTL");
  EXPECT_EQ(MeantName("URL", known), "");
}

}  // namespace
}  // namespace cellfs::fs
