// SPDX-License-Identifier: MIT
//
// Damage in the midst of a segment of the log that has cost notes alone: what is whole around it
// tells that no record of a table lay there. Pure functions.
#ifndef CELLFS_ENGINE_LOG_LOST_NOTE_H_
#define CELLFS_ENGINE_LOG_LOST_NOTE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/log/log_format.h"

namespace cellfs {

// What is known of the log before the damage.
class BeforeDamage {
 public:
  // A segment begins; another one ended where it does.
  void BeginSegment() { is_in_head_ = true; }
  // Nothing is known of what came before.
  void Forget() { last_ = 0; }
  void See(const LogRecord& record) {
    last_ = record.sequence_id;
    is_in_head_ = false;
  }
  void See(const LogNote& note) {
    if (note.kind != LogNote::Kind::kOlderCells) is_in_head_ = false;
  }

  // Whether what is damaged from `begin` to `end` of the segment, where it is whole again, was
  // notes: the sequence ids of all tables go on behind it, one by one; or headers in it are notes'
  // by their size, or by their place in the head of the segment, where the log was synced no
  // farther than it begins.
  bool WasNotes(std::string_view segment, size_t begin, size_t end, LogPosition base) const;

 private:
  SequenceId last_ = 0;     // 0: not known
  bool is_in_head_ = true;  // where a segment has the notes that it was begun with
};

// A note that says nothing, to be put in the place of what was damaged. REQUIRES: `size` is no
// less than a note's.
std::string NothingInPlaceOf(size_t size, LogPosition begin);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_LOST_NOTE_H_
