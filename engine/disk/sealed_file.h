// SPDX-License-Identifier: MIT
//
// A sealed file is replaced as a whole: eight bytes that say what it is, its content, and the
// checksum of both. CATALOG and the manifests of tables are such files.
#ifndef CELLFS_ENGINE_DISK_SEALED_FILE_H_
#define CELLFS_ENGINE_DISK_SEALED_FILE_H_

#include <string>
#include <string_view>

#include "engine/disk/file_layer.h"

namespace cellfs {

// kCorruption: another kind of file, or damaged.
StatusOr<std::string> ReadSealedFile(FileLayer& files, const std::string& path,
                                     std::string_view magic);
// As ReplaceFile.
Status ReplaceSealedFile(FileLayer& files, const std::string& directory, const std::string& name,
                         std::string_view magic, std::string_view content);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_DISK_SEALED_FILE_H_
