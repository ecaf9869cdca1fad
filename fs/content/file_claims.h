// SPDX-License-Identifier: MIT
//
// FileClaims: making files. From CREATE on the name exists, empty, and stands among the unstored
// entries until the first put.
#ifndef CELLFS_FS_CONTENT_FILE_CLAIMS_H_
#define CELLFS_FS_CONTENT_FILE_CLAIMS_H_

#include <sys/types.h>

#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe; holds nothing of its own.
class FileClaims {
 public:
  FileClaims(const Reading& reading, LiveTree& tree, AttributeStore& attributes,
             const MountOptions& options)
      : reading_(reading), tree_(tree), attributes_(attributes), options_(options) {}

  struct Made {
    UnstoredPtr claim;                          // null: what was made is there without one
    std::optional<ShownAttributes> attributes;  // where they are at hand
  };
  // Claims the place `file`, which was not there when it was looked for. Nullopt where it is there
  // by now, or EEXIST if `exclusive`. EPERM where no file can be made.
  OutcomeOr<std::optional<Made>> Make(const Request& request, const Place& file, mode_t mode,
                                      bool exclusive) const;

 private:
  using MadeOrNot = OutcomeOr<std::optional<Made>>;

  MadeOrNot MakeByContent(const Request& request, const Place& file, mode_t mode) const;
  Outcome CheckTakesPut(const Request& request, const Place& file) const;
  MadeOrNot MakeColumn(const Request& request, const Place& file, mode_t mode) const;
  MadeOrNot MakeMemory(const Request& request, const Place& file, mode_t mode) const;

  const Reading& reading_;
  LiveTree& tree_;
  AttributeStore& attributes_;
  const MountOptions& options_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_FILE_CLAIMS_H_
