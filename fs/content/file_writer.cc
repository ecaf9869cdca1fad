// SPDX-License-Identifier: MIT
#include "fs/content/file_writer.h"

#include <memory>
#include <string>
#include <utility>

#include "fs/content/counter_writer.h"
#include "fs/content/text_writer.h"
#include "fs/nodes/column_lock.h"
#include "fs/reading/change_rights.h"
#include "fs/reading/later_timestamps.h"
#include "fs/schema/schema_text.h"

namespace cellfs::fs {
namespace {

constexpr uint64_t kMaxTextSize = 1 << 20;

}  // namespace

OutcomeOr<OpenedFile> FileWriters::Open(const Request& request, const NodePtr& node,
                                        const Place& place, const OpenMode& mode) const {
  if (place.IsReadOnly() || cells_.options.read_only) return Outcome(EROFS);
  switch (place.traits().content) {
    case PlaceContent::kValue:
      return OpenCell(request, node, place, mode);
    case PlaceContent::kCounter:
      return OpenCounter(request, node, place);
    case PlaceContent::kToml:
      return OpenToml(request, node, place, mode);
    case PlaceContent::kMemory:
      return OpenMemory(place, mode);
    default:
      return Outcome(EPERM);
  }
}

OutcomeOr<OpenedFile> FileWriters::OpenCell(const Request& request, const NodePtr& node,
                                            const Place& place, const OpenMode& mode) const {
  // Who made it has asked.
  if (!mode.created) {
    const uint64_t bytes =
        mode.truncate ? cells_.tree.unput_bytes.total() + UnputBytes::kBlock : 0;
    CELLFS_RETURN_IF_FAILED(cells_.reading.CheckMayPut(*request.caller, place, bytes));
    CELLFS_RETURN_IF_FAILED(CheckIsNoLater(cells_.reading, request.uid, place));
  }
  OpenedFile opened;
  const bool joins = !mode.truncate && !mode.created;
  const std::shared_ptr<SharedFile> open = joins ? node->shared_file() : nullptr;
  if (open != nullptr && open->is_replaced()) ShareReplacements(*node, mode.read);
  static_cast<void>(node->stale_pages(cells_.tree.clock.Now()));  // which may be so from now on
  const FilePages pages = cells_.tree.kernel.DropStalePages(*node);
  const std::shared_ptr<SharedFile>& file = pages.file;
  const bool is_mixed = file->is_replaced() || node->has_stale_pages();  // in this order
  opened.direct_io = joins && mode.read && pages.is_written && is_mixed;
  {
    const bool follows_others = mode.truncate && pages.is_written;
    const auto lock = follows_others ? ColumnLock::Of(*node) : ColumnLock();
    auto writer = std::make_shared<CellWriter>(cells_, request, node, file, mode);
    if (follows_others) writer->FollowAppended();
    opened.handle = std::move(writer);
  }
  // While somebody writes, no page may be dropped: it may be the one that is being filled.
  opened.keep_cache =
      pages.is_written || (!pages.are_stale && cells_.reading.freshness().is_exact());
  return opened;
}

// Who opens a file to read and write it shares the kernel's pages with who writes it already, for
// both may map it. Who only writes it goes on where its maker's bytes end.
void FileWriters::ShareReplacements(const Node& node, bool with_reader) {
  for (const auto& handle : node.handles()) handle->Share(with_reader);
}

OutcomeOr<OpenedFile> FileWriters::OpenCounter(const Request& request, const NodePtr& node,
                                               const Place& place) const {
  OpenedFile opened;
  opened.direct_io = true;  // what is read is not what was written
  opened.handle = std::make_shared<CounterWriter>(counters_, cells_.tree.unstored, *request.caller,
                                                  node, place);
  return opened;
}

OutcomeOr<OpenedFile> FileWriters::OpenToml(const Request& request, const NodePtr& node,
                                            const Place& place, const OpenMode& mode) const {
  CELLFS_RETURN_IF_FAILED(CheckMayChange(cells_.reading, *request.caller, place));
  std::string text;
  if (!mode.truncate && !mode.created) {
    CELLFS_ASSIGN_OR_RETURN(text, TomlText(cells_.reading, place));
  }
  OpenedFile opened;
  opened.direct_io = true;
  opened.handle = std::make_shared<TextWriter>(
      cells_.tree.open_file_memory, request.uid, node, std::move(text), mode.append, kMaxTextSize,
      [&schemas = schemas_, caller = *request.caller, file = place](const std::string& written,
                                                                    auto mtime) {
        Outcome applied = schemas.Apply(caller, file, written, mtime);
        schemas.TellApplied(file);
        return applied;
      });
  return opened;
}

OutcomeOr<OpenedFile> FileWriters::OpenMemory(const Place& place, const OpenMode& mode) const {
  const auto entry = cells_.tree.unstored.Find(place);
  if (!entry || entry->file == nullptr) return Outcome(ENOENT);
  auto writer = std::make_shared<MemoryWriter>(cells_.tree.clock, cells_.options.max_value_size,
                                               entry->file, mode.append);
  if (mode.truncate) CELLFS_RETURN_IF_FAILED(writer->Truncate(0));
  OpenedFile opened;
  opened.handle = std::move(writer);
  return opened;
}

}  // namespace cellfs::fs
