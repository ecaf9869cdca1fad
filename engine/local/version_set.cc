// SPDX-License-Identifier: MIT
#include "engine/local/version_set.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>
#include <utility>

#include "engine/disk/remedies.h"
#include "engine/local/compaction_picker.h"
#include "engine/local/lost_tables.h"

namespace cellfs {
namespace {

// Dropping a family flushes it first.
bool WasDropped(const StoredTable& table, const FileFacts& facts) {
  const auto dropped = table.dropped_families.find(facts.family);
  return dropped != table.dropped_families.end() && facts.written <= dropped->second;
}

}  // namespace

VersionSet::VersionSet(TableServices& services, StoredTable table,
                       std::shared_ptr<const TableFolder> folder, const Manifest& manifest)
    : services_(services),
      folder_(std::move(folder)),
      next_file_(manifest.next_file),
      flushed_(manifest.flushed) {
  StoreFiles files;
  std::vector<FileFacts> strange;
  for (const FileFacts& facts : manifest.files) {
    if (table.schema->FindFamily(facts.family) != nullptr) {
      files.push_back(std::make_shared<StoreFile>(folder_, facts, services_.cache));
    } else if (!WasDropped(table, facts)) {
      strange.push_back(facts);
    }
  }
  NoteStrange(std::move(strange));
  TableVersion version;
  version.schema = std::move(table.schema);
  version.active = NewMemory(*version.schema);
  version.files = std::make_shared<TableFiles>(files, manifest.ranges);
  version.bytes_behind = BytesBehind(*version.files);
  version.past = manifest.past;
  version_ = std::make_shared<TableVersion>(std::move(version));
}

Snapshot<TableVersion> VersionSet::Current() const {
  const std::lock_guard lock(version_mutex_);
  return version_;
}

std::shared_ptr<const TableSchema> VersionSet::Schema() const {
  const Snapshot<TableVersion> version = Current();
  return version->schema;
}

StoreFiles VersionSet::FilesOf(std::string_view family) const {
  const Snapshot<TableVersion> version = Current();
  return version->files->Of(family);
}

StatusOr<TableView> VersionSet::ViewAt(const Moment* moment) const {
  if (dropped_) return Status(StatusCode::kTableNotFound, "the table has been dropped");
  if (moment != nullptr) {
    CELLFS_ASSIGN_OR_RETURN(
        TableVersionPtr version,
        services_.moments->VersionFor(*moment, id(), [this] { return Current(); }));
    return TableView(std::move(version), moment->sequence_id);
  }
  const std::lock_guard lock(version_mutex_);
  return TableView(version_, services_.read_point.load());
}

bool VersionSet::HasEveryFile() const {
  const Snapshot<TableVersion> version = Current();
  return version->files->All().size() + 1 == next_file_;
}

std::shared_ptr<MemoryCells> VersionSet::NewMemory(const TableSchema& schema) const {
  return std::make_shared<MemoryCells>(schema, services_.memory,
                                       services_.options.inline_value_limit);
}

void VersionSet::Freeze() {
  const std::lock_guard write_lock(services_.write_mutex);  // no mutation is half in
  const TableVersionPtr now = Current();
  if (now->active->memstore().cells() == 0) return;
  auto next = std::make_shared<TableVersion>(*now);
  next->frozen = std::exchange(next->active, NewMemory(*now->schema));
  const std::lock_guard lock(version_mutex_);
  version_ = std::move(next);
}

// ---- Edits --------------------------------------------------------------------------------------

Status VersionSet::Apply(const VersionEdit& edit) {
  const std::lock_guard edit_lock(edit_mutex_);
  // Nothing may fail once the manifest is in place.
  const StatusOr<Successor> successor = SuccessorBy(edit);
  if (successor.ok())
    removed_undoably_.reserve(removed_undoably_.size() + successor->removed.size());
  const Status saved = successor.ok() ? Save(edit, successor->manifest) : successor.status();
  if (!IsInForce(saved)) {
    Discard(edit.added);
    return saved;
  }
  is_undoable_ = !saved.ok();
  Install(edit, *successor);
  LetGo(successor->removed, successor->manifest);
  NoteStrange(successor->strange);
  ForgetDamageOf(successor->removed);
  return saved;
}

StatusOr<VersionSet::Successor> VersionSet::SuccessorBy(const VersionEdit& edit) const {
  const Snapshot<TableVersion> present = Current();
  Successor successor;
  StoreFiles files;
  size_t found = 0;
  for (auto& file : present->files->All()) {
    const bool is_named =
        std::find(edit.removed.begin(), edit.removed.end(), file) != edit.removed.end();
    found += is_named ? 1 : 0;
    const bool goes = is_named || (edit.removes != nullptr && edit.removes(file->facts()));
    (goes ? successor.removed : files).push_back(std::move(file));
  }
  if (found != edit.removed.size() || dropped_)
    return Status(StatusCode::kUnavailable, "the table has been altered meanwhile");
  for (const FileFacts& facts : edit.added)
    files.push_back(std::make_shared<StoreFile>(folder_, facts, services_.cache));
  successor.strange = strange_files_;
  std::erase_if(successor.strange, [&](const FileFacts& facts) {
    return edit.schema != nullptr && edit.schema->FindFamily(facts.family) != nullptr;
  });
  successor.manifest = {.store_id = folder_->store_id,
                        .table = id(),
                        .flushed = std::max(flushed(), edit.flushed),
                        .next_file = next_file_,
                        .files = successor.strange,
                        .past = present->past,
                        .ranges = {},
                        .logged = services_.wal->synced()};
  for (const auto& [family, past] : edit.past) {
    FamilyPast& known = successor.manifest.past[family];
    known.complete_since = std::max(known.complete_since, past.complete_since);
    known.widened = std::max(known.widened, past.widened);
  }
  if (edit.schema != nullptr) {
    std::erase_if(successor.manifest.past, [&](const auto& of_family) {
      return edit.schema->FindFamily(of_family.first) == nullptr;
    });
  }
  for (const auto& file : files) successor.manifest.files.push_back(file->facts());
  successor.manifest.ranges = RangesAfter(edit, files, successor.strange);
  successor.files = std::make_shared<const TableFiles>(files, successor.manifest.ranges);
  successor.version = std::make_shared<TableVersion>();
  return successor;
}

// What is cut further follows from the files that are there then. A family without files begins
// anew.
TableRanges VersionSet::RangesAfter(const VersionEdit& edit, const StoreFiles& files,
                                    const std::vector<FileFacts>& strange) const {
  const Snapshot<TableVersion> present = Current();
  std::set<std::string_view> known;
  for (const auto& file : files) known.insert(file->facts().family);
  for (const FileFacts& facts : strange) known.insert(facts.family);
  TableRanges ranges = present->files->ranges();
  std::erase_if(ranges,
                [&](const auto& of_family) { return !known.contains(of_family.first); });
  for (const auto& [family, began] : edit.major) {
    const auto cut = ranges.find(family);
    if (cut != ranges.end()) cut->second.major = std::max(cut->second.major, began);
  }
  const TableFiles after(files, ranges);
  const TableSchema& schema = edit.schema != nullptr ? *edit.schema : *present->schema;
  const uint64_t bytes_of_piece = BytesOfPiece(schema, services_.options.site);
  for (const auto& [family, of_schema] : schema.families) {
    std::vector<std::string> cuts = after.RangesOf(family).Recut(bytes_of_piece);
    const auto cut = ranges.find(family);
    if (cut != ranges.end()) {
      cut->second.cuts = std::move(cuts);
    } else if (!cuts.empty()) {
      const bool has_every_file = files.size() + 1 == next_file_;
      const Timestamp major = LatestMajorCompaction(after, family, has_every_file,
                                                    services_.options.clock->Now());
      ranges[family] = {.cuts = std::move(cuts), .major = major};
    }
  }
  return ranges;
}

// The names of the files come first, and may not follow the manifest's.
Status VersionSet::Save(const VersionEdit& edit, const Manifest& manifest) {
  if (!edit.added.empty())
    CELLFS_RETURN_IF_ERROR(services_.files.SyncDirectory(folder_->path));
  return services_.reserve.Spend(
      kBytesOfNames, [&] { return SaveManifest(services_.files, folder_->path, manifest); });
}

uint64_t VersionSet::BytesBehind(const TableFiles& files) const {
  return files.BytesBeyond(static_cast<size_t>(services_.options.site.blocking_store_files));
}

void VersionSet::Install(const VersionEdit& edit, const Successor& successor) {
  const std::shared_ptr<TableVersion>& after = successor.version;
  const std::lock_guard write_lock(services_.write_mutex);
  const auto moments_lock = services_.moments->HoldOff();
  const TableVersionPtr before = Current();
  *after = *before;
  after->files = successor.files;
  after->bytes_behind = BytesBehind(*after->files);
  after->past = successor.manifest.past;
  if (edit.schema != nullptr) {
    after->schema = edit.schema;
    ++alterations_;
  }
  if (edit.active != nullptr) after->active = edit.active;
  if (edit.ends_frozen) after->frozen = nullptr;
  if (edit.complete_up_to) {
    services_.moments->KeepOverFlush(moments_lock, id(), before, after, *edit.complete_up_to);
  } else {
    services_.moments->Keep(moments_lock, id(), before);
  }
  flushed_ = successor.manifest.flushed;
  services_.reserve.Forget();  // files were written, and memstores promise less
  for (const auto& cells : {before->active, before->frozen}) {
    if (cells != nullptr && cells != after->active && cells != after->frozen) cells->EndCharge();
  }
  const std::lock_guard lock(version_mutex_);
  version_ = after;
}

void VersionSet::Rename(std::shared_ptr<const TableSchema> schema) {
  const std::lock_guard edit_lock(edit_mutex_);
  const std::lock_guard write_lock(services_.write_mutex);
  const TableVersionPtr now = Current();
  auto renamed = std::make_shared<TableVersion>(*now);
  renamed->schema = std::move(schema);
  const std::lock_guard lock(version_mutex_);
  version_ = std::move(renamed);
}

// An edit that is saved settles those before it that may have been undone.
void VersionSet::LetGo(const StoreFiles& removed, const Manifest& manifest) {
  removed_undoably_.insert(removed_undoably_.end(), removed.begin(), removed.end());
  if (is_undoable_) return;
  services_.wal->MarkTable(id(), MarkOf(manifest));
  services_.wal->Flushed(id(), manifest.flushed);
  for (const auto& file : std::exchange(removed_undoably_, {})) file->SetObsolete();
}

void VersionSet::Discard(const std::vector<FileFacts>& files) const {
  for (const FileFacts& facts : files)
    std::remove((folder_->path + "/" + StoreFileName(facts.number)).c_str());
}

void VersionSet::TellLog() { services_.wal->Flushed(id(), flushed()); }

// ---- Damage -------------------------------------------------------------------------------------

void VersionSet::NoteStrange(std::vector<FileFacts> strange) {
  if (strange.size() == strange_files_.size()) return;
  strange_files_ = std::move(strange);
  const std::lock_guard lock(damage_mutex_);
  damage_ = strange_files_.empty() ? "" : DescribeStrangeFamily(strange_files_.back().family);
}

Status VersionSet::NoteDamage(const Status& found) {
  if (found.code() != StatusCode::kCorruption) return found;
  const std::string what = FamilyOfDamage(found.message()) + found.message() + "; " + kRemedyOfFile;
  {
    const std::lock_guard lock(damage_mutex_);
    if (damage_.empty()) damage_ = what;
  }
  return {found.code(), Schema()->name().ToString() + ", " + what};
}

// "family f: ", as what is damaged is named by its path.
std::string VersionSet::FamilyOfDamage(const std::string& what) const {
  const Snapshot<TableVersion> version = Current();
  for (const auto& file : version->files->All())
    if (what.find(file->path()) != what.npos) return "family " + file->facts().family + ": ";
  return "";
}

std::string VersionSet::damage() const {
  {
    const std::lock_guard lock(damage_mutex_);
    if (!damage_.empty()) return damage_;
  }
  const Snapshot<TableVersion> version = Current();
  for (const auto& file : version->files->All()) {
    const std::string found = file->damage();
    if (!found.empty())
      return "family " + file->facts().family + ": " + found + "; " + kRemedyOfIndex;
  }
  return {};
}

// What is damaged is named by its path.
void VersionSet::ForgetDamageOf(const StoreFiles& removed) {
  const std::lock_guard lock(damage_mutex_);
  for (const auto& file : removed) {
    const std::string path = folder_->path + "/" + StoreFileName(file->facts().number);
    if (damage_.find(path) != damage_.npos) damage_.clear();
  }
}

}  // namespace cellfs
