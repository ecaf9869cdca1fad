// SPDX-License-Identifier: MIT
#include "engine/file/cell_format.h"

namespace cellfs {
namespace {

// How SQLite lays out an entry (https://www.sqlite.org/fileformat2.html#b_tree_pages): up to so
// many bytes in a page of its tree, else a part there and the rest in pages of its own.
constexpr uint64_t kPage = 4096;
constexpr uint64_t kOverflowBytes = 4084;
constexpr uint64_t kMostInIndexPage = 1002;
constexpr uint64_t kMostInTablePage = 4053;
constexpr uint64_t kLeastInPage = 489;

// Splits an entry: what lies in its tree; the pages of its own are added to `pages`.
uint64_t LocalPart(uint64_t entry, uint64_t most, uint64_t* pages) {
  if (entry <= most) return entry;
  const uint64_t local = kLeastInPage + (entry - kLeastInPage) % kOverflowBytes;
  const uint64_t kept = local <= most ? local : kLeastInPage;
  *pages += (entry - kept + kOverflowBytes - 1) / kOverflowBytes;
  return kept;
}

// Pages of an index are split when they are full, so they have some room left.
uint64_t BytesInIndex(uint64_t entry) {
  uint64_t pages = 0;
  const uint64_t local = LocalPart(entry, kMostInIndexPage, &pages);
  return local + local / 4 + 16 + pages * kPage;
}

// Entries come in the order of their keys, so pages are as full as whole entries allow.
uint64_t BytesInTable(uint64_t entry) {
  uint64_t pages = 0;
  const uint64_t local = LocalPart(entry, kMostInTablePage, &pages);
  const uint64_t share = local <= 1020   ? local + local / 4 + 16
                         : local <= 1350 ? kPage / 3 + 1
                         : local <= 2030 ? kPage / 2
                                         : kPage;
  return share + pages * kPage;
}

std::string SchemaOf(CellSet set) {
  const std::string table = TableOf(set);
  return "CREATE TABLE " + table +
         "(K BLOB NOT NULL, Q BLOB NOT NULL, T INTEGER NOT NULL, Y INTEGER NOT NULL, "
         "S INTEGER NOT NULL, V BLOB, L INTEGER, R INTEGER, X INTEGER, Z INTEGER, "
         "PRIMARY KEY (K, Q, T, Y, S)) WITHOUT ROWID;"
         "CREATE INDEX " +
         TombstonesOf(set) + " ON " + table + "(K, Q) WHERE Y < -4 AND Y > -256;";
}

}  // namespace

std::string StoreFileSchema() {
  return "CREATE TABLE facts(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;" +
         SchemaOf(CellSet::kShown) +
         "CREATE INDEX withdrawals ON cells(K, Q, T) WHERE Y < -255;"
         "CREATE TABLE long_values(R INTEGER PRIMARY KEY, V BLOB NOT NULL);"
         "CREATE TABLE filter(N INTEGER PRIMARY KEY, B BLOB NOT NULL);" +
         SchemaOf(CellSet::kHidden);
}

uint64_t MostBytesInFile(CellType type, uint64_t key_length, uint64_t value_length,
                         uint64_t inline_value_limit) {
  constexpr uint64_t kNumbers = 48;  // of a row: its columns but for the bytes
  constexpr uint64_t kFilter = 4;    // for two keys
  const uint64_t key = key_length + kNumbers;
  const bool is_inline = value_length <= inline_value_limit;
  uint64_t bytes = kFilter + BytesInIndex(is_inline ? key + value_length : key);
  if (!is_inline) bytes += BytesInTable(value_length + 16);
  if (IsTombstone(type)) bytes += BytesInIndex(key);
  return bytes + bytes / 16;  // the pages above
}

}  // namespace cellfs
