// SPDX-License-Identifier: MIT
//
// PlaceKind: the kinds of places in the tree; and what all places of a kind have in common, in one
// table. A new kind gets a line in it; where it does something of its own, docs/path-scheme.md says
// what else it takes.
#ifndef CELLFS_FS_TREE_PLACE_TRAITS_H_
#define CELLFS_FS_TREE_PLACE_TRAITS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace cellfs::fs {

// The numbers are in inode numbers, which must not change: a new kind goes to the end.
enum class PlaceKind : uint8_t {
  // Directories of the data, also below .asof/<time> and .scan/<query>: there they have a view.
  kRoot,
  kNamespace,
  kTable,
  kRow,
  kFamily,
  // Files of the data.
  kCell,           // q: the latest value
  kVersion,        // q@<timestamp>
  kSchemaFile,     // <table>/.schema.toml
  kNamespaceFile,  // <namespace>/.namespace.toml
  // In a family.
  kVersionsDirectory,  // .versions
  kVersionsColumn,     // .versions/q
  kVersionsFile,       // .versions/q/<timestamp>
  kCountersDirectory,  // .counters
  kCounter,            // .counters/q
  kDeletedDirectory,   // .deleted
  kDeletedCell,        // .deleted/q
  // In the root, a namespace or a table (namespace_name and name say which).
  kAsofDirectory,  // .asof
  kAsofLink,       // .asof/now: `name` is what stands there
  kScanDirectory,  // .scan, in a table
  // The daemon about itself.
  kSelfDirectory,  // /.cellfs
  kSelfFile,       // /.cellfs/<name>
  kKeysDirectory,  // /.cellfs/keys
  kKeyFile,        // /.cellfs/keys/<name>: `row` is the key
  // Held in memory until unmount: temporaries of editors and copiers beside a .toml (the table or
  // namespace) or in .versions (then family and, below .versions/q, qualifier with timestamp 1).
  kMemoryFile,       // `name`
  kMemoryDirectory,  // `name`, in .versions only
  // What is deleted in a table and in a row; what is in its families are kDeletedCell as well.
  kDeletedRowsDirectory,      // .deleted, in a table
  kDeletedRow,                // .deleted/<row>
  kDeletedFamiliesDirectory,  // .deleted, in a row
  kDeletedFamily,             // .deleted/<row>/<family>, and .deleted/<family> in a row
  // What was dropped and is kept: tables in a namespace, namespaces in the root.
  kDroppedDirectory,  // .deleted
  kDropped,           // .deleted/T, .deleted/T@<ms>: `name` is what stands there
};

// What tells a place from the others in its directory; its parent is without that.
enum class PlaceKey : uint8_t {
  kNone,       // there is only one
  kFixedName,  // PlaceTraits::fixed_name
  kNamespace,
  kTable,
  kRow,
  kFamily,
  kQualifier,
  kVersion,    // qualifier and timestamp
  kTimestamp,  // of the qualifier that the directory has
  kName,
  kLongName,  // `name`, which stands for the key in `row`
};

// What the bytes of a file are.
enum class PlaceContent : uint8_t {
  kNone,  // a directory
  kValue,
  kCounter,  // a value as a decimal number
  kDeletedValue,
  kToml,    // of a table or namespace
  kText,    // the daemon's, about itself
  kMemory,  // what was written, until unmount
  kTarget,  // of a symbolic link
};

struct PlaceTraits {
  PlaceKind kind;
  std::optional<PlaceKind> parent;  // nullopt: the place itself says (Place::Parent)
  PlaceKey key;
  std::string_view fixed_name;
  PlaceContent content;
  unsigned flags;  // of those below

  constexpr bool Is(unsigned flag) const { return (flags & flag) != 0; }
};

// What the table says of a kind beside that: PlaceTraits::Is().
namespace place_flag {

inline constexpr unsigned kDirectory = 1 << 0;
// Bytes of a column are read there.
inline constexpr unsigned kColumn = 1 << 1;
// Owner, mode and times are stored for it. Others show those of the nearest place above that has
// some.
inline constexpr unsigned kAttributes = 1 << 2;
// Nothing can be written there whatever the rights.
inline constexpr unsigned kReadOnly = 1 << 3;
// It changes without a word to the kernel, which must ask each time.
inline constexpr unsigned kChangesUnseen = 1 << 4;
// A directory whose entries come and go with a word to the kernel, which may keep its listing.
inline constexpr unsigned kListingIsKept = 1 << 5;

// As they go together.
inline constexpr unsigned kDataDirectory = kDirectory | kAttributes | kListingIsKept;
inline constexpr unsigned kChangingDirectory = kDirectory | kChangesUnseen;
inline constexpr unsigned kLatestFile = kColumn | kAttributes;
inline constexpr unsigned kColumnFile = kColumn | kAttributes | kChangesUnseen;
inline constexpr unsigned kTomlFile = kAttributes | kChangesUnseen;
inline constexpr unsigned kFixedDirectory = kDirectory | kReadOnly;
inline constexpr unsigned kFixedFile = kReadOnly | kChangesUnseen;

}  // namespace place_flag

namespace place_table {

using enum PlaceKind;
using namespace place_flag;
using Key = PlaceKey;
using Content = PlaceContent;

// In the order of the kinds.
inline constexpr PlaceTraits kTraits[] = {
    {kRoot, kRoot, Key::kNone, "", Content::kNone, kDataDirectory},
    {kNamespace, kRoot, Key::kNamespace, "", Content::kNone, kDataDirectory},
    {kTable, kNamespace, Key::kTable, "", Content::kNone, kDataDirectory},
    {kRow, kTable, Key::kRow, "", Content::kNone, kDataDirectory},
    {kFamily, kRow, Key::kFamily, "", Content::kNone, kDataDirectory},

    {kCell, kFamily, Key::kQualifier, "", Content::kValue, kLatestFile},
    {kVersion, kFamily, Key::kVersion, "", Content::kValue, kColumnFile},
    {kSchemaFile, kTable, Key::kFixedName, ".schema.toml", Content::kToml, kTomlFile},
    {kNamespaceFile, kNamespace, Key::kFixedName, ".namespace.toml", Content::kToml, kTomlFile},

    {kVersionsDirectory, kFamily, Key::kFixedName, ".versions", Content::kNone, kDirectory},
    {kVersionsColumn, kVersionsDirectory, Key::kQualifier, "", Content::kNone, kChangingDirectory},
    {kVersionsFile, kVersionsColumn, Key::kTimestamp, "", Content::kValue, kColumnFile},
    {kCountersDirectory, kFamily, Key::kFixedName, ".counters", Content::kNone, kDirectory},
    {kCounter, kCountersDirectory, Key::kQualifier, "", Content::kCounter, kColumnFile},
    {kDeletedDirectory, kFamily, Key::kFixedName, ".deleted", Content::kNone, kDirectory},
    {kDeletedCell, kDeletedDirectory, Key::kQualifier, "", Content::kDeletedValue, kColumnFile},

    {kAsofDirectory, {}, Key::kFixedName, ".asof", Content::kNone, kFixedDirectory},
    {kAsofLink, kAsofDirectory, Key::kName, "", Content::kTarget, kFixedFile},
    {kScanDirectory, kTable, Key::kFixedName, ".scan", Content::kNone, kFixedDirectory},

    {kSelfDirectory, kRoot, Key::kFixedName, ".cellfs", Content::kNone, kFixedDirectory},
    {kSelfFile, kSelfDirectory, Key::kName, "", Content::kText, kFixedFile},
    {kKeysDirectory, kSelfDirectory, Key::kFixedName, "keys", Content::kNone, kFixedDirectory},
    {kKeyFile, kKeysDirectory, Key::kLongName, "", Content::kText, kFixedFile},

    {kMemoryFile, {}, Key::kName, "", Content::kMemory, kChangesUnseen},
    {kMemoryDirectory, {}, Key::kName, "", Content::kNone, kDirectory},

    {kDeletedRowsDirectory, kTable, Key::kFixedName, ".deleted", Content::kNone,
     kChangingDirectory},
    {kDeletedRow, kDeletedRowsDirectory, Key::kRow, "", Content::kNone, kChangingDirectory},
    {kDeletedFamiliesDirectory, kRow, Key::kFixedName, ".deleted", Content::kNone,
     kChangingDirectory},
    {kDeletedFamily, {}, Key::kFamily, "", Content::kNone, kChangingDirectory},
    {kDroppedDirectory, {}, Key::kFixedName, ".deleted", Content::kNone, kChangingDirectory},
    {kDropped, kDroppedDirectory, Key::kName, "", Content::kNone, kChangingDirectory},
};

consteval bool IsInOrder() {
  for (size_t i = 0; i < std::size(kTraits); ++i) {
    if (kTraits[i].kind != static_cast<PlaceKind>(i)) return false;
  }
  return std::size(kTraits) == static_cast<size_t>(kDropped) + 1;
}
static_assert(IsInOrder());

}  // namespace place_table

constexpr const PlaceTraits& TraitsOf(PlaceKind kind) {
  return place_table::kTraits[static_cast<size_t>(kind)];
}

// The kind of what stands under that name in every directory of the kind; nullopt: nothing does.
std::optional<PlaceKind> FixedChildOf(PlaceKind directory, std::string_view name);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_PLACE_TRAITS_H_
