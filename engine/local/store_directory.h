// SPDX-License-Identifier: MIT
//
// StoreDirectory: the directory that a store lies in, with its lock, its format and its catalog.
// What lies where is in docs/storage.md, "The directory".
#ifndef CELLFS_ENGINE_LOCAL_STORE_DIRECTORY_H_
#define CELLFS_ENGINE_LOCAL_STORE_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/disk/file_layer.h"
#include "engine/local/own_files.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

inline constexpr int kStoreFormatVersion = 6;
// The oldest that is read. To open such a store makes it one of ours (docs/storage.md, "Formats").
inline constexpr int kOldestStoreFormatVersion = 3;

// Whether `path` is a store of a format that is read and has all its parts; answers with its id, by
// which its files are told from those of other stores. kCorruption says what is wrong; kDoNotRetry:
// its format is of another version.
StatusOr<uint64_t> CheckIsStore(FileLayer& files, const std::string& path);
// The catalog of the store in `path`, which somebody may be saving. kCorruption: damaged, missing.
StatusOr<SavedCatalog> ReadCatalog(FileLayer& files, const std::string& path);

// Holds the lock while it lives. The catalog is loaded and saved by one thread at a time.
class StoreDirectory {
 public:
  // Makes the store where `path` is missing (its parent must exist) or empty; an empty directory
  // gets the mode 0700. kUnavailable: another process has it open, whose id is in the message.
  // kAccessDenied: others could change it (private_directory.h). kCorruption: not a store, or one
  // that lacks files. kDoNotRetry: one of a format that is not read. `files` outlives the directory.
  enum class Making { kWhereMissing, kNever };  // kNever: kCorruption where there is no store
  static StatusOr<std::unique_ptr<StoreDirectory>> Open(FileLayer& files, const std::string& path,
                                                        Making making = Making::kWhereMissing);
  StoreDirectory(const StoreDirectory&) = delete;
  StoreDirectory& operator=(const StoreDirectory&) = delete;

  const std::string& path() const { return path_; }
  // What is changed in the store is changed by these.
  std::shared_ptr<FileLayer> files() const { return own_files_; }
  uint64_t id() const { return id_; }
  bool was_of_older_format() const { return was_of_older_format_; }
  std::string log_path() const { return path_ + "/wal"; }        // exists
  std::string tables_path() const { return path_ + "/tables"; }  // exists; a directory for each

  StatusOr<SavedCatalog> LoadCatalog();
  // As of StorageEngine.
  Status SaveCatalog(std::string_view document);
  Status SaveCatalogEdit(std::string_view edit);
  uint64_t BytesOfEdits() const { return edits_.size(); }

 private:
  StoreDirectory(FileLayer& files, std::string path, StoreLock lock)
      : path_(std::move(path)),
        own_files_(std::make_shared<OwnFiles>(files, path_)),
        files_(*own_files_),
        lock_(std::move(lock)) {}
  Status CreateOrCheck();
  Status Create();
  Status Convert();
  Status SaveEdits(std::string edits);

  const std::string path_;
  const std::shared_ptr<FileLayer> own_files_;
  FileLayer& files_;  // these
  const StoreLock lock_;
  std::string edits_;  // the content of EDITS, of the document that was saved last
  uint64_t id_ = 0;  // set by Open
  bool was_of_older_format_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_STORE_DIRECTORY_H_
