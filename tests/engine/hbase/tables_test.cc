// SPDX-License-Identifier: MIT
#include "engine/hbase/tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include "engine/hbase/maintenance.h"
#include "engine/hbase/reads.h"
#include "engine/hbase/schemas.h"
#include "engine/hbase/writes.h"
#include "tests/engine/hbase/fake_cluster.h"

namespace cellfs::hbase {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kMasterStarts[] = "org.apache.hadoop.hbase.PleaseHoldException";
constexpr char kNoMaster[] = "org.apache.hadoop.hbase.exceptions.MasterStoppedException";
constexpr char kChangedMeanwhile[] =
    "org.apache.hadoop.hbase.ConcurrentTableModificationException";
constexpr char kExists[] = "org.apache.hadoop.hbase.TableExistsException";

FakeCluster::Obstacle TakesItAndCloses() {
  return [](const ReceivedCall&) { return Reaction{"", true}; };
}

FakeCluster::Obstacle DoesNotAnswer() {
  return [](const ReceivedCall&) { return Reaction{}; };
}

Status Enable(FakeCluster& cluster, const Patience& patience = Soon()) {
  return Tables(cluster.master(), cluster.regions(), {}).Enable(kTable, patience);
}

// ---- Procedures ---------------------------------------------------------------------------------

TEST(Procedure, IsWaitedFor) {
  FakeCluster cluster({}, kRows);
  const Status done = Enable(cluster);
  EXPECT_TRUE(done.ok()) << done.ToString();
  EXPECT_EQ(cluster.procedures(), Rows{"EnableTable"});
}

TEST(Procedure, IsDoneOnceHoweverOftenItIsAskedFor) {
  FakeCluster cluster({}, kRows);
  cluster.PutInTheWay(FakeCluster::Throws(kMasterStarts));
  cluster.PutInTheWay(TakesItAndCloses());
  cluster.PutInTheWay(FakeCluster::Throws(kNoMaster));
  cluster.PutInTheWay(TakesItAndCloses());
  cluster.PutInTheWay([](const ReceivedCall&) { return std::nullopt; });
  cluster.PutInTheWay(TakesItAndCloses());  // of whoever asks how it ended
  const Status done = Enable(cluster);
  EXPECT_TRUE(done.ok()) << done.ToString();
  EXPECT_EQ(cluster.procedures(), Rows{"EnableTable"});
}

TEST(Procedure, TellsHowItEnded) {
  const std::pair<std::string, StatusCode> kEnds[] = {
      {"TableExistsException", StatusCode::kTableExists},
      {"TableNotFoundException", StatusCode::kTableNotFound},
      {"TableNotDisabledException", StatusCode::kTableNotDisabled},
      {"InvalidFamilyOperationException", StatusCode::kInvalidFamilyOperation},
      {"NamespaceNotFoundException", StatusCode::kNamespaceNotFound},
      {"quotas.QuotaExceededException", StatusCode::kQuotaExceeded},
      {"security.AccessDeniedException", StatusCode::kAccessDenied},
      {"DoNotRetryIOException", StatusCode::kDoNotRetry}};
  for (const auto& [class_name, code] : kEnds) {
    FakeCluster cluster({}, kRows);
    cluster.EndProceduresWith("org.apache.hadoop.hbase." + class_name);
    EXPECT_EQ(Enable(cluster).code(), code) << class_name;
  }
}

TEST(Procedure, ThatTheMasterRefusesIsNoneAndItsTableIsNamed) {
  FakeCluster cluster({}, kRows);
  cluster.PutInTheWay(FakeCluster::Throws(kExists, true));
  EXPECT_EQ(Enable(cluster).ToString(), "TableExists: table 't' exists");
  EXPECT_TRUE(cluster.procedures().empty());
}

TEST(Procedure, WithoutAnAnswerIsUnknown) {
  FakeCluster cluster({}, kRows);
  for (int i = 0; i < 30; ++i) cluster.PutInTheWay(DoesNotAnswer());
  EXPECT_EQ(Enable(cluster, Patience::For(milliseconds(50))).code(), StatusCode::kOutcomeUnknown);
}

TEST(Procedure, WhoseEndNobodyTellsIsUnknown) {
  for (const bool is_forgotten : {false, true}) {
    FakeCluster cluster({}, kRows);
    if (is_forgotten) cluster.ForgetProcedures();
    cluster.PutInTheWay([](const ReceivedCall&) { return std::nullopt; });
    for (int i = 0; i < 30 && !is_forgotten; ++i) cluster.PutInTheWay(DoesNotAnswer());
    EXPECT_EQ(Enable(cluster, Patience::For(milliseconds(100))).code(),
              StatusCode::kOutcomeUnknown);
    EXPECT_EQ(cluster.procedures().size(), 1u);
  }
}

TEST(Procedure, OfOneWhoHasGivenUpIsUnknownAndAQuestionIsCancelled) {
  FakeCluster cluster({}, kRows);
  Asker asker;
  for (int i = 0; i < 2; ++i) {
    cluster.PutInTheWay([&](const ReceivedCall&) {
      asker.GiveUp();
      return Reaction{};
    });
  }
  EXPECT_EQ(Enable(cluster, Patience::For(std::chrono::hours(1))).code(),
            StatusCode::kOutcomeUnknown);
  Tables tables(cluster.master(), cluster.regions(), {});
  EXPECT_EQ(tables.Describe(kTable, Patience::For(std::chrono::hours(1))).status().code(),
            StatusCode::kCancelled);
}

TEST(Procedure, ThatNoMasterGotHasNotHappened) {
  FakeCluster cluster({}, kRows);
  for (int i = 0; i < 30; ++i) cluster.PutInTheWay(FakeCluster::Throws(kMasterStarts));
  EXPECT_EQ(Enable(cluster).code(), StatusCode::kUnavailable);
}

TEST(Procedure, OfAFamilyIsDoneAgainWhereAnotherClientWasFaster) {
  FakeCluster cluster({}, kRows);
  for (int i = 0; i < 3; ++i) cluster.PutInTheWay(FakeCluster::Throws(kChangedMeanwhile, true));
  Tables tables(cluster.master(), cluster.regions(), {});
  const Status done = tables.AddFamily(kTable, FamilySchema("f"), Soon());
  EXPECT_TRUE(done.ok()) << done.ToString();
  EXPECT_EQ(cluster.procedures(), Rows{"AddColumn"});
}

// ---- Schemas ------------------------------------------------------------------------------------

TEST(Schemas, ComeBackAsTheyWereSent) {
  TableSchema schema({.namespace_name = "n", .name = "t"});
  ASSERT_TRUE(schema.Set("READONLY", "true").ok());
  ASSERT_TRUE(schema.Set("mine", "x y").ok());
  FamilySchema family("f");
  ASSERT_TRUE(family.Set("TTL", "1 DAYS").ok());
  ASSERT_TRUE(family.Set("VERSIONS", "5").ok());
  schema.families.emplace("f", family);
  pb::TableSchema message;
  Write(schema, message);
  EXPECT_EQ(SchemaOf(message), schema);
}

TEST(Schemas, SayForeverAsANumberAndLeaveOutWhatIsTheDefault) {
  FamilySchema family("f");
  ASSERT_TRUE(family.Set("TTL", "FOREVER").ok());
  pb::TableSchema message;
  Write(family, *message.add_column_families());
  EXPECT_EQ(message.column_families(0).attributes(0).second(), "2147483647");
  EXPECT_TRUE(SchemaOf(message).families.at("f").attributes().empty());
}

TEST(Schemas, KeepWhatWeWouldRefuseAndWhatIsConfiguration) {
  pb::TableSchema message;
  pb::ColumnFamilySchema& family = *message.add_column_families();
  family.set_name("f");
  pb::BytesBytesPair& attribute = *family.add_attributes();
  attribute.set_first("VERSIONS");
  attribute.set_second("many");
  pb::NameStringPair& configuration = *message.add_configuration();
  configuration.set_name("hbase.hstore.compaction.min");
  configuration.set_value("5");
  const TableSchema schema = SchemaOf(message);
  EXPECT_EQ(schema.families.at("f").Get("VERSIONS"), "many");
  EXPECT_EQ(schema.families.at("f").max_versions(), 1);
  EXPECT_EQ(schema.Get("hbase.hstore.compaction.min"), "5");
}

// ---- Tables -------------------------------------------------------------------------------------

TEST(Tables, AreMadeWithTheirSplitKeysInOrder) {
  FakeCluster cluster({}, kRows);
  pb::CreateTableRequest sent;
  cluster.PutInTheWay([&](const ReceivedCall& call) {
    sent = call.As<pb::CreateTableRequest>();
    return std::nullopt;
  });
  TableSchema schema(kTable);
  schema.families.emplace("f", FamilySchema("f"));
  schema.split_keys = {"m", "d"};
  Tables tables(cluster.master(), cluster.regions(), {});
  const Status made = tables.Create(schema, Soon());
  ASSERT_TRUE(made.ok()) << made.ToString();
  EXPECT_EQ(Rows(sent.split_keys().begin(), sent.split_keys().end()), (Rows{"d", "m"}));
  EXPECT_EQ(sent.table_schema().table_name().qualifier(), "t");
  EXPECT_NE(sent.nonce(), 0u);
  EXPECT_NE(sent.nonce_group(), 0u);
}

TEST(Tables, NoneHasANameThatNoneCanHave) {
  FakeCluster cluster({}, kRows);
  Tables tables(cluster.master(), cluster.regions(), {});
  const TableName name{"default", ".namespace.toml.x"};
  EXPECT_EQ(tables.Describe(name, Soon()).status().code(), StatusCode::kTableNotFound);
}

TEST(Tables, AreDescribedWithTheirRegions) {
  FakeCluster cluster({"d", "g"}, kRows);
  cluster.PutInTheWay([](const ReceivedCall& call) -> std::optional<Reaction> {
    pb::GetTableDescriptorsResponse response;
    Write(kTable, *response.add_table_schema()->mutable_table_name());
    return Reaction{AnswerFrame(call.id, response)};
  });
  Tables tables(cluster.master(), cluster.regions(), {});
  const auto schema = tables.Describe(kTable, Soon());
  ASSERT_TRUE(schema.ok()) << schema.status().ToString();
  EXPECT_EQ((*schema)->split_keys, (Rows{"d", "g"}));
  ASSERT_TRUE((*schema)->incarnation());
  EXPECT_EQ((*schema)->incarnation()->state, 1);
  EXPECT_EQ((*schema)->incarnation()->regions.size(), 1u) << "all were made at one time";
}

// Also with cache_time=0: who opens a file to write has just looked at its table.
TEST(Tables, ThatWereDescribedJustNowAreNotAskedForBeforeAPut) {
  FakeCluster cluster({}, kRows);
  std::atomic<int> asked = 0;
  const auto describes = [&](const ReceivedCall& call) -> std::optional<Reaction> {
    ++asked;
    pb::GetTableDescriptorsResponse response;
    Write(kTable, *response.add_table_schema()->mutable_table_name());
    pb::BytesBytesPair& read_only = *response.mutable_table_schema(0)->add_attributes();
    read_only.set_first("READONLY");
    read_only.set_second("true");
    return Reaction{AnswerFrame(call.id, response)};
  };
  cluster.PutInTheWay(describes);
  cluster.PutInTheWay(describes);
  Tables tables(cluster.master(), cluster.regions(), seconds(0));
  ASSERT_TRUE(tables.Describe(kTable, Soon()).ok());
  EXPECT_EQ(tables.CheckMayPut(kTable, Soon()).code(), StatusCode::kReadOnly);
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(tables.Describe(kTable, Soon()).ok());
  EXPECT_EQ(asked, 2);
}

TEST(Tables, ThatAreDisabledAreTold) {
  FakeCluster cluster({"d"}, kRows);
  cluster.DisableTable();
  Get get;
  get.row = "a";
  EXPECT_EQ(Read(cluster.regions(), kTable, get, seconds(10)).status().ToString(),
            "TableNotEnabled: table 't' is disabled");
  const Put put{.row = "a", .cells = {{"f", "q", 5, "v", {}}}};
  EXPECT_EQ(Mutate(cluster.regions(), kTable, RowMutations::Of(put), seconds(10)).status().code(),
            StatusCode::kTableNotEnabled);
  const auto scanner = OpenScanner(cluster.regions(), kTable, {}, seconds(10));
  EXPECT_EQ((*scanner)->Next({}).status().code(), StatusCode::kTableNotEnabled);
  EXPECT_EQ(Flush(cluster.regions(), kTable, Soon()).code(), StatusCode::kTableNotEnabled);
  const auto is_enabled = cluster.regions().IsTableEnabled(kTable, Soon());
  ASSERT_TRUE(is_enabled.ok());
  EXPECT_FALSE(*is_enabled);
  EXPECT_EQ(cluster.regions().IsTableEnabled({.name = "no"}, Soon()).status().code(),
            StatusCode::kTableNotFound);
}

TEST(Tables, AreSplitAtAKeyThatBeginsNoRegion) {
  FakeCluster cluster({"d"}, kRows);
  Tables tables(cluster.master(), cluster.regions(), {});
  EXPECT_EQ(tables.Split(kTable, "d", Soon()).code(), StatusCode::kDoNotRetry);
  pb::SplitTableRegionRequest sent;
  cluster.PutInTheWay([&](const ReceivedCall& call) {
    sent = call.As<pb::SplitTableRegionRequest>();
    return std::nullopt;
  });
  const Status split = tables.Split(kTable, "f", Soon());
  ASSERT_TRUE(split.ok()) << split.ToString();
  EXPECT_EQ(sent.split_row(), "f");
  EXPECT_EQ(sent.region_info().start_key(), "d");
  EXPECT_EQ(sent.region_info().region_id(), 1u);
}

// ---- Maintenance --------------------------------------------------------------------------------

TEST(Maintenance, AsksEachRegion) {
  FakeCluster cluster({"d", "g"}, kRows);
  const Status flushed = Flush(cluster.regions(), kTable, Soon());
  EXPECT_TRUE(flushed.ok()) << flushed.ToString();
  EXPECT_EQ(cluster.calls(), 3u);
  const Status compacted = Compact(cluster.regions(), kTable, CompactionKind::kMajor, Soon());
  EXPECT_TRUE(compacted.ok()) << compacted.ToString();
  EXPECT_EQ(cluster.calls(), 3u + 3u + 3u) << "each is asked whether it is through";
}

TEST(Maintenance, AsksDaughtersOfARegionThatIsSplitMeanwhile) {
  FakeCluster cluster({"d"}, kRows);
  ASSERT_TRUE(Flush(cluster.regions(), kTable, Soon()).ok());
  cluster.SplitAt("f");
  ASSERT_TRUE(Flush(cluster.regions(), kTable, Soon()).ok());
  // The two that are not there any more, and the three that are.
  EXPECT_EQ(cluster.calls(), 2u + 2u + 3u);
}

}  // namespace
}  // namespace cellfs::hbase
