// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/forwarding_store.h"
#include "engine/open.h"
#include "src/daemon/logging.h"
#include "tests/src/served_store.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

using nlohmann::json;

std::vector<std::string> TablesIn(const json& records) {
  std::vector<std::string> tables;
  for (const json& record : records) tables.push_back(record["table"]);
  return tables;
}

class CommandsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenMemoryStore({});
    TableSchema schema({"default", "t"});
    schema.families.emplace("f", FamilySchema("f"));
    ASSERT_TRUE(store_->CreateTable(Caller::Superuser(), schema).ok());
    served_ = std::make_unique<ServedStore>(*store_, store_.get(), "/mnt");
  }
  StatusCode CodeOf(const std::string& command, const json& arguments) {
    return served_->Run(command, arguments).status().code();
  }

  std::unique_ptr<ControlledStore> store_;
  std::unique_ptr<ServedStore> served_;
};

TEST_F(CommandsTest, StatusSaysWhereAndWhat) {
  const auto answer = served_->Run("status");
  ASSERT_TRUE(answer.ok());
  const json& status = answer->front();
  EXPECT_EQ(status["mountpoint"], "/mnt");
  EXPECT_EQ(status["pid"], getpid());
  EXPECT_EQ(status["tables"][0]["table"], "t");
}

TEST_F(CommandsTest, FlushAndCompactTakeOneTableOrAll) {
  for (const char* command : {"flush", "compact"}) {
    EXPECT_TRUE(served_->Run(command).ok()) << command;
    EXPECT_TRUE(served_->Run(command, {{"words", {"default:t"}}}).ok()) << command;
    EXPECT_EQ(CodeOf(command, {{"words", {"missing"}}}), StatusCode::kTableNotFound) << command;
  }
  EXPECT_TRUE(served_->Run("compact", {{"minor", true}}).ok());
}

TEST_F(CommandsTest, WhatAStoreElsewhereCannotBeToldIsRefusedInWords) {
  ServedStore elsewhere(*store_, nullptr);
  for (const char* setting : {"cache_size=2097152", "maintenance=paused"}) {
    const json arguments = {{"words", {setting}}};
    EXPECT_TRUE(served_->Run("set", arguments).ok()) << setting;
    EXPECT_EQ(elsewhere.Run("set", arguments).status().code(), StatusCode::kUnsupportedOperation)
        << setting;
  }
  EXPECT_TRUE(elsewhere.Run("status").ok());
  EXPECT_TRUE(elsewhere.Run("flush").ok());
}

// A store on disk, whose tables a, b and c have a cell in memory each.
class ThreeTablesTest : public ::testing::Test {
 protected:
  void Open() {
    StoreOptions options;
    options.background_maintenance = false;
    auto opened = OpenLocalStore(temporary_.path() + "/store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    store_ = *std::move(opened);
  }
  void SetUp() override {
    Open();
    for (const char* name : {"a", "b", "c"}) {
      TableSchema schema({"default", name});
      schema.families.emplace("f", FamilySchema("f"));
      ASSERT_TRUE(store_->CreateTable(Caller::Superuser(), schema).ok());
    }
  }
  void Fill(const char* name) {
    const Put put{.row = "r", .cells = {{.family = "f", .qualifier = "q", .value = "v"}}};
    ASSERT_TRUE(store_->Mutate(Caller::Superuser(), {"default", name}, RowMutations::Of(put)).ok());
  }
  uint64_t CellsInMemory(const char* name) {
    for (const TableStatistics& table : store_->GetStatistics().tables) {
      if (table.table == TableName{"default", name}) return table.memstore_cells;
    }
    return 0;
  }

  TemporaryDirectory temporary_;
  std::unique_ptr<ControlledStore> store_;
};

TEST_F(ThreeTablesTest, ADisabledTableDoesNotStopTheFlushOfAll) {
  for (const char* name : {"a", "b", "c"}) Fill(name);
  ASSERT_TRUE(store_->DisableTable(Caller::Superuser(), {"default", "b"}).ok());
  ServedStore served(*store_, store_.get());
  const auto flushed = served.Run("flush");
  ASSERT_TRUE(flushed.ok()) << flushed.status().message();
  EXPECT_EQ(TablesIn(*flushed), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(CellsInMemory("a") + CellsInMemory("b") + CellsInMemory("c"), 0u);
  const auto compacted = served.Run("compact");
  ASSERT_TRUE(compacted.ok()) << compacted.status().message();
  EXPECT_EQ(TablesIn(*compacted), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(served.Run("flush", {{"words", {"b"}}}).status().code(), StatusCode::kTableNotEnabled);
}

TEST_F(ThreeTablesTest, OfSeveralThatAreNamedEachIsDoneAndWhatFailsIsTold) {
  for (const char* name : {"a", "b", "c"}) Fill(name);
  ServedStore served(*store_, store_.get());
  const auto flushed = served.Run("flush", {{"words", {"c", "default:a", "c"}}});
  ASSERT_TRUE(flushed.ok()) << flushed.status().message();
  EXPECT_EQ(TablesIn(*flushed), (std::vector<std::string>{"c", "a"}));
  EXPECT_NE(CellsInMemory("b"), 0u);
  ASSERT_TRUE(store_->DisableTable(Caller::Superuser(), {"default", "b"}).ok());
  const Status told = served.Run("compact", {{"words", {"b", "a", "nope"}}}).status();
  EXPECT_NE(told.message().find("b: "), std::string::npos) << told.message();
  EXPECT_NE(told.message().find("nope: "), std::string::npos) << told.message();
}

TEST_F(ThreeTablesTest, ATableThatFailsIsNamedAndDoesNotStopTheOthers) {
  store_.reset();
  const std::string tables = temporary_.path() + "/store/tables";
  std::ofstream(tables + "/1/MANIFEST") << "damaged";
  Open();
  for (const char* name : {"b", "c"}) Fill(name);
  ServedStore served(*store_, store_.get());
  for (const char* command : {"flush", "compact"}) {
    const Status status = served.Run(command).status();
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.message().rfind("a: ", 0), 0u) << status.message();
    EXPECT_EQ(status.message().find('\n'), std::string::npos) << status.message();
    EXPECT_EQ(CellsInMemory("b") + CellsInMemory("c"), 0u);
  }
}

// Has room for one table only when others were compacted.
struct FullStore : ForwardingStore {
  using ForwardingStore::ForwardingStore;
  Status Compact(const Caller&, const TableName& table, CompactionKind) override {
    if (compacted < (table.name == "a" ? 2 : table.name == "b" ? 1 : 0))
      return Status(StatusCode::kStoreFull, "no room");
    ++compacted;
    return Status();
  }
  int compacted = 0;
};

TEST_F(ThreeTablesTest, WhatFindsNoRoomIsTriedAgainAfterTheOthers) {
  FullStore store(std::move(store_));
  ServedStore served(store, nullptr);
  const auto compacted = served.Run("compact");
  ASSERT_TRUE(compacted.ok()) << compacted.status().message();
  EXPECT_EQ(TablesIn(*compacted), (std::vector<std::string>{"c", "b", "a"}));
  store.compacted = -1;
  const Status none = served.Run("compact").status();
  EXPECT_EQ(none.code(), StatusCode::kStoreFull);
  EXPECT_EQ(none.message(), "a: no room; b: no room; c: no room");
}

TEST_F(CommandsTest, SetChangesTheLogLevel) {
  const std::string before = LogLevel();
  EXPECT_TRUE(served_->Run("set", {{"words", {"log_level=warn"}}}).ok());
  EXPECT_EQ(LogLevel(), "warn");
  EXPECT_EQ(CodeOf("set", {{"words", {"log_level=loud"}}}),
            StatusCode::kIllegalArgument);
  EXPECT_EQ(LogLevel(), "warn");
  EXPECT_TRUE(SetLogLevel(before).ok());
}

TEST_F(CommandsTest, WhatIsUnknownIsRefused) {
  EXPECT_EQ(CodeOf("format", {}), StatusCode::kIllegalArgument);
  EXPECT_EQ(CodeOf("set", {{"words", {"colour=red"}}}), StatusCode::kIllegalArgument);
  EXPECT_EQ(CodeOf("set", {{"words", {"maintenance=off"}}}),
            StatusCode::kIllegalArgument);
  EXPECT_TRUE(served_->Run("set", {{"words", {"cache_size=2097152"}}}).ok());
  EXPECT_EQ(CodeOf("set", {{"words", {"cache_size=some"}}}),
            StatusCode::kIllegalArgument);
}

}  // namespace
}  // namespace cellfs
