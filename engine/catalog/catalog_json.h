// SPDX-License-Identifier: MIT
//
// A catalog as bytes, to be saved: JSON with a format number. Names, keys and values are bytes,
// which JSON's text cannot hold; each byte is written as the code point of its number, so that
// ASCII stays readable.
#ifndef CELLFS_ENGINE_CATALOG_CATALOG_JSON_H_
#define CELLFS_ENGINE_CATALOG_CATALOG_JSON_H_

#include <string>
#include <string_view>

#include "engine/catalog/catalog.h"
#include "engine/status_or.h"

namespace cellfs {

std::string EncodeCatalog(const Catalog& catalog);
// Of what EncodeCatalog gave, or of nothing: the catalog of a new store. kCorruption says what is
// wrong, a newer format included.
StatusOr<Catalog> DecodeCatalog(std::string_view bytes);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_CATALOG_JSON_H_
