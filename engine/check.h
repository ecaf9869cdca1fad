// SPDX-License-Identifier: MIT
//
// Looking for damage in the files of an embedded store.
#ifndef CELLFS_ENGINE_CHECK_H_
#define CELLFS_ENGINE_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/cell.h"
#include "engine/names.h"
#include "engine/status_or.h"

namespace cellfs {

// One finding, as far as it can be told where.
struct Damage {
  std::string file;  // in the store's directory
  std::string what;         // with the remedy, where that is not said by itself
  std::string remedy = {};  // what helps
  bool has_all_cells = false;  // only what saves time is damaged, of a store file
  std::optional<TableName> table = std::nullopt;
  std::string family = {};
  std::optional<Cell> cell = std::nullopt;  // its key as it is read; without a value
  // Where whole pages cannot be read: the rows between which they lie, both readable. Empty: the
  // begin or the end of the table.
  std::optional<std::pair<std::string, std::string>> between_rows = std::nullopt;
};

inline constexpr size_t kMostDamage = 1000;

struct CheckReport {
  std::vector<Damage> damage;  // the first kMostDamage
  uint64_t log_files = 0;      // segments that were read
  uint64_t log_bytes = 0;
  uint64_t log_records = 0;    // that were read
  uint64_t cells = 0;          // of store files
};

// How far a check has come. What has to be read twice counts twice.
struct CheckProgress {
  uint64_t bytes = 0;  // that were read
  uint64_t total = 0;  // of all that there was to read when it began
  uint64_t cells = 0;  // of store files
};
// False: it is to end, with kCancelled.
using TellCheckProgress = std::function<bool(const CheckProgress&)>;

// Reads every byte that the store in `directory` needs: catalog, log, and all pages and cells of
// the store files. It changes nothing, and the store may be open meanwhile, in this process or in
// another. A torn end of the log is no damage: a crash leaves it, and opening the store cuts it
// off; unless whole records stand behind it. kCorruption: not a store, or one of a newer format.
// Thread-safe; takes as long as the disk needs, and tells `tell`, if any, every now and then.
StatusOr<CheckReport> CheckLocalStore(const std::string& directory,
                                      const TellCheckProgress& tell = nullptr);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CHECK_H_
