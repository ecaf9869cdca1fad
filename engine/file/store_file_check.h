// SPDX-License-Identifier: MIT
//
// CheckStoreFile: reads every byte of a store file for damage.
#ifndef CELLFS_ENGINE_FILE_STORE_FILE_CHECK_H_
#define CELLFS_ENGINE_FILE_STORE_FILE_CHECK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/check.h"
#include "engine/file/store_file.h"

namespace cellfs {

struct CheckedStoreFile {
  std::vector<Damage> damage;  // the first kMostDamage; without file, table and family
  uint64_t cells = 0;          // that were read
};

// Told how many bytes, and cells, were read since it was told last. False: no more is to be read,
// and what was found then says nothing.
using TellBytesRead = std::function<bool(uint64_t bytes, uint64_t cells)>;

// Damage of single cells and pages goes to `found`; the status is of the file as a whole.
Status CheckStoreFile(const std::shared_ptr<const TableFolder>& folder, const FileFacts& facts,
                      CheckedStoreFile* found, const TellBytesRead& tell = nullptr);
// Of the bytes that `tell` hears of where the file is whole: it is read twice. About so many.
inline uint64_t BytesToCheck(const FileFacts& facts) { return 2 * facts.bytes; }

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_STORE_FILE_CHECK_H_
