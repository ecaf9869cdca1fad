// SPDX-License-Identifier: MIT
//
// What `restore` and `undelete` have in common, and a restore of many tables.
#ifndef CELLFS_SRC_COMMANDS_RESTORING_H_
#define CELLFS_SRC_COMMANDS_RESTORING_H_

#include <optional>
#include <string>

#include "src/commands/past.h"
#include "src/history/restore.h"

namespace cellfs {

// A record for each change: {"row", "family", "qualifier", "before", "after"}, with "table" where
// that is named.
OnChange TellOf(Session& session, const std::string& table = {});
// Asks all that the writes would. Null where nothing can be written, and --dry-run alone is answered.
RowWriter CheckerOf(Session& session, const Scope& scope, bool dry_run);

// By the owners that the mount shows, of names and of their versions.
IsAnothers IsAnothersIn(Session& session, const TableName& table);

// A part of it is not what it was, or not back, and who looks at the exit code alone shall know:
// columns of which he may not read what was there, or which were another's files; and what he may
// not read at all; or of which nobody knows what was there.
bool TakeLeft(Session& session, const RestoreReport& report);
bool TakePassedOver(Session& session);
// {"rows", "puts", "deletes", "dry_run"}
nlohmann::json SumOf(const RestoreReport& report, bool dry_run);

struct RestoreWords {
  Timestamp at = 0;
  bool dry_run = false;
  bool known = false;  // also where a part cannot be known
};
// kUnavailable: it was refused, for not all is known.
StatusOr<RestoreReport> RestoreAsTold(Session& session, const Scope& scope,
                                      const RestoreWords& words, const RowWriter& checker,
                                      const OnChange& on_change);

// The tables of a namespace, or of all, that are there and were then, one after the other; nothing is
// changed before it is known of each that it can be. Of other tables it is told what to do.
StatusOr<Answer> RestoreTables(Session& session, const std::optional<std::string>& namespace_name,
                               const RestoreWords& words);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_RESTORING_H_
