// SPDX-License-Identifier: MIT
//
// The facts that a store file has of itself: all that a manifest says of it, and whose it is. A
// manifest that was lost is made anew from them.
#ifndef CELLFS_ENGINE_FILE_STORED_FACTS_H_
#define CELLFS_ENGINE_FILE_STORED_FACTS_H_

#include <string>

#include "engine/file/cell_format.h"
#include "engine/file/database.h"
#include "engine/file/file_facts.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

struct StoredFacts {
  uint64_t store_id = 0;
  TableId table = 0;
  int64_t format = kStoreFileFormat;  // of the file
  FileFacts facts;
};

// What can be told of a file without SQLite: its length, and its first page. kCorruption: it is cut
// short, or has grown, or the page is damaged.
Status LookAtStoreFile(const std::string& path, const FileFacts& facts);
// REQUIRES: a transaction in which the file's cells and filter are written. `bytes` of the facts is
// measured here.
Status PutStoredFacts(Database& database, StoredFacts& stored);
// kCorruption: not a store file of a known format, or damaged.
StatusOr<StoredFacts> ReadStoredFacts(Database& database);
// The same, of a file that nobody has open.
StatusOr<StoredFacts> ReadStoredFacts(const std::string& path);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_STORED_FACTS_H_
