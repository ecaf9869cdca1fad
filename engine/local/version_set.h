// SPDX-License-Identifier: MIT
//
// VersionSet: the versions of one table, each instead of the one before (LevelDB's VersionSet). It
// alone edits the table's manifest, gives numbers to its files, and lets files go: a file is on the
// disk while the manifest names it or somebody holds a version that has it.
//
// A flush and a compaction hand it a VersionEdit (FlushJob, CompactionJob). What is in force is in
// the manifest; what cannot be put there has not happened.
#ifndef CELLFS_ENGINE_LOCAL_VERSION_SET_H_
#define CELLFS_ENGINE_LOCAL_VERSION_SET_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/local/manifest.h"
#include "engine/local/table_services.h"
#include "engine/local/table_version.h"
#include "engine/local/table_view.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

// Files that come and go in one step, and what becomes of schema and memstores with them.
struct VersionEdit {
  std::vector<FileFacts> added;  // complete, and on the disk
  StoreFiles removed;
  // Of the files that are there when the edit comes into force, also these; null: none.
  std::function<bool(const FileFacts& file)> removes;
  SequenceId flushed = 0;  // at least
  std::shared_ptr<const TableSchema> schema;  // null: as it is
  std::shared_ptr<MemoryCells> active;        // likewise
  bool ends_frozen = false;                   // the frozen memstore goes
  FamilyPasts past;                           // the later times count
  std::map<std::string, Timestamp> major;     // of families: when a compaction of this kind began
  // Of a flush: `added` has all that moments up to this one see of the frozen memstore.
  std::optional<SequenceId> complete_up_to;
};

// Thread-safe. Locks, in the order in which they are taken: edit_mutex_, the store's write_mutex,
// the registry of moments, version_mutex_. A reader takes only the last, for as long as it takes to
// copy a pointer, so that nothing that writes holds it up.
class VersionSet {
 public:
  // `services` outlives it.
  VersionSet(TableServices& services, StoredTable table,
             std::shared_ptr<const TableFolder> folder, const Manifest& manifest);

  TableId id() const { return folder_->table; }
  const std::shared_ptr<const TableFolder>& folder() const { return folder_; }

  Snapshot<TableVersion> Current() const;
  // The same for a look that is over at once, without a copy.
  template <typename Look>
  auto AtCurrent(const Look& look) const {
    const std::lock_guard lock(version_mutex_);
    return look(*version_);
  }
  // The same for who holds the write mutex: it stays for so long.
  const TableVersion& CurrentOfWriter() const { return *version_; }
  std::shared_ptr<const TableSchema> Schema() const;
  StoreFiles FilesOf(std::string_view family) const;
  // What a read sees now, or at the moment. kTableNotFound: the table was dropped.
  StatusOr<TableView> ViewAt(const Moment* moment) const;

  SequenceId flushed() const { return flushed_.load(); }
  uint64_t NewFileNumber() { return next_file_++; }
  // Whether the table has every file that it was ever given.
  bool HasEveryFile() const;

  std::shared_ptr<MemoryCells> NewMemory(const TableSchema& schema) const;
  // The active memstore becomes the frozen one, of which there is none; nothing where it is empty.
  void Freeze();

  // Puts the edit into the manifest, and then into force. kUnavailable: what was to be removed has
  // gone. kOutcomeUnknown: it is in force, and a power failure may undo it. After any other error
  // the added files are removed.
  Status Apply(const VersionEdit& edit);
  // The table's name is another: nothing that is stored knows it.
  void Rename(std::shared_ptr<const TableSchema> schema);
  // Removes files that nothing has named.
  void Discard(const std::vector<FileFacts>& files) const;
  // The log need not keep what the files have.
  void TellLog();

  // How often the table has got another schema.
  uint64_t alterations() const { return alterations_; }

  // No edit comes into force any more, and jobs under way end soon.
  void MarkDropped() { dropped_ = true; }
  bool is_dropped() const { return dropped_; }

  // Something of the table cannot be read: remembers it, and answers as people are told, with
  // table, family, file and what helps. Errors of other kinds, and OK, are passed through.
  Status NoteDamage(const Status& found);
  std::string damage() const;

 private:
  struct Successor {
    Manifest manifest;
    std::shared_ptr<const TableFiles> files;
    std::shared_ptr<TableVersion> version;  // filled in when it is installed
    std::vector<FileFacts> strange;
    StoreFiles removed;
  };
  StatusOr<Successor> SuccessorBy(const VersionEdit& edit) const;
  TableRanges RangesAfter(const VersionEdit& edit, const StoreFiles& files,
                          const std::vector<FileFacts>& strange) const;
  Status Save(const VersionEdit& edit, const Manifest& manifest);
  uint64_t BytesBehind(const TableFiles& files) const;
  void Install(const VersionEdit& edit, const Successor& successor);
  void LetGo(const StoreFiles& removed, const Manifest& manifest);
  void NoteStrange(std::vector<FileFacts> strange);
  std::string FamilyOfDamage(const std::string& what) const;
  void ForgetDamageOf(const StoreFiles& removed);

  TableServices& services_;
  const std::shared_ptr<const TableFolder> folder_;
  std::atomic<uint64_t> next_file_;
  std::atomic<SequenceId> flushed_;
  std::atomic<bool> dropped_{false};
  std::atomic<uint64_t> alterations_{0};

  std::mutex edit_mutex_;  // one edit at a time; guards what follows
  // Of families that the schema does not name and that were not dropped: an older CATALOG does not
  // know them. They are not shown, and stay until the family is declared.
  std::vector<FileFacts> strange_files_;
  // A sync has failed, so that a power failure may undo the manifest: the log keeps all that the one
  // before has not, and these files stay, until another edit is saved.
  bool is_undoable_ = false;
  StoreFiles removed_undoably_;

  mutable std::mutex damage_mutex_;
  std::string damage_;  // the first that was found; guarded by damage_mutex_

  mutable std::mutex version_mutex_;
  TableVersionPtr version_;  // guarded by version_mutex_; replaced under the write mutex, too
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_VERSION_SET_H_
