// SPDX-License-Identifier: MIT
//
// Where the store fails: what cannot be read is not taken for absent.
#include <gtest/gtest.h>

#include "tests/fs/failing_tree.h"

namespace cellfs::fs {
namespace {

using Failure = FailingStore::Failure;

constexpr int kMostCalls = 400;
constexpr char kFamily[] = "default/t/r/f";
constexpr char kRow[] = "default/t/r";

std::string LongName() { return std::string(300, 'n'); }

// q has three versions; deleted is deleted; c is a counter; g is another family.
void Fill(FailingTree& tree) {
  tree.MakeTable("100000000");
  tree.Put("r", "other", "x");
  for (const char* value : {"1", "22", "333"}) {
    tree.Put("r", "q", value);
    tree.clock->Advance(10);
  }
  tree.Put("r", "deleted", "gone");
  tree.Delete("r", "deleted");
  tree.Put("r", "c", std::string("\0\0\0\0\0\0\0\7", 8));
  tree.Put("r", "in-g", "y", kLatestTimestamp, "g");
  tree.Put("r", LongName(), "long");
  tree.Put(LongName(), "q", "long");
  tree.clock->Advance(10);
}

// ---- Reading ------------------------------------------------------------------------------------

struct Question {
  std::string name;
  // What is asked before the store fails, and then the question: the answer, or an errno's name.
  std::function<std::function<std::string()>(FailingTree&)> prepare;
};

std::string Show(const OutcomeOr<Entry>& entry) {
  if (!entry.ok()) return ErrorName(entry.error());
  return std::to_string(entry->attributes.st_size) + " " +
         std::to_string(entry->attributes.st_mode) + " " +
         std::to_string(entry->name_valid_seconds);
}

Question LookUpOf(const std::string& path) {
  return {"look-up of " + path, [path](FailingTree& tree) {
            const auto [parent, name] = WritingTree::Split(path);
            const NodePtr directory = tree.Directory(parent);
            return [&tree, directory, name = name] {
              return Show(tree.filesystem->LookUp(tree.request, *directory, name));
            };
          }};
}

// A name that does not say all of its key, which has to be looked for.
Question LongLookUpIn(const std::string& path) {
  return {"look-up of a long name in " + path, [path](FailingTree& tree) {
            for (const std::string& name : tree.List(path)) {
              if (name.find("%~") == name.npos) continue;
              return LookUpOf(path + "/" + name).prepare(tree);
            }
            return std::function([] { return std::string("ENOENT"); });
          }};
}

Question ListingOf(const std::string& path) {
  return {"listing of " + path, [path](FailingTree& tree) {
            const NodePtr directory = tree.Directory(path);
            return [&tree, directory]() -> std::string {
              auto opened = tree.filesystem->OpenListing(tree.request, *directory);
              std::string names;
              const Outcome listed = tree.filesystem->List(
                  tree.request, *opened->directory, 0, [&](const DirectoryEntry& entry) {
                    return names += entry.name + " ", true;
                  });
              return listed.ok() ? names : ErrorName(listed.error());
            };
          }};
}

Question ReadingOf(const std::string& path) {
  return {"reading of " + path, [path](FailingTree& tree) {
            const NodePtr node = tree.LookUp(path)->node;
            return [&tree, node]() -> std::string {
              const auto opened = tree.filesystem->Open(tree.request, *node, {});
              if (!opened.ok()) return ErrorName(opened.error());
              const auto bytes = tree.filesystem->Read(tree.request, *node, opened->handle, 0, 1000);
              std::string text =
                  bytes.ok() ? std::string(bytes->bytes) : ErrorName(bytes.error());
              tree.filesystem->Release(*node, opened->handle);
              return text;
            };
          }};
}

Question StatOf(const std::string& path) {
  return {"stat of " + path, [path](FailingTree& tree) {
            const NodePtr node = tree.LookUp(path)->node;
            node->ContentChanged();  // so that it has to be read
            return [&tree, node]() -> std::string {
              const auto shown = tree.filesystem->GetAttributes(tree.request, *node);
              return shown.ok() ? std::to_string(shown->attributes.st_size)
                                : ErrorName(shown.error());
            };
          }};
}

Question XattrOf(const std::string& path, const std::string& name) {
  return {"xattr " + name + " of " + path, [path, name](FailingTree& tree) {
            const NodePtr node = tree.LookUp(path)->node;
            return [&tree, node, name]() -> std::string {
              const auto value = tree.filesystem->GetXattr(tree.request, *node, name);
              return value.ok() ? *value : ErrorName(value.error());
            };
          }};
}

Question SpaceOf(const std::string& path) {
  return {"statfs of " + path, [path](FailingTree& tree) {
            EXPECT_TRUE(
                tree.store->SetTableSpaceQuota(Caller::Superuser(), tree.table, SpaceQuota{1 << 20})
                    .ok());
            const NodePtr node = tree.LookUp(path)->node;
            return [&tree, node]() -> std::string {
              const auto space = tree.filesystem->StatFs(tree.request, *node);
              return space.ok() ? std::to_string(space->f_blocks) : ErrorName(space.error());
            };
          }};
}

std::vector<Question> Questions() {
  const std::string version = std::to_string(kStart);
  std::vector<Question> questions;
  for (const std::string& path :
       {std::string("default"), std::string("default/t"), std::string(kRow), std::string(kFamily),
        std::string(kQ), kQ + ("@" + version), std::string("default/t/.schema.toml"),
        std::string("default/.namespace.toml"), std::string("default/t/r/f/.versions/q"),
        "default/t/r/f/.versions/q/" + version, std::string("default/t/r/f/.counters/c"),
        std::string("default/t/r/f/.deleted/deleted"), std::string("default/t/.scan/limit=9/r"),
        "default/t/.asof/" + version + "/r", std::string("default/t/r/g/in-g")}) {
    questions.push_back(LookUpOf(path));
  }
  for (const char* path :
       {"", "default", "default/t", kRow, kFamily, "default/t/r/f/.versions",
        "default/t/r/f/.versions/q", "default/t/r/f/.counters", "default/t/r/f/.deleted",
        "default/t/.scan/limit=9", "default/t/.scan/limit=9/r/f"}) {
    questions.push_back(ListingOf(path));
  }
  for (const char* path : {kQ, "default/t/.schema.toml", "default/t/r/f/.counters/c",
                           "default/t/r/f/.deleted/deleted"}) {
    questions.push_back(ReadingOf(path));
  }
  for (const char* path : {kQ, kFamily, kRow, "default/t"}) questions.push_back(StatOf(path));
  for (const char* name : {"versions", "timestamp"}) {
    questions.push_back(XattrOf(kQ, std::string("user.cellfs.") + name));
  }
  for (const char* path : {"default/t", kFamily}) questions.push_back(LongLookUpIn(path));
  questions.push_back(SpaceOf(kQ));
  return questions;
}

std::string Ask(const Question& question, std::optional<Failure> failure, bool* failed = nullptr) {
  FailingTree tree;
  Fill(tree);
  const auto ask = question.prepare(tree);
  if (failure) tree.failing->Fail(*failure);
  std::string answer = ask();
  if (failed != nullptr) *failed = tree.failing->has_failed();
  tree.failing->Heal();
  return answer;
}

TEST(StoreFailuresTest, WhatCannotBeReadIsNotAbsent) {
  const Status broken(StatusCode::kIoError, "the disk failed");
  for (const Question& question : Questions()) {
    const std::string right = Ask(question, std::nullopt);
    ASSERT_FALSE(right.starts_with("E")) << question.name << ": " << right;
    bool failed = true;
    int call = 1;
    for (; failed && call < kMostCalls; ++call) {
      const std::string answer = Ask(question, Failure{call, broken}, &failed);
      EXPECT_TRUE(answer == right || answer == "EIO")
          << question.name << ", call " << call << ": " << answer << " for " << right;
    }
    EXPECT_FALSE(failed) << question.name << " makes more than " << kMostCalls << " calls";
  }
}

// The kernel has the name alone then, and asks.
TEST(StoreFailuresTest, AnEntryThatCannotBeLookedAtAgainStaysListed) {
  FailingTree tree;
  Fill(tree);
  const NodePtr family = tree.Directory(kFamily);
  const NodePtr q = tree.LookUp(kQ)->node;
  auto opened = tree.filesystem->OpenListing(tree.request, *family);
  const Outcome listed = tree.filesystem->List(
      tree.request, *opened->directory, 0, [&](const DirectoryEntry& entry) {
        if (entry.name != "q") return true;
        q->ContentChanged();  // put since the listing was read
        Failure broken{1, Status(StatusCode::kIoError, "the disk failed")};
        broken.lasts = true;
        tree.failing->Fail(broken);
        const auto counted = tree.filesystem->EntryOf(tree.request, entry);
        tree.failing->Heal();
        EXPECT_FALSE(counted.ok());
        EXPECT_EQ(counted.status().error(), EIO);
        return true;
      });
  EXPECT_TRUE(listed.ok());
}

}  // namespace
}  // namespace cellfs::fs
