// SPDX-License-Identifier: MIT
#include "fs/content/file_writer.h"

#include <charconv>

#include "fs/content/cell_writer.h"
#include "fs/content/claim.h"
#include "fs/content/column_change.h"
#include "fs/content/column_rights.h"
#include "fs/content/text_writer.h"
#include "fs/reading/reading.h"
#include "fs/resolve/resolver.h"
#include "fs/schema/toml_files.h"

namespace cellfs::fs {

namespace {

constexpr uint64_t kMaxTextSize = 1 << 20;

// "+5", or several of them, to their sum.
OutcomeOr<int64_t> ReadIncrements(std::string_view text) {
  const Outcome refused(EINVAL,
                        "a counter takes +N or -N, not '" + std::string(text.substr(0, 40)) + "'");
  int64_t sum = 0;
  bool any = false;
  while (true) {
    size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
    text.remove_prefix(word.size());
    bool plus = word[0] == '+';
    if (!plus && word[0] != '-') return refused;
    if (plus) word.remove_prefix(1);
    int64_t amount = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), amount);
    bool is_number = error == std::errc() && end == word.data() + word.size();
    if (!is_number || (plus && amount < 0) || __builtin_add_overflow(sum, amount, &sum))
      return refused;
    any = true;
  }
  if (!any) return refused;
  return sum;
}

// A counter that begins must lie above what was deleted there.
OutcomeOr<Timestamp> FirstTimestamp(MountContext& mount, const Caller& caller, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(RowCells raw, RawColumn(mount, caller, place, ReadDetail::kLengths));
  Timestamp timestamp = mount.clock->Now();
  for (const Cell& cell : raw) {
    if (cell.timestamp < kLatestTimestamp - 1) timestamp = std::max(timestamp, cell.timestamp + 1);
  }
  return timestamp;
}

// REQUIRES: the column's lock.
Outcome Increase(MountContext& mount, const Caller& caller, const Place& place, int64_t amount) {
  IncrementCell cell{place.family, place.qualifier, amount};
  CELLFS_ASSIGN_OR_RETURN(auto present, ReadColumn(mount, caller, place, ReadDetail::kLengths));
  if (!present) {
    CELLFS_ASSIGN_OR_RETURN(cell.timestamp, FirstTimestamp(mount, caller, place));
  }
  Increment increment{place.row, {std::move(cell)}};
  increment.return_results = false;
  return mount.store
      .Mutate(caller, place.table, RowMutations::Of(std::move(increment), mount.options.durability))
      .status();
}

Outcome AddToCounter(MountContext& mount, const Caller& caller, const NodePtr& counter,
                     std::string_view text) {
  CELLFS_ASSIGN_OR_RETURN(const int64_t amount, ReadIncrements(text));
  ColumnChange change(mount, counter);
  Outcome added = Increase(mount, caller, change.column(), amount);
  change.Ended(added);
  if (added.ok()) mount.unstored.Remove(change.column());
  return added;
}

// Whether cells can be put there at all; the store would say so only at close.
Outcome CheckWritable(MountContext& mount, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(auto schema, mount.store.DescribeTable(place.table));
  if (schema->FindFamily(place.family) == nullptr) {
    return {ENOENT, "family '" + place.family + "' of table '" + place.table.ToString() +
                        "' is not declared"};
  }
  if (schema->read_only()) return {EROFS, "table '" + place.table.ToString() + "' is READONLY"};
  CELLFS_ASSIGN_OR_RETURN(bool enabled, mount.store.IsTableEnabled(place.table));
  if (!enabled) return {EROFS, "table '" + place.table.ToString() + "' is disabled"};
  return {};
}

OutcomeOr<bool> ClaimMemory(MountContext& mount, const Request& request, const Place& file,
                            mode_t mode) {
  CELLFS_ASSIGN_OR_RETURN(auto made, mount.memory_files.Make());
  UnstoredEntry entry{file, UnstoredReason::kMemory, ToTimespec(mount.clock->Now()),
                      std::move(made)};
  entry.file->uid = request.uid;
  entry.file->gid = request.gid;
  entry.file->mode = mode & ~request.umask & 07777;
  entry.file->mtime = entry.file->ctime = entry.made;
  return mount.unstored.Add(std::move(entry));
}

OutcomeOr<bool> ClaimColumn(MountContext& mount, const Request& request, const Place& file,
                            mode_t mode) {
  CELLFS_RETURN_IF_FAILED(CheckWritable(mount, file));
  if (file.kind != PlaceKind::kCell) {
    CELLFS_RETURN_IF_FAILED(CheckMayAddVersion(mount, request, file));
  }
  UnstoredEntry entry{file, UnstoredReason::kClaimed, ToTimespec(mount.clock->Now()), nullptr};
  if (!mount.unstored.Add(std::move(entry))) return false;
  Claim claim(mount.unstored, file);
  // Somebody's first put may have come between look-up and claim; it took its own claim away with
  // it.
  if (!mount.last_absent.IsStill(file)) {
    CELLFS_ASSIGN_OR_RETURN(auto cell,
                            ReadColumn(mount, *request.caller, file, ReadDetail::kLengths));
    if (cell) return false;
  }
  AttributeUpdate update;
  update.uid = request.uid;
  update.gid = request.gid;
  update.mode = mode & ~request.umask & 07777;
  update.anew = true;
  if (file.kind != PlaceKind::kCell) {
    // A version of a column that is there has the column's owner and mode.
    CELLFS_ASSIGN_OR_RETURN(
        auto column,
        ReadColumn(mount, *request.caller, file.As(PlaceKind::kCell), ReadDetail::kLengths));
    if (column) {
      claim.Keep();
      return true;
    }
  }
  CELLFS_RETURN_IF_FAILED(mount.attributes.Update(file, update));
  claim.Keep();
  return true;
}

OutcomeOr<bool> ClaimByContent(MountContext& mount, const Request& request, const Place& file,
                               mode_t mode) {
  switch (file.traits().content) {
    case PlaceContent::kValue:
    case PlaceContent::kCounter:
      return ClaimColumn(mount, request, file, mode);
    case PlaceContent::kMemory:
      return ClaimMemory(mount, request, file, mode);
    case PlaceContent::kToml:
      mount.unstored.ShowToml(file.Parent());
      return true;
    default:
      return Outcome(EPERM);
  }
}

}  // namespace

OutcomeOr<bool> ClaimFile(MountContext& mount, const Request& request, const Place& file,
                          mode_t mode, bool exclusive) {
  if (file.IsReadOnly() || mount.options.read_only) return Outcome(EROFS);
  CELLFS_ASSIGN_OR_RETURN(bool made, ClaimByContent(mount, request, file, mode));
  if (!made && exclusive) return Outcome(EEXIST);
  return made;
}

OutcomeOr<OpenedFile> OpenForWriting(MountContext& mount, const Request& request, NodePtr node,
                                     const OpenMode& mode) {
  const std::shared_ptr<const Place> place = node->place();
  if (place->IsReadOnly() || mount.options.read_only) return Outcome(EROFS);
  OpenedFile opened;
  switch (place->traits().content) {
    case PlaceContent::kValue: {
      CELLFS_RETURN_IF_FAILED(CheckWritable(mount, *place));
      // In this order: who ends to write says before that the pages are stale.
      const bool is_written = node->OpenColumn()->writers() > 0;
      const bool is_being_written = node->is_being_written();
      const uint64_t stale = node->stale_pages(mount.clock->Now());
      // Pages may not mix what another handle is writing with what is to be read here.
      opened.direct_io = mode.read && !mode.truncate && !mode.created &&
                         (is_being_written || (is_written && stale != 0));
      opened.handle = std::make_shared<CellWriter>(mount, *request.caller, node, mode);
      // While somebody writes, no page may be dropped: it may be the one that is being filled.
      opened.keep_cache = is_written || (stale == 0 && mount.freshness.is_exact());
      if (!opened.keep_cache) opened.handle->drops_stale_pages = stale;
      return opened;
    }
    case PlaceContent::kCounter: {
      opened.direct_io = true;  // what is read is not what was written
      opened.handle = std::make_shared<TextWriter>(
          node, "", mode.append, kMaxTextSize,
          [&mount, caller = *request.caller, counter = node.get()](std::string& text, auto) {
            Outcome added = AddToCounter(mount, caller, counter->shared_from_this(), text);
            if (added.ok()) text.clear();
            return added;
          },
          // A claim that nothing was added to.
          [&mount, claim = *place] { mount.unstored.Remove(claim); });
      return opened;
    }
    case PlaceContent::kToml: {
      std::string text;
      if (!mode.truncate && !mode.created) {
        CELLFS_ASSIGN_OR_RETURN(text, TomlText(mount, *place));
      }
      opened.direct_io = true;
      opened.handle = std::make_shared<TextWriter>(
          node, std::move(text), mode.append, kMaxTextSize,
          [&mount, caller = *request.caller, file = *place](std::string& written, auto mtime) {
            Outcome applied = ApplyToml(mount, caller, file, written, mtime);
            TellTomlApplied(mount, file);
            return applied;
          });
      return opened;
    }
    case PlaceContent::kMemory: {
      auto entry = mount.unstored.Find(*place);
      if (!entry || entry->file == nullptr) return Outcome(ENOENT);
      auto writer = std::make_shared<MemoryWriter>(mount, entry->file, mode.append);
      if (mode.truncate) CELLFS_RETURN_IF_FAILED(writer->Truncate(0));
      opened.handle = std::move(writer);
      return opened;
    }
    default:
      return Outcome(EPERM);
  }
}

}  // namespace cellfs::fs
