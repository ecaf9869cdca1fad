// SPDX-License-Identifier: MIT
//
// KeyRanges: the key range of a family, cut into pieces that are compacted apart (HBase: stripes),
// so that no compaction takes much more than a piece, however large the table is. A flush writes one
// file of whatever rows there are; where such files lie over several pieces they are young, and are
// merged into the pieces a few at a time. Everything here follows from the files and the cuts. Pure.
#ifndef CELLFS_ENGINE_LOCAL_KEY_RANGES_H_
#define CELLFS_ENGINE_LOCAL_KEY_RANGES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/file_run.h"
#include "engine/file/store_file.h"

namespace cellfs {

// Of one family.
struct FamilyRanges {
  std::vector<std::string> cuts;  // the rows that begin all pieces but the first; ascending
  Timestamp major = 0;            // when a major compaction of some piece last began; 0: none did
  friend bool operator==(const FamilyRanges&, const FamilyRanges&) = default;
};
// By family, where it has been cut.
using TableRanges = std::map<std::string, FamilyRanges, std::less<>>;

// Files that count as one, for nothing is gained where they are merged: large ones that follow each
// other in age and have no row in common, or that have long values, so that to read one costs as much
// as to look into all of them. And those whose sequence ids overlap, which have no row in common
// either: which is older cannot be said, so whoever takes one takes them all.
struct FileUnit {
  StoreFiles files;
  uint64_t bytes = 0;
};

// Whether the cells of the files are so long, one with another, that to write them anew costs much and
// to go over their keys next to nothing.
bool HaveLongValues(const StoreFiles& files);

// Oldest first, of files no two of which have both rows and sequence ids in common.
std::vector<FileUnit> UnitsOf(const StoreFiles& files);

struct KeyPiece {
  std::string begin;  // its first row
  StoreFiles files;   // by age, as TableFiles has them
  std::vector<FileUnit> units;
};

class KeyRanges {
 public:
  KeyRanges() = default;
  // `files` by age, of one family.
  KeyRanges(const StoreFiles& files, const std::vector<std::string>& cuts);

  const std::vector<KeyPiece>& pieces() const { return pieces_; }  // by row, at least one
  // Newer than whatever the pieces have; over several of them, or newer than one that is.
  const KeyPiece& young() const { return young_; }
  // How many files a read may have to look into: of a piece, and the young ones.
  size_t MostUnits() const;
  // Of those beyond so many, the newest.
  uint64_t BytesBeyond(size_t units) const;
  // What a read goes through, the oldest first.
  std::vector<FileRun> Runs() const;
  // As it is to be cut from now on: where a piece has more than two times so many bytes, between
  // files; not beside a piece without files.
  std::vector<std::string> Recut(uint64_t bytes_of_piece) const;
  // The rows at which pieces will be cut, as their oldest files tell; ascending. What is written into a
  // piece ends there too, or no cut could ever be made while it is written to.
  std::vector<std::string> Seams(uint64_t bytes_of_piece) const;

 private:
  std::vector<KeyPiece> pieces_{1};
  KeyPiece young_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_KEY_RANGES_H_
