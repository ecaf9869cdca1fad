// SPDX-License-Identifier: MIT
//
// CallersRights: what one caller may do to rows and columns, judged by the owners and modes that
// the mount shows, as the kernel would judge the file operation that comes next to it:
//
//     read a column        search on everything above it, read on the file
//     list columns         also read on the row's and the family's directory
//     put a column         write on the file; where it is not there, on the directory that gets a
//                          new name: the family's, the row's or the table's
//     delete a family      the same; in a sticky one, who owns the directory
//     delete a column      write on the family's directory; in a sticky one, his own files alone
//     change a table       it is his
//     make, drop a table   write on the namespace; drop: it is his as well
#ifndef CELLFS_FS_OPERATIONS_CALLERS_RIGHTS_H_
#define CELLFS_FS_OPERATIONS_CALLERS_RIGHTS_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "engine/filter.h"
#include "engine/status.h"
#include "fs/reading/filter_rights.h"
#include "fs/reading/reading.h"
#include "fs/requests/running_request.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe.
class CallersRights {
 public:
  CallersRights(const Reading& reading, Credentials credentials)
      : reading_(reading), credentials_(std::move(credentials)) {}

  const Credentials& credentials() const { return credentials_; }
  // Not for root, and not where the kernel lets nobody in but the daemon's user.
  bool matter() const { return credentials_.uid != 0 && reading_.AreModesEnforced(); }

  // All of these: OK where rights do not matter, kAccessDenied names the place.

  // Whether he may search everything above what is in the table.
  Status CheckReach(const TableName& table) const;
  Status CheckReachNamespace(const std::string& name) const;
  // Of a table or a namespace.
  Status CheckMayReadToml(const Place& place) const;
  // Whether he may list its rows.
  Status CheckMayList(const TableName& table) const;
  // A column's value, or what is listed of a family of a row, of a row, of a table.
  Status CheckMayRead(const Place& place) const;
  // `is_there`: what is, of the column, its family and its row.
  struct IsThere {
    bool column = false;
    bool family = false;
    bool row = false;
  };
  Status CheckMayPut(const Place& column, const IsThere& is_there) const;
  // At a time of its own, also of a delete. `shows_value`: the column, now.
  Status CheckMayChangeAt(const Place& version, bool shows_value) const;
  Status CheckMayDelete(const Place& column) const;
  // All that is and comes in a family of a row: also of one that is not there, where the tombstone
  // would be what is new.
  Status CheckMayDeleteAll(const Place& family, bool row_is_there) const;
  Status CheckMayMakeIn(const Place& directory) const;
  // Of the root or a namespace.
  Status CheckMayListIn(const Place& directory) const;
  Status CheckOwns(const Place& place) const;
  Status CheckMayAdminister() const;

  // Of one read or scan, whose filter it stands before; null where rights do not matter. Of one
  // that names the columns of a row directories need not be listed.
  std::shared_ptr<FilterRights> OfRead(const TableName& table) const;
  std::shared_ptr<FilterRights> OfNamedColumns(const TableName& table) const;

 private:
  Status Check(const Place& place, mode_t permission, const char* what) const;

  const Reading& reading_;
  const Credentials credentials_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_CALLERS_RIGHTS_H_
