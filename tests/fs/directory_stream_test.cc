// SPDX-License-Identifier: MIT
#include "fs/listing/directory_stream.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>
#include <utility>

#include "tests/fs/hooked_store.h"
#include "tests/fs/tree.h"

namespace cellfs::fs {
namespace {

std::string Name(int i) {
  std::string digits = std::to_string(i);
  return std::string(5 - digits.size(), '0') + digits;
}

class DirectoryStreamTest : public testing::Test {
 protected:
  void FillFamily(int count) {
    tree.MakeTable();
    for (int i = 0; i < count; ++i) tree.Put("r", Name(i), "v");
    node = tree.LookUp("default/t/r/f")->node;
  }
  // Up to `limit` names from the offset, without the dots; `offset` moves to after the last.
  std::vector<std::string> Take(DirectoryStream& stream, uint64_t& offset, size_t limit) {
    std::vector<std::string> names;
    const Outcome read = stream.Read(Caller::Superuser(), offset, [&](const DirectoryEntry& entry) {
      if (names.size() == limit) return false;
      offset = entry.next_offset;
      if (entry.name != "." && entry.name != "..") names.push_back(entry.name);
      return true;
    });
    EXPECT_TRUE(read.ok());
    return names;
  }

  Tree tree;
  NodePtr node;
};

TEST_F(DirectoryStreamTest, ALongListingComesWholeAndInOrder) {
  FillFamily(1500);
  DirectoryStream stream(tree.filesystem->parts().listing, node, nullptr);
  uint64_t offset = 0;
  std::vector<std::string> all;
  while (true) {
    const auto part = Take(stream, offset, 37);
    if (part.empty()) break;
    all.insert(all.end(), part.begin(), part.end());
  }
  ASSERT_EQ(all.size(), 1500u);
  for (int i = 0; i < 1500; ++i) EXPECT_EQ(all[i], Name(i));
}

TEST_F(DirectoryStreamTest, InALongListingOneRequestDoesNotKeepOthersWaiting) {
  FillFamily(6000);
  DirectoryStream stream(tree.filesystem->parts().listing, node, nullptr);
  uint64_t offset = 0;
  EXPECT_EQ(Take(stream, offset, 5000).size(), 5000u);
  size_t rest = 0;
  while (true) {
    const size_t part = Take(stream, offset, 5000).size();
    if (part == 0) break;
    EXPECT_LE(part, 128u);
    rest += part;
  }
  EXPECT_EQ(rest, 1000u);
}

TEST_F(DirectoryStreamTest, EntriesThatDoNotChangeComeOnceWhileOthersComeAndGo) {
  FillFamily(1200);
  DirectoryStream stream(tree.filesystem->parts().listing, node, nullptr);
  uint64_t offset = 0;
  std::multiset<std::string> seen;
  int removed = 0;
  while (true) {
    const auto part = Take(stream, offset, 100);
    if (part.empty()) break;
    seen.insert(part.begin(), part.end());
    // As rm -r does; and something new before the place where the listing stands.
    for (const std::string& name : part) {
      if (name.size() == 5 && std::stoi(name) % 2 == 0) tree.Delete("r", name);
    }
    tree.Put("r", "0000" + std::to_string(removed++), "v");
  }
  for (int i = 0; i < 1200; ++i) EXPECT_EQ(seen.count(Name(i)), 1u) << i;
}

// The kernel would keep its name, and show a file that is not there.
TEST_F(DirectoryStreamTest, WhatWasRemovedSinceItWasReadHasNoEntry) {
  FillFamily(3);
  FileSystem& filesystem = *tree.filesystem;
  DirectoryStream stream(filesystem.parts().listing, node, nullptr);
  const std::string gone = Name(1);
  std::vector<std::string> shown;
  uint64_t offset = 0;
  Take(stream, offset, 1);  // reads all three
  ASSERT_TRUE(tree.LookUp("default/t/r/f/" + gone).ok());
  ASSERT_TRUE(filesystem.Unlink(tree.request, *node, gone).ok());
  const auto take = [&](const DirectoryEntry& entry) {
    if (filesystem.EntryOf(tree.request, entry).ok()) shown.push_back(entry.name);
    return true;
  };
  ASSERT_TRUE(stream.Read(Caller::Superuser(), offset, take).ok());
  EXPECT_EQ(shown, std::vector<std::string>{Name(2)});
}

TEST_F(DirectoryStreamTest, SeekdirFindsItsPlaceAmongTheLatestOffsets) {
  FillFamily(600);
  DirectoryStream stream(tree.filesystem->parts().listing, node, nullptr);
  uint64_t offset = 0;
  Take(stream, offset, 100);
  uint64_t back = offset;
  Take(stream, offset, 100);
  tree.Delete("r", Name(5));
  EXPECT_EQ(Take(stream, back, 3), (std::vector<std::string>{Name(100), Name(101), Name(102)}));
  uint64_t start = 0;
  EXPECT_EQ(Take(stream, start, 2), (std::vector<std::string>{Name(0), Name(1)}));
}

TEST_F(DirectoryStreamTest, AnOffsetOfAnotherStreamIsReachedByCounting) {
  FillFamily(600);
  DirectoryStream first(tree.filesystem->parts().listing, node, nullptr);
  uint64_t offset = 0;
  Take(first, offset, 400);
  DirectoryStream stream(tree.filesystem->parts().listing, node, nullptr);
  EXPECT_EQ(Take(stream, offset, 2), (std::vector<std::string>{Name(400), Name(401)}));
}

// The streams of a directory whose listing the kernel caches.
class CachedStreamTest : public DirectoryStreamTest {
 protected:
  DirectoryStream Open() {
    Parts& parts = tree.filesystem->parts();
    return DirectoryStream(parts.listing, node,
                           node->cached_listing(parts.tree.listing_bytes_left));
  }
  uint64_t OffsetOf(const std::string& wanted) {
    DirectoryStream stream = Open();
    uint64_t found = 0;
    EXPECT_TRUE(stream
                    .Read(Caller::Superuser(), 0,
                          [&](const DirectoryEntry& entry) {
                            if (entry.name == wanted) found = entry.next_offset;
                            return true;
                          })
                    .ok());
    return found;
  }
};

TEST_F(CachedStreamTest, AnOffsetMeansOneNameInEveryStream) {
  FillFamily(900);
  const uint64_t offset = OffsetOf(Name(600));
  for (int i = 0; i < 600; i += 2) tree.Delete("r", Name(i));
  tree.Put("r", "00001-new", "v");
  // Another stream lists what there is now, before a third goes on where the first was.
  OffsetOf(Name(601));
  DirectoryStream stream = Open();
  uint64_t after = offset;
  EXPECT_EQ(Take(stream, after, 2), (std::vector<std::string>{Name(601), Name(602)}));
  EXPECT_EQ(OffsetOf(Name(600)), offset);
}

TEST_F(CachedStreamTest, TheOffsetOfARemovedNameLeadsToTheNamesBehindIt) {
  FillFamily(900);
  const uint64_t offset = OffsetOf(Name(600));
  tree.Delete("r", Name(600));
  tree.Delete("r", Name(601));
  DirectoryStream stream = Open();
  uint64_t after = offset;
  EXPECT_EQ(Take(stream, after, 1), std::vector<std::string>{Name(602)});
  tree.clock->Advance(1);
  tree.Put("r", Name(600), "v");
  EXPECT_EQ(OffsetOf(Name(600)), offset);
}

TEST_F(CachedStreamTest, EveryListingEndsAtOneOffset) {
  FillFamily(300);
  EXPECT_EQ(OffsetOf(Name(299)), CachedListing::kEnd);
  tree.Delete("r", Name(299));
  EXPECT_EQ(OffsetOf(Name(298)), CachedListing::kEnd);
  DirectoryStream stream = Open();
  uint64_t offset = CachedListing::kEnd;
  EXPECT_TRUE(Take(stream, offset, 1).empty());
  EXPECT_EQ(stream.BeforeReply(), CachedListing::End::kCompletes);
}

TEST_F(CachedStreamTest, AnOffsetThatNobodyGotIsAnError) {
  FillFamily(3);
  DirectoryStream stream = Open();
  EXPECT_EQ(stream.Read(Caller::Superuser(), 500, [](const auto&) { return true; }).error(),
            EINVAL);
}

TEST_F(CachedStreamTest, ADirectoryWithTooManyNamesIsCachedNoMore) {
  FillFamily(100);
  auto& bytes_left = tree.filesystem->parts().tree.listing_bytes_left;
  bytes_left = 500;
  {
    DirectoryStream stream = Open();
    uint64_t offset = 0;
    EXPECT_EQ(Take(stream, offset, 50).size(), 50u);
    EXPECT_EQ(Take(stream, offset, 1000).size(), 50u);
    EXPECT_TRUE(Take(stream, offset, 1000).empty());
    EXPECT_EQ(stream.BeforeReply(), CachedListing::End::kLeavesIt);
    EXPECT_EQ(node->cached_listing(bytes_left), nullptr);
  }
  EXPECT_EQ(bytes_left, 500);
}

TEST_F(DirectoryStreamTest, UnstoredEntriesStandAmongTheStoredOnes) {
  FillFamily(600);
  auto& unstored = tree.filesystem->parts().tree.unstored;
  for (int i = 0; i < 600; i += 2) {
    UnstoredEntry entry;
    entry.place = CellPlace(tree.table, "r", "f", Name(i) + "x");
    entry.reason = UnstoredReason::kClaimed;
    unstored.Add(std::make_shared<const UnstoredEntry>(entry));
  }
  DirectoryStream stream(tree.filesystem->parts().listing, node, nullptr);
  uint64_t offset = 0;
  const auto all = Take(stream, offset, 2000);
  EXPECT_EQ(all.size(), 900u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 900u);
}

TEST_F(DirectoryStreamTest, OfAStoredAndAnUnstoredEntryTheStoredOneIsListed) {
  FillFamily(3);
  UnstoredEntry entry;
  entry.place = CellPlace(tree.table, "r", "f", Name(1));
  entry.reason = UnstoredReason::kClaimed;
  Parts& parts = tree.filesystem->parts();
  parts.tree.unstored.Add(std::make_shared<const UnstoredEntry>(entry));
  DirectoryStream stream(parts.listing, node, nullptr);
  size_t listed = 0;
  const auto take = [&](const DirectoryEntry& shown) {
    if (shown.name != Name(1)) return true;
    ++listed;
    EXPECT_EQ(shown.found->unstored, nullptr);
    EXPECT_GE(shown.found->version, 0);
    return true;
  };
  ASSERT_TRUE(stream.Read(Caller::Superuser(), 0, take).ok());
  EXPECT_EQ(listed, 1u);
}

TEST_F(DirectoryStreamTest, ManyRowsComeWholeAlsoWithFewVisibleOnes) {
  tree.MakeTable();
  for (int i = 0; i < 1000; ++i) {
    tree.Put(Name(i), "q", "v");
    if (i % 10 != 0) tree.Delete(Name(i), "q");
  }
  EXPECT_EQ(tree.List("default/t").size(), 101u);
}

// A table whose rows are empty directories, all but the last one.
class UnstoredRowsTest : public testing::Test {
 protected:
  static constexpr int kRows = 3000;
  void SetUp() override {
    tree.MakeTable();
    for (int i = 0; i < kRows; ++i) {
      UnstoredEntry entry;
      entry.place = RowPlace(tree.table, Name(i));
      unstored().Add(std::make_shared<const UnstoredEntry>(std::move(entry)));
    }
    tree.Put("last", "q", "v");
    node = tree.LookUp("default/t")->node;
  }
  UnstoredEntries& unstored() { return tree.filesystem->parts().tree.unstored; }
  std::vector<std::string> Take(DirectoryStream& stream, uint64_t& offset, size_t limit) {
    std::vector<std::string> names;
    while (names.size() < limit) {
      const size_t before = names.size();
      const Outcome read =
          stream.Read(Caller::Superuser(), offset, [&](const DirectoryEntry& entry) {
            if (names.size() == limit) return false;
            offset = entry.next_offset;
            names.push_back(entry.name);
            return true;
          });
      EXPECT_TRUE(read.ok());
      if (names.size() == before) break;
    }
    return names;
  }

  HookedTree tree;
  NodePtr node;
};

// Of a table of tombstones that is: each look at what is stored goes through all that is deleted.
TEST_F(UnstoredRowsTest, WhatIsStoredIsNotLookedAtForEachBatchOfThem) {
  if (!tree.filesystem->parts().freshness.is_exact()) return;
  int reads = 0;
  std::function<void()> count = [&] {
    ++reads;
    tree.hooked->before_read = count;
  };
  count();
  DirectoryStream stream(tree.filesystem->parts().listing, node, nullptr);
  uint64_t offset = 0;
  const auto all = Take(stream, offset, 2 * kRows);
  tree.hooked->before_read = nullptr;
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_TRUE(std::set<std::string>(all.begin(), all.end()).contains("last"));
  EXPECT_GT(all.size(), size_t{kRows});
  EXPECT_LT(reads, 8);
}

TEST_F(UnstoredRowsTest, OneThatGetsACellMeanwhileIsListed) {
  DirectoryStream stream(tree.filesystem->parts().listing, node, nullptr);
  uint64_t offset = 0;
  auto all = Take(stream, offset, 10);
  for (int i = 0; i < kRows; ++i) {
    tree.Put(Name(i), "q", "v");
    unstored().Fill(RowPlace(tree.table, Name(i)));
  }
  ASSERT_EQ(unstored().Find(RowPlace(tree.table, Name(500))), nullptr) << "it is stored alone";
  for (const std::string& name : Take(stream, offset, 2 * kRows)) all.push_back(name);
  const std::set<std::string> names(all.begin(), all.end());
  EXPECT_EQ(names.size(), all.size());
  for (int i = 0; i < kRows; ++i) EXPECT_TRUE(names.contains(Name(i))) << i;
}

}  // namespace
}  // namespace cellfs::fs
