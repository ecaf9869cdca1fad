// SPDX-License-Identifier: MIT
//
// SchemaChanges: what a written .toml and a mkdir of a family change in the schemas of namespaces
// and tables. Changes of one schema come one after the other, so that none is lost and the time
// that a .toml shows goes with the schema.
#ifndef CELLFS_FS_SCHEMA_SCHEMA_CHANGES_H_
#define CELLFS_FS_SCHEMA_SCHEMA_CHANGES_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "engine/store.h"
#include "fs/attributes/attribute_store.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/base/outcome.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/schema/open_files_keeper.h"
#include "fs/schema/schema_file.h"
#include "fs/schema/schema_shares.h"
#include "fs/schema/schema_turns.h"
#include "fs/tree/error_log.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe.
class SchemaChanges {
 public:
  SchemaChanges(Store& store, const Reading& reading, LiveTree& tree, AttributeStore& attributes,
                ErrorLog& errors, OpenFilesKeeper& open_files)
      : store_(store),
        reading_(reading),
        tree_(tree),
        attributes_(attributes),
        errors_(errors),
        open_files_(open_files) {}

  // Creates or alters what the text says. EINVAL, and nothing done, where it does not parse, leaves
  // out a family without saying drop = true, or changes the split keys. `mtime`: the time that the
  // program set.
  Outcome Apply(const Caller& caller, const Place& file, std::string_view text,
                std::optional<timespec> mtime = std::nullopt);
  using Turn = SchemaTurns::Turn;
  Outcome Apply(const Turn& turn, const Caller& caller, const Place& file, std::string_view text,
                std::optional<timespec> mtime = std::nullopt);
  // Tells the kernel, afterwards and also where that failed, for a part of it may be in force: what
  // a schema says decides which names are found and for how long. Not under a column's lock.
  void TellApplied(const Place& file);

  // Declares the family, unless it is, in a table that is open to new ones (EPERM) and has not too
  // many (ENOSPC).
  Outcome Declare(const Request& request, const Place& family, const Attributes& defaults);

  // A family that mkdir declared, that never held a cell, and that no other row shows: its
  // declaration goes as well, and the kernel is told. Not under a column's lock. In a store with
  // other writers it stays: one of them may just have put something.
  Outcome Undeclare(const Caller& caller, const Place& family);

  // The family was dropped at `time`: what the tree keeps of it goes too.
  void FamilyWent(const TableName& table, const std::string& family, Timestamp time);

  // Whether who asks now may give a table so much to say. To be held until it is in force.
  StatusOr<SchemaShares::Reservation> ReserveShare(const TableSchema& schema) {
    return shares_.Reserve(schema);
  }

  // For a change elsewhere of the schema of the table or, where its name is empty, the namespace,
  // so that none is lost. Before the locks of columns, never under one. Not while the kernel is
  // told: it may wait for a request that waits for its turn.
  Turn TakeTurn(const TableName& table);

  // The schema changed just now, by a command or by mkdir: what its .toml shows as its time lasts
  // over remounts.
  Status NoteChanged(const Place& table_or_namespace, std::optional<timespec> mtime = std::nullopt);

 private:
  void HintAtNames(const Place& file);
  void HintAtLeftOut(const TableSchema& before, const TableSchema& after);
  OutcomeOr<bool> DropIfEmpty(const Caller& caller, const Place& family);
  OutcomeOr<bool> HoldsCells(const TableName& table, const Columns& columns) const;
  Outcome CheckMayDeclare(const Request& request, const Place& family,
                          const TableSchema& schema) const;
  Outcome ApplyTable(const Caller& caller, const TableName& table, std::string_view text);
  Outcome ApplyNamespace(const Caller& caller, const std::string& name, std::string_view text);

  Store& store_;
  const Reading& reading_;
  LiveTree& tree_;
  AttributeStore& attributes_;
  ErrorLog& errors_;
  OpenFilesKeeper& open_files_;
  SchemaShares shares_{store_, attributes_};
  SchemaTurns turns_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_SCHEMA_SCHEMA_CHANGES_H_
