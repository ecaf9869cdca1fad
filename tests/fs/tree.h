// SPDX-License-Identifier: MIT
//
// An unmounted FileSystem over a store in memory, spoken to by paths. With CELLFS_TEST_STORE=remote
// in the environment the same tests run over a store that is far away
// (tests/support/remote_store.h).
#ifndef CELLFS_TESTS_FS_TREE_H_
#define CELLFS_TESTS_FS_TREE_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/open.h"
#include "fs/operations/filesystem.h"
#include "tests/support/remote_store.h"

namespace cellfs::fs {

inline constexpr Timestamp kStart = 1700000000000;

enum class StoreKind { kLocal, kRemote };

inline StoreKind StoreKindOfTests() {
  const char* kind = std::getenv("CELLFS_TEST_STORE");
  return kind != nullptr && std::strcmp(kind, "remote") == 0 ? StoreKind::kRemote
                                                             : StoreKind::kLocal;
}

// For a test about what not every store offers; `tree` is its tree.
#define CELLFS_NEEDS(trait) \
  if (!tree.store->traits().trait) GTEST_SKIP() << "about a store that offers " #trait

struct Tree {
  explicit Tree(MountOptions options = {}, StoreKind kind = StoreKindOfTests()) {
    StoreOptions store_options;
    store_options.clock = clock;
    std::unique_ptr<ControlledStore> local = OpenMemoryStore(store_options);
    if (kind == StoreKind::kRemote) {
      store = std::make_unique<RemoteStore>(std::move(local));
    } else {
      controls = local.get();
      store = std::move(local);
    }
    filesystem = std::make_unique<FileSystem>(*store, std::move(options), clock, controls);
  }

  // The table default:t with the family f (VERSIONS 10, deleted cells kept) and, if asked for, g
  // with a TTL in seconds.
  void MakeTable(const std::string& ttl = "") {
    TableSchema schema(TableName{"default", "t"});
    FamilySchema f("f");
    EXPECT_TRUE(f.Set("VERSIONS", "10").ok());
    EXPECT_TRUE(f.Set("KEEP_DELETED_CELLS", "TRUE").ok());
    schema.families["f"] = f;
    if (!ttl.empty()) {
      FamilySchema g("g");
      EXPECT_TRUE(g.Set("TTL", ttl).ok());
      schema.families["g"] = g;
    }
    EXPECT_TRUE(store->CreateTable(Caller::Superuser(), schema).ok());
  }

  void Put(const std::string& row, const std::string& qualifier, const std::string& value,
           Timestamp timestamp = kLatestTimestamp, const std::string& family = "f") {
    cellfs::Put put{row, {{family, qualifier, timestamp, value, {}}}};
    const auto result = store->Mutate(Caller::Superuser(), table, RowMutations::Of(put));
    EXPECT_TRUE(result.ok()) << result.status().ToString();
  }
  void Delete(const std::string& row, const std::string& qualifier) {
    cellfs::Delete remove{row, {{CellType::kDeleteColumn, "f", qualifier, kLatestTimestamp}}};
    EXPECT_TRUE(store->Mutate(Caller::Superuser(), table, RowMutations::Of(remove)).ok());
  }

  OutcomeOr<Entry> LookUp(const std::string& path) {
    NodePtr node = filesystem->root().shared_from_this();
    Entry entry;
    size_t at = 0;
    while (at < path.size()) {
      const size_t end = std::min(path.find('/', at), path.size());
      auto next = filesystem->LookUp(request, *node, path.substr(at, end - at));
      if (!next.ok()) return next.status();
      entry = *next;
      node = entry.node;
      at = end + 1;
    }
    return entry;
  }
  int Error(const std::string& path) { return LookUp(path).error(); }

  std::string ReadFile(const std::string& path) {
    auto entry = LookUp(path);
    if (!entry.ok()) return std::string("<") + strerrorname_np(entry.error()) + ">";
    auto opened = filesystem->Open(request, *entry->node, {});
    if (!opened.ok()) return std::string("<open ") + strerrorname_np(opened.error()) + ">";
    auto bytes = filesystem->Read(request, *entry->node, opened->handle, 0, 1 << 20);
    const std::string text = bytes.ok() ? std::string(bytes->bytes) : "<read failed>";
    filesystem->Release(*entry->node, opened->handle);
    return text;
  }

  std::vector<std::string> List(const std::string& path) {
    NodePtr node = filesystem->root().shared_from_this();
    if (!path.empty()) {
      auto entry = LookUp(path);
      if (!entry.ok()) return {std::string("<") + strerrorname_np(entry.error()) + ">"};
      node = entry->node;
    }
    auto opened = filesystem->OpenListing(request, *node);
    std::vector<std::string> names;
    const auto listed =
        filesystem->List(request, *opened->directory, 0, [&](const DirectoryEntry& entry) {
          if (entry.name != "." && entry.name != "..") names.push_back(entry.name);
          return true;
        });
    EXPECT_TRUE(listed.ok()) << listed.status().reason();
    return names;
  }

  // The whole listing, request by request.
  std::vector<std::string> ListAll(const std::string& path) {
    const auto entry = LookUp(path);
    EXPECT_TRUE(entry.ok()) << path;
    const auto opened = filesystem->OpenListing(request, *entry->node);
    std::vector<std::string> names;
    uint64_t offset = 0;
    for (size_t before = 1; names.size() != before;) {
      before = names.size();
      const auto listed = filesystem->List(request, *opened->directory, offset,
                                           [&](const DirectoryEntry& listed_entry) {
                                             names.push_back(listed_entry.name);
                                             offset = listed_entry.next_offset;
                                             return true;
                                           });
      EXPECT_TRUE(listed.ok());
    }
    names.erase(names.begin(), names.begin() + 2);  // "." and ".."
    return names;
  }

  const TableName table{"default", "t"};
  Request request;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(kStart);
  std::unique_ptr<Store> store;
  StoreControls* controls = nullptr;  // of the store, where it is in this process
  std::unique_ptr<FileSystem> filesystem;
};

}  // namespace cellfs::fs

#endif  // CELLFS_TESTS_FS_TREE_H_
