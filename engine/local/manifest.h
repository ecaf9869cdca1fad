// SPDX-License-Identifier: MIT
//
// Manifest: which store files a table consists of (LevelDB's MANIFEST, HBase's store file tracker).
// A file that it names is complete and never changes; a file that it does not name is not there. It
// is replaced as a whole, so that a flush of several families, or a compaction, is in force or not.
#ifndef CELLFS_ENGINE_LOCAL_MANIFEST_H_
#define CELLFS_ENGINE_LOCAL_MANIFEST_H_

#include <map>
#include <string>
#include <vector>

#include "engine/admin.h"
#include "engine/disk/file_layer.h"
#include "engine/file/file_facts.h"
#include "engine/local/key_ranges.h"
#include "engine/log/log_format.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

inline constexpr char kManifestFile[] = "MANIFEST";

struct Manifest {
  uint64_t store_id = 0;  // whose table it is: another's in its place is not taken
  TableId table = 0;
  SequenceId flushed = 0;  // every mutation of the table up to it is in the files, or not wanted
  uint64_t next_file = 1;  // the number of the next file
  std::vector<FileFacts> files;  // oldest first in each family
  std::map<std::string, FamilyPast> past;  // as of TableVersion
  TableRanges ranges;                      // likewise
  LogPosition logged = 0;  // so far the log was on disk when it was written

  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// `directory` is the table's. kCorruption: missing, damaged, or another table's.
StatusOr<Manifest> ReadManifest(FileLayer& files, const std::string& directory, uint64_t store_id,
                                TableId table);
// Of which store's table the manifest there is, whichever that is.
StatusOr<uint64_t> ReadStoreIdOfManifest(FileLayer& files, const std::string& directory);
// Durable, whole or not at all, when this returns. kOutcomeUnknown: it is in place, and power loss
// may bring the one before back.
Status SaveManifest(FileLayer& files, const std::string& directory, const Manifest& manifest);

// As the log keeps it.
TableMark MarkOf(const Manifest& manifest);
// kCorruption: the log has known a newer one.
Status CheckIsNotOlder(const std::string& directory, const Manifest& manifest,
                       const TableMark& mark);

// kCorruption: the table lacks cells that the log had up to `needed` and has cut, or lost with
// `segment` and those before it.
Status CheckHasFlushed(const std::string& directory, SequenceId flushed, SequenceId needed,
                       const std::string& segment);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_MANIFEST_H_
