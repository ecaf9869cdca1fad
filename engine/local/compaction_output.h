// SPDX-License-Identifier: MIT
//
// CompactionOutput: the files that a compaction writes. Each ends between two rows: where it has
// got as long as files are to be, and where the key range is cut.
#ifndef CELLFS_ENGINE_LOCAL_COMPACTION_OUTPUT_H_
#define CELLFS_ENGINE_LOCAL_COMPACTION_OUTPUT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/file/store_file_builder.h"
#include "engine/local/table_services.h"
#include "engine/local/version_set.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {

struct OutputLimits {
  uint64_t bytes_of_file = 0;
  int64_t cells_of_file = 0;      // so many its Bloom filter is made for
  std::vector<std::string> ends;  // rows that begin another file: cuts and seams (KeyRanges)
};

// Not thread-safe. What is not finished leaves no files, or has them removed later (Leave).
class CompactionOutput {
 public:
  // `options` of each file, but for its number. What is written lies between the two sequence ids.
  // `services`, `versions` and `family` outlive it.
  CompactionOutput(TableServices& services, VersionSet& versions, const FamilySchema& family,
                   const BuilderOptions& options, OutputLimits limits, SequenceId lowest,
                   SequenceId highest);
  ~CompactionOutput();
  CompactionOutput(const CompactionOutput&) = delete;
  CompactionOutput& operator=(const CompactionOutput&) = delete;

  // Loads the value and puts the cell.
  Status Put(CellCursor& cells);
  // What is written so far takes of the disk, looked up every few megabytes.
  uint64_t bytes_on_disk() const;
  // By row; complete and on disk.
  StatusOr<std::vector<FileFacts>> Finish();
  // Whoever gives it up need not wait for the removal of what is large.
  void Leave();

 private:
  bool EndsBefore(std::string_view row) const;
  Status BeginFile();
  Status EndFile(bool is_followed);

  TableServices& services_;
  VersionSet& versions_;
  const FamilySchema& family_;
  BuilderOptions options_;  // of the next file
  const OutputLimits limits_;
  const SequenceId lowest_;
  const SequenceId highest_;
  std::unique_ptr<StoreFileBuilder> builder_;  // null: no file is begun
  std::vector<FileFacts> finished_;
  uint64_t bytes_of_finished_ = 0;  // on the disk
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_COMPACTION_OUTPUT_H_
