// SPDX-License-Identifier: MIT
//
// The operations that change files, each on a tree with something in it, and what may be seen after
// one that failed on its way.
#ifndef CELLFS_TESTS_FS_CHANGING_OPERATIONS_H_
#define CELLFS_TESTS_FS_CHANGING_OPERATIONS_H_

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "tests/fs/failing_tree.h"

namespace cellfs::fs {

using Files = FailingTree::Files;

inline constexpr char kFamily[] = "default/t/r/f";
inline constexpr char kRow[] = "default/t/r";

inline std::string LongName() { return std::string(300, 'n'); }

// q has three versions; deleted is deleted; c is a counter; g is another family.
inline void Fill(FailingTree& tree) {
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

// As the handlers of requests do it.
template <typename Call>
int Guarded(Call&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

// A file that was written to, and closed.
inline Operation Closing(const std::string& name,
                         const std::function<OpenFile(FailingTree&)>& write, int times = 2) {
  return {name, [write, times](FailingTree& tree) {
            const OpenFile file = write(tree);
            return [&tree, file, times] {
              const auto flush = [&] { return tree.Flush(file); };
              const int flushed = Guarded(flush);
              for (int time = 1; time < times; ++time) EXPECT_EQ(Guarded(flush), flushed);
              const int released = Guarded(
                  [&] { return tree.filesystem->Release(*file.node, file.handle), 0; });
              return flushed != 0 ? flushed : released;
            };
          }};
}

inline Operation Unlinking(const std::string& path) {
  return {"unlink " + path, [path](FailingTree& tree) {
            const auto [parent, name] = WritingTree::Split(path);
            const NodePtr directory = tree.Directory(parent);
            return [&tree, directory, name = name] {
              return tree.filesystem->Unlink(tree.request, *directory, name).error();
            };
          }};
}

inline Operation Moving(const std::string& from, const std::string& to,
                   const std::function<void(FailingTree&)>& make = nullptr) {
  return {"rename " + from + " " + to, [from, to, make](FailingTree& tree) {
            if (make) make(tree);
            const auto [parent, name] = WritingTree::Split(from);
            const auto [new_parent, new_name] = WritingTree::Split(to);
            const NodePtr directory = tree.Directory(parent);
            const NodePtr new_directory = tree.Directory(new_parent);
            return [&tree, directory, new_directory, name = name, new_name = new_name] {
              return tree.filesystem
                  ->Rename(tree.request, *directory, name, *new_directory, new_name, 0)
                  .error();
            };
          }};
}

inline OpenFile Written(FailingTree& tree, const OpenFile& file, std::string_view bytes) {
  EXPECT_EQ(file.error, 0);
  EXPECT_EQ(tree.Write(file, bytes), 0);
  return file;
}

// Each ends in one change of the data; what else is stored with it are attributes.
inline std::vector<Operation> Operations() {
  const timespec time{1000, 5};
  const auto save_temporary = [](FailingTree& tree) {
    tree.Save("default/t/r/f/.q.Xa1b2c", "new");
    AttributeChange change;
    change.mode = 0600;
    change.mtime = timespec{2000, 7};
    EXPECT_EQ(tree.Change("default/t/r/f/.q.Xa1b2c", change), 0);
    tree.clock->Advance(10);
  };
  std::vector<Operation> operations{
      Closing("append",
              [](FailingTree& tree) { return Written(tree, tree.Open(kQ, ForAppending()), "+"); }),
      Closing("append with a time",
              [time](FailingTree& tree) {
                const OpenFile file = Written(tree, tree.Open(kQ, ForAppending()), "+");
                EXPECT_EQ(tree.SetTime(file, time), 0);
                return file;
              }),
      Closing("edit",
              [](FailingTree& tree) { return Written(tree, tree.Open(kQ, ForWriting()), "z"); }),
      Closing("overwrite",
              [](FailingTree& tree) { return Written(tree, tree.Open(kQ, Truncating()), "new"); }),
      Closing("overwrite with a time",
              [time](FailingTree& tree) {
                const OpenFile file = Written(tree, tree.Open(kQ, Truncating()), "new");
                EXPECT_EQ(tree.SetTime(file, time), 0);
                return file;
              }),
      Closing("create",
              [](FailingTree& tree) {
                return Written(tree, tree.Create("default/t/r/f/made"), "new");
              }),
      Closing("create exclusively",
              [](FailingTree& tree) {
                return Written(tree, tree.Create("default/t/r/f/made", true), "new");
              }),
      Closing("create a version",
              [](FailingTree& tree) {
                return Written(tree, tree.Create("default/t/r/f/.versions/q/77"), "new");
              }),
      Closing(
          "count",
          [](FailingTree& tree) {
            return Written(tree, tree.Open("default/t/r/f/.counters/c", Truncating()), "+5");
          },
          1),
      {"count a line",
       [](FailingTree& tree) {
         const OpenFile file = tree.Open("default/t/r/f/.counters/c", Truncating());
         return [&tree, file] {
           const int written = Guarded([&] { return tree.Write(file, "+5\n"); });
           EXPECT_EQ(Guarded([&] { return tree.Close(file); }), written);
           return written;
         };
       }},
      Unlinking(kQ),
      Unlinking("default/t/r/f/.versions/q/" + std::to_string(kStart)),
      Unlinking("default/t/r/f/.versions/q/" + std::to_string(kStart + 20)),
      {"unlink a temporary",
       [save_temporary](FailingTree& tree) {
         save_temporary(tree);
         return Unlinking("default/t/r/f/.q.Xa1b2c").prepare(tree);
       }},
      Moving(kQ, "default/t/r/f/q~"),
      Moving(kQ, "default/t/r/f/other"),
      Moving("default/t/r/g/in-g", "default/t/r/f/from-g"),
      Moving("default/t/r/f/.q.Xa1b2c", kQ, save_temporary),
      Moving("default/t/r/f/.q.Xa1b2c", "default/t/r/f/renamed", save_temporary),
      Moving("default/t/r/f/.versions/q/.77.Xa1b2c", "default/t/r/f/.versions/q/77",
               [](FailingTree& tree) { tree.Save("default/t/r/f/.versions/q/.77.Xa1b2c", "new"); }),
  };
  // Where nothing can be withdrawn it is in memory alone.
  if (StoreKindOfTests() != StoreKind::kLocal)
    std::erase_if(operations, [](const Operation& operation) {
      return operation.name == "unlink a temporary";
    });
  return operations;
}

// What can be seen after the operation, and how it ended.
struct Ending {
  int error = 0;
  bool failed = false;
  Files files;
  Files files_after_remount;
};

inline std::optional<std::string> Find(const Files& files, const std::string& path) {
  const auto it = files.find(path);
  return it == files.end() ? std::nullopt : std::optional(it->second);
}

// The paths at which there is neither what was before nor what comes of the operation.
inline std::string Others(const Files& files, const Files& before, const Files& after) {
  std::string others;
  Files all = files;
  for (const Files* some : {&before, &after}) all.insert(some->begin(), some->end());
  for (const auto& [path, unused] : all) {
    const auto bytes = Find(files, path);
    if (bytes == Find(before, path) || bytes == Find(after, path)) continue;
    others += path + ": " + bytes.value_or("<not there>") + "\n";
  }
  return others;
}
inline std::string Others(const Files& files, const Files& expected) {
  return Others(files, expected, expected);
}

// Files in memory go with the mount.
inline void ExpectSameInStore(const Ending& ending, const std::string& name) {
  for (const auto& [path, bytes] : ending.files_after_remount) {
    const auto seen = ending.files.find(path);
    EXPECT_TRUE(seen != ending.files.end() && seen->second == bytes)
        << name << ": " << path << " is \"" << bytes << "\" after a remount";
  }
}

}  // namespace cellfs::fs

#endif  // CELLFS_TESTS_FS_CHANGING_OPERATIONS_H_
