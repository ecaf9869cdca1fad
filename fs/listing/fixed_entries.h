// SPDX-License-Identifier: MIT
//
// What stands before all others in a listing, whatever is stored: ".", "..", and the files and
// directories that a directory of its kind always has.
#ifndef CELLFS_FS_LISTING_FIXED_ENTRIES_H_
#define CELLFS_FS_LISTING_FIXED_ENTRIES_H_

#include <optional>
#include <vector>

#include "fs/resolve/resolver.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// The number of an entry is its offset. nullopt: it is not there now.
using FixedEntries = std::vector<std::optional<ResolvedEntry>>;
OutcomeOr<FixedEntries> FixedEntriesOf(const Resolver& resolver, Controls controls,
                                       const Caller& caller, const Place& directory);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_LISTING_FIXED_ENTRIES_H_
