// SPDX-License-Identifier: MIT
//
// The names in .asof and .scan, which say how the places below them see the store.
#ifndef CELLFS_FS_RESOLVE_VIEW_PLACES_H_
#define CELLFS_FS_RESOLVE_VIEW_PLACES_H_

#include <string_view>

#include "fs/base/outcome.h"
#include "fs/reading/reading.h"
#include "fs/tree/asof.h"
#include "fs/tree/name_spelling.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// .asof/<time>: the directory that .asof stands in, as it was then, or a link to such a place.
OutcomeOr<Place> PlaceAsOf(const Reading& reading, AsofRegistry& asof, const Place& asof_directory,
                           std::string_view time);
// .scan/<query>: the table that .scan stands in, with what the query returns. ENOENT with the
// reason where the query is not understood.
OutcomeOr<Place> PlaceInScan(const Reading& reading, NameMode names, const Place& scan_directory,
                             std::string_view query);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_RESOLVE_VIEW_PLACES_H_
