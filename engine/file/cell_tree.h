// SPDX-License-Identifier: MIT
//
// CellTree: a walk over the table `cells` of a store file, page by page and without statements. It
// keeps the pages on its way, so that a seek near the last one reads little.
#ifndef CELLFS_ENGINE_FILE_CELL_TREE_H_
#define CELLFS_ENGINE_FILE_CELL_TREE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/database.h"
#include "engine/file/tree_format.h"

namespace cellfs {

// Not thread-safe. kCorruption: a page is damaged, or no page of such a tree; then it is not valid.
class CellTree {
 public:
  // `root`: the table's. The database, which nobody changes, outlives the tree.
  CellTree(Database& database, uint32_t root) : database_(database), root_(root) {}

  // To the first entry at or behind the place; T as it is stored. The place may not lie in here.
  Status Seek(std::string_view row, std::string_view qualifier, int64_t t);
  // REQUIRES: valid().
  Status Next();
  bool valid() const { return depth_ > 0; }
  // The whole record of the entry. Good until the tree moves. REQUIRES: valid().
  Status Record(std::string_view* record);

 private:
  struct Page {
    uint32_t number = 0;  // 0: nothing
    bool is_leaf = false;
    size_t entries = 0;
    size_t at = 0;  // the present entry, or the child below which it lies
    char bytes[kDatabasePageSize];
  };
  // Of one entry: what lies in its page, and where the rest does.
  struct Entry {
    std::string_view local;
    uint64_t size = 0;  // of all
    uint32_t rest = 0;  // its first page; 0: there is none
  };
  class Place;

  Status Load(uint32_t number);
  Status SeekIn(Page& page, const Place& place);
  // From the child of the present page down to its first entry.
  Status GoDown();
  void GoUp();
  Status ChildOf(const Page& page, uint32_t* number) const;
  // False: there is none.
  static bool EntryAt(const Page& page, size_t at, Entry* entry);
  Status Whole(const Page& page, const Entry& entry, std::string* record);
  Status NoSuchTree(const Page& page) const;

  Database& database_;
  const uint32_t root_;
  std::vector<std::unique_ptr<Page>> path_;  // from the root on; more than are in use
  size_t depth_ = 0;                         // pages in use; 0: at no entry
  std::string record_;                       // of an entry that has pages of its own
  std::string sought_;                       // likewise, while a place is sought
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_CELL_TREE_H_
