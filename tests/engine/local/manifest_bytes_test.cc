// SPDX-License-Identifier: MIT
//
// The bytes of a manifest, all of them: who changes one sees it here (docs/storage.md, "The
// manifest").
#include <gtest/gtest.h>

#include "engine/local/manifest.h"
#include "tests/support/assert_ok.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

const std::string kContent =
    "CELLMAN\n"
    R"({"files":[{"bytes":4096,"cells":11,"family":"f","family_tombstones":2,)"
    R"("filter_blocks":1,"filter_has_columns":true,"first_row":")"
    "\\u0000"
    R"(","highest":15,"is_major":true,"last_row":")"
    "z\u00ff"
    R"(","lowest":10,"newest":9,"number":3,"oldest":5,"oldest_put":6,"surplus":4,)"
    R"("tombstones":3,"withdrawals":1,"written":77},)"
    R"({"bytes":8192,"cells":1,"family":"g","family_tombstones":0,)"
    R"("filter_blocks":0,"filter_has_columns":false,"first_row":"r",)"
    R"("highest":21,"is_major":false,"last_row":"r","lowest":16,"newest":8,"number":4,)"
    R"("oldest":8,"oldest_put":9223372036854775807,"surplus":0,)"
    R"("tombstones":1,"withdrawals":0,"written":78}],)"
    R"("flushed":21,"format":1,"next_file":5,"store":18446744073709551615,"table":7})";
const std::string kChecksum("\xf7\xab\xfb\x45\x82\x0e\x81\x39", 8);
const std::string kBytes = kContent + kChecksum;

Manifest Example() {
  return {.store_id = ~uint64_t{0},
          .table = 7,
          .flushed = 21,
          .next_file = 5,
          .files = {{.number = 3,
                     .family = "f",
                     .first_row = std::string(1, '\0'),
                     .last_row = "z\xff",
                     .oldest = 5,
                     .newest = 9,
                     .oldest_put = 6,
                     .lowest = 10,
                     .highest = 15,
                     .cells = 11,
                     .tombstones = 3,
                     .family_tombstones = 2,
                     .withdrawals = 1,
                     .surplus = 4,
                     .bytes = 4096,
                     .written = 77,
                     .filter_blocks = 1,
                     .filter_has_columns = true,
                     .is_major = true},
                    {.number = 4,
                     .family = "g",
                     .first_row = "r",
                     .last_row = "r",
                     .oldest = 8,
                     .newest = 8,
                     .lowest = 16,
                     .highest = 21,
                     .cells = 1,
                     .tombstones = 1,
                     .bytes = 8192,
                     .written = 78}}};
}

// Of a table whose key range is cut, with a file of a compaction that wrote two.
const std::string kRanges = R"(,"next_file":5,"ranges":{"f":{"cuts":["m","t)"
                            "\u00ff"
                            R"("],"major":1234}},"store":18446744073709551615,"table":7})";

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

std::string ContentWithRanges() {
  std::string content =
      Replaced(kContent, R"(,"next_file":5,"store":18446744073709551615,"table":7})", kRanges);
  content = Replaced(content, R"("format":1)", R"("format":2)");
  content = Replaced(content, R"("first_row":"r",)", R"("first_row":"r","follows":3,)");
  content = Replaced(content, R"("surplus":4)", R"("room":{"deleted":20,"old":10},"surplus":4)");
  return Replaced(content, R"("highest":15,)", R"("highest":15,"is_followed":true,)");
}

Manifest ExampleWithRanges() {
  Manifest manifest = Example();
  manifest.files[0].is_followed = true;
  manifest.files[1].follows = 3;
  manifest.files[0].room = {.old_versions = 10, .deleted = 20};
  manifest.ranges["f"] = {.cuts = {"m", "t\xff"}, .major = 1234};
  return manifest;
}

class ManifestBytesTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(ManifestBytesTest, AreWritten) {
  ASSERT_OK(SaveManifest(PosixFiles(), directory_.path(), Example()));
  EXPECT_EQ(*PosixFiles().Read(directory_.path() + "/MANIFEST"), kBytes);
}

TEST_F(ManifestBytesTest, AreRead) {
  ASSERT_OK(ReplaceFile(PosixFiles(), directory_.path(), "MANIFEST", kBytes));
  const auto manifest = ReadManifest(PosixFiles(), directory_.path(), ~uint64_t{0}, 7);
  ASSERT_OK(manifest);
  EXPECT_EQ(*manifest, Example());
}

TEST_F(ManifestBytesTest, TellWhereTheKeyRangeIsCut) {
  ASSERT_OK(SaveManifest(PosixFiles(), directory_.path(), ExampleWithRanges()));
  const std::string bytes = *PosixFiles().Read(directory_.path() + "/MANIFEST");
  EXPECT_EQ(bytes.substr(0, bytes.size() - kChecksum.size()), ContentWithRanges());
  const auto manifest = ReadManifest(PosixFiles(), directory_.path(), ~uint64_t{0}, 7);
  ASSERT_OK(manifest);
  EXPECT_EQ(*manifest, ExampleWithRanges());
}

TEST_F(ManifestBytesTest, TellWhatIsHidden) {
  Manifest known = Example();
  known.files[0].hidden = {.cells = 5, .newest_tombstone = 8};
  ASSERT_OK(SaveManifest(PosixFiles(), directory_.path(), known));
  const std::string bytes = *PosixFiles().Read(directory_.path() + "/MANIFEST");
  const std::string content = Replaced(
      kContent, R"("highest":15,)", R"("hidden":{"cells":5,"newest_tombstone":8},"highest":15,)");
  EXPECT_EQ(bytes.substr(0, bytes.size() - kChecksum.size()),
            Replaced(content, R"("format":1)", R"("format":3)"));
  const auto manifest = ReadManifest(PosixFiles(), directory_.path(), ~uint64_t{0}, 7);
  ASSERT_OK(manifest);
  EXPECT_EQ(*manifest, known);
}

TEST_F(ManifestBytesTest, TellHowLongTheLogWas) {
  Manifest known = Example();
  known.logged = 4711;
  ASSERT_OK(SaveManifest(PosixFiles(), directory_.path(), known));
  const std::string bytes = *PosixFiles().Read(directory_.path() + "/MANIFEST");
  EXPECT_EQ(bytes.substr(0, bytes.size() - kChecksum.size()),
            Replaced(kContent, R"(,"next_file")", R"(,"logged":4711,"next_file")"));
  const auto manifest = ReadManifest(PosixFiles(), directory_.path(), ~uint64_t{0}, 7);
  ASSERT_OK(manifest);
  EXPECT_EQ(*manifest, known);
}

}  // namespace
}  // namespace cellfs
