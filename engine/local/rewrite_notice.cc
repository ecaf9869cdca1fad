// SPDX-License-Identifier: MIT
#include "engine/local/rewrite_notice.h"

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "engine/local/table_view.h"

namespace cellfs {
namespace {

void Tell(TableServices& services, DroppedColumns dropped, const TableVersionPtr& before) {
  const TableView view(before, kMaxSequenceId);
  if (dropped.empty() || !view.MayHaveTombstones()) return;
  const TableName& table = before->schema->name();
  std::vector<RewrittenColumn> changed;
  if (!dropped.too_many()) {
    changed = std::move(dropped).Changed(
        [&](const std::string& family, const std::string& row, std::string_view qualifier) {
          const StatusOr<bool> may_have = view.MayHaveTombstones(family, row, qualifier);
          return !may_have.ok() || *may_have;
        });
    if (changed.empty()) return;
  }
  const std::lock_guard lock(services.observer_mutex);
  if (services.observer == nullptr) return;
  if (changed.empty()) {
    services.observer->TableRewritten(table);
  } else {
    services.observer->Rewritten(table, changed);
  }
}

}  // namespace

// The rewrite is in force, and no exception undoes it.
void TellOfRewrite(TableServices& services, DroppedColumns dropped,
                   const TableVersionPtr& before) noexcept {
  try {
    Tell(services, std::move(dropped), before);
  } catch (const std::exception&) {
    const std::lock_guard lock(services.observer_mutex);
    if (services.observer != nullptr) services.observer->LostTrack();
  }
}

}  // namespace cellfs
