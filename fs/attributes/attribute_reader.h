// SPDX-License-Identifier: MIT
//
// AttributeReader: what is stored for one place, and what is in force there with what is inherited.
// Rows of the table of attributes are kept whole as they were read (AttributeCache).
#ifndef CELLFS_FS_ATTRIBUTES_ATTRIBUTE_READER_H_
#define CELLFS_FS_ATTRIBUTES_ATTRIBUTE_READER_H_

#include <time.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/store.h"
#include "fs/attributes/attribute_cache.h"
#include "fs/attributes/attribute_rows.h"
#include "fs/attributes/attribute_table.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/attributes/made_attributes.h"
#include "fs/attributes/table_identities.h"
#include "fs/store/freshness.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// kIoError, whatever the reason, but where nobody answered in time, or nobody waits any more: a
// file is not to be taken for absent, or for anybody's.
Status AttributesUnreadable(const Status& status);

// Thread-safe. `version` as of AttributeStore::Find.
class AttributeReader {
 public:
  // All outlive it. `made`: null where directories that are made are stored at once.
  AttributeReader(Store& store, const Freshness& freshness, const AttributeTable& table,
                  TableIdentities& identities, AttributeCache& cache,
                  InheritedAttributes& inherited, const MadeAttributes* made)
      : store_(store),
        freshness_(freshness),
        table_(table),
        identities_(identities),
        cache_(cache),
        inherited_(inherited),
        made_(made) {}

  // Null: there is no such table.
  StatusOr<std::shared_ptr<const TableSchema>> SchemaOf(const Place& place) const;
  DataTable TableOf(std::shared_ptr<const TableSchema> schema);
  StatusOr<DataTable> TableOf(const Place& place);
  // Of a place that changes: it must be there. A row of its own is given to it where it has none.
  StatusOr<DataTable> TableToChange(const Place& place);

  // False: nothing is stored for the place.
  bool HasRecords(const Place& place, const DataTable& table) const;
  // What is stored for the place, or is to be; nothing without a read where nothing is stored for
  // its table.
  StatusOr<RowRecords> Read(const Place& place, const DataTable& table, const RecordKey& key,
                            Timestamp version);
  StatusOr<RowRecords> Read(const Place& place, const DataTable& table, Timestamp version);
  // The same of what is to be changed: of a directory that was just made, what is stored already.
  StatusOr<RowRecords> ReadToChange(const Place& place, const DataTable& table,
                                    const RecordKey& key, Timestamp version);
  // That, and what the place inherits.
  StatusOr<OwnerAndMode> InForce(const Place& place, const DataTable& table,
                                 const RowRecords& records);
  // When an entry of the directory last came or went, where that is stored.
  StatusOr<std::optional<timespec>> ReadChange(const Place& directory, const DataTable& table);
  // The timestamps of all versions of a record.
  StatusOr<std::vector<Timestamp>> OwnerVersions(const RecordKey& key);

 private:
  StatusOr<RowRecords> ReadStored(const Place& place, const RecordKey& key, Timestamp version);
  Status TakeIn(const std::string& row_key);

  Store& store_;
  const Freshness& freshness_;
  const AttributeTable& table_;
  TableIdentities& identities_;
  AttributeCache& cache_;
  InheritedAttributes& inherited_;
  const MadeAttributes* const made_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_ATTRIBUTE_READER_H_
