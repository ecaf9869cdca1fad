// SPDX-License-Identifier: MIT
#include "fs/listing/entry_sources.h"
#include "fs/tree/dropped_names.h"
#include "fs/tree/hidden_tables.h"

namespace cellfs::fs {
namespace {

class NamespaceSource : public ShortSource {
 public:
  explicit NamespaceSource(ListedDirectory& root) : root_(root) {}

 private:
  OutcomeOr<SourceEntries> All(const Caller& /*caller*/) override {
    CELLFS_ASSIGN_OR_RETURN(const auto names, root_.reading().ListNamespaces(root_.place()));
    SourceEntries entries;
    Place place = root_.place().As(PlaceKind::kNamespace);
    for (const std::string& name : names) {
      if (name == kHiddenNamespace) continue;
      // The catalog is nobody's to restore: what copies the past shall not meet it.
      if (name == kSystemNamespace && place.view != nullptr) continue;
      place.table.namespace_name = name;
      entries.emplace_back(place).key = name;
    }
    return entries;
  }

  ListedDirectory& root_;
};

class TableSource : public ShortSource {
 public:
  TableSource(ListedDirectory& name_space, const MountOptions& options)
      : namespace_(name_space), options_(options) {}

 private:
  OutcomeOr<SourceEntries> All(const Caller& /*caller*/) override {
    Place place = namespace_.place().As(PlaceKind::kTable);
    CELLFS_ASSIGN_OR_RETURN(const auto tables,
                            namespace_.reading().ListTables(place));
    SourceEntries entries;
    for (const TableName& table : tables) {
      if (IsHidden(options_, table)) continue;
      place.table.name = table.name;
      entries.emplace_back(place).key = table.name;
    }
    return entries;
  }

  ListedDirectory& namespace_;
  const MountOptions& options_;
};

class DroppedSource : public ShortSource {
 public:
  explicit DroppedSource(ListedDirectory& directory) : directory_(directory) {}

 private:
  OutcomeOr<SourceEntries> All(const Caller& /*caller*/) override {
    CELLFS_ASSIGN_OR_RETURN(const Dropped dropped, directory_.reading().ListDropped());
    SourceEntries entries;
    Place place = directory_.place().As(PlaceKind::kDropped);
    for (const DroppedName& name : DroppedIn(dropped, place.table.namespace_name)) {
      place.name = name.name;
      SourceEntry& entry = entries.emplace_back(place);
      entry.key = name.name;
      entry.found.version = name.dropped;
    }
    return entries;
  }

  ListedDirectory& directory_;
};

}  // namespace

std::unique_ptr<EntrySource> NewDroppedSource(ListedDirectory& directory) {
  return std::make_unique<DroppedSource>(directory);
}

std::unique_ptr<EntrySource> NewNamespaceSource(ListedDirectory& root) {
  return std::make_unique<NamespaceSource>(root);
}

std::unique_ptr<EntrySource> NewTableSource(ListedDirectory& name_space,
                                            const MountOptions& options) {
  return std::make_unique<TableSource>(name_space, options);
}

}  // namespace cellfs::fs
