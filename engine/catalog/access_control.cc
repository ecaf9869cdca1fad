// SPDX-License-Identifier: MIT
#include "engine/catalog/access_control.h"

#include <algorithm>

#include "engine/catalog/access_filter.h"

namespace cellfs {
namespace {

GrantScope FamilyScope(const TableName& table, const std::string& family) {
  return {"", table, family};
}

GrantScope ColumnScope(const TableName& table, const std::string& family,
                       const std::string& qualifier) {
  return {"", table, family, qualifier};
}

std::string Describe(const GrantScope& scope) {
  if (!scope.table) {
    return scope.namespace_name.empty() ? "everything" : "namespace '" + scope.namespace_name + "'";
  }
  std::string text = "table '" + scope.table->ToString() + "'";
  if (!scope.family.empty()) text += ", family '" + scope.family + "'";
  if (scope.qualifier) text += ", qualifier '" + *scope.qualifier + "'";
  return text;
}

// Whether a grant of one of the rights to the caller holds at a scope of which that is true.
template <typename IsWanted>
bool HasWhere(const Catalog& catalog, const Caller& caller, std::string_view rights,
              IsWanted&& is_wanted) {
  return std::any_of(catalog.grants.begin(), catalog.grants.end(),
                     [&](const Stamped<Grant>& grant) {
                       return grant.value.user == caller.user &&
                              grant.value.permissions.find_first_of(rights) != std::string::npos &&
                              is_wanted(grant.value.scope);
                     });
}

bool Has(const Catalog& catalog, const Caller& caller, std::string_view rights,
         const GrantScope& scope) {
  return HasWhere(catalog, caller, rights,
                  [&](const GrantScope& granted) { return Covers(granted, scope); });
}

void AddTouched(const TableSchema& schema, const Delete& mutation,
                std::vector<GrantScope>& touched) {
  const TableName& table = schema.name();
  for (const DeleteMarker& marker : mutation.markers) {
    touched.push_back(IsFamilyTombstone(marker.type)
                          ? FamilyScope(table, marker.family)
                          : ColumnScope(table, marker.family, marker.qualifier));
  }
  if (!mutation.markers.empty()) return;
  for (const auto& [family, unused] : schema.families) {
    touched.push_back(FamilyScope(table, family));
  }
}

template <typename M>
void AddTouched(const TableSchema& schema, const M& mutation, std::vector<GrantScope>& touched) {
  for (const auto& cell : mutation.cells) {
    touched.push_back(ColumnScope(schema.name(), cell.family, cell.qualifier));
  }
}

// What the query names, family by family and column by column; the whole of every family where it
// names none.
std::vector<GrantScope> AskedScopes(const TableSchema& schema, const Query& query) {
  std::vector<GrantScope> asked;
  for (const auto& [family, qualifiers] : query.columns) {
    if (qualifiers.empty()) asked.push_back(FamilyScope(schema.name(), family));
    for (const std::string& qualifier : qualifiers) {
      asked.push_back(ColumnScope(schema.name(), family, qualifier));
    }
  }
  if (query.columns.empty()) {
    for (const auto& [family, unused] : schema.families) {
      asked.push_back(FamilyScope(schema.name(), family));
    }
  }
  return asked;
}

}  // namespace

Status RequireRight(const Catalog& catalog, const Caller& caller, std::string_view rights,
                    const GrantScope& scope) {
  if (caller.is_superuser() || Has(catalog, caller, rights, scope)) return {};
  std::string letters(rights.substr(0, 1));
  for (const char letter : rights.substr(1)) letters += std::string(" or ") + letter;
  return {StatusCode::kAccessDenied,
          "user '" + caller.user + "' has not the right " + letters + " on " + Describe(scope)};
}

Status RequireRightWithin(const Catalog& catalog, const Caller& caller, std::string_view rights,
                          const GrantScope& scope) {
  const auto is_within = [&](const GrantScope& granted) { return Covers(scope, granted); };
  if (HasWhere(catalog, caller, rights, is_within)) return {};
  return RequireRight(catalog, caller, rights, scope);
}

Status RequireWrite(const Catalog& catalog, const Caller& caller, const TableSchema& schema,
                    const RowMutations& mutations) {
  if (caller.is_superuser() || Has(catalog, caller, "W", TableScope(schema.name()))) return {};
  std::vector<GrantScope> touched;
  for (const Mutation& mutation : mutations.mutations) {
    std::visit([&](const auto& one) { AddTouched(schema, one, touched); }, mutation);
  }
  for (const GrantScope& scope : touched) {
    CELLFS_RETURN_IF_ERROR(RequireRight(catalog, caller, "W", scope));
  }
  return {};
}

StatusOr<FilterPtr> RequireRead(const Catalog& catalog, const Caller& caller,
                                const TableSchema& schema, const Query& query) {
  const GrantScope whole = TableScope(schema.name());
  if (caller.is_superuser() || Has(catalog, caller, "R", whole)) return query.filter;
  // HBase looks at the families before it looks at rights.
  for (const auto& [family, unused] : query.columns) {
    if (schema.FindFamily(family) == nullptr) {
      return Status(
          StatusCode::kNoSuchColumnFamily,
          "family '" + family + "' of table '" + schema.name().ToString() + "' does not exist");
    }
  }
  const std::vector<GrantScope> asked = AskedScopes(schema, query);
  if (std::all_of(asked.begin(), asked.end(),
                  [&](const GrantScope& scope) { return Has(catalog, caller, "R", scope); })) {
    return query.filter;
  }
  std::vector<GrantScope> readable;
  for (const Stamped<Grant>& grant : catalog.grants) {
    const GrantScope& scope = grant.value.scope;
    const bool names_asked = std::any_of(asked.begin(), asked.end(), [&](const GrantScope& one) {
      return Covers(scope, one) || Covers(one, scope);
    });
    if (grant.value.user == caller.user && names_asked &&
        grant.value.permissions.find('R') != std::string::npos) {
      readable.push_back(scope);
    }
  }
  if (readable.empty()) return RequireRight(catalog, caller, "R", asked.empty() ? whole : asked[0]);
  return MakeAccessFilter(std::move(readable), query.filter, query.passed_over);
}

StatusOr<FilterPtr> RequireCheck(const Catalog& catalog, const Caller& caller,
                                 const TableSchema& schema, const CheckAndMutate& check) {
  if (const auto* filter = std::get_if<FilterPtr>(&check.condition)) {
    Query query;
    query.filter = *filter;
    return RequireRead(catalog, caller, schema, query);
  }
  const auto& column = std::get<ColumnCondition>(check.condition);
  const GrantScope scope = ColumnScope(schema.name(), column.family, column.qualifier);
  CELLFS_RETURN_IF_ERROR(RequireRight(catalog, caller, "R", scope));
  CELLFS_RETURN_IF_ERROR(RequireRight(catalog, caller, "W", scope));
  return FilterPtr();
}

StatusOr<std::string> CheckPermissions(std::string_view permissions) {
  std::string ordered;
  for (const char letter : std::string_view("RWXCA")) {
    if (permissions.find(letter) != std::string_view::npos) ordered.push_back(letter);
  }
  if (ordered.empty() || ordered.size() != permissions.size()) {
    return Status(StatusCode::kIllegalArgument, "permissions '" + std::string(permissions) +
                                                    "'; allowed: letters of RWXCA, each once");
  }
  return ordered;
}

}  // namespace cellfs
