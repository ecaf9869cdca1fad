// SPDX-License-Identifier: MIT
//
// Whether the store files of a store are those that its manifests name, no more and no fewer.
#ifndef CELLFS_TESTS_CRASH_UNNAMED_FILE_H_
#define CELLFS_TESTS_CRASH_UNNAMED_FILE_H_

#include <filesystem>
#include <set>
#include <string>

#include "engine/local/manifest.h"
#include "engine/local/store_directory.h"

namespace cellfs {

// What lies in the directory of a table instead of what its manifest names; empty: nothing does.
inline std::string UnnamedFile(const std::string& store) {
  const auto store_id = CheckIsStore(PosixFiles(), store);
  if (!store_id.ok()) return store_id.status().ToString();
  for (const auto& entry : std::filesystem::directory_iterator(store + "/tables")) {
    const TableId id = std::stoul(entry.path().filename());
    const auto manifest = ReadManifest(PosixFiles(), entry.path(), *store_id, id);
    if (!manifest.ok()) return manifest.status().ToString();
    std::set<std::string> named{kManifestFile};
    for (const FileFacts& facts : manifest->files) named.insert(StoreFileName(facts.number));
    const auto names = PosixFiles().List(entry.path());
    if (!names.ok()) return names.status().ToString();
    if (std::set<std::string>(names->begin(), names->end()) == named) continue;
    std::string text = entry.path();
    for (const std::string& name : *names) text += " " + name;
    text += " instead of";
    for (const std::string& name : named) text += " " + name;
    return text;
  }
  return "";
}

}  // namespace cellfs

#endif  // CELLFS_TESTS_CRASH_UNNAMED_FILE_H_
