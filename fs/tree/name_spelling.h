// SPDX-License-Identifier: MIT
//
// How row keys and qualifiers, which are arbitrary bytes, are spelled as file names. Pure functions
// that are exact inverses: every key has one spelling, and a name spells one key or none.
//
//     "Report%20Final.pdf" <-> Report%20Final.pdf      nothing here is ambiguous
//     "a/b"                <-> a%2Fb
//     "a%2Fb"              <-> a%252Fb                 would otherwise be read as a/b
//     "mail@17"            <-> mail%4017               as a qualifier; mail@17 is a version of
//     "mail"
//     ".versions"          <-> %2Eversions             as a qualifier; that name is taken
//     ""                   <-> %empty                  and "%empty" is %25empty
//
// Written %XX are only: '/' and NUL; the first byte of ".", ".." and of a reserved name of the
// level; an '@' that a timestamp follows to the end; and a '%' that would otherwise begin one of
// these or the mark of a long name. %XX is an escape only where it would be written; any other '%'
// is itself. names=printable also writes control bytes and bytes that are not UTF-8 so (and there a
// '%' before the number of such a byte).
//
// A spelling of more than 255 bytes is shortened: its begin, "%~", and 32 hexadecimal digits of a
// hash of the key. No key is spelled so otherwise.
#ifndef CELLFS_FS_TREE_NAME_SPELLING_H_
#define CELLFS_FS_TREE_NAME_SPELLING_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/cell.h"

namespace cellfs::fs {

inline constexpr size_t kMaxNameLength = 255;  // bytes of a file name

enum class NameLevel {
  kRow,        // in a table; reserved: .schema.toml .asof .scan, and what is kept for later
  kQualifier,  // in a family; reserved: .versions .counters .deleted; q@<timestamp> is a version
  kValue,      // in a query: ',' is written too, nothing is reserved, "" is ""
};
enum class NameMode { kPosix, kPrintable };

// A decimal number from 0 to 2^63-2 without leading zeros.
std::optional<Timestamp> ReadTimestamp(std::string_view text);

// Whether a table, a namespace and the root keep this name for a directory that is yet to be built:
// .deleted, .snapshots, .changes and .changes@<number>.
bool IsKeptForLater(std::string_view name);

// What a file name says.
struct ReadName {
  enum class Kind {
    kNothing,   // spells no key: ENOENT on look-up, EILSEQ on creation
    kReserved,  // one of the level's control names, or "." and ".."
    kTooLong,   // over 255 bytes
    kKey,
    kLong,  // a key that begins with `key` and of which IsShortenedTo(name, that key) is true
  };
  Kind kind = Kind::kNothing;
  std::string key;                     // the qualifier without "@<timestamp>"
  std::optional<Timestamp> timestamp;  // of q@<timestamp>
};

// Immutable; thread-safe.
class NameSpelling {
 public:
  // Without `controls` (controls=off) '@' is an ordinary byte and only .schema.toml is reserved;
  // without `versions` (versions_by_name=off) the former alone.
  NameSpelling(NameLevel level, NameMode mode, bool controls = true, bool versions = true)
      : level_(level), mode_(mode), controls_(controls), versions_(controls && versions) {}

  // The spelling in full, however long.
  std::string Spell(std::string_view key) const;
  // What is listed: the spelling, or the long name.
  std::string FileName(std::string_view key) const;
  // "q@<timestamp>"; the long name stands for q where the whole would pass 255 bytes.
  std::string VersionFileName(std::string_view key, Timestamp timestamp) const;

  ReadName Read(std::string_view name) const;
  // Whether `name` is FileName(key), or VersionFileName(key, its timestamp), in the long form.
  bool IsShortenedTo(std::string_view name, std::string_view key) const;

  bool IsReserved(std::string_view name) const;

 private:
  bool has_versions() const { return level_ == NameLevel::kQualifier && versions_; }
  bool IsTaken(std::string_view key) const;
  // Whether the key is its own spelling at a glance, as most are.
  bool IsPlain(std::string_view key) const;
  bool IsAlwaysEscaped(unsigned char byte) const;
  bool EndsEscape(std::string_view rest, bool at_start) const;
  bool BeginsEscape(std::string_view rest, bool at_start) const;
  std::string LongName(std::string_view key, std::string_view spelling) const;
  // Undoes the escapes; does not ask whether they would have been written.
  std::string Unescape(std::string_view name) const;
  std::optional<std::string> ReadKey(std::string_view name) const;

  NameLevel level_;
  NameMode mode_;
  bool controls_;
  bool versions_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_NAME_SPELLING_H_
