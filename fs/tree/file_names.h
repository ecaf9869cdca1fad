// SPDX-License-Identifier: MIT
//
// FileNames: the names of this mount's tree: how a place is named in its directory, and how a name
// of a row or column is read.
#ifndef CELLFS_FS_TREE_FILE_NAMES_H_
#define CELLFS_FS_TREE_FILE_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

#include "fs/tree/long_names.h"
#include "fs/tree/name_spelling.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe.
class FileNames {
 public:
  explicit FileNames(const MountOptions& options)
      : rows_(NameLevel::kRow, options.names, options.controls != Controls::kOff),
        qualifiers_(NameLevel::kQualifier, options.names, options.controls != Controls::kOff,
                    options.versions_by_name),
        versions_(NameLevel::kQualifier, options.names, options.controls != Controls::kOff) {}

  const NameSpelling& rows() const { return rows_; }
  const NameSpelling& qualifiers() const { return qualifiers_; }
  // Where each version is listed as q@<timestamp> (View::ShowsVersions).
  const NameSpelling& versions() const { return versions_; }

  // How the place is named in its directory.
  std::string Of(const Place& place) const;
  // The key behind a name in the long form that was shown lately.
  std::optional<std::string> FullKey(std::string_view long_name) const {
    return long_names_.Find(long_name);
  }

 private:
  std::string Shown(std::string name, const std::string& key) const;

  const NameSpelling rows_;
  const NameSpelling qualifiers_;
  const NameSpelling versions_;
  LongNames long_names_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_FILE_NAMES_H_
