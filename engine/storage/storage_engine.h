// SPDX-License-Identifier: MIT
//
// StorageEngine: where the tables of one store lie: it makes, opens and drops their CellStorage,
// keeps the catalog's bytes, and makes what was written durable.
#ifndef CELLFS_ENGINE_STORAGE_STORAGE_ENGINE_H_
#define CELLFS_ENGINE_STORAGE_STORAGE_ENGINE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rewrite_observer.h"
#include "engine/storage/cell_storage.h"

namespace cellfs {

struct StoredTable {
  TableId id = 0;
  std::shared_ptr<const TableSchema> schema;
  // That it had once, with the times of their drops: what is left of them is not wanted. What is
  // later than that is of another, which a CATALOG that is older than the files does not name.
  std::map<std::string, Timestamp> dropped_families = {};
};

// The catalog as it was saved: all of it, and the edits made to that since, the oldest first.
struct SavedCatalog {
  std::string document;  // empty: that of a new store
  std::vector<std::string> edits;
};

struct OpenedTables {
  // In the order they were asked for; one that cannot be opened has its reason there, and the
  // others work.
  std::vector<StatusOr<std::shared_ptr<CellStorage>>> storages;
  // The catalog's from now on: a table that is made has none that the store knows another by.
  TableId next_id = 1;
};

// So many moments anybody may pin: what they keep others may have written.
inline constexpr uint32_t kMomentsOfEach = 4;

// Thread-safe; CreateTable, SaveCatalog and SaveCatalogEdit are called one at a time.
class StorageEngine {
 public:
  virtual ~StorageEngine() = default;

  virtual StatusOr<SavedCatalog> LoadCatalog() = 0;
  // Durable, whole or not at all, when this returns. kOutcomeUnknown: it is in place, and power
  // loss may bring the one before back.
  virtual Status SaveCatalog(std::string_view document) = 0;
  // The same, of an edit to what was saved last, in one line; not after a SaveCatalog that was not
  // OK. Costs what all edits since the document take, not what that does.
  virtual Status SaveCatalogEdit(std::string_view edit) = 0;

  // Opens the tables of the catalog, with what a recovery of the log brings back; once, before
  // anything else but LoadCatalog. What lies in the store and is not named here goes where it is of
  // a table whose creation or drop was cut short; tables from `next_id` on, the catalog's, were not
  // dropped: it is an older one, and they are set aside.
  virtual StatusOr<OpenedTables> OpenTables(const std::vector<StoredTable>& tables,
                                            TableId next_id) = 0;
  virtual StatusOr<std::shared_ptr<CellStorage>> CreateTable(const StoredTable& table) = 0;
  // The storage answers nothing sensible afterwards; who still reads it may finish.
  virtual Status DropTable(TableId id) = 0;

  virtual Status Sync() = 0;  // all that was written so far, to whatever table

  virtual StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& holder) = 0;
  // How many bytes the disk lacked for the put that was refused last (kStoreFull); 0: unknown.
  virtual uint64_t BytesLackedByPuts() const { return 0; }
  // How many bytes the disk lacked at most for the compactions that were refused (kStoreFull) since
  // this was asked last; 0: none, or unknown.
  virtual uint64_t TakeBytesLackedByCompactions() { return 0; }
  virtual void SetMaintenancePaused(bool paused) = 0;
  virtual void SetCacheBytes(int64_t bytes) = 0;
  virtual void SetRewriteObserver(RewriteObserver* observer) = 0;  // as of StoreControls
  // Everything of Statistics but `tables`.
  virtual Statistics GetStatistics() = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_STORAGE_STORAGE_ENGINE_H_
