// SPDX-License-Identifier: MIT
#include "fs/tree/view.h"

#include <limits>

#include "fs/tree/asof.h"

namespace cellfs::fs {
namespace {

constexpr TableId kNoTable = std::numeric_limits<TableId>::max();

}  // namespace

PlaceKind View::Directory() const {
  return kind == Kind::kAsof ? PlaceKind::kAsofDirectory : PlaceKind::kScanDirectory;
}

std::string View::ToString() const { return (kind == Kind::kAsof ? "as of " : "in scan ") + name; }

void View::Narrow(Query& read) const {
  if (query() != nullptr) {
    read = scan;
    return;
  }
  const Timestamp time = asof->time();
  if (time < std::numeric_limits<Timestamp>::max() - 1) read.time_range.max = time + 1;
  read.moment = asof->Use();
}

Timestamp View::Time() const { return asof->time(); }

std::vector<std::string> View::TakeIncomplete(const TableName& table) const {
  return kind == Kind::kAsof ? asof->TakeIncomplete(table) : std::vector<std::string>();
}

std::shared_ptr<const PastCatalog> View::Catalog() const {
  return kind == Kind::kAsof ? asof->Catalog() : nullptr;
}

std::shared_ptr<const PastTable> View::FindPast(const TableName& table) const {
  if (table.IsSystemTable()) return nullptr;
  const auto catalog = Catalog();
  if (catalog == nullptr) return nullptr;
  const bool is_of_table = !scope.name.empty();
  const PastTable* const past = is_of_table ? catalog->Find(scope_id) : catalog->Find(table);
  return {catalog, past};
}

bool View::HasTable(const TableName& table) const { return IdOf(table) != kNoTable; }

TableId View::IdOf(const TableName& table) const {
  if (kind != Kind::kAsof || table.IsSystemTable()) return 0;
  if (!scope.name.empty()) return scope_id;
  const auto catalog = Catalog();
  if (catalog == nullptr) return 0;
  const PastTable* const past = catalog->Find(table);
  return past != nullptr ? past->schema->id() : kNoTable;
}

std::shared_ptr<const Moment> View::Use() const {
  return kind == Kind::kAsof ? asof->Use() : nullptr;
}

}  // namespace cellfs::fs
