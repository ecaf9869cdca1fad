// SPDX-License-Identifier: MIT
//
// Orphaning: who has a file open goes on with what it held when its name goes. In two steps: before
// the mutation what it holds is read; after it the file is one without a name, if it is.
#ifndef CELLFS_FS_CONTENT_ORPHANING_H_
#define CELLFS_FS_CONTENT_ORPHANING_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fs/content/contents.h"
#include "fs/nodes/live_tree.h"
#include "fs/nodes/node.h"
#include "fs/schema/open_files_keeper.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Of one file. REQUIRES, for both steps: the column's lock, or that this thread has closed it.
class Orphaning {
 public:
  // Nullopt: nobody has it open.
  static std::optional<Orphaning> Prepare(LiveTree& tree, const Contents& contents,
                                          const Place& place);
  Node& node() const { return *node_; }
  // Those who have it open share what the file held and, in the order in which they opened it, what
  // each of them has written and not put. Nothing where the node still has its name.
  void Finish(LiveTree& tree);

 private:
  Orphaning(NodePtr node, std::shared_ptr<SharedFile> file, OutcomeOr<std::string> bytes)
      : node_(std::move(node)), file_(std::move(file)), bytes_(std::move(bytes)) {}

  NodePtr node_;
  std::shared_ptr<SharedFile> file_;  // kept: its last handle may go meanwhile
  OutcomeOr<std::string> bytes_;
};

// Of all files that the mount has open.
class OpenFiles : public OpenFilesKeeper {
 public:
  // Both outlive it.
  OpenFiles(LiveTree& tree, const Contents& contents) : tree_(tree), contents_(contents) {}

  Status Drop(const TableName& table, const std::optional<std::set<std::string>>& families,
              const std::function<Status()>& drop) override;

 private:
  // All of these, and of none that has a view.
  using Which = std::function<bool(const Place& file)>;
  std::vector<Orphaning> Prepare(const Which& which);
  void Finish(const Which& which, std::vector<Orphaning> orphans);

  LiveTree& tree_;
  const Contents& contents_;
};

// A column's value went by its plain name, and its counter with it: who has that open adds nothing any
// more. REQUIRES: as Orphaning.
void CounterWent(LiveTree& tree, const Place& cell);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_ORPHANING_H_
