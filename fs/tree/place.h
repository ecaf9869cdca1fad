// SPDX-License-Identifier: MIT
//
// Place: what a path of the tree denotes, told apart from how it is spelled and from whether
// anything is there. A value: two paths to one thing give equal places.
//
//     /default/pages/com.cnn/anchor/cnnsi.com    kCell, table default:pages, row com.cnn, ...
//     /default/pages/.asof/1700000000000/com.cnn kRow, the same, with a view
//
// Places are told apart by hashes, which are the inode numbers of all that is in no table. What is
// in a table has the same with the table's id in the place of its name: they are the same in every
// mount, and go with a table to another name.
#ifndef CELLFS_FS_TREE_PLACE_H_
#define CELLFS_FS_TREE_PLACE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/cell.h"
#include "engine/names.h"
#include "engine/schema.h"
#include "fs/tree/place_traits.h"

namespace cellfs {
struct Scan;  // engine/read.h
}  // namespace cellfs

namespace cellfs::fs {

struct View;  // fs/tree/view.h

// The timestamp of a file in memory tells where below a family it is: beside the versions of one
// column, or in the family; 0: in .versions itself.
inline constexpr Timestamp kBesideVersions = 1;
inline constexpr Timestamp kInFamily = 2;
// That of a deleted family tells whether it stands in .deleted of its row; 0: below that of the
// table.
inline constexpr Timestamp kInRow = 3;

struct Place {
  PlaceKind kind = PlaceKind::kRoot;
  Timestamp timestamp = 0;  // kVersion, kVersionsFile
  TableName table{"", ""};  // from kNamespace and kTable down
  std::string row;
  std::string family;
  std::string qualifier;
  std::string name;                  // where no key names the thing
  std::shared_ptr<const View> view;  // null: the present

  const PlaceTraits& traits() const { return TraitsOf(kind); }
  bool IsDirectory() const { return traits().Is(place_flag::kDirectory); }
  // Whether bytes of a column are read here.
  bool IsColumn() const { return traits().Is(place_flag::kColumn); }
  // In the present or in a view.
  bool IsOfSameColumn(const Place& other) const {
    return qualifier == other.qualifier && row == other.row && family == other.family &&
           table == other.table;
  }
  // A file that is named by the version's timestamp.
  bool IsVersion() const { return kind == PlaceKind::kVersion || kind == PlaceKind::kVersionsFile; }
  bool IsToml() const { return traits().content == PlaceContent::kToml; }
  // What the rows here are the answer of: below .scan/<query>. Null: all rows are there.
  const Scan* query() const;
  // Nothing can be written here whatever the rights: views, the system namespace, /.cellfs.
  bool IsReadOnly() const;

  // Whether owner, mode and times are stored for it. A control directory and what the daemon tells
  // of itself show those of the directory of the data that they are in.
  bool HasAttributes() const { return traits().Is(place_flag::kAttributes); }

  // The member that tells it from the others in its directory (traits().key); null: none does.
  const std::string* KeyPart() const;
  std::string* KeyPart() { return const_cast<std::string*>(std::as_const(*this).KeyPart()); }

  // Below .asof, where owner, mode and times are those of its time.
  bool IsOfPast() const;

  // The same coordinates seen as another kind; the timestamp is `timestamp`.
  Place As(PlaceKind other, Timestamp timestamp = 0) const;
  // The nearest directory of the data, for what has no attributes of its own: the one that it is
  // in, or, where it shows what is deleted in one, that.
  Place DataDirectory() const;
  // The directory it is in; the root is in itself.
  Place Parent() const;

  // Never 0 or 1 but for the root, which is 1. What stat shows is InodeNumberIn.
  uint64_t InodeNumber() const;
  // Of the row or family, as `directory` says, that this column of the present is in.
  uint64_t NumberAbove(PlaceKind directory) const;
  bool IsIn(const Place& place, PlaceKind directory) const;
  // `number`, this place's, as it is shown in a table of that id; 0: there is none.
  uint64_t InodeNumberIn(TableId table_id, uint64_t number) const;
  // One for all kinds of places in a column, in any view: the inode number of the column's cell.
  uint64_t ColumnNumber() const;
  // For messages: "default:pages/com.cnn/anchor:cnnsi.com".
  std::string ToString() const;

  friend bool operator==(const Place& a, const Place& b);

 private:
  PlaceKind ParentKind() const;
  uint64_t TableHash() const;
  uint64_t HashAs(PlaceKind other, Timestamp other_timestamp) const;
  uint64_t Numbered(uint64_t hash) const;
};

// Of tables by place in this process: half of what an inode number takes. Whoever knows how it is
// computed finds two places of one number, so such a table has to compare the places as well.
struct PlaceHash {
  size_t operator()(const Place& place) const;
};

Place RootPlace();
Place NamespacePlace(std::string namespace_name);
Place TablePlace(TableName table);
Place RowPlace(TableName table, std::string row);
Place FamilyPlace(TableName table, std::string row, std::string family);
Place CellPlace(TableName table, std::string row, std::string family, std::string qualifier);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_PLACE_H_
