// SPDX-License-Identifier: MIT
//
// The keys behind names in the long form, which tell but how the key begins and its hash: found by
// looking at the keys that begin so. ENOENT: none of them has the name.
#ifndef CELLFS_FS_READING_LONG_KEYS_H_
#define CELLFS_FS_READING_LONG_KEYS_H_

#include <string>
#include <string_view>

#include "fs/base/outcome.h"
#include "fs/reading/reading.h"
#include "fs/tree/name_spelling.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Of which rows: those that show something, or all in which something is stored.
enum class LongRows { kVisible, kStored };

// `names`: how such keys are spelled. `beginning`: of the key, as the name says it.
OutcomeOr<std::string> FindLongRow(const Reading& reading, const NameSpelling& names,
                                   const Caller& caller, const Place& table, LongRows which,
                                   const std::string& beginning, std::string_view name);
OutcomeOr<std::string> FindLongQualifier(const Reading& reading, const NameSpelling& names,
                                         const Caller& caller, const Place& family,
                                         const std::string& beginning, std::string_view name);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_LONG_KEYS_H_
