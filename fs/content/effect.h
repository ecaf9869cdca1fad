// SPDX-License-Identifier: MIT
//
// Effect: what a change of a column did, said once; ColumnEffects (fs/content/column_effects.h) tells
// whoever has to know.
//
// A new kind of change is a struct in `effect` with a kTelling: what the change means to each part
// of what the mount knows. No part has a default: who forgets one is stopped by the compiler, as is
// who adds a part and does not say what it is to the effects that there are.
#ifndef CELLFS_FS_CONTENT_EFFECT_H_
#define CELLFS_FS_CONTENT_EFFECT_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "engine/cell.h"
#include "fs/base/owner_and_mode.h"
#include "fs/nodes/cached_cell.h"

namespace cellfs::fs {

// What is read of the column, by any of its names, may be another: its generation, and the cell
// that is cached of it.
enum class Shows {
  kSame,
  kOther,
  kLess,  // something was taken away, and nothing came
};
// The unstored entry of a file between CREATE and its first put.
enum class Unstored { kStays, kGoes };
// What is kept for an hour of a column that was made or renamed here (Column::created,
// Column::renamed_away).
enum class Stamps {
  kStay,
  kFirst,      // where the claim went, the version is the column's first
  kMovedHere,  // likewise in any case
  kMovedAway,  // the tombstone that a rename left, where it put the file aside
  kForgotten,
};
// The row and the family, as unstored entries.
enum class Directories {
  kStay,
  kFilled,     // where a claim went: what mkdir made has a cell now
  kFilledByQ,  // where q itself came, with a claim or without
  kEmptied,    // they stay where that was their last one
};
// The name that was named. Its node has another place then, or none; who has the file open goes on.
enum class Name { kStays, kGoes, kMoves };
// The kernel's pages of the file.
enum class Pages { kRight, kDoubtful };
// What the kernel is told once the lock is free.
enum class Notice {
  kNone,
  kOtherNames,  // the column changed under another name than its plain one, if it did
  kAskAgain,    // it shall ask for attributes and name again
};
// Those under way, also of places that no node has.
enum class LookUps { kStand, kBeginAnew };

struct Telling {
  constexpr Telling(Shows shows_in, Unstored unstored_in, Stamps stamps_in, Directories directories_in,
                    Name name_in, Pages pages_in, Notice notice_in, LookUps look_ups_in)
      : shows(shows_in),
        unstored(unstored_in),
        stamps(stamps_in),
        directories(directories_in),
        name(name_in),
        pages(pages_in),
        notice(notice_in),
        look_ups(look_ups_in) {}

  Shows shows;
  Unstored unstored;
  Stamps stamps;
  Directories directories;
  Name name;
  Pages pages;
  Notice notice;
  LookUps look_ups;
};

namespace effect {

// The value is another: put, appended to, edited, increased, restored.
struct Put {
  std::optional<Timestamp> stamp;  // nullopt: the present
  std::optional<uint64_t> size;    // nullopt: not known
  bool alone = false;              // nothing else lies on the column
  int64_t time_to_live = kNoCellTtl;
  static constexpr Telling kTelling{Shows::kOther, Unstored::kGoes, Stamps::kFirst,
                                    Directories::kFilled, Name::kStays, Pages::kRight,
                                    Notice::kOtherNames, LookUps::kStand};
};

// The same bytes have another end.
struct Ends {
  static constexpr Telling kTelling{Shows::kOther, Unstored::kStays, Stamps::kStay,
                                    Directories::kStay, Name::kStays, Pages::kRight,
                                    Notice::kAskAgain, LookUps::kStand};
};

// The column has no value any more.
struct Removed {
  static constexpr Telling kTelling{Shows::kLess, Unstored::kGoes, Stamps::kForgotten,
                                    Directories::kEmptied, Name::kGoes, Pages::kRight,
                                    Notice::kOtherNames, LookUps::kStand};
};

// q shows the version before, or nothing.
struct NewestRemoved {
  static constexpr Telling kTelling{Shows::kLess, Unstored::kStays, Stamps::kStay,
                                    Directories::kEmptied, Name::kGoes, Pages::kRight,
                                    Notice::kOtherNames, LookUps::kStand};
};

// A version that q did not show, or what a tombstone hid.
struct HiddenRemoved {
  static constexpr Telling kTelling{Shows::kLess, Unstored::kStays, Stamps::kStay,
                                    Directories::kStay, Name::kGoes, Pages::kRight,
                                    Notice::kOtherNames, LookUps::kStand};
};

// A file that was made and never put was removed.
struct ClaimRemoved {
  static constexpr Telling kTelling{Shows::kLess, Unstored::kGoes, Stamps::kStay,
                                    Directories::kEmptied, Name::kGoes, Pages::kRight,
                                    Notice::kOtherNames, LookUps::kStand};
};

// The first put of a file that was made failed: it is not there after all.
struct ClaimFailed {
  static constexpr Telling kTelling{Shows::kOther, Unstored::kGoes, Stamps::kStay,
                                    Directories::kStay, Name::kStays, Pages::kRight,
                                    Notice::kAskAgain, LookUps::kStand};
};

// A rename took the value away.
struct MovedAway {
  // Nullopt: it left none, or one that stays.
  std::optional<Timestamp> tombstone;
  OwnerAndMode owner;
  static constexpr Telling kTelling{Shows::kLess, Unstored::kGoes, Stamps::kMovedAway,
                                    Directories::kEmptied, Name::kMoves, Pages::kRight,
                                    Notice::kOtherNames, LookUps::kStand};
};

// A rename brought one.
struct MovedHere {
  CachedCell cell;
  static constexpr Telling kTelling{Shows::kOther, Unstored::kGoes, Stamps::kMovedHere,
                                    Directories::kFilled, Name::kMoves, Pages::kRight,
                                    Notice::kOtherNames, LookUps::kStand};
};

// A rename brought what was in memory.
struct Brought {
  CachedCell cell;
  static constexpr Telling kTelling{Shows::kOther, Unstored::kGoes, Stamps::kMovedHere,
                                    Directories::kFilledByQ, Name::kMoves, Pages::kRight,
                                    Notice::kOtherNames, LookUps::kStand};
};

// It may have been made or not.
struct Unknown {
  static constexpr Telling kTelling{Shows::kOther, Unstored::kStays, Stamps::kForgotten,
                                    Directories::kEmptied, Name::kStays, Pages::kDoubtful,
                                    Notice::kAskAgain, LookUps::kBeginAnew};
};

}  // namespace effect

using Effect =
    std::variant<effect::Put, effect::Ends, effect::Removed, effect::NewestRemoved,
                 effect::HiddenRemoved, effect::ClaimRemoved, effect::ClaimFailed,
                 effect::MovedAway, effect::MovedHere, effect::Brought, effect::Unknown>;

inline const Telling& TellingOf(const Effect& effect) {
  return std::visit(
      [](const auto& one) -> const Telling& { return std::decay_t<decltype(one)>::kTelling; },
      effect);
}

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_EFFECT_H_
