// SPDX-License-Identifier: MIT
//
// ListedDirectory: what the sources of one listing share: which directory it is, and how a cell
// becomes an entry of it.
#ifndef CELLFS_FS_LISTING_LISTED_DIRECTORY_H_
#define CELLFS_FS_LISTING_LISTED_DIRECTORY_H_

#include <cstddef>
#include <memory>
#include <string>

#include "fs/listing/entry_source.h"
#include "fs/reading/reading.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Not thread-safe.
class ListedDirectory {
 public:
  ListedDirectory(const Reading& reading, std::shared_ptr<const Place> place);

  const Reading& reading() const { return reading_; }
  const Place& place() const { return *place_; }
  // How many entries to read at a time.
  size_t batch() const {
    return reading_.freshness().is_exact() ? kEntryBatch : kFarEntryBatch;
  }
  // That an .asof reads, kept while the listing is open; null: the present.
  const std::shared_ptr<const Moment>& moment() const { return moment_; }

  // Before each batch: the schema as it is now says when its cells expire. An error where the table
  // has gone.
  Outcome ReadSchema();
  // Adds the entry that the cell shows among entries like `like`.
  SourceEntry& AddCell(SourceEntries& entries, const Place& like, const Cell& cell);

 private:
  const FamilySchema* FamilyOf(const Cell& cell);

  const Reading& reading_;
  const std::shared_ptr<const Place> place_;
  std::shared_ptr<const Moment> moment_;
  std::shared_ptr<const TableSchema> schema_;
  const FamilySchema* family_ = nullptr;  // of schema_, that was asked for last
};

// Orders versions newest first, as the bytes of a key.
std::string VersionKey(Timestamp timestamp);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_LISTING_LISTED_DIRECTORY_H_
