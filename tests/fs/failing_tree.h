// SPDX-License-Identifier: MIT
//
// A tree over a store that fails when it is told to, and what can be seen of the tree.
#ifndef CELLFS_TESTS_FS_FAILING_TREE_H_
#define CELLFS_TESTS_FS_FAILING_TREE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tests/fs/failing_store.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {

inline std::string ErrorName(int error) { return error == 0 ? "" : strerrorname_np(error); }

struct FailingTree : WritingTree {
  FailingTree() {
    filesystem.reset();
    auto store_that_fails = std::make_unique<FailingStore>(std::move(store));
    failing = store_that_fails.get();
    store = std::move(store_that_fails);
    Remount(Options());
  }
  static MountOptions Options() {
    MountOptions options;
    options.controls = Controls::kVisible;
    options.xattr = true;
    return options;
  }

  // The bytes of every file there is, by path; what stat says of their lengths must agree.
  using Files = std::map<std::string, std::string>;
  Files AllFiles(const std::string& directory = "") {
    Files files;
    for (const std::string& name : List(directory)) {
      if (directory.empty() && name == kSystemNamespace) continue;
      const std::string path = directory.empty() ? name : directory + "/" + name;
      const auto entry = LookUp(path);
      if (!entry.ok()) {
        files[path] = "<listed, but " + ErrorName(entry.error()) + ">";
      } else if (S_ISDIR(entry->attributes.st_mode)) {
        files.merge(AllFiles(path));
      } else {
        files[path] = ReadFile(path);
        EXPECT_EQ(files[path].size(), static_cast<size_t>(entry->attributes.st_size)) << path;
      }
    }
    return files;
  }

  FailingStore* failing;
};

// One operation: what is there before it, and then the call whose errno counts.
struct Operation {
  std::string name;
  std::function<std::function<int()>(FailingTree&)> prepare;
};

}  // namespace cellfs::fs

#endif  // CELLFS_TESTS_FS_FAILING_TREE_H_
