// SPDX-License-Identifier: MIT
#include "src/commands.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/open.h"
#include "src/logging.h"

namespace cellfs {
namespace {

using nlohmann::json;

class CommandsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenMemoryStore({});
    TableSchema schema({"default", "t"});
    schema.families.emplace("f", FamilySchema("f"));
    ASSERT_TRUE(store_->CreateTable(Caller::Superuser(), schema).ok());
    commands_ = std::make_unique<Commands>(*store_, MountStatus{"/mnt", 42});
  }
  StatusCode CodeOf(const std::string& command, const Arguments& arguments) {
    return commands_->Run(command, arguments).status().code();
  }

  std::unique_ptr<Store> store_;
  std::unique_ptr<Commands> commands_;
};

TEST_F(CommandsTest, StatusSaysWhereAndWhat) {
  auto answer = commands_->Run("status", {});
  ASSERT_TRUE(answer.ok());
  const json status = json::parse(*answer);
  EXPECT_EQ(status["mountpoint"], "/mnt");
  EXPECT_EQ(status["pid"], 42);
  EXPECT_EQ(status["tables"][0]["table"], "t");
}

TEST_F(CommandsTest, FlushAndCompactTakeOneTableOrAll) {
  for (const char* command : {"flush", "compact"}) {
    EXPECT_TRUE(commands_->Run(command, {}).ok()) << command;
    EXPECT_TRUE(commands_->Run(command, {{"table", "default:t"}}).ok()) << command;
    EXPECT_EQ(CodeOf(command, {{"table", "missing"}}), StatusCode::kTableNotFound) << command;
  }
  EXPECT_TRUE(commands_->Run("compact", {{"kind", "minor"}}).ok());
  EXPECT_EQ(CodeOf("compact", {{"kind", "huge"}}), StatusCode::kIllegalArgument);
}

TEST_F(CommandsTest, SetChangesTheLogLevel) {
  const std::string before = LogLevel();
  EXPECT_TRUE(commands_->Run("set", {{"name", "log_level"}, {"value", "warn"}}).ok());
  EXPECT_EQ(LogLevel(), "warn");
  EXPECT_EQ(CodeOf("set", {{"name", "log_level"}, {"value", "loud"}}),
            StatusCode::kIllegalArgument);
  EXPECT_EQ(LogLevel(), "warn");
  EXPECT_TRUE(SetLogLevel(before).ok());
}

TEST_F(CommandsTest, WhatIsUnknownIsRefused) {
  EXPECT_EQ(CodeOf("format", {}), StatusCode::kIllegalArgument);
  EXPECT_EQ(CodeOf("set", {{"name", "colour"}, {"value", "red"}}), StatusCode::kIllegalArgument);
  EXPECT_EQ(CodeOf("set", {{"name", "maintenance"}, {"value", "off"}}),
            StatusCode::kIllegalArgument);
  EXPECT_TRUE(commands_->Run("set", {{"name", "cache_size"}, {"value", "2097152"}}).ok());
  EXPECT_EQ(CodeOf("set", {{"name", "cache_size"}, {"value", "some"}}),
            StatusCode::kIllegalArgument);
}

}  // namespace
}  // namespace cellfs
