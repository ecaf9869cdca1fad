// SPDX-License-Identifier: MIT
//
// Contents: the bytes of any file as they are now: a value, a text made for the occasion, what is
// held in memory.
#ifndef CELLFS_FS_CONTENT_CONTENTS_H_
#define CELLFS_FS_CONTENT_CONTENTS_H_

#include <string>

#include "fs/base/outcome.h"
#include "fs/nodes/node.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/reading/reading.h"
#include "fs/resolve/cellfs_directory.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe; holds nothing of its own.
class Contents {
 public:
  Contents(const Reading& reading, const UnstoredEntries& unstored, const CellfsDirectory& self)
      : reading_(reading), unstored_(unstored), self_(self) {}

  // What a file shows, and of which version that is; < 0: of none, it is no column's value.
  struct Shown {
    std::string bytes;
    Timestamp version = -1;
  };
  // The node, if given, knows afterwards what they are.
  OutcomeOr<Shown> Read(const Caller& caller, const Place& file, Node* node = nullptr) const;
  OutcomeOr<std::string> WholeFile(const Caller& caller, const Place& file,
                                   Node* node = nullptr) const;
  // An error where the caller may not read what is there.
  Outcome CheckMayRead(const Caller& caller, const Place& file) const;

 private:
  void Learn(const Place& file, const Cell& cell, uint64_t looked_at, Node& node) const;

  const Reading& reading_;
  const UnstoredEntries& unstored_;
  const CellfsDirectory& self_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_CONTENTS_H_
