// SPDX-License-Identifier: MIT
#include "engine/hbase/remote_exception.h"

#include <gtest/gtest.h>

namespace cellfs::hbase {
namespace {

RemoteException Of(const std::string& class_name, const std::string& message = "") {
  return {.class_name = class_name, .message = message};
}

TEST(RemoteException, ItsMessageIsTheFirstLine) {
  EXPECT_EQ(MessageIn("a.b.C: what happened\n\tat d.e.F", "a.b.C"), "what happened");
  EXPECT_EQ(MessageIn("a.b.C\n\tat d.e.F", "a.b.C"), "");
  EXPECT_EQ(MessageIn("something else", "a.b.C"), "something else");
  EXPECT_EQ(MessageIn("", "a.b.C"), "");
}

TEST(RemoteException, HasARemedyByItsClass) {
  EXPECT_EQ(RemedyFor(Of("org.apache.hadoop.hbase.NotServingRegionException")), Remedy::kRelocate);
  EXPECT_EQ(RemedyFor(Of("org.apache.hadoop.hbase.exceptions.RegionMovedException")),
            Remedy::kRelocate);
  EXPECT_EQ(RemedyFor(Of("org.apache.hadoop.hbase.exceptions.RegionOpeningException")),
            Remedy::kWait);
  EXPECT_EQ(RemedyFor(Of("org.apache.hadoop.hbase.regionserver.RegionServerStoppedException")),
            Remedy::kReconnect);
  EXPECT_EQ(RemedyFor(Of("org.apache.hadoop.hbase.UnknownScannerException")), Remedy::kRescan);
  EXPECT_EQ(RemedyFor(Of("org.apache.hadoop.hbase.NotAllMetaRegionsOnlineException")),
            Remedy::kNone);
  EXPECT_EQ(RemedyFor({.class_name = "a.b.New", .is_overloaded = true}), Remedy::kWait);
  EXPECT_EQ(RemedyFor({.class_name = "a.b.New", .do_not_retry = true, .is_overloaded = true}),
            Remedy::kNone);
}

TEST(RemoteException, IsAStatus) {
  const Status status = StatusOf(Of("org.apache.hadoop.hbase.TableNotFoundException", "t"));
  EXPECT_EQ(status.code(), StatusCode::kTableNotFound);
  EXPECT_EQ(status.message(), "t");
  EXPECT_EQ(StatusOf(Of("org.apache.hadoop.hbase.client.Outer$WrongRowIOException")).code(),
            StatusCode::kWrongRow);
  EXPECT_EQ(StatusOf(Of("org.apache.hadoop.hbase.DoNotRetryIOException",
                        "Field is not a long, it's 3 bytes wide"))
                .code(),
            StatusCode::kNotALong);
  EXPECT_EQ(StatusOf({.class_name = "a.b.New", .message = "no", .do_not_retry = true}).code(),
            StatusCode::kDoNotRetry);
  EXPECT_EQ(StatusOf(Of("java.io.IOException", "disk")).code(), StatusCode::kIoError);
  EXPECT_EQ(StatusOf(Of("a.b.Silent")).message(), "Silent");
}

TEST(RemoteException, SaysHowLongToWait) {
  const std::string kThrottled = "org.apache.hadoop.hbase.quotas.RpcThrottlingException";
  const auto pause = [&](const std::string& message) { return PauseIn(Of(kThrottled, message)); };
  EXPECT_EQ(pause("number of requests exceeded - wait 345ms"), std::chrono::milliseconds(345));
  EXPECT_EQ(pause("write size limit exceeded - wait 1mins, 2sec, 3ms"),
            std::chrono::milliseconds(62'003));
  EXPECT_EQ(pause("number of requests exceeded - wait 1hrs, 1sec"), std::chrono::seconds(3601));
  EXPECT_EQ(pause("wait a while"), std::nullopt);
  EXPECT_EQ(pause("wait 99999999999999999999ms"), std::nullopt);
  EXPECT_EQ(PauseIn(Of("a.b.C", "wait 3ms")), std::nullopt);
}

}  // namespace
}  // namespace cellfs::hbase
