// SPDX-License-Identifier: MIT
//
// A catalog as bytes, to be saved: a document, JSON with a format number, and edits to it. Names,
// keys and values are bytes, which JSON's text cannot hold; each byte is written as the code point
// of its number, so that ASCII stays readable.
#ifndef CELLFS_ENGINE_CATALOG_CATALOG_JSON_H_
#define CELLFS_ENGINE_CATALOG_CATALOG_JSON_H_

#include <string>
#include <string_view>

#include "engine/catalog/catalog.h"
#include "engine/status_or.h"

namespace cellfs {

// What helps where one cannot be read, for people.
inline constexpr char kRemedyOfCatalog[] = "CATALOG and EDITS of one backup of the store help";

std::string EncodeCatalog(const Catalog& catalog);
// In one line, what makes `after` of `before`: as long as what is other in them.
std::string EncodeCatalogEdit(const Catalog& before, const Catalog& after);
// Of nothing: the catalog of a new store. kCorruption says what is wrong, a newer format included.
StatusOr<Catalog> DecodeCatalog(const SavedCatalog& saved);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_CATALOG_JSON_H_
