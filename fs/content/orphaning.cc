// SPDX-License-Identifier: MIT
#include "fs/content/orphaning.h"

#include <cerrno>
#include <utility>

#include "fs/attributes/attribute_store.h"
#include "fs/nodes/column_lock.h"
#include "fs/nodes/shared_file.h"

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

std::vector<Orphaning> PrepareOrphans(LiveTree& tree, const Contents& contents,
                                      const std::function<bool(const Place&)>& which) {
  std::vector<Orphaning> orphans;
  const auto is_wanted = [&](const Place& place) {
    return place.kind == PlaceKind::kCell && place.view == nullptr && which(place);
  };
  for (const NodePtr& node : tree.inodes.FindAll(is_wanted)) {
    if (node->handle_count() == 0) continue;
    const auto lock = ColumnLock::Of(*node);
    const Snapshot<Place> place = node->place();
    if (auto orphan = Orphaning::Prepare(tree, contents, *place))
      orphans.push_back(*std::move(orphan));
  }
  return orphans;
}

void FinishOrphans(LiveTree& tree, std::vector<Orphaning> orphans) {
  for (Orphaning& orphan : orphans) {
    const auto lock = ColumnLock::Of(orphan.node());
    const Snapshot<Place> place = orphan.node().place();
    tree.inodes.Unlink(*place);
    tree.kernel.NameWent(*place);
    CounterWent(tree, *place);
    orphan.Finish(tree);
  }
}

std::function<void()> OrphanFamilies(LiveTree& tree, const Contents& contents,
                                     const TableName& table,
                                     const std::set<std::string>& families) {
  auto orphans = std::make_shared<std::vector<Orphaning>>(
      PrepareOrphans(tree, contents, [&](const Place& place) {
        return place.table == table && families.contains(place.family);
      }));
  return [&tree, orphans] { FinishOrphans(tree, std::move(*orphans)); };
}

void CounterWent(LiveTree& tree, const Place& cell) {
  if (cell.kind != PlaceKind::kCell || cell.view != nullptr) return;
  const Place counter = cell.As(PlaceKind::kCounter);
  if (tree.inodes.Unlink(counter) != nullptr) tree.kernel.NameWent(counter);
}

}  // namespace cellfs::fs
