// SPDX-License-Identifier: MIT
//
// What a mount is given. `src` fills it from the command line and the configuration.
#ifndef CELLFS_FS_TREE_OPTIONS_H_
#define CELLFS_FS_TREE_OPTIONS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/mutation.h"
#include "engine/names.h"
#include "engine/schema.h"
#include "engine/store_traits.h"
#include "fs/tree/hidden_namespace.h"
#include "fs/tree/name_spelling.h"

namespace cellfs::fs {

// Whether the names that start with a dot are there, and listed where they can be.
enum class Controls { kOff, kHidden, kVisible };

// VERSIONS 10, KEEP_DELETED_CELLS TRUE, DELETED_TTL 30 days: what was deleted can be brought back.
Attributes ShippedFamilyDefaults();
// Of rsync, vim, sed, cp, editors and git's locks.
std::vector<std::string> ShippedTemporaryNames();

struct MountOptions {
  NameMode names = NameMode::kPosix;
  Controls controls = Controls::kHidden;
  bool versions_by_name = true;  // q@<timestamp> is a version of q; else a name as any other
  bool xattr = false;  // answer extended attributes; costs a request or two per write
  bool read_only = false;
  bool allow_other = false;    // with default_permissions: the kernel enforces modes
  bool authorization = false;  // the store checks rights: requests carry the user's name
  Durability durability = Durability::kUseDefault;
  uint64_t max_value_size = 10485760;            // bytes; EFBIG beyond
  uint64_t open_file_limit = uint64_t{1} << 30;  // bytes that open files keep in memory, at most
  Attributes family_defaults = ShippedFamilyDefaults();  // of families that mkdir declares
  std::vector<std::string> temporary_names = ShippedTemporaryNames();  // globs, fnmatch(3)
  int64_t asof_hold_ms =
      int64_t{3600} * 1000;  // how long after its last use an .asof keeps what it reads
  int64_t temporary_age_ms =
      int64_t{3600} * 1000;  // until when a file made here may leave without trace
  uid_t uid = 0;             // of what nobody has changed
  gid_t gid = 0;
  mode_t file_mode = 0644;
  mode_t directory_mode = 0755;
  // Where owners, modes and times are kept that are not what the tree shows by itself (fs/attributes);
  // nullopt: nowhere.
  std::optional<TableName> attributes_table =
      TableName{std::string(kHiddenNamespace), std::string(kAttributesName)};
  std::string store_directory;  // for statfs; empty: a store in memory
  std::optional<int64_t>
      store_made_at;          // milliseconds: the time of what nothing else tells a time of
  // The text of /.cellfs/config, which may change while the mount lives.
  std::function<std::string()> configuration = [] { return std::string(); };
};

// As far as the store can have it: what it keeps nothing of is no default of its families.
MountOptions OptionsOn(const StoreTraits& traits, MountOptions options);

bool IsTemporaryName(const MountOptions& options, const std::string& name);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_OPTIONS_H_
