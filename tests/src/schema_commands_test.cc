// SPDX-License-Identifier: MIT
//
// Commands of schemas, rights and quotas.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/open.h"
#include "src/commands/quota_words.h"
#include "src/commands/schema_words.h"
#include "tests/src/served_store.h"

namespace cellfs {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

constexpr auto kWrong = StatusCode::kIllegalArgument;

TEST(FamilyWordTest, SaysAttributesAsHBaseNamesThem) {
  const auto plain = ParseFamilyWord("f");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->name, "f");
  EXPECT_TRUE(plain->attributes.empty());
  for (const char* word : {"f:VERSIONS=5,TTL='1 DAYS',note=a\\x2Cb",
                           "{NAME => 'f', VERSIONS => 5, TTL => '1 DAYS', note => \"a,b\"}"}) {
    const auto parsed = ParseFamilyWord(word);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    ASSERT_EQ(parsed->attributes.size(), 3u) << word;
    EXPECT_EQ(parsed->name, "f");
    EXPECT_EQ(parsed->attributes[0].name, "VERSIONS");
    EXPECT_EQ(parsed->attributes[0].value, "5");
    EXPECT_EQ(parsed->attributes[2].value, "a,b");
  }
  for (const char* word : {"", ":VERSIONS=1", "f:5", "f:=5", "{VERSIONS => 5}", "{NAME => 'f'",
                           "{NAME 'f'}", "{NAME => 'f', METHOD => 'delete'}",
                           "{NAME => 'f', CONFIGURATION => {'a' => 'b'}}"}) {
    EXPECT_EQ(ParseFamilyWord(word).status().code(), kWrong) << word;
  }
}

TEST(FamilyWordTest, TheTextOfAFamilyMakesOneLikeIt) {
  FamilySchema family("f\xff");
  for (const auto& [name, value] :
       {std::pair{"VERSIONS", "7"}, {"TTL", "5"}, {"note", "{it's \"a,=b\n"}})
    ASSERT_TRUE(family.Set(name, value).ok());
  const auto word = ParseFamilyWord(FamilyText(family));
  ASSERT_TRUE(word.ok());
  FamilySchema again(word->name);
  ASSERT_TRUE(SetAttributes(*word, again).ok());
  EXPECT_EQ(again, family);
}

TEST(AttributeNameTest, MistakesAreToldAndFreeMetadataIsTaken) {
  EXPECT_NE(CheckFamilyAttribute("VERSION").message().find("'VERSIONS'"), std::string::npos);
  EXPECT_NE(CheckFamilyAttribute("READONLY").message().find("--set"), std::string::npos);
  EXPECT_NE(CheckTableAttribute("TTL").message().find("FAMILY:TTL"), std::string::npos);
  EXPECT_NE(CheckTableAttribute("READ_ONLY").message().find("'READONLY'"), std::string::npos);
  EXPECT_NE(CheckNamespaceProperty("hbase.namespace.quota.maxtable").message().find("maxtables'"),
            std::string::npos);
  for (const char* name : {"enabled", "open", "splits", "space_quota", "families"})
    EXPECT_EQ(CheckTableAttribute(name).code(), kWrong) << name;
  for (const char* name : {"versions", "url", "team", "contact"})
    EXPECT_TRUE(CheckFamilyAttribute(name).ok()) << name;
}

TEST(SizeTest, IsWithUnitsOf1024) {
  for (const auto& [text, bytes] :
       {std::pair{"0", int64_t{0}}, {"1000", 1000}, {"5K", 5 << 10}, {"1.5m", 3 << 19},
        {"10G", int64_t{10} << 30}, {"2TiB", int64_t{2} << 40}, {"7B", 7}}) {
    const auto size = ParseSize(text);
    ASSERT_TRUE(size.ok()) << text;
    EXPECT_EQ(*size, bytes) << text;
  }
  for (const char* text : {"", "G", "-1", "1X", "1KK", "nan", "inf", "1e3", "99999999T", "1 G x"})
    EXPECT_FALSE(ParseSize(text).ok()) << text;
  EXPECT_TRUE(ParsePolicyWord("no_writes").ok());
  EXPECT_NE(ParsePolicyWord("NO_WRITE").status().message().find("did you mean"),
            std::string::npos);
}

class SchemaCommandsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = OpenMemoryStore({});
    served_ = std::make_unique<ServedStore>(*store_, store_.get());
  }
  StatusCode CodeOf(const std::string& command, Words words, json more = json::object()) {
    more["words"] = std::move(words);
    const auto records = served_->Run(command, more);
    last_ = records.ok() ? *records : json(records.status().message());
    return records.status().code();
  }
  void Do(const std::string& command, Words words, json more = json::object()) {
    EXPECT_EQ(CodeOf(command, std::move(words), std::move(more)), StatusCode::kOk) << last_;
    EXPECT_FALSE(served_->said_no()) << command;
  }
  std::shared_ptr<const TableSchema> SchemaOf(const std::string& table) {
    return *store_->DescribeTable(ParseTableName(table));
  }

  std::unique_ptr<ControlledStore> store_;
  std::unique_ptr<ServedStore> served_;
  json last_;
};

TEST_F(SchemaCommandsTest, CreateMakesWhatItSays) {
  Do("create", {"t", "f:VERSIONS=5", "g"}, {{"set", {"DURABILITY=ASYNC_WAL", "team=storage"}},
                                            {"splits", "g,\\x80"}});
  const auto schema = SchemaOf("t");
  EXPECT_EQ(schema->FindFamily("f")->max_versions(), 5);
  EXPECT_EQ(schema->FindFamily("g")->max_versions(), 1);
  EXPECT_EQ(schema->durability(), Durability::kAsyncWal);
  EXPECT_EQ(schema->Get("team"), "storage");
  EXPECT_EQ(schema->split_keys, (Words{"g", "\x80"}));
  EXPECT_EQ(CodeOf("create", {"t", "f"}), StatusCode::kTableExists);
  Do("create", {"hexed", "f"}, {{"regions", "4"}, {"split_algorithm", "HexStringSplit"}});
  EXPECT_EQ(SchemaOf("hexed")->split_keys.size(), 3u);
  Do("create", {"open", "f"}, {{"open", true}});
  EXPECT_EQ(SchemaOf("open")->FindFamily("f")->max_versions(), 10) << "as mkdir makes it";
  Do("create", {"empty"}, {{"open", true}});
}

TEST_F(SchemaCommandsTest, WrongCreationsMakeNothing) {
  EXPECT_EQ(CodeOf("create", {"t"}), kWrong);
  EXPECT_EQ(CodeOf("create", {}), kWrong);
  EXPECT_EQ(CodeOf("create", {"t", "f", "f"}), kWrong);
  EXPECT_EQ(CodeOf("create", {"t", "f:VERSION=5"}), kWrong);
  EXPECT_EQ(CodeOf("create", {"t", "f:VERSIONS=0"}), kWrong);
  EXPECT_EQ(CodeOf("create", {"t", "f:TTL=0"}), kWrong);
  EXPECT_EQ(CodeOf("create", {"t", ".f"}), kWrong);
  EXPECT_EQ(CodeOf("create", {"-t", "f"}), kWrong);
  EXPECT_EQ(CodeOf("create", {"t", "f"}, {{"splits", "a,,b"}}), kWrong);
  EXPECT_EQ(CodeOf("create", {"t", "f"}, {{"splits", "a,a"}}), kWrong);
  EXPECT_EQ(CodeOf("create", {"t", "f"}, {{"regions", "4"}}), kWrong);
  EXPECT_EQ(CodeOf("create", {"t", "f"}, {{"regions", "4"}, {"split_algorithm", "dec"}}), kWrong);
  EXPECT_EQ(CodeOf("create", {"t", "f"}, {{"set", {"MAX_FILESIZE=1"}}}), kWrong);
  EXPECT_EQ(CodeOf("create", {"nowhere:t", "f"}), StatusCode::kNamespaceNotFound);
  EXPECT_EQ(CodeOf("create", {"f"}, {{"path", {"default", "t", "r"}}}), kWrong);
  Do("list", {});
  EXPECT_TRUE(last_.empty()) << last_;
}

TEST_F(SchemaCommandsTest, AlterChangesWhatIsNamed) {
  Do("create", {"t", "f:VERSIONS=5,TTL=100", "old"}, {{"set", {"READONLY=true"}}});
  Do("alter", {"t", "f:VERSIONS=7", "new:COMPRESSION=ZSTD"},
     {{"set", {"team=a"}}, {"unset", {"READONLY", "f:TTL"}}, {"drop_family", {"old"}}});
  const auto schema = SchemaOf("t");
  EXPECT_EQ(schema->FindFamily("f")->attributes(), (Attributes{{"VERSIONS", "7"}}));
  EXPECT_EQ(schema->FindFamily("new")->compression(), Compression::kZstandard);
  EXPECT_EQ(schema->FindFamily("old"), nullptr);
  EXPECT_EQ(schema->attributes(), (Attributes{{"team", "a"}}));
  EXPECT_EQ(CodeOf("alter", {"t"}), kWrong);
  EXPECT_EQ(CodeOf("alter", {"nothing", "f"}), StatusCode::kTableNotFound);
  EXPECT_EQ(CodeOf("alter", {"t"}, {{"drop_family", {"old"}}}), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(CodeOf("alter", {"t"}, {{"unset", {"old:TTL"}}}), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(CodeOf("alter", {"t"}, {{"drop_family", {"f", "new"}}}), kWrong) << "the last";
  EXPECT_EQ(CodeOf("alter", {"t", "f:MIN_VERSIONS=9"}), kWrong);
  EXPECT_EQ(*SchemaOf("t"), *schema);
}

TEST_F(SchemaCommandsTest, DescribeSaysAllThatCreateTakes) {
  Do("create", {"t", "f:VERSIONS=5"}, {{"splits", "m"}, {"set", {"team=a"}}});
  Do("set_quota", {"t", "1G", "no_writes"});
  Do("describe", {"t"});
  const json& table = last_[0];
  EXPECT_EQ(table["regions"], 2);
  EXPECT_EQ(table["splits"], json({"m"}));
  EXPECT_EQ(table["enabled"], true);
  EXPECT_EQ(table["space_quota"], (json{{"limit", 1 << 30}, {"policy", "NO_WRITES"}}));
  EXPECT_EQ(table["attributes"], (json{{"team", "a"}}));
  EXPECT_EQ(table["families"][0]["text"], "f:VERSIONS=5");
  EXPECT_EQ(table["families"][0]["in_force"]["TTL"], "FOREVER");
  EXPECT_EQ(CodeOf("describe", {"nothing"}), StatusCode::kTableNotFound);
  EXPECT_EQ(CodeOf("describe", {"t", "u"}), kWrong);
  Do("describe", {}, {{"path", {"default"}}});
  EXPECT_EQ(last_[0]["namespace"], "default");
}

TEST_F(SchemaCommandsTest, ATableLivesAndGoes) {
  Do("create", {"t", "f"});
  Do("exists", {"t"});
  Do("is_enabled", {"t"});
  EXPECT_EQ(CodeOf("drop", {"t"}), StatusCode::kTableNotDisabled);
  EXPECT_NE(last_.get<std::string>().find("--force"), std::string::npos);
  EXPECT_EQ(CodeOf("enable", {"t"}), StatusCode::kOk);
  EXPECT_TRUE(served_->said_no());
  Do("disable", {"t"});
  EXPECT_EQ(CodeOf("disable", {"t"}), StatusCode::kOk);
  EXPECT_TRUE(served_->said_no());
  EXPECT_EQ(CodeOf("is_enabled", {"t"}), StatusCode::kOk);
  EXPECT_TRUE(served_->said_no());
  Do("list", {});
  EXPECT_EQ(last_, json::array({{{"table", "t"}, {"enabled", false}}}));
  Do("truncate", {"t"});
  Do("is_enabled", {"t"});
  Do("put", {"t", "r", "f:q=v"});
  Do("truncate", {"t"});
  Do("count", {"t"});
  EXPECT_EQ(last_[0]["rows"], 0);
  Do("split", {"t", "m"});
  EXPECT_EQ(last_[0]["regions"], 2);
  EXPECT_EQ(CodeOf("split", {"t", "m"}), StatusCode::kOk);
  EXPECT_TRUE(served_->said_no()) << "one begins there already";
  EXPECT_EQ(CodeOf("split", {"t"}), kWrong);
  EXPECT_EQ(CodeOf("split", {"t", "m", "n"}), kWrong);
  Do("drop", {"t"}, {{"force", true}});
  EXPECT_EQ(CodeOf("exists", {"t"}), StatusCode::kOk);
  EXPECT_TRUE(served_->said_no());
  for (const char* command : {"drop", "truncate", "enable", "disable", "is_enabled"})
    EXPECT_EQ(CodeOf(command, {"t"}), StatusCode::kTableNotFound) << command;
}

TEST_F(SchemaCommandsTest, NamespacesHaveMaxima) {
  Do("create_namespace", {"a"}, {{"max_tables", "1"}, {"set", {"team=x"}}});
  EXPECT_EQ(CodeOf("create_namespace", {"a"}), StatusCode::kNamespaceExists);
  EXPECT_EQ(CodeOf("create_namespace", {"b"}, {{"max_tables", "0"}}), kWrong);
  EXPECT_EQ(CodeOf("create_namespace", {"b-"}), kWrong);
  EXPECT_EQ(CodeOf("create_namespace", {}), kWrong);
  Do("create", {"a:t", "f"});
  EXPECT_EQ(CodeOf("create", {"a:u", "f"}), StatusCode::kQuotaExceeded);
  Do("alter_namespace", {"a"}, {{"max_tables", "none"}, {"max_regions", "3"}, {"unset", {"team"}}});
  Do("describe_namespace", {"a"});
  EXPECT_EQ(last_[0]["properties"], (json{{"hbase.namespace.quota.maxregions", "3"}}));
  EXPECT_EQ(CodeOf("alter_namespace", {"a"}), kWrong);
  Do("split", {"a:t", "m"});
  Do("split", {"a:t", "n"});
  EXPECT_EQ(CodeOf("split", {"a:t", "o"}), StatusCode::kQuotaExceeded);
  EXPECT_EQ(CodeOf("drop_namespace", {"a"}), StatusCode::kConstraint);
  Do("list", {"a"});
  EXPECT_EQ(last_[0]["table"], "a:t");
  Do("drop", {"a:t"}, {{"force", true}});
  Do("drop_namespace", {"a"});
  EXPECT_EQ(CodeOf("describe_namespace", {"a"}), StatusCode::kNamespaceNotFound);
  for (const char* command : {"describe_namespace", "alter_namespace", "drop_namespace"}) {
    EXPECT_EQ(CodeOf(command, {"cellfs"}, {{"set", {"a=b"}}}), StatusCode::kNamespaceNotFound)
        << command;
  }
}

TEST_F(SchemaCommandsTest, QuotasAreSetListedAndInForceAtOnce) {
  Do("create", {"t", "f"});
  Do("put", {"t", "r", "f:q=value"});
  Do("flush", {"t"});
  Do("set_quota", {"t", "0", "disable"});
  EXPECT_EQ(CodeOf("is_enabled", {"t"}), StatusCode::kOk);
  EXPECT_TRUE(served_->said_no());
  Do("set_quota", {"@default", "10G"});
  Do("list_quotas", {});
  ASSERT_EQ(last_.size(), 2u);
  EXPECT_EQ(last_[0]["namespace"], "default");
  EXPECT_EQ(last_[0]["space_quota"]["limit"], int64_t{10} << 30);
  EXPECT_EQ(last_[1]["space_quota"]["policy"], "DISABLE");
  Do("set_quota", {"t", "none"});
  Do("is_enabled", {"t"});
  Do("set_quota", {"none"}, {{"path", {"default"}}});
  Do("list_quotas", {});
  EXPECT_TRUE(last_.empty());
  for (const Words& words :
       {Words{"t"}, {"t", "x"}, {"t", "1G", "NO"}, {"t", "none", "DISABLE"}, {"t", "1", "2", "3"}})
    EXPECT_EQ(CodeOf("set_quota", words), kWrong);
  EXPECT_EQ(CodeOf("set_quota", {"u", "1G"}), StatusCode::kTableNotFound);
  EXPECT_EQ(CodeOf("set_quota", {"@u", "1G"}), StatusCode::kNamespaceNotFound);
}

// ---- Rights -------------------------------------------------------------------------------------

class RightsCommandsTest : public SchemaCommandsTest {
 protected:
  void SetUp() override {
    StoreOptions options;
    options.site.authorization = true;
    store_ = OpenMemoryStore(options);
    fs::MountOptions mount;
    mount.authorization = true;
    mount.allow_other = true;
    served_ = std::make_unique<ServedStore>(*store_, store_.get(), "", mount);
    Do("create", {"t", "f", "g"});
  }
  StatusCode AsOther(const std::string& command, Words words, json more = json::object()) {
    more["words"] = std::move(words);
    const auto records = served_->Run(command, more, {getpid(), 4000000, {4000000}});
    last_ = records.ok() ? *records : json(records.status().message());
    return records.status().code();
  }
  static json User(const char* permissions = nullptr) {
    json user = {{"user", "4000000"}};
    if (permissions != nullptr) user["permissions"] = permissions;
    return user;
  }
};

TEST_F(RightsCommandsTest, AGrantLetsAndARevokeTakesAway) {
  EXPECT_EQ(AsOther("scan", {"t"}), StatusCode::kAccessDenied);
  Do("grant", {"t"}, User("r"));
  EXPECT_EQ(AsOther("scan", {"t"}), StatusCode::kOk);
  Do("grant", {"t", "f:q"}, User("W"));
  Do("grant", {"@default"}, User("C"));
  Do("grant", {}, User("X"));
  Do("user_permission", {});
  ASSERT_EQ(last_.size(), 4u);
  Do("user_permission", {"t"});
  ASSERT_EQ(last_.size(), 2u);
  EXPECT_EQ(last_[1]["qualifier"], "q");
  Do("revoke", {"t"}, User());
  EXPECT_EQ(AsOther("scan", {"t"}), StatusCode::kAccessDenied);
  EXPECT_EQ(CodeOf("revoke", {"t"}, User()), StatusCode::kOk);
  EXPECT_TRUE(served_->said_no());
}

TEST_F(RightsCommandsTest, OnesOwnGrantsAreListedAndOthersToWhoMayGrant) {
  Do("grant", {"t"}, {{"user", "root"}, {"permissions", "RW"}});
  Do("grant", {"t"}, User("R"));
  EXPECT_EQ(AsOther("user_permission", {}), StatusCode::kOk);
  EXPECT_EQ(last_.size(), 1u);
  EXPECT_EQ(AsOther("grant", {"t"}, User("W")), StatusCode::kAccessDenied);
  EXPECT_EQ(AsOther("set_quota", {"t", "1G"}), StatusCode::kAccessDenied);
  Do("grant", {"t"}, User("A"));
  EXPECT_EQ(AsOther("user_permission", {"t"}), StatusCode::kOk);
  EXPECT_EQ(last_.size(), 2u);
  EXPECT_EQ(AsOther("grant", {"t", "g"}, User("W")), StatusCode::kOk) << last_;
}

TEST_F(RightsCommandsTest, WhatIsNoRightIsRefused) {
  EXPECT_EQ(CodeOf("grant", {"t"}, User("Z")), kWrong);
  EXPECT_EQ(CodeOf("grant", {"t"}, User("")), kWrong);
  EXPECT_EQ(CodeOf("grant", {"t"}, {{"user", "@staff"}, {"permissions", "R"}}), kWrong);
  EXPECT_EQ(CodeOf("grant", {"t", "f", "q", "x"}, User("R")), kWrong);
  EXPECT_EQ(CodeOf("grant", {"t", "h"}, User("R")), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(CodeOf("grant", {"u"}, User("R")), StatusCode::kTableNotFound);
  EXPECT_EQ(CodeOf("grant", {"@u"}, User("R")), StatusCode::kNamespaceNotFound);
  EXPECT_EQ(CodeOf("grant", {"cellfs:attributes"}, User("R")), StatusCode::kTableNotFound);
  json row = User("R");
  row["path"] = {"default", "t", "r"};
  EXPECT_EQ(CodeOf("grant", {}, row), kWrong);
}

}  // namespace
}  // namespace cellfs
