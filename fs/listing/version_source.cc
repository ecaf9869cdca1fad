// SPDX-License-Identifier: MIT
#include <memory>

#include "fs/listing/entry_sources.h"
#include "fs/reading/listed_versions.h"

namespace cellfs::fs {
namespace {

// .versions/q, newest first.
class VersionSource : public EntrySource {
 public:
  explicit VersionSource(ListedDirectory& column) : column_(column) { Restart(); }

  // How many are listed is counted from the newest on.
  OutcomeOr<EntryBatch> After(const Caller& caller,
                              const std::optional<std::string>& key) override {
    if (listed_up_to_ != key) Restart();
    EntryBatch batch;
    bool is_all = false;
    while (batch.entries.empty() && !is_all) {
      CELLFS_ASSIGN_OR_RETURN(const RowCells cells, versions_->Next(caller, column_.batch()));
      is_all = cells.size() < column_.batch();
      AddCells(cells, key, batch.entries);
    }
    if (!is_all) batch.end = batch.entries.back().key;
    listed_up_to_ = batch.end ? batch.end : key;
    return batch;
  }

 private:
  void Restart() {
    versions_.emplace(column_.reading(), column_.place());
    listed_up_to_.reset();
  }

  void AddCells(const RowCells& cells, const std::optional<std::string>& after,
                SourceEntries& entries) {
    for (const Cell& cell : cells) {
      std::string key = VersionKey(cell.timestamp);
      if (after && key <= *after) continue;
      const Place like = column_.place().As(PlaceKind::kVersionsFile, cell.timestamp);
      column_.AddCell(entries, like, cell).key = std::move(key);
    }
  }

  ListedDirectory& column_;
  std::optional<ListedVersions> versions_;      // standing behind listed_up_to_
  std::optional<std::string> listed_up_to_;  // nullopt: at the newest
};

}  // namespace

std::unique_ptr<EntrySource> NewVersionSource(ListedDirectory& versions_column) {
  return std::make_unique<VersionSource>(versions_column);
}

}  // namespace cellfs::fs
