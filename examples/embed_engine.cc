// SPDX-License-Identifier: MIT
//
// A program with a store of its own, in a directory, without a mount: what is written has a
// history, a moment stays as it was, and a scan has the rows in order. docs/embedding.md explains it.
//
//     embed_engine DIRECTORY
#include <iostream>

#include "engine/open.h"

namespace {

using cellfs::Caller;

const cellfs::TableName kNotes = {"default", "notes"};

// Versions that are kept are shown as HBase shows them: at most three, the newest first.
cellfs::Status MakeTable(cellfs::Store& store) {
  cellfs::FamilySchema text("text");
  CELLFS_RETURN_IF_ERROR(text.Set("VERSIONS", "3"));
  cellfs::TableSchema schema(kNotes);
  schema.families.emplace(text.name(), text);
  const cellfs::Status made = store.CreateTable(Caller::Superuser(), schema);
  return made.code() == cellfs::StatusCode::kTableExists ? cellfs::Status() : made;
}

// Stamped above what the column has: what is written last is read next, whatever the clock says.
cellfs::Status Put(cellfs::Store& store, const std::string& row, const std::string& value) {
  cellfs::Put put;
  put.row = row;
  put.cells = {{.family = "text", .qualifier = "list", .value = value, .rewrites = {}}};
  put.stamping = cellfs::Stamping::kAboveColumn;
  return store.Mutate(Caller::Superuser(), kNotes, cellfs::RowMutations::Of(put)).status();
}

// All versions, by a tombstone that is stamped likewise.
cellfs::Status Delete(cellfs::Store& store, const std::string& row) {
  cellfs::Delete all;
  all.row = row;
  all.markers = {{.family = "text", .qualifier = "list"}};
  all.stamping = cellfs::Stamping::kAboveColumn;
  return store.Mutate(Caller::Superuser(), kNotes, cellfs::RowMutations::Of(all)).status();
}

// At the moment, or now.
cellfs::Status PrintHistory(cellfs::Store& store, const std::string& row,
                            std::shared_ptr<const cellfs::Moment> moment) {
  cellfs::Get get;
  get.row = row;
  get.max_versions = cellfs::kAllVersions;
  get.moment = std::move(moment);
  CELLFS_ASSIGN_OR_RETURN(const cellfs::RowCells cells,
                          store.Read(Caller::Superuser(), kNotes, get));
  std::cout << row << (get.moment ? " then:" : " now:");
  for (const cellfs::Cell& cell : cells) std::cout << " '" << cell.value << "'";
  std::cout << (cells.empty() ? " nothing\n" : "\n");
  return {};
}

cellfs::Status PrintRows(cellfs::Store& store) {
  CELLFS_ASSIGN_OR_RETURN(const auto scanner,
                          store.OpenScanner(Caller::Superuser(), kNotes, cellfs::Scan()));
  while (!scanner->at_end()) {
    CELLFS_ASSIGN_OR_RETURN(const std::vector<cellfs::RowCells> rows, scanner->Next({}));
    for (const cellfs::RowCells& cells : rows)
      std::cout << cells.front().row << ": '" << cells.front().value << "'\n";
  }
  return {};
}

cellfs::Status Run(const std::string& directory) {
  CELLFS_ASSIGN_OR_RETURN(const auto store, cellfs::OpenLocalStore(directory, {}));
  CELLFS_RETURN_IF_ERROR(MakeTable(*store));
  CELLFS_RETURN_IF_ERROR(Put(*store, "tuesday", "rest"));
  CELLFS_RETURN_IF_ERROR(Put(*store, "monday", "buy milk"));
  CELLFS_RETURN_IF_ERROR(Put(*store, "monday", "buy bread"));
  CELLFS_ASSIGN_OR_RETURN(const auto before, store->PinMoment("example"));
  CELLFS_RETURN_IF_ERROR(PrintRows(*store));
  CELLFS_RETURN_IF_ERROR(Delete(*store, "monday"));
  CELLFS_RETURN_IF_ERROR(PrintHistory(*store, "monday", before));
  CELLFS_RETURN_IF_ERROR(PrintHistory(*store, "monday", nullptr));
  return store->Sync();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "embed_engine DIRECTORY\n";
    return 2;
  }
  const cellfs::Status done = Run(arguments[1]);
  if (!done.ok()) std::cerr << done.message() << "\n";
  return done.ok() ? 0 : 1;
}
