// SPDX-License-Identifier: MIT
//
// TreeBuilder: makes a table or an index of a database of entries that come in its order. Each page
// is written once, when it is full.
#ifndef CELLFS_ENGINE_FILE_TREE_BUILDER_H_
#define CELLFS_ENGINE_FILE_TREE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/page_writer.h"
#include "engine/file/tree_format.h"

namespace cellfs {

// Not thread-safe.
class TreeBuilder {
 public:
  enum class Kind { kTable, kIndex };  // a table WITHOUT ROWID is an index

  TreeBuilder(PageWriter& pages, Kind kind);
  ~TreeBuilder();
  TreeBuilder(const TreeBuilder&) = delete;
  TreeBuilder& operator=(const TreeBuilder&) = delete;

  // To an index.
  Status Add(std::string_view record);
  // To a table, whose rows have ever greater ids. `tail` ends the record.
  Status AddRow(int64_t id, std::string_view record, std::string_view tail = {});
  // `root`: the page that SQLite gave it. An empty tree stays as SQLite made it.
  Status Finish(uint32_t root);

 private:
  class Level;

  Status AddTo(size_t level, uint32_t left_child, std::string_view entry);
  Status AddToTableLeaf(std::string_view entry);
  // Writes the level's page and gives its parent a way to it.
  Status EndPage(size_t level, uint32_t last_child, std::string_view divider);
  Status AppendPayload(std::string_view record, std::string_view tail);
  Status WriteChain(std::string_view record, std::string_view tail);
  Level& LevelAt(size_t level);

  PageWriter& pages_;
  const Kind kind_;
  std::vector<std::unique_ptr<Level>> levels_;  // leaves first
  std::string entry_;                           // that is being added
  int64_t last_id_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_TREE_BUILDER_H_
