// SPDX-License-Identifier: MIT
//
// FileWriters: opening files for writing.
#ifndef CELLFS_FS_CONTENT_FILE_WRITER_H_
#define CELLFS_FS_CONTENT_FILE_WRITER_H_

#include "fs/base/outcome.h"
#include "fs/content/cell_writer.h"
#include "fs/content/counters.h"
#include "fs/requests/request.h"
#include "fs/schema/schema_changes.h"

namespace cellfs::fs {

// Thread-safe; holds nothing of its own.
class FileWriters {
 public:
  FileWriters(const CellWriting& cells, const Counters& counters, SchemaChanges& schemas)
      : cells_(cells), counters_(counters), schemas_(schemas) {}

  // A handle for an existing or just claimed file of any kind that can be written: cells and
  // versions, counters, .toml files, files in memory. Not yet in the node's list of handles.
  // `place`: the node's.
  OutcomeOr<OpenedFile> Open(const Request& request, const NodePtr& node, const Place& place,
                             const OpenMode& mode) const;

 private:
  OutcomeOr<OpenedFile> OpenCell(const Request& request, const NodePtr& node, const Place& place,
                                 const OpenMode& mode) const;
  static void ShareReplacements(const Node& node, bool with_reader);
  OutcomeOr<OpenedFile> OpenCounter(const Request& request, const NodePtr& node,
                                    const Place& place) const;
  OutcomeOr<OpenedFile> OpenToml(const Request& request, const NodePtr& node, const Place& place,
                                 const OpenMode& mode) const;
  OutcomeOr<OpenedFile> OpenMemory(const Place& place, const OpenMode& mode) const;

  const CellWriting& cells_;
  const Counters& counters_;
  SchemaChanges& schemas_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_FILE_WRITER_H_
