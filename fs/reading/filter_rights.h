// SPDX-License-Identifier: MIT
//
// FilterRights: which cells the filter of a query may look at. Which rows a filter lets through tells
// what is in them, so it is shown only what who asks may see, as the kernel judges it (groups
// included): one that looks at values, cells of files that he may read, where he may search the row's
// and the family's directories; one that looks at names and times alone, cells of directories that he
// may list. What it is not shown does not come back either, as if it was not there; so a column that
// the filter does not look at is listed where it may be read.
//
// Who asks is who opens the scan, as with an open file.
#ifndef CELLFS_FS_READING_FILTER_RIGHTS_H_
#define CELLFS_FS_READING_FILTER_RIGHTS_H_

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/filter.h"
#include "fs/attributes/inherited_attributes.h"
#include "fs/base/outcome.h"
#include "fs/requests/running_request.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

class Reading;

inline constexpr mode_t kReadPermission = 4;
inline constexpr mode_t kWritePermission = 2;
inline constexpr mode_t kSearchPermission = 1;

// Whether all of these are allowed, as the kernel has it: the first class that one belongs to is the
// one that counts.
bool Allows(const OwnerAndMode& file, const Credentials& credentials, mode_t permissions);

// Of one read or one scan: used by one thread at a time.
class FilterRights : public std::enable_shared_from_this<FilterRights> {
 public:
  // Whether what the running request may read makes a difference to what the place shows: not to
  // root, not where nobody asks, and not where the kernel does not enforce modes.
  static bool Matter(const Reading& reading, const Place& place);
  // Of the running request; null where they do not matter. `reading` outlives it.
  static std::shared_ptr<FilterRights> Of(const Reading& reading, const Place& place);

  enum class Sees { kValues, kNames };
  // `directories`: what the row's and the family's have to allow.
  FilterRights(const Reading& reading, TableName table, Credentials credentials, mode_t directories,
               Sees sees = Sees::kValues);

  // The first version that is seen of a column may be an old one.
  void BeginsInHistory() { begins_in_history_ = true; }
  // What is shown is names, times and lengths alone, to no filter that reads values: then versions
  // that were another's are shown to who may read the column.
  void ShowsClosedVersions() { shows_closed_versions_ = true; }
  // Sets it where something is not shown. `hidden` outlives it and the filters that it narrows.
  void TellHidden(std::atomic<bool>& hidden) { hidden_ = &hidden; }
  // The filter that sees only what may be read.
  FilterPtr Narrow(const FilterPtr& filter);

  // Before the store is asked: what was known of modes is looked at anew.
  Outcome BeginStep();
  // Why an owner or a mode could not be read: then what came back may lack something.
  const Outcome& failure() const { return failure_; }

 private:
  bool MayRead(const CellView& cell);
  bool IsFamilyOpen(const CellView& cell);
  bool MayReadVersion(const CellView& cell);
  bool IsOpen(const Place& place, mode_t permission);
  bool IsOpen(const StatusOr<OwnerAndMode>& owner, mode_t permission);

  const Reading& reading_;
  const TableName table_;
  const Credentials credentials_;
  const mode_t directories_;
  const Sees sees_;
  std::atomic<bool>* hidden_ = nullptr;
  Outcome failure_;
  bool rows_differ_ = true;
  // What was asked for last. Where rows do not differ `row_` stays empty, and a family's answer
  // holds for all that is in it.
  std::optional<std::string> row_;
  std::map<std::string, bool, std::less<>> families_;
  std::optional<Place> column_;
  bool is_column_open_ = false;
  bool begins_in_history_ = false;
  bool shows_closed_versions_ = false;
  bool step_began_ = true;    // in a column that the step before may have been in
  bool next_is_old_ = false;  // the next put of the column may be no newest one
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_FILTER_RIGHTS_H_
