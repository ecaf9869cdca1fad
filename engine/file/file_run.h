// SPDX-License-Identifier: MIT
//
// FileRun: store files of one family that follow each other in age, of which no two have a row in
// common (LevelDB: a sorted run). Whoever writes ascending keys makes one run of all his files. A
// read looks into one of them at a time, and to merge them would bring it nothing.
#ifndef CELLFS_ENGINE_FILE_FILE_RUN_H_
#define CELLFS_ENGINE_FILE_FILE_RUN_H_

#include <memory>
#include <string_view>
#include <vector>

#include "engine/file/store_file.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {

// Not empty.
struct FileRun {
  StoreFiles files;  // by row

  // The only one that may have something of the row; null: none.
  const std::shared_ptr<StoreFile>* FindFileOf(std::string_view row) const;
};

// `files`: of one family, the oldest first, and so are the runs: each has the next files that fit.
std::vector<FileRun> RunsOf(const StoreFiles& files);

// A set of the cells of a run, with a sequence id up to `read_point`. One file is open at a time.
// REQUIRES: all files have hidden cells, where these are asked for.
std::unique_ptr<CellCursor> OpenRun(FileRun run, CellSet set, SequenceId read_point,
                                    bool lengths_only);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_FILE_RUN_H_
