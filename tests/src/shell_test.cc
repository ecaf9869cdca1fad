// SPDX-License-Identifier: MIT
//
// The language of HBase's shell, and the forms in which it shows things. What its commands do is
// tried on a store by tests/mount/test_shell.py.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <set>

#include "src/shell/call.h"
#include "src/shell/converter.h"
#include "src/shell/output.h"
#include "src/shell/query.h"
#include "src/shell/schema.h"
#include "src/shell/statement.h"

namespace cellfs::shell {
namespace {

using nlohmann::json;

// "t = create "t1", {"NAME"=>"f1"}" of each, in lines.
std::string Shown(const std::vector<Statement>& statements) {
  std::string text;
  for (const Statement& statement : statements) {
    if (!text.empty()) text += "\n";
    if (!statement.kept_as.empty()) text += statement.kept_as + " = ";
    if (!statement.receiver.empty()) text += statement.receiver + ".";
    text += statement.command;
    for (size_t i = 0; i < statement.arguments.size(); ++i) {
      const Argument& argument = statement.arguments[i];
      text += (i == 0 ? " " : ", ") +
              (argument.variable.empty() ? argument.value.Inspect() : argument.variable);
    }
    if (statement.block != nullptr)
      text += " {|" + statement.block->parameter + "| " + Shown(statement.block->statements) + "}";
  }
  return text;
}
std::string Parsed(const std::string& text) {
  const auto statements = ParseStatements(text);
  return statements.ok() ? Shown(*statements) : statements.status().ToString();
}

TEST(ShellLanguage, CommandsAreTypedAsHBasesBookHasThem) {
  EXPECT_EQ(Parsed("create 't1', {NAME => 'f1', VERSIONS => 5}"),
            "create \"t1\", {\"NAME\"=>\"f1\", \"VERSIONS\"=>5}");
  EXPECT_EQ(Parsed("alter 't1', NAME => 'f1', MIN_VERSIONS => 2 # a comment"),
            "alter \"t1\", {\"NAME\"=>\"f1\", \"MIN_VERSIONS\"=>2}");
  EXPECT_EQ(Parsed("put('t', 'r', 'f:q', 10, -5)"), "put \"t\", \"r\", \"f:q\", 10, -5");
  EXPECT_EQ(Parsed("create 't1','f1',SPLITS => ['10','20',30]"),
            "create \"t1\", \"f1\", {\"SPLITS\"=>[\"10\", \"20\", 30]}");
  EXPECT_EQ(Parsed("put 't', \"r\\x00\\xff\\u20ac\\n\", 'a\\'b\\x'"),
            "put \"t\", \"r\\x00\\xFF\xE2\x82\xAC\\x0A\", \"a'b\\x5Cx\"");
  EXPECT_EQ(Parsed("alter \xE2\x80\x98t1\xE2\x80\xB2, NAME => \xE2\x80\x98"
                   "f1\xE2\x80\xB2"),
            "alter \"t1\", {\"NAME\"=>\"f1\"}")
      << "quotes of a printed book";
  EXPECT_EQ(Parsed("get 't', 'r', {COLUMN: 'c', TIMERANGE => [1, 2], RAW => true, X => nil}"),
            "get \"t\", \"r\", {\"COLUMN\"=>\"c\", \"TIMERANGE\"=>[1, 2], \"RAW\"=>true, "
            "\"X\"=>nil}");
}

TEST(ShellLanguage, StatementsEndWithLinesAndSemicolonsButNotWithinBrackets) {
  EXPECT_EQ(Parsed("disable 't'; drop 't'\nlist"), "disable \"t\"\ndrop \"t\"\nlist");
  EXPECT_EQ(Parsed("scan 't', {LIMIT => 1,\n # why\n RAW => true}\nlist"),
            "scan \"t\", {\"LIMIT\"=>1, \"RAW\"=>true}\nlist");
  EXPECT_EQ(Parsed("scan 't',\n'x'"), "scan \"t\", \"x\"");
  for (const char* unfinished : {"scan 't', {LIMIT => 1", "put 't', 'r", "scan 't',", "x.each { |t|",
                                 "list.each do |t|\n disable t"}) {
    EXPECT_EQ(ParseStatements(unfinished).status().code(), StatusCode::kUnavailable) << unfinished;
  }
}

TEST(ShellLanguage, TablesAreKeptUnderNames) {
  EXPECT_EQ(Parsed("t = create 't', 'f'"), "t = create \"t\", \"f\"");
  EXPECT_EQ(Parsed("t.put 'r', 'f', 'v'"), "t.put \"r\", \"f\", \"v\"");
  EXPECT_EQ(Parsed("t.scan"), "t.scan");
  EXPECT_EQ(Parsed("tables.map { |t| disable t ; drop  t}"), "tables {|t| disable t\ndrop t}");
  EXPECT_EQ(Parsed("list('a.*').each do |t|\n  describe t\nend"), "list \"a.*\" {|t| describe t}");
}

TEST(ShellLanguage, FiltersThatAreMadeAreTextsOfTheirLanguage) {
  EXPECT_EQ(Parsed("scan 't', {FILTER => "
                   "org.apache.hadoop.hbase.filter.ColumnPaginationFilter.new(1, 0)}"),
            "scan \"t\", {\"FILTER\"=>\"ColumnPaginationFilter (1, 0)\"}");
  EXPECT_EQ(Parsed("scan 't', FILTER => PrefixFilter.new(Bytes.toBytes(\"it's\"))"),
            "scan \"t\", {\"FILTER\"=>\"PrefixFilter ('it''s')\"}");
}

TEST(ShellLanguage, WhatIsWrongIsSaidWithItsLine) {
  for (const char* wrong : {"create 't',, 'f'", "create )", "scan 't' 5", "1 + 1", "scan {'a'}",
                            "x = ", "create 't', {NAME =>}", "a.b.c", "scan 't', %w[a b]"}) {
    const Status status = ParseStatements(std::string("\n") + wrong + "\n").status();
    EXPECT_FALSE(status.ok()) << wrong;
    if (status.code() != StatusCode::kUnavailable) {
      EXPECT_EQ(status.code(), StatusCode::kIllegalArgument) << wrong;
    }
  }
  EXPECT_NE(Parsed("list\nscan 't' 5").find("line 2: '5' is not expected here"), std::string::npos);
}

// Whatever is typed ends in statements or an error.
TEST(ShellLanguage, AnyTextIsReadToItsEnd) {
  const std::string alphabet = "aB1'\"{}[](),.=>|#\n;:-\\x \xE2\x80\x98";
  uint64_t state = 7;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = 0; i < 24; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += alphabet[(state >> 33) % alphabet.size()];
    }
    static_cast<void>(ParseStatements(text));
  }
}

// ---- What is asked for --------------------------------------------------------------------------

json AskedBy(const std::string& hash, Query::Kind kind) {
  const auto statements = ParseStatements("x " + hash);
  if (!statements.ok()) return statements.status().ToString();
  const auto query = Query::Read(*statements->front().arguments[0].value.As<Hash>(), kind);
  if (!query.ok()) return query.status().message();
  return query->Arguments({"t"});
}

TEST(ShellQuery, SaysWhatTheCommandLineTakes) {
  EXPECT_EQ(AskedBy("{COLUMNS => ['f', 'f:a=b:toInt'], VERSIONS => 3, TIMESTAMP => 7}",
                    Query::Kind::kGet),
            json({{"words", {"t", "f", "f:a\\x3Db"}},
                  {"versions", "3"},
                  {"from", "7"},
                  {"until", "8"}}));
  EXPECT_EQ(AskedBy("{STARTROW => \"a\\x00\", STOPROW => 'b', LIMIT => 2, REVERSED => true, "
                    "RAW => true, CACHE => 5, TIMERANGE => [1, 9]}",
                    Query::Kind::kScan),
            json({{"words", {"t"}},
                  {"start", "a\\x00"},
                  {"stop", "b"},
                  {"limit", "2"},
                  {"reversed", true},
                  {"raw", true},
                  {"versions", "1"},
                  {"from", "1"},
                  {"until", "9"}}));
  EXPECT_EQ(AskedBy("{LIMTI => 2}", Query::Kind::kScan), "'LIMTI' is nothing that scan knows");
  EXPECT_EQ(AskedBy("{LIMIT => 2}", Query::Kind::kGet), "'LIMIT' is nothing that get knows");
  EXPECT_EQ(AskedBy("{TIMERANGE => [1]}", Query::Kind::kGet), "TIMERANGE is [FROM, UNTIL], not [1]");
}

json SaidBy(const std::string& call, Status (*add)(const Value&, json&)) {
  const auto statements = ParseStatements(call);
  if (!statements.ok()) return statements.status().ToString();
  json arguments = {{"words", json::array()}};
  for (const Argument& argument : statements->front().arguments) {
    const Status added = add(argument.value, arguments);
    if (!added.ok()) return added.message();
  }
  return arguments;
}

TEST(ShellSchema, CreateAndAlterSayWhatTheCommandLineTakes) {
  EXPECT_EQ(SaidBy("create 't', 'f', {NAME => 'g', VERSIONS => 5, CONFIGURATION => {'a' => 'x,y'}}, "
                   "READONLY => true, SPLITS => ['a', '\\x80', \"\\x00\"]",
                   AddToCreate),
            json({{"words", {"t", "f", "g:VERSIONS=5,a=x\\x2Cy"}},
                  {"set", {"READONLY=true"}},
                  {"splits", "a,\\x80,\\x00"}}));
  EXPECT_EQ(SaidBy("create 't', {NUMREGIONS => 15, SPLITALGO => 'HexStringSplit'}", AddToCreate),
            json({{"words", {"t"}}, {"regions", "15"}, {"split_algorithm", "HexStringSplit"}}));
  EXPECT_EQ(SaidBy("alter NAME => 'f', METHOD => 'delete'", AddToAlter),
            json({{"words", json::array()}, {"drop_family", {"f"}}}));
  EXPECT_EQ(SaidBy("alter 'delete' => 'f'", AddToAlter),
            json({{"words", json::array()}, {"drop_family", {"f"}}}));
  EXPECT_EQ(SaidBy("alter METHOD => 'table_att_unset', NAME => ['A', 'B']", AddToAlter),
            json({{"words", json::array()}, {"unset", {"A", "B"}}}));
  EXPECT_EQ(SaidBy("alter METHOD => 'nonsense', NAME => 'A'", AddToAlter),
            "METHOD 'nonsense' is not known; there are delete, table_att, table_att_unset and "
            "table_conf_unset");
}

// ---- What is shown ------------------------------------------------------------------------------

TEST(ShellOutput, ValuesAreShownByTheMethodsOfBytes) {
  const std::string eight("\x00\x00\x00\x00\x00\x00\x01\x02", 8);
  EXPECT_EQ(*Convert(eight, "toLong"), "258");
  EXPECT_EQ(*Convert("\xff\xff\xff\xfe", "toInt"), "-2");
  EXPECT_EQ(*Convert("\x80\x01", "toShort"), "-32767");
  EXPECT_EQ(*Convert("\x3f\xf8" + std::string(6, '\0'), "toDouble"), "1.5");
  EXPECT_EQ(*Convert("a\\\xE2\x82\xAC", ""), "a\\x5C\\xE2\\x82\\xAC");
  EXPECT_EQ(*Convert("a\\\xE2\x82\xAC", "toString"), "a\\\xE2\x82\xAC");
  EXPECT_EQ(Convert("abc", "toLong").status().code(), StatusCode::kIllegalArgument);
  EXPECT_EQ(ParseColumnSpec("f:q:c(org.apache.hadoop.hbase.util.Bytes).toInt").converter, "toInt");
  EXPECT_EQ(ParseColumnSpec("f:q:x").column, "f:q:x") << "a colon of the qualifier";
}

TEST(ShellOutput, TimesAreShownAsJavaShowsThem) {
  setenv("TZ", "UTC", 1);
  tzset();
  EXPECT_EQ(TimestampText(0), "1970-01-01T00:00");
  EXPECT_EQ(TimestampText(10), "1970-01-01T00:00:00.010");
  EXPECT_EQ(TimestampText(1767225605000), "2026-01-01T00:00:05");
  EXPECT_EQ(TimestampText(1767225605120), "2026-01-01T00:00:05.120");
}

TEST(ShellOutput, OffATerminalARowIsALine) {
  char* text = nullptr;
  size_t length = 0;
  std::FILE* const file = open_memstream(&text, &length);
  {
    Output output(file);
    output.Head("ROW", "COLUMN+CELL");
    output.Row("r1", "column=f:q, timestamp=1, value=" + std::string(200, 'v'));
    output.Footer();
  }
  fclose(file);
  EXPECT_EQ(std::string(text, length),
            "ROW  COLUMN+CELL\n r1 column=f:q, timestamp=1, value=" + std::string(200, 'v') +
                "\n1 row(s)\n");
  free(text);
}

TEST(ShellOutput, FamiliesAreShownAsHBaseShowsThem) {
  const json family = {{"name", "f"},
                       {"in_force", {{"VERSIONS", "5"}, {"TTL", "90061"}, {"BLOCKSIZE", "65536"}}},
                       {"attributes", {{"VERSIONS", "5"}, {"own", "it's"}}}};
  EXPECT_EQ(FamilyShown(family),
            "{NAME => 'f', VERSIONS => '5', TTL => '90061 SECONDS (1 DAY 1 HOUR 1 MINUTE 1 SECOND)', "
            "BLOCKSIZE => '65536 B (64KB)', METADATA => {'own' => 'it's'}}");
  EXPECT_EQ(AttributesShown(json::object()), "");
}

TEST(ShellCommands, EachIsInHBasesShellOnceAndSaysHowItIsCalled) {
  std::set<std::string> names;
  for (const CommandGroup& group : CommandGroups()) {
    for (const ShellCommand& command : group.commands) {
      EXPECT_TRUE(names.insert(std::string(command.name)).second) << command.name;
      EXPECT_EQ(WhyNotHere(command.name, false), "") << command.name;
      EXPECT_FALSE(command.help.empty()) << command.name;
      // What is given as an example can be read, and is of that command.
      std::string_view calls = command.help;
      for (size_t end = calls.find('\n'); end != calls.npos; end = calls.find('\n')) {
        calls.remove_prefix(end + 1);
        const auto statements = ParseStatements(calls.substr(0, calls.find('\n')));
        ASSERT_TRUE(statements.ok()) << calls;
      }
    }
  }
  EXPECT_NE(WhyNotHere("balancer", false), "");
  EXPECT_NE(WhyNotHere("snapshot", false), "");
  EXPECT_EQ(WhyNotHere("nonsense", false), "");
}

TEST(ShellCommands, OnlyWhatNeedsNothingIsPassedOver) {
  for (const char* name : {"balancer", "assign", "wal_roll", "list_peers", "rit"}) {
    EXPECT_TRUE(IsAsIfDone(name, /*is_cluster=*/false)) << name;
    EXPECT_FALSE(IsAsIfDone(name, /*is_cluster=*/true)) << name;
  }
  for (const char* name : {"snapshot", "clone_snapshot", "list_snapshots", "set_visibility",
                           "add_peer", "enable_table_replication", "unassign", "merge_region",
                           "truncate_region", "stop_master", "compaction_switch"}) {
    EXPECT_FALSE(IsAsIfDone(name, /*is_cluster=*/false)) << name;
    EXPECT_NE(WhyNotHere(name, false).find("nothing was done: "), std::string::npos) << name;
    EXPECT_EQ(WhyNotHere(name, true), "nothing was done: that is for the cluster's own shell");
  }
}

}  // namespace
}  // namespace cellfs::shell
