// SPDX-License-Identifier: MIT
//
// ChildPlaces: from a directory and a name to the place that the name denotes there. The other way
// is fs/tree/file_names.h.
#ifndef CELLFS_FS_RESOLVE_CHILD_PLACE_H_
#define CELLFS_FS_RESOLVE_CHILD_PLACE_H_

#include <string_view>

#include "fs/base/outcome.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/reading/reading.h"
#include "fs/tree/asof.h"
#include "fs/tree/file_names.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// What a name is wanted for decides its errors (ENOENT on look-up; EILSEQ, ENAMETOOLONG on
// creation) and, beside a .toml and in .versions, its meaning: a file that is made there may be a
// temporary.
enum class NameUse { kLookUp, kCreateFile, kCreateDirectory };

// Thread-safe; holds nothing of its own.
class ChildPlaces {
 public:
  ChildPlaces(const Reading& reading, const FileNames& names, const UnstoredEntries& unstored,
              AsofRegistry& asof, const MountOptions& options)
      : reading_(reading), names_(names), unstored_(unstored), asof_(asof), options_(options) {}

  // Whether or not anything is there. Reads the store only for names in the long form. EPERM where
  // no such thing can be made there.
  OutcomeOr<Place> Find(const Caller& caller, const Place& directory, std::string_view name,
                        NameUse use) const;
  // Whether a file of that name, made in a table or a namespace, is one that a program needs while
  // it writes the .toml there.
  bool IsBesideToml(std::string_view name) const;

 private:
  class ChildName;

  const Reading& reading_;
  const FileNames& names_;
  const UnstoredEntries& unstored_;
  AsofRegistry& asof_;
  const MountOptions& options_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_RESOLVE_CHILD_PLACE_H_
