// SPDX-License-Identifier: MIT
//
// Who may do what, as HBase's AccessController and AuthManager have it: grants of the letters RWXCA
// at scopes, of which a wider one includes the narrower. Pure: answers from a catalog.
#ifndef CELLFS_ENGINE_CATALOG_ACCESS_CONTROL_H_
#define CELLFS_ENGINE_CATALOG_ACCESS_CONTROL_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/admin.h"
#include "engine/caller.h"
#include "engine/catalog/catalog.h"
#include "engine/mutation.h"
#include "engine/schema.h"
#include "engine/status_or.h"

namespace cellfs {

inline GrantScope GlobalScope() { return {}; }
inline GrantScope NamespaceScope(std::string name) { return {std::move(name)}; }
inline GrantScope TableScope(TableName table) { return {"", std::move(table)}; }

// Ok if the caller has one of the letters of `rights` at `scope`; else kAccessDenied.
Status RequireRight(const Catalog& catalog, const Caller& caller, std::string_view rights,
                    const GrantScope& scope);

// The same, where it is enough to have it at a part of `scope`.
Status RequireRightWithin(const Catalog& catalog, const Caller& caller, std::string_view rights,
                          const GrantScope& scope);

// W on every column that is touched; on the family for family tombstones; on every family for a
// Delete that names nothing.
Status RequireWrite(const Catalog& catalog, const Caller& caller, const TableSchema& schema,
                    const RowMutations& mutations);

// The filter to read with: the query's own where the caller may read all it names; where he may
// read a part of it, one that hides the rest; kAccessDenied where he may read nothing of it.
StatusOr<FilterPtr> RequireRead(const Catalog& catalog, const Caller& caller,
                                const TableSchema& schema, const Query& query);

// What a check looks at. A column: R and W on it. A filter is judged as the Get that it stands for:
// the answer is the filter to check with (HBase asks for nothing there, and so tells anyone who may
// write whether a guess is right). Of a column the answer is null.
StatusOr<FilterPtr> RequireCheck(const Catalog& catalog, const Caller& caller,
                                 const TableSchema& schema, const CheckAndMutate& check);

// 1 to 5 letters of RWXCA, each once, put in that order. kIllegalArgument.
StatusOr<std::string> CheckPermissions(std::string_view permissions);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CATALOG_ACCESS_CONTROL_H_
