// SPDX-License-Identifier: MIT
#include "engine/local/store_directory.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <random>
#include <utility>

#include "engine/catalog/catalog_json.h"
#include "engine/disk/private_directory.h"
#include "engine/disk/sealed_file.h"
#include "engine/local/scrub_state.h"
#include "engine/local/store_id.h"

namespace cellfs {
namespace {

constexpr std::string_view kFormatFile = "FORMAT";
constexpr std::string_view kCatalogFile = "CATALOG";
constexpr std::string_view kFormatPrefix = "cellfs store, format ";
constexpr std::string_view kIdPrefix = "id ";
constexpr std::string_view kEditsFile = "EDITS";
constexpr std::string_view kCatalogMagic = "CELLCAT\n";
constexpr std::string_view kEditsMagic = "CELLEDT\n";
constexpr int kFirstFormatWithEdits = 5;

using Names = std::vector<std::string>;

bool Has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What may lie in a directory without FORMAT that becomes a store: nothing, what the making of a
// file system leaves, and what the making of a store leaves that was cut short.
bool MayBecomeStore(const Names& names) {
  static const Names kAllowed = {"CATALOG", "CATALOG.new", "EDITS",  "EDITS.new", "FORMAT.new",
                                 "LOCK",    "lost+found",  "tables", "wal"};
  return std::includes(kAllowed.begin(), kAllowed.end(), names.begin(), names.end());
}

constexpr char kRemedy[] = "the same from a backup of the store helps";

bool IsFresh(const Names& names) { return names.empty() || names == Names{"lost+found"}; }

Status Missing(const std::string& path, std::string_view name) {
  const bool is_of_catalog = name == kCatalogFile || name == kEditsFile;
  return {StatusCode::kCorruption, "'" + path + "/" + std::string(name) + "' is missing; " +
                                       (is_of_catalog ? kRemedyOfCatalog : kRemedy)};
}

// As it is before FORMAT: a catalog, if there is one, without anything in it, and no tables.
bool HoldsNothing(FileLayer& files, const std::string& path, const Names& names) {
  if (Has(names, "tables")) {
    const auto tables = files.List(path + "/tables");
    if (!tables.ok() || !tables->empty()) return false;
  }
  if (!Has(names, kCatalogFile)) return true;
  const auto saved = ReadCatalog(files, path);
  return saved.ok() && saved->document.empty() && saved->edits.empty();
}

// Of a directory with these names, without FORMAT.
Status NotAStore(FileLayer& files, const std::string& path, const Names& names) {
  if (MayBecomeStore(names) && !IsFresh(names) && HoldsNothing(files, path, names)) {
    return {StatusCode::kIllegalArgument,
            "'" + path + "' holds nothing yet: the making of a store was cut short there; 'cellfs "
            "mount', not read-only, makes it"};
  }
  if (MayBecomeStore(names) || Has(names, kCatalogFile)) return Missing(path, kFormatFile);
  return {StatusCode::kCorruption,
          "'" + path +
              "' is not a cellfs store: it is not empty and has no FORMAT file. Where it was one, "
              "that file from a backup of it helps"};
}

std::string FormatText(uint64_t id, int version = kStoreFormatVersion) {
  return std::string(kFormatPrefix) + std::to_string(version) + "\n" +
         std::string(kIdPrefix) + StoreIdText(id) + "\n";
}

struct Format {
  int version = 0;
  uint64_t id = 0;
};

StatusOr<Format> CheckFormat(const std::string& path, std::string_view text) {
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
  if (text == FormatText(id, version)) return Format{version, id};
  return Status(StatusCode::kCorruption,
                "'" + path + "/FORMAT' is damaged, or not of a cellfs store; " + kRemedy);
}

// By which EDITS knows the document that it is of; no other is the same (Catalog::document).
std::string FirstLineOfEdits(std::string_view document) {
  return StoreIdText(XXH3_64bits(document.data(), document.size())) + "\n";
}

StatusOr<std::string> ReadPart(FileLayer& files, const std::string& path, std::string_view file,
                               std::string_view magic) {
  auto read = ReadSealedFile(files, path + "/" + std::string(file), magic);
  if (read.status().code() != StatusCode::kCorruption) return read;
  return Status(StatusCode::kCorruption,
                read.status().message() + "; " + kRemedyOfCatalog);
}

// Empty where there are none, or of another document: that was replaced since.
StatusOr<std::string> ReadEditsOf(FileLayer& files, const std::string& path,
                                  std::string_view document) {
  CELLFS_ASSIGN_OR_RETURN(const bool has_edits, files.Exists(path + "/" + std::string(kEditsFile)));
  if (!has_edits) return std::string();  // of an older format
  CELLFS_ASSIGN_OR_RETURN(std::string edits, ReadPart(files, path, kEditsFile, kEditsMagic));
  return edits.starts_with(FirstLineOfEdits(document)) ? edits : std::string();
}

uint64_t NewId() {
  std::random_device source;
  return uint64_t{source()} << 32 | source();
}

}  // namespace

StatusOr<uint64_t> CheckIsStore(FileLayer& files, const std::string& path) {
  CELLFS_RETURN_IF_ERROR(CheckIsPrivate(path));
  CELLFS_ASSIGN_OR_RETURN(const Names names, files.List(path));
  if (!Has(names, kFormatFile)) return NotAStore(files, path, names);
  CELLFS_ASSIGN_OR_RETURN(const std::string format,
                          files.Read(path + "/" + std::string(kFormatFile)));
  CELLFS_ASSIGN_OR_RETURN(const Format found, CheckFormat(path, format));
  for (const std::string_view needed :
       {kCatalogFile, kEditsFile, std::string_view("tables"), std::string_view("wal")}) {
    if (needed == kEditsFile && found.version < kFirstFormatWithEdits) continue;
    if (!Has(names, needed))
      return Missing(path, needed);
  }
  CELLFS_RETURN_IF_ERROR(CheckIdIsOfFiles(files, path, found.id));
  return found.id;
}

// A document is in place before there are edits to it.
StatusOr<SavedCatalog> ReadCatalog(FileLayer& files, const std::string& path) {
  SavedCatalog saved;
  std::string edits;
  const auto read = [&]() -> StatusOr<std::string> {
    return ReadPart(files, path, kCatalogFile, kCatalogMagic);
  };
  CELLFS_ASSIGN_OR_RETURN(saved.document, read());
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(edits, ReadEditsOf(files, path, saved.document));
    if (!edits.empty()) break;
    CELLFS_ASSIGN_OR_RETURN(std::string again, read());
    if (again == saved.document) break;
    saved.document = std::move(again);
  }
  for (size_t at = edits.find('\n'); at != std::string::npos && at + 1 < edits.size();) {
    const size_t end = edits.find('\n', at + 1);
    saved.edits.push_back(edits.substr(at + 1, end - at - 1));
    at = end;
  }
  return saved;
}

StatusOr<std::unique_ptr<StoreDirectory>> StoreDirectory::Open(FileLayer& files,
                                                               const std::string& path,
                                                               Making making) {
  CELLFS_RETURN_IF_ERROR(files.MakeDirectory(path));
  {  // Before even the lock is put into what may be somebody's home directory.
    CELLFS_ASSIGN_OR_RETURN(const Names names, files.List(path));
    const bool may_be_made = making == Making::kWhereMissing && MayBecomeStore(names);
    if (!Has(names, kFormatFile) && !may_be_made) return NotAStore(files, path, names);
    if (IsFresh(names)) CELLFS_RETURN_IF_ERROR(MakePrivate(path));
  }
  CELLFS_RETURN_IF_ERROR(CheckIsPrivate(path));
  CELLFS_ASSIGN_OR_RETURN(StoreLock lock, files.Lock(path));
  std::unique_ptr<StoreDirectory> directory(new StoreDirectory(files, path, std::move(lock)));
  CELLFS_RETURN_IF_ERROR(directory->CreateOrCheck());
  return directory;
}

Status StoreDirectory::CreateOrCheck() {
  CELLFS_ASSIGN_OR_RETURN(const Names names, files_.List(path_));
  if (Has(names, kFormatFile)) {
    CELLFS_ASSIGN_OR_RETURN(id_, CheckIsStore(files_, path_));
    // Of what was not replaced in the end. It may stay: the next one overwrites it.
    for (const std::string_view file : {kCatalogFile, kEditsFile, std::string_view(kScrubFile)}) {
      const std::string unfinished = std::string(file) + ".new";
      if (Has(names, unfinished)) static_cast<void>(files_.Remove(path_ + "/" + unfinished));
    }
    return Convert();
  }
  return MayBecomeStore(names) && HoldsNothing(files_, path_, names)
             ? Create()
             : NotAStore(files_, path_, names);
}

// An EDITS first, where there is none. What else a format has more is written as it comes; an older
// version must not open the store then.
Status StoreDirectory::Convert() {
  CELLFS_ASSIGN_OR_RETURN(const std::string format,
                          files_.Read(path_ + "/" + std::string(kFormatFile)));
  was_of_older_format_ = format != FormatText(id_);
  if (!was_of_older_format_) return {};
  CELLFS_RETURN_IF_ERROR(LoadCatalog().status());
  CELLFS_RETURN_IF_ERROR(SaveEdits(edits_));
  return ReplaceFile(files_, path_, std::string(kFormatFile), FormatText(id_));
}

// FORMAT comes last: where it is, everything is.
Status StoreDirectory::Create() {
  CELLFS_RETURN_IF_ERROR(files_.MakeDirectory(log_path()));
  CELLFS_RETURN_IF_ERROR(files_.MakeDirectory(tables_path()));
  CELLFS_RETURN_IF_ERROR(SaveCatalog({}));
  CELLFS_RETURN_IF_ERROR(SaveEdits(edits_));
  id_ = NewId();
  CELLFS_RETURN_IF_ERROR(ReplaceFile(files_, path_, std::string(kFormatFile), FormatText(id_)));
  const size_t slash = path_.find_last_of('/');
  if (slash == std::string::npos) return files_.SyncDirectory(".");
  return files_.SyncDirectory(slash == 0 ? "/" : path_.substr(0, slash));
}

StatusOr<SavedCatalog> StoreDirectory::LoadCatalog() {
  CELLFS_ASSIGN_OR_RETURN(SavedCatalog saved, ReadCatalog(files_, path_));
  edits_ = FirstLineOfEdits(saved.document);
  for (const std::string& edit : saved.edits) edits_ += edit + "\n";
  return saved;
}

// From then on the edits in EDITS are of no document.
Status StoreDirectory::SaveCatalog(std::string_view document) {
  Status saved =
      ReplaceSealedFile(files_, path_, std::string(kCatalogFile), kCatalogMagic, document);
  if (IsInForce(saved)) edits_ = FirstLineOfEdits(document);
  return saved;
}

Status StoreDirectory::SaveCatalogEdit(std::string_view edit) {
  std::string edits = edits_;
  edits += edit;
  edits += '\n';
  return SaveEdits(std::move(edits));
}

Status StoreDirectory::SaveEdits(std::string edits) {
  Status saved = ReplaceSealedFile(files_, path_, std::string(kEditsFile), kEditsMagic, edits);
  if (IsInForce(saved)) edits_ = std::move(edits);
  return saved;
}

}  // namespace cellfs
