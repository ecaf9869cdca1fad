// SPDX-License-Identifier: MIT
//
// CheckStoreFile: reads every byte of a store file for damage.
#ifndef CELLFS_ENGINE_FILE_STORE_FILE_CHECK_H_
#define CELLFS_ENGINE_FILE_STORE_FILE_CHECK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/check.h"
#include "engine/file/store_file.h"

namespace cellfs {

struct CheckedStoreFile {
  std::vector<Damage> damage;  // the first kMostDamage; without file, table and family
  uint64_t cells = 0;          // that were read
};

// Damage of single cells and pages goes to `found`; the status is of the file as a whole.
Status CheckStoreFile(const std::shared_ptr<const TableFolder>& folder, const FileFacts& facts,
                      CheckedStoreFile* found);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_STORE_FILE_CHECK_H_
