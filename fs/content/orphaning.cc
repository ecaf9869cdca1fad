// SPDX-License-Identifier: MIT
#include "fs/content/orphaning.h"

#include <cerrno>
#include <utility>

#include "fs/attributes/attribute_store.h"
#include "fs/files/shared_file.h"

namespace cellfs::fs {

std::optional<Orphaning> Orphaning::Prepare(LiveTree& tree, const Contents& contents,
                                            const Place& place) {
  NodePtr node = tree.inodes.Find(place);
  if (node == nullptr || node->handle_count() == 0) return std::nullopt;
  auto file = node->shared_file();
  if (file == nullptr) return std::nullopt;
  auto bytes = contents.WholeFile(Caller::Superuser(), place);
  if (!bytes.ok() && bytes.error() == ENOENT) bytes = std::string();
  for (const auto& handle : node->handles()) handle->NameGoes();
  return Orphaning(std::move(node), std::move(file), std::move(bytes));
}

void Orphaning::Finish(LiveTree& tree) {
  if (!node_->unlinked()) return;
  const auto handles = node_->handles();
  const uid_t user = handles.empty() ? 0 : handles.front()->user;
  file_->BecomeOrphan(tree.open_file_memory, user, std::move(bytes_),
                        ToTimespec(tree.clock.Now()));
  for (const auto& handle : handles) handle->NameWent();
}

std::vector<Orphaning> OpenFiles::Prepare(const Which& which) {
  std::vector<Orphaning> orphans;
  const auto is_wanted = [&](const Place& place) {
    return place.kind == PlaceKind::kCell && place.view == nullptr && which(place);
  };
  for (const NodePtr& node : tree_.inodes.FindAll(is_wanted)) {
    if (node->unlinked()) continue;  // the name may be another's by now
    const Snapshot<Place> place = node->place();
    if (auto orphan = Orphaning::Prepare(tree_, contents_, *place))
      orphans.push_back(*std::move(orphan));
  }
  return orphans;
}

void OpenFiles::Finish(const Which& which, std::vector<Orphaning> orphans) {
  for (Orphaning& orphan : orphans) {
    const Snapshot<Place> place = orphan.node().place();
    tree_.inodes.Unlink(*place);
    tree_.kernel.NameWent(*place);
    tree_.unstored.Remove(*place);  // of a file that was made and not put
    orphan.Finish(tree_);
  }
  const auto is_counter = [&](const Place& place) {
    return place.kind == PlaceKind::kCounter && place.view == nullptr && which(place);
  };
  for (const NodePtr& counter : tree_.inodes.FindAll(is_counter)) {
    const Snapshot<Place> place = counter->place();
    CounterWent(tree_, place->As(PlaceKind::kCell));
  }
}

Status OpenFiles::Drop(const TableName& table,
                       const std::optional<std::set<std::string>>& families,
                       const std::function<Status()>& drop) {
  if (families && families->empty()) return drop();
  const ColumnTable::ClosedColumns closed(tree_.columns, {table, families, std::nullopt});
  const Which goes = [&](const Place& place) {
    return place.table == table && (!families || families->contains(place.family));
  };
  std::vector<Orphaning> orphans = Prepare(goes);
  const Status done = drop();
  if (!IsInForce(done)) return done;
  closed.Changed();
  Finish(goes, std::move(orphans));
  return done;
}

void CounterWent(LiveTree& tree, const Place& cell) {
  if (cell.kind != PlaceKind::kCell || cell.view != nullptr) return;
  const Place counter = cell.As(PlaceKind::kCounter);
  if (tree.inodes.Unlink(counter) != nullptr) tree.kernel.NameWent(counter);
}

}  // namespace cellfs::fs
