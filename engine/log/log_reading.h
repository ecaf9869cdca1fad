// SPDX-License-Identifier: MIT
//
// The records of a segment, one after the other.
#ifndef CELLFS_ENGINE_LOG_LOG_READING_H_
#define CELLFS_ENGINE_LOG_LOG_READING_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "engine/log/log_format.h"
#include "engine/status_or.h"

namespace cellfs {

// Shown records in the order of the log; `position` is the record's end, views are good during the
// call. An error ends the reading and is returned from it.
using LogVisitor = std::function<Status(const LogRecord& record, LogPosition position)>;
using NoteVisitor = std::function<void(const LogNote& note, LogPosition position)>;

// Shows the intact records of tables, and notes, of the segment in `path`, whose bytes these are;
// answers where they end.
StatusOr<size_t> VisitRecords(const std::string& path, std::string_view bytes, LogPosition base,
                              const LogVisitor& visitor, const NoteVisitor& note_visitor);

// kCorruption: "'path' is damaged at offset 17: what".
Status DamagedLog(const std::string& path, size_t offset, const std::string& what);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_LOG_READING_H_
