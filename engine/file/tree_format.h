// SPDX-License-Identifier: MIT
//
// How SQLite lays out a table or an index: records, pages and trees of them
// (https://www.sqlite.org/fileformat2.html), as far as store files have them. Cells are written and
// read by this and not by statements, which take ten times as long; the file stays a database that
// everything which knows SQLite can read.
#ifndef CELLFS_ENGINE_FILE_TREE_FORMAT_H_
#define CELLFS_ENGINE_FILE_TREE_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/file/page_checksums.h"

namespace cellfs {

inline constexpr size_t kUsablePage = kDatabasePageSize - kPageChecksumSize;
// SQLite locks bytes of this page, and so a database leaves it out.
inline constexpr uint32_t kLockPage = (uint32_t{1} << 30) / kDatabasePageSize + 1;

enum class PageKind : uint8_t {
  kIndexNode = 0x02,
  kTableNode = 0x05,
  kIndexLeaf = 0x0a,
  kTableLeaf = 0x0d,
};
inline constexpr size_t kLeafHeader = 8;
inline constexpr size_t kNodeHeader = 12;  // with the last child

// Of an entry so long: how much lies in its page; the rest in a chain of pages of its own.
size_t LocalBytes(PageKind kind, uint64_t payload);
inline constexpr size_t kOverflowBytes = kUsablePage - 4;  // of a page of the chain

// ---- Numbers ------------------------------------------------------------------------------------

void PutPageNumber(uint32_t number, char* to);
uint32_t PageNumberAt(const char* from);
inline size_t ShortAt(const char* from) {
  return static_cast<size_t>(static_cast<uint8_t>(from[0]) << 8 | static_cast<uint8_t>(from[1]));
}

void AppendVarint(uint64_t number, std::string& to);
// Takes one from the front. False: it is cut short.
bool TakeLongVarint(std::string_view& from, uint64_t* number);
inline bool TakeVarint(std::string_view& from, uint64_t* number) {
  if (from.empty() || static_cast<uint8_t>(from[0]) >= 0x80) return TakeLongVarint(from, number);
  *number = static_cast<uint8_t>(from[0]);
  from.remove_prefix(1);
  return true;
}

// ---- Records ------------------------------------------------------------------------------------

// Columns one after the other, in the order of the table. NULLs at the end are left out: SQLite too
// takes columns that a record lacks for NULL.
class RecordWriter {
 public:
  void Begin() { header_.clear(), body_.clear(), nulls_ = 0; }
  void Null() { header_.push_back('\0'), ++nulls_; }
  void Integer(int64_t number);
  void IntegerUnless(bool is_null, int64_t number) { is_null ? Null() : Integer(number); }
  void Blob(std::string_view bytes);
  // The header alone, of a blob that follows the record written so far.
  void BlobBehind(size_t size) { AppendVarint(size * 2 + 12, header_), nulls_ = 0; }
  // Good until the next Begin. Of up to 126 bytes of header, as all of ours have.
  std::string_view Finish();

 private:
  std::string header_, body_, record_;
  size_t nulls_ = 0;  // at the end so far
};

// A record from its first column to its last.
class RecordReader {
 public:
  // False: no record.
  bool Begin(std::string_view record);
  // Each takes the next column; a column behind the last one is NULL.
  // False: the column is of another kind, or cut short.
  bool Integer(int64_t* number) {
    uint64_t type = 0;
    return TakeType(&type) && TakeInteger(type, number);
  }
  bool IntegerOrNull(int64_t* number, int64_t null) {
    uint64_t type = 0;
    if (!TakeType(&type)) return false;
    *number = null;
    return type == 0 || TakeInteger(type, number);
  }
  bool Blob(std::string_view* bytes) {
    uint64_t type = 0;
    return TakeType(&type) && TakeBlob(type, bytes);
  }
  bool BlobOrNull(std::string_view* bytes) {
    uint64_t type = 0;
    if (!TakeType(&type)) return false;
    *bytes = {};
    return type == 0 || TakeBlob(type, bytes);
  }

 private:
  bool TakeType(uint64_t* type) {
    *type = 0;
    return types_.empty() || TakeVarint(types_, type);
  }
  // By the kind of a column (its serial type).
  bool TakeInteger(uint64_t type, int64_t* number) {
    if (type == 8 || type == 9) return *number = static_cast<int64_t>(type - 8), true;
    if (type == 0 || type > 6) return false;
    constexpr uint8_t kSizes[] = {0, 1, 2, 3, 4, 6, 8};
    const size_t size = kSizes[type];
    if (body_.size() < size) return false;
    const bool is_negative = (static_cast<uint8_t>(body_[0]) & 0x80) != 0;
    uint64_t taken = is_negative ? ~uint64_t{0} : 0;
    for (size_t i = 0; i < size; ++i) taken = taken << 8 | static_cast<uint8_t>(body_[i]);
    body_.remove_prefix(size);
    *number = static_cast<int64_t>(taken);
    return true;
  }
  bool TakeBlob(uint64_t type, std::string_view* bytes) {
    if (type < 12 || type % 2 != 0) return false;
    const uint64_t size = (type - 12) / 2;
    if (body_.size() < size) return false;
    *bytes = {body_.data(), size};
    body_.remove_prefix(size);
    return true;
  }

  std::string_view types_, body_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_TREE_FORMAT_H_
