// SPDX-License-Identifier: MIT
//
// What lies in a table's directory and its manifest does not name: what was being made, or had been
// replaced, when something went wrong; or what a newer manifest named.
#ifndef CELLFS_ENGINE_LOCAL_UNNAMED_FILES_H_
#define CELLFS_ENGINE_LOCAL_UNNAMED_FILES_H_

#include <string>
#include <vector>

#include "engine/local/manifest.h"

namespace cellfs {

// The names in `directory`, the table's. kCorruption: a file that the manifest names is missing.
StatusOr<std::vector<std::string>> UnnamedFiles(FileLayer& files, const std::string& directory,
                                                const Manifest& manifest);
// kCorruption: one of them has cells beyond `known`, up to where the manifest or the log has all.
Status CheckAreNotNeeded(const std::string& directory, const std::vector<std::string>& unnamed,
                         SequenceId known);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_UNNAMED_FILES_H_
