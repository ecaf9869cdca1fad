// SPDX-License-Identifier: MIT
//
// LostTables: store files of tables that the catalog does not name though it does not know of their
// drop: an older catalog was put in place. They are kept in the store's directory `lost`, and come
// back when a catalog names their tables again.
#ifndef CELLFS_ENGINE_LOCAL_LOST_TABLES_H_
#define CELLFS_ENGINE_LOCAL_LOST_TABLES_H_

#include <set>
#include <string>

#include "engine/disk/file_layer.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

class LostTables {
 public:
  // Of the store in `directory`.
  LostTables(FileLayer& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  // The tables that something of lies in `lost`.
  StatusOr<std::set<TableId>> Find() const;
  // The tables that have files in `tables`.
  StatusOr<std::set<TableId>> FindStored() const;
  // Moves the table's files into `lost`, durably. Without files it leaves an empty directory there,
  // by which the table is known.
  Status SetAside(TableId id);
  // Moves the table's files back, durably, where `tables` has none.
  Status BringBack(TableId id);

 private:
  std::string Lost() const { return directory_ + "/lost"; }
  std::string Stored() const { return directory_ + "/tables"; }
  StatusOr<std::set<TableId>> TablesIn(const std::string& directory) const;
  Status MakeDurable();

  FileLayer& files_;
  const std::string directory_;
};

// For people: what it means that the store in `directory` has something of the table, and what
// helps.
std::string DescribeLostTable(const std::string& directory, TableId id);
// Likewise that a table has store files, or only the log cells, of a family that CATALOG does not
// name.
std::string DescribeStrangeFamily(const std::string& family);
std::string DescribeStrangeFamilyInLog(const std::string& family);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_LOST_TABLES_H_
