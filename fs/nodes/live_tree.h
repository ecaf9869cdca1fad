// SPDX-License-Identifier: MIT
//
// LiveTree: what this mount knows of its tree beside what is stored: the nodes that the kernel
// knows, what is there only by being made, what it knows of columns, what was done lately, and what the
// kernel must forget. Who gets it changes the tree; who only looks gets the part that it looks at.
#ifndef CELLFS_FS_NODES_LIVE_TREE_H_
#define CELLFS_FS_NODES_LIVE_TREE_H_

#include <atomic>
#include <cstdint>

#include "engine/clock.h"
#include "fs/files/memory_files.h"
#include "fs/files/open_file_memory.h"
#include "fs/files/unput_bytes.h"
#include "fs/nodes/column_table.h"
#include "fs/nodes/empty_directories.h"
#include "fs/nodes/inode_table.h"
#include "fs/nodes/kernel_cache.h"
#include "fs/nodes/last_changed_family.h"
#include "fs/nodes/removed_families.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/tree/declared_families.h"
#include "fs/tree/directory_times.h"
#include "fs/tree/file_names.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// The members are thread-safe each.
struct LiveTree {
  LiveTree(const FileNames& names, const Clock& clock_in, const MountOptions& options)
      : clock(clock_in),
        open_file_memory(options.open_file_limit, options.max_value_size),
        columns(clock_in, options.temporary_age_ms),
        inodes(columns),
        kernel(inodes, names) {}

  // The table has gone, whoever dropped it, or another one has its name. May be called under a
  // column's lock, so it does not tell the kernel: that keeps nothing for long where others may
  // drop it, and who drops it here tells.
  void ForgetTable(const TableName& table) {
    const Place place = TablePlace(table);
    unstored.RemoveBelow(place);
    unstored.ShowToml(place);
    declared.Forget(table);
    removed_families.ForgetTable(table);
    directory_times.ForgetTable(table);
  }

  // The table has another name, under which nothing is known any more. While the columns of both
  // names are closed.
  void MoveTable(const TableName& from, const TableName& to) {
    ForgetTable(to);
    unstored.MoveTable(from, to);
    declared.Move(from, to);
    removed_families.ForgetTable(from);
    directory_times.MoveTable(from, to);
    inodes.MoveTable(from, to);
  }

  const Clock& clock;
  std::atomic<int64_t> listing_bytes_left{int64_t{16} << 20};  // before the nodes
  OpenFileMemory open_file_memory;                             // likewise
  UnputBytes unput_bytes;                                      // likewise
  ColumnTable columns;                                         // likewise
  InodeTable inodes;
  UnstoredEntries unstored;
  EmptyDirectories empty_directories;
  RemovedFamilies removed_families;
  MemoryFiles memory_files;
  DeclaredFamilies declared;
  DirectoryTimes directory_times;
  LastChangedFamily last_changed_family;
  KernelCache kernel;  // last: its thread uses the nodes
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_LIVE_TREE_H_
