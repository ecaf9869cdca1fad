// SPDX-License-Identifier: MIT
#include "engine/local/store_directory.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <utility>

#include "engine/disk/private_directory.h"
#include "engine/disk/sealed_file.h"
#include "engine/local/store_id.h"

namespace cellfs {
namespace {

constexpr std::string_view kFormatFile = "FORMAT";
constexpr std::string_view kCatalogFile = "CATALOG";
constexpr std::string_view kFormatPrefix = "cellfs store, format ";
constexpr std::string_view kIdPrefix = "id ";
constexpr std::string_view kCatalogMagic = "CELLCAT\n";

using Names = std::vector<std::string>;

bool Has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What may lie in a directory without FORMAT that becomes a store: nothing, what the making of a
// file system leaves, and what the making of a store leaves that was cut short.
bool MayBecomeStore(const Names& names) {
  static const Names kAllowed = {"CATALOG",    "CATALOG.new", "FORMAT.new", "LOCK",
                                 "lost+found", "tables",      "wal"};
  return std::includes(kAllowed.begin(), kAllowed.end(), names.begin(), names.end());
}

constexpr char kRemedy[] = "the same from a backup of the store helps";

bool IsFresh(const Names& names) { return names.empty() || names == Names{"lost+found"}; }

// Of a directory with these names, without FORMAT.
Status NotAStore(const std::string& path, const Names& names) {
  if (Has(names, kCatalogFile))
    return {StatusCode::kCorruption, "'" + path + "/FORMAT' is missing; " + kRemedy};
  return {StatusCode::kCorruption,
          "'" + path +
              "' is not a cellfs store: it is not empty and has no FORMAT file. Where it was one, "
              "that file from a backup of it helps"};
}

std::string FormatText(uint64_t id, int version = kStoreFormatVersion) {
  return std::string(kFormatPrefix) + std::to_string(version) + "\n" +
         std::string(kIdPrefix) + StoreIdText(id) + "\n";
}

// The store's id.
StatusOr<uint64_t> CheckFormat(const std::string& path, std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  int version = 0;
  if (line.starts_with(kFormatPrefix) && line.size() < text.size())
    std::from_chars(line.data() + kFormatPrefix.size(), line.data() + line.size(), version);
  if (version > kStoreFormatVersion || (version >= 1 && version < kOldestStoreFormatVersion))
    return Status(StatusCode::kDoNotRetry,  // no damage: another version reads it
                  "store '" + path + "' has format " + std::to_string(version) + ", of " +
                      (version > kStoreFormatVersion ? "a newer" : "an older") +
                      " version; this one knows the formats from " +
                      std::to_string(kOldestStoreFormatVersion) + " to " +
                      std::to_string(kStoreFormatVersion) +
                      "; copy its files out with the version that made it");
  uint64_t id = 0;
  if (text.size() > line.size() + 1 + kIdPrefix.size()) {
    const std::string_view digits = text.substr(line.size() + 1 + kIdPrefix.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
  }
  if (text == FormatText(id, version)) return id;
  return Status(StatusCode::kCorruption,
                "'" + path + "/FORMAT' is damaged, or not of a cellfs store; " + kRemedy);
}

uint64_t NewId() {
  std::random_device source;
  return uint64_t{source()} << 32 | source();
}

}  // namespace

StatusOr<uint64_t> CheckIsStore(FileLayer& files, const std::string& path) {
  CELLFS_RETURN_IF_ERROR(CheckIsPrivate(path));
  CELLFS_ASSIGN_OR_RETURN(const Names names, files.List(path));
  if (!Has(names, kFormatFile)) return NotAStore(path, names);
  CELLFS_ASSIGN_OR_RETURN(const std::string format,
                          files.Read(path + "/" + std::string(kFormatFile)));
  CELLFS_ASSIGN_OR_RETURN(const uint64_t id, CheckFormat(path, format));
  for (const std::string_view needed :
       {kCatalogFile, std::string_view("tables"), std::string_view("wal")})
    if (!Has(names, needed))
      return Status(StatusCode::kCorruption,
                    "'" + path + "/" + std::string(needed) + "' is missing; " + kRemedy);
  CELLFS_RETURN_IF_ERROR(CheckIdIsOfFiles(files, path, id));
  return id;
}

StatusOr<std::string> ReadCatalog(FileLayer& files, const std::string& path) {
  auto read = ReadSealedFile(files, path + "/" + std::string(kCatalogFile), kCatalogMagic);
  if (read.status().code() != StatusCode::kCorruption) return read;
  return Status(StatusCode::kCorruption, read.status().message() + "; " + kRemedy);
}

StatusOr<std::unique_ptr<StoreDirectory>> StoreDirectory::Open(FileLayer& files,
                                                               const std::string& path,
                                                               Making making) {
  CELLFS_RETURN_IF_ERROR(files.MakeDirectory(path));
  {  // Before even the lock is put into what may be somebody's home directory.
    CELLFS_ASSIGN_OR_RETURN(const Names names, files.List(path));
    const bool may_be_made = making == Making::kWhereMissing && MayBecomeStore(names);
    if (!Has(names, kFormatFile) && !may_be_made) return NotAStore(path, names);
    if (IsFresh(names)) CELLFS_RETURN_IF_ERROR(MakePrivate(path));
  }
  CELLFS_RETURN_IF_ERROR(CheckIsPrivate(path));
  CELLFS_ASSIGN_OR_RETURN(Descriptor lock, files.Lock(path));
  std::unique_ptr<StoreDirectory> directory(new StoreDirectory(files, path, std::move(lock)));
  CELLFS_RETURN_IF_ERROR(directory->CreateOrCheck());
  return directory;
}

Status StoreDirectory::CreateOrCheck() {
  CELLFS_ASSIGN_OR_RETURN(const Names names, files_.List(path_));
  if (Has(names, kFormatFile)) {
    CELLFS_ASSIGN_OR_RETURN(id_, CheckIsStore(files_, path_));
    // Of a catalog that was not replaced in the end. It may stay: the next one overwrites it.
    const std::string unfinished = std::string(kCatalogFile) + ".new";
    if (Has(names, unfinished)) static_cast<void>(files_.Remove(path_ + "/" + unfinished));
    return Convert();
  }
  return MayBecomeStore(names) ? Create(Has(names, kCatalogFile))
                               : NotAStore(path_, names);
}

// What format 4 has more is written as it comes; an older version must not open the store then.
Status StoreDirectory::Convert() {
  CELLFS_ASSIGN_OR_RETURN(const std::string format,
                          files_.Read(path_ + "/" + std::string(kFormatFile)));
  was_of_older_format_ = format != FormatText(id_);
  if (!was_of_older_format_) return {};
  return ReplaceFile(files_, path_, std::string(kFormatFile), FormatText(id_));
}

// FORMAT comes last: where it is, everything is; and an empty catalog holds nothing to lose.
Status StoreDirectory::Create(bool has_catalog) {
  if (has_catalog) {
    CELLFS_ASSIGN_OR_RETURN(const std::string catalog, LoadCatalog());
    if (!catalog.empty())
      return {StatusCode::kCorruption, "'" + path_ + "/FORMAT' is missing; " + kRemedy};
  }
  CELLFS_RETURN_IF_ERROR(files_.MakeDirectory(log_path()));
  CELLFS_RETURN_IF_ERROR(files_.MakeDirectory(tables_path()));
  CELLFS_RETURN_IF_ERROR(SaveCatalog({}));
  id_ = NewId();
  CELLFS_RETURN_IF_ERROR(ReplaceFile(files_, path_, std::string(kFormatFile), FormatText(id_)));
  const size_t slash = path_.find_last_of('/');
  if (slash == std::string::npos) return files_.SyncDirectory(".");
  return files_.SyncDirectory(slash == 0 ? "/" : path_.substr(0, slash));
}

Status StoreDirectory::SaveCatalog(std::string_view bytes) {
  return ReplaceSealedFile(files_, path_, std::string(kCatalogFile), kCatalogMagic, bytes);
}

}  // namespace cellfs
