// SPDX-License-Identifier: MIT
//
// View: through what the places below `.asof/<time>` or `.scan/<query>` see the store. Shared by
// all of them; immutable but for the moment that an `.asof` holds.
#ifndef CELLFS_FS_TREE_VIEW_H_
#define CELLFS_FS_TREE_VIEW_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/names.h"
#include "engine/past_catalog.h"
#include "engine/read.h"
#include "fs/tree/place_traits.h"

namespace cellfs::fs {

class AsofMoment;  // fs/tree/asof.h
class ScanEnd;     // fs/reading/scan_end.h

struct View {
  // The numbers are in inode numbers, which must not change: a new kind goes to the end, and
  // answers what is asked below. Nobody else asks which kind it is.
  enum class Kind { kAsof, kScan };
  Kind kind = Kind::kAsof;
  std::string name;                   // as it stands below .asof or .scan
  TableName scope{"", ""};            // where that stands: the root, a namespace or a table
  TableId scope_id = 0;               // of that table; 0: the store gives none
  std::shared_ptr<AsofMoment> asof;   // kAsof
  Scan scan;                          // kScan; also says which versions and columns a row shows
  std::shared_ptr<ScanEnd> scan_end;  // kScan with a limit

  // ---- Where it stands ------------------------------------------------------------------------
  // The kind of the directory that its name is in.
  PlaceKind Directory() const;
  // For messages: "as of 1700000000000".
  std::string ToString() const;

  // ---- What is seen ---------------------------------------------------------------------------
  // What a read through it asks for: times and moment, columns, versions, filter.
  void Narrow(Query& read) const;
  // The moment that it shows, which stays as long as the result is kept; null: it shows what comes.
  std::shared_ptr<const Moment> Use() const;
  // Whether what it shows is the same for ever.
  bool IsFixed() const { return Use() != nullptr; }
  // Whether owner, mode and times are those of its time; else the present ones.
  bool ShowsPast() const { return kind == Kind::kAsof; }
  // That time. REQUIRES: ShowsPast.
  Timestamp Time() const;
  // Whether tables and namespaces show their .toml: those of its time. What is read goes by the
  // present schema all the same, but for the families that there are.
  bool ShowsToml() const { return query() == nullptr; }

  // ---- Tables ---------------------------------------------------------------------------------
  // Families of the table that it may not show as they were (AsofMoment::TakeIncomplete), once.
  std::vector<std::string> TakeIncomplete(const TableName& table) const;
  // What there was at its time; null: what there is now.
  std::shared_ptr<const PastCatalog> Catalog() const;
  // How the table was; null: it shows what it is now. Below a table that is always the one in which
  // the view stands, whatever it was called then.
  std::shared_ptr<const PastTable> FindPast(const TableName& table) const;
  // Whether it shows one of that name.
  bool HasTable(const TableName& table) const;
  // By which the table of that name is read, whatever it is called now; 0: by the name.
  TableId IdOf(const TableName& table) const;

  // ---- Queries --------------------------------------------------------------------------------
  // That which the rows are the answer of; null: all rows are there.
  const Scan* query() const { return kind == Kind::kScan ? &scan : nullptr; }
  // Whether a family lists q@<timestamp> for each version: `.scan` with versions=N.
  bool ShowsVersions() const { return query() != nullptr && scan.max_versions > 1; }
  // Whether a query's filter takes part.
  bool Filters() const { return query() != nullptr && scan.filter != nullptr; }
  // Whether it says of what is in a row if the row is in it.
  bool LooksIntoRows() const {
    return query() != nullptr &&
           (scan.filter != nullptr || !scan.columns.empty() || scan.time_range != TimeRange());
  }
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_VIEW_H_
