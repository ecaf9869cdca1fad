// SPDX-License-Identifier: MIT
//
// CheckLocalStore over files of the caller's choice.
#ifndef CELLFS_ENGINE_LOCAL_LOCAL_CHECK_H_
#define CELLFS_ENGINE_LOCAL_LOCAL_CHECK_H_

#include <functional>
#include <span>
#include <string>

#include "engine/check.h"
#include "engine/disk/file_layer.h"
#include "engine/file/file_facts.h"

namespace cellfs {

// A check that is made in parts. Each may be null.
struct CheckSteps {
  TellCheckProgress tell;
  std::function<bool(TableId, const FileFacts&)> wants;  // whether to read the store file; else all
  // One was read to its end, and this was found.
  std::function<void(TableId, const FileFacts&, std::span<const Damage>)> has_read;
};

// Catalog and log are read through `files`; SQLite has its own way to the disk.
StatusOr<CheckReport> CheckLocalStore(FileLayer& files, const std::string& directory,
                                      const CheckSteps& steps = {});

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_LOCAL_CHECK_H_
