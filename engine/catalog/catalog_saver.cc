// SPDX-License-Identifier: MIT
#include "engine/catalog/catalog_saver.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/catalog/catalog_json.h"

namespace cellfs {

StatusOr<std::shared_ptr<const Catalog>> CatalogSaver::Load() {
  CELLFS_ASSIGN_OR_RETURN(const SavedCatalog saved, engine_.LoadCatalog());
  document_bytes_ = saved.document.size();
  for (const std::string& edit : saved.edits) edit_bytes_ += edit.size();
  CELLFS_ASSIGN_OR_RETURN(Catalog catalog, DecodeCatalog(saved));
  saved_ = std::make_shared<const Catalog>(std::move(catalog));
  return saved_;
}

Status CatalogSaver::Save(std::shared_ptr<Catalog> catalog) {
  Status saved = SaveWholeOrEdit(*catalog);
  if (IsInForce(saved)) saved_ = std::move(catalog);
  return saved;
}

Status CatalogSaver::SaveWholeOrEdit(Catalog& catalog) {
  if (is_unsettled_) return SaveWhole(catalog);
  const std::string edit = EncodeCatalogEdit(*saved_, catalog);
  if (edit_bytes_ + edit.size() <= MostEditBytes()) return SaveEdit(edit, catalog);
  Status saved = SaveWhole(catalog);
  // For what gives room back, a full disk may still have that of an edit.
  return saved.code() == StatusCode::kStoreFull ? SaveEdit(edit, catalog) : saved;
}

size_t CatalogSaver::MostEditBytes() const {
  return std::clamp(document_bytes_ / 4, kFewestEditBytes, kMostEditBytes);
}

Status CatalogSaver::SaveWhole(Catalog& catalog) {
  catalog.document = saved_->document + 1;
  const std::string document = EncodeCatalog(catalog);
  Status saved = engine_.SaveCatalog(document);
  if (!IsInForce(saved)) return saved;
  is_unsettled_ = !saved.ok();
  document_bytes_ = document.size();
  edit_bytes_ = 0;
  return saved;
}

Status CatalogSaver::SaveEdit(const std::string& edit, Catalog& catalog) {
  catalog.document = saved_->document;
  Status saved = engine_.SaveCatalogEdit(edit);
  if (IsInForce(saved)) edit_bytes_ += edit.size();
  return saved;
}

}  // namespace cellfs
