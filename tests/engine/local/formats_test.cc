// SPDX-License-Identifier: MIT
//
// Stores as earlier versions have left them are opened, and are of our format then. The example has
// a table `t` of one family in the format 3: two store files, and a write in the log alone.
#include <cstdlib>

#include "engine/check.h"
#include "engine/file/stored_facts.h"
#include "engine/open.h"
#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class FormatsTest : public testing::Test {
 protected:
  FormatsTest() {
    const std::string unpack =
        "tar -xzpf " CELLFS_FORMAT_3_EXAMPLE " --no-same-owner -C '" + directory_.path() + "'";
    EXPECT_EQ(std::system(unpack.c_str()), 0);
  }
  StatusOr<std::unique_ptr<ControlledStore>> Open() {
    StoreOptions options;
    options.background_maintenance = false;
    return OpenLocalStore(path_, options);
  }
  // The values of the row, by qualifier.
  static std::string Text(Store& store) {
    Get get;
    get.row = "r";
    const auto cells = store.Read(Caller::Superuser(), ParseTableName("t"), get);
    if (!cells.ok()) return cells.status().ToString();
    std::string text;
    for (const Cell& cell : *cells)
      text += cell.qualifier + "=" + cell.value.substr(0, 5) + ";";
    return text;
  }
  std::string Format() const { return *PosixFiles().Read(path_ + "/FORMAT"); }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/store";
};

TEST_F(FormatsTest, AStoreOfFormat3IsReadAndIsOfOursThen) {
  EXPECT_TRUE(Format().starts_with("cellfs store, format 3\n"));
  auto report = CheckLocalStore(path_);
  ASSERT_OK(report);
  EXPECT_TRUE(report->damage.empty());
  EXPECT_TRUE(Format().starts_with("cellfs store, format 3\n")) << "a check changes nothing";
  const std::string expected = "a=three;c=four\n;d=five\n;long=xxxxx;";
  for (int round = 0; round < 2; ++round) {
    auto store = Open();
    ASSERT_OK(store);
    EXPECT_EQ(Text(**store), expected);
    EXPECT_TRUE(Format().starts_with("cellfs store, format 6\n"));
    if (round == 0) {
      ASSERT_OK(
          (*store)->Compact(Caller::Superuser(), ParseTableName("t"), CompactionKind::kMajor));
    }
    EXPECT_EQ(Text(**store), expected);
  }
  report = CheckLocalStore(path_);
  ASSERT_OK(report);
  EXPECT_TRUE(report->damage.empty());
}

// All that the manifest says of it, but what files of format 2 do not tell.
TEST_F(FormatsTest, AFileOfFormat3IsDescribedByItsManifest) {
  const std::string table = path_ + "/tables/1";
  const auto store_id = CheckIsStore(PosixFiles(), path_);
  ASSERT_OK(store_id);
  const auto manifest = ReadManifest(PosixFiles(), table, *store_id, 1);
  ASSERT_OK(manifest);
  ASSERT_EQ(manifest->files.size(), 2u);
  for (FileFacts facts : manifest->files) {
    const auto stored = ReadStoredFacts(table + "/" + StoreFileName(facts.number));
    ASSERT_OK(stored);
    EXPECT_EQ(stored->table, 1u);
    facts.filter_blocks = 0;
    EXPECT_EQ(stored->facts, facts);
  }
}

}  // namespace
}  // namespace cellfs
