// SPDX-License-Identifier: MIT
//
// CatalogSaver: the way of a catalog to its StorageEngine and back: a change of it is saved as an
// edit, so that an act costs what it changes and not what there is; now and then all of it is.
#ifndef CELLFS_ENGINE_CATALOG_CATALOG_SAVER_H_
#define CELLFS_ENGINE_CATALOG_CATALOG_SAVER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "engine/catalog/catalog.h"
#include "engine/status_or.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

// Used by one thread at a time.
class CatalogSaver {
 public:
  // Edits are written together, so they stay few: as long as a part of the document, within bounds.
  static constexpr size_t kFewestEditBytes = size_t{16} << 10;
  static constexpr size_t kMostEditBytes = size_t{256} << 10;

  // `engine` outlives it.
  explicit CatalogSaver(StorageEngine& engine) : engine_(engine) {}

  // Once, before anything is saved.
  StatusOr<std::shared_ptr<const Catalog>> Load();
  // Errors as of StorageEngine::SaveCatalog.
  Status Save(std::shared_ptr<Catalog> catalog);

 private:
  Status SaveWholeOrEdit(Catalog& catalog);
  Status SaveWhole(Catalog& catalog);
  Status SaveEdit(const std::string& edit, Catalog& catalog);
  size_t MostEditBytes() const;

  StorageEngine& engine_;
  std::shared_ptr<const Catalog> saved_;  // the last one
  size_t document_bytes_ = 0;
  size_t edit_bytes_ = 0;
  bool is_unsettled_ = false;  // power loss may bring back another document than the edits are for
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_CATALOG_SAVER_H_
