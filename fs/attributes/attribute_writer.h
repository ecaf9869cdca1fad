// SPDX-License-Identifier: MIT
//
// AttributeWriter: one change of what is stored for one place, with all that goes in the same step.
// Where other mounts write, each record changes where it is still as it was read.
#ifndef CELLFS_FS_ATTRIBUTES_ATTRIBUTE_WRITER_H_
#define CELLFS_FS_ATTRIBUTES_ATTRIBUTE_WRITER_H_

#include <sys/types.h>
#include <time.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/clock.h"
#include "engine/store.h"
#include "fs/attributes/attribute_cache.h"
#include "fs/attributes/attribute_reader.h"
#include "fs/attributes/attribute_rows.h"
#include "fs/attributes/attribute_table.h"
#include "fs/attributes/attribute_update.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/attributes/kept_columns.h"
#include "fs/attributes/table_identities.h"
#include "fs/store/column_mutations.h"
#include "fs/store/freshness.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// A temporary file that goes without a trace, and its only version.
struct TracelessFile {
  Place place;
  Timestamp version = 0;
};

enum class WrittenAttributes {
  kRecords,
  kChanges,  // times of entries that came or went
};

timespec ToTimespec(Timestamp milliseconds);
Timestamp ToMilliseconds(const timespec& time);  // rounded down; < 0 before 1970

// Thread-safe.
class AttributeWriter {
 public:
  // All outlive it.
  struct Parts {
    Store& store;
    const MountOptions& options;
    const Clock& clock;
    const Freshness& freshness;
    AttributeTable& table;
    TableIdentities& identities;
    AttributeCache& cache;
    InheritedAttributes& inherited;
    AttributeReader& reader;
  };
  explicit AttributeWriter(const Parts& parts)
      : options_(parts.options),
        clock_(parts.clock),
        freshness_(parts.freshness),
        table_(parts.table),
        identities_(parts.identities),
        cache_(parts.cache),
        inherited_(parts.inherited),
        reader_(parts.reader),
        kept_(parts.store, parts.reader, parts.inherited) {}

  // Before something is written for the table; as TableIdentities::Establish.
  StatusOr<bool> BeginWriting(const Place& place, const DataTable& table, WrittenAttributes what);

  // What is stored for a place then, and what it inherits, where that was looked at.
  struct Updated {
    RowRecords records;
    std::optional<OwnerAndMode> inherited;
  };
  // One attempt of AttributeStore::Update. Nullopt: another mount changed something meanwhile.
  // `mark`: of the record that was put last and may be there.
  StatusOr<std::optional<Updated>> TryUpdate(const Place& place, const DataTable& table,
                                             const AttributeUpdate& update,
                                             const TracelessFile* gone, uint64_t& mark);
  // What is stored for the file is withdrawn, as the file itself is.
  Status Forget(const TracelessFile& gone);

 private:
  struct RowChange;
  std::unique_lock<std::mutex> BeginChange(const std::string& row_key);
  Status Prepare(const Place& place, const DataTable& table, const AttributeUpdate& update,
                 RowChange& change);
  // `inherited` is set where it is looked at.
  StatusOr<AttributeRecord> RecordAfter(const Place& place, const DataTable& table,
                                        const AttributeUpdate& update, const RowRecords& stored,
                                        std::optional<OwnerAndMode>& inherited);
  void PutOwner(const std::string& qualifier, const OwnerRecord& before,
                const std::optional<Timestamp>& another_from, Timestamp since,
                OwnerRecord& after, Put& put) const;
  Status PutTime(RowChange& change) const;
  Status WriteAlone(const Place& place, const DataTable& table, const TracelessFile* gone,
                    RowChange& change);
  StatusOr<bool> WriteBesideOthers(const Place& place, const DataTable& table,
                                   const RowChange& change);
  // A record that changes with others.
  struct ChangedRecord {
    std::string qualifier;
    OwnerRecord before;
    Put put;
  };
  // False: another mount has changed one of these records meanwhile.
  StatusOr<bool> WriteWhereUnchanged(const std::vector<ChangedRecord>& changed);
  void Wrote(const RowChange& change, uint64_t changes_before);
  StatusOr<std::optional<Withdraw>> WithdrawalOf(const TracelessFile& gone, const DataTable& table,
                                                 const RecordKey& key);
  void WasWithdrawn(size_t cells, const RecordKey& key, const TracelessFile& gone,
                    uint64_t changes);

  const MountOptions& options_;
  const Clock& clock_;
  const Freshness& freshness_;
  AttributeTable& table_;
  TableIdentities& identities_;
  AttributeCache& cache_;
  InheritedAttributes& inherited_;
  AttributeReader& reader_;
  KeptColumns kept_;

  // A change reads what is stored, and writes all of it anew: those of one row go one after the
  // other, those of this mount. By row.
  std::array<std::mutex, 64> changing_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_ATTRIBUTE_WRITER_H_
