// SPDX-License-Identifier: MIT
#include "engine/local/key_ranges.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace cellfs {
namespace {

// From here on a file is large enough to stay beside others.
constexpr uint64_t kLeastOfUnit = uint64_t{8} << 20;

// While a cell of so many bytes is read, one more file can be looked into.
constexpr uint64_t kBytesOfLook = uint64_t{2} << 10;
constexpr uint64_t kMostLooks = 64;  // a compaction of them takes their room
constexpr uint64_t kLongValue = uint64_t{16} << 10;

SequenceId LowestOf(const std::shared_ptr<StoreFile>& file) { return file->facts().lowest; }

uint64_t BytesOf(const StoreFiles& files) {
  uint64_t bytes = 0;
  for (const auto& file : files) bytes += file->facts().bytes;
  return bytes;
}

// One with another; 0: there is none.
uint64_t BytesOfCell(const StoreFiles& files) {
  int64_t cells = 0;
  for (const auto& file : files) cells += file->facts().cells;
  return cells == 0 ? 0 : BytesOf(files) / static_cast<uint64_t>(cells);
}

// How many such groups a read may look into for what it costs to read one of their cells.
uint64_t LooksWorthOneRead(const StoreFiles& group) {
  return std::min(BytesOfCell(group) / kBytesOfLook, kMostLooks);
}

// Those whose sequence ids overlap together, the oldest first.
std::vector<StoreFiles> GroupsByAge(StoreFiles files) {
  std::stable_sort(files.begin(), files.end(),
                   [](const auto& a, const auto& b) { return LowestOf(a) < LowestOf(b); });
  std::vector<StoreFiles> groups;
  SequenceId highest = 0;
  for (auto& file : files) {
    if (groups.empty() || LowestOf(file) > highest) groups.emplace_back();
    highest = std::max(highest, file->facts().highest);
    groups.back().push_back(std::move(file));
  }
  return groups;
}

bool AreLarge(const StoreFiles& files) {
  return std::all_of(files.begin(), files.end(),
                     [](const auto& file) { return file->facts().bytes >= kLeastOfUnit; });
}

size_t PieceOf(const std::vector<std::string>& cuts, std::string_view row) {
  return static_cast<size_t>(std::upper_bound(cuts.begin(), cuts.end(), row) - cuts.begin());
}

bool IsInOnePiece(const std::vector<std::string>& cuts, const FileFacts& facts) {
  return PieceOf(cuts, facts.first_row) == PieceOf(cuts, facts.last_row);
}

// From which sequence id on files are young: that of the oldest over several pieces, or less where
// it lies within a file's.
SequenceId FirstYoung(const StoreFiles& files, const std::vector<std::string>& cuts) {
  SequenceId first = kMaxSequenceId;
  for (const auto& file : files)
    if (!IsInOnePiece(cuts, file->facts())) first = std::min(first, LowestOf(file));
  for (bool again = true; std::exchange(again, false);) {
    for (const auto& file : files) {
      if (file->facts().highest < first || LowestOf(file) >= first) continue;
      first = LowestOf(file);
      again = true;
    }
  }
  return first;
}

void SortByRow(StoreFiles& files) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return a->facts().first_row < b->facts().first_row;
  });
}

struct Gap {
  std::string row;      // with which it ends
  uint64_t before = 0;  // bytes since the gap before
};

// Where one file ends and the next begins, once so many bytes lie before it.
std::vector<Gap> GapsBetween(StoreFiles files, uint64_t bytes) {
  SortByRow(files);
  std::vector<Gap> gaps;
  uint64_t before = 0;
  const std::string* last_row = nullptr;
  for (const auto& file : files) {
    const FileFacts& facts = file->facts();
    if (before >= bytes && *last_row < facts.first_row)
      gaps.push_back({facts.first_row, std::exchange(before, 0)});
    before += facts.bytes;
    if (last_row == nullptr || *last_row < facts.last_row) last_row = &facts.last_row;
  }
  return gaps;
}

}  // namespace

bool HaveLongValues(const StoreFiles& files) { return BytesOfCell(files) >= kLongValue; }

std::vector<FileUnit> UnitsOf(const StoreFiles& files) {
  std::vector<FileUnit> units;
  const std::vector<StoreFiles> groups = GroupsByAge(files);
  StoreFiles by_age;
  for (const StoreFiles& group : groups) by_age.insert(by_age.end(), group.begin(), group.end());
  std::vector<size_t> run_of;  // each file's
  const std::vector<FileRun> runs = RunsOf(by_age);
  for (size_t run = 0; run < runs.size(); ++run)
    run_of.insert(run_of.end(), runs[run].files.size(), run);
  size_t at = 0;
  uint64_t looks = 0;       // into the present unit, by a read
  uint64_t most_looks = 0;  // as many as are worth it
  for (size_t i = 0; i < groups.size(); ++i) {
    const bool are_large = i > 0 && AreLarge(groups[i - 1]) && AreLarge(groups[i]);
    const bool is_in_run = i > 0 && run_of[at - 1] == run_of[at + groups[i].size() - 1];
    at += groups[i].size();
    most_looks = std::min(most_looks, LooksWorthOneRead(groups[i]));
    const bool joins = are_large && (is_in_run || looks < most_looks);
    if (!joins) {
      units.emplace_back();
      looks = 0;
      most_looks = LooksWorthOneRead(groups[i]);
    }
    if (!joins || !is_in_run) ++looks;
    StoreFiles& of_unit = units.back().files;
    of_unit.insert(of_unit.end(), groups[i].begin(), groups[i].end());
    units.back().bytes += BytesOf(groups[i]);
  }
  return units;
}

KeyRanges::KeyRanges(const StoreFiles& files, const std::vector<std::string>& cuts) {
  pieces_.resize(cuts.size() + 1);
  for (size_t i = 0; i < cuts.size(); ++i) pieces_[i + 1].begin = cuts[i];
  const SequenceId first_young = FirstYoung(files, cuts);
  for (const auto& file : files) {
    const bool is_young = file->facts().highest >= first_young;
    (is_young ? young_ : pieces_[PieceOf(cuts, file->facts().first_row)]).files.push_back(file);
  }
  for (KeyPiece& piece : pieces_) piece.units = UnitsOf(piece.files);
  young_.units = UnitsOf(young_.files);
}

size_t KeyRanges::MostUnits() const {
  size_t most = 0;
  for (const KeyPiece& piece : pieces_) most = std::max(most, piece.units.size());
  return most + young_.units.size();
}

uint64_t KeyRanges::BytesBeyond(size_t units) const {
  uint64_t most = 0;
  for (const KeyPiece& piece : pieces_) {
    size_t seen = 0;
    uint64_t bytes = 0;
    for (const auto* of_age : {&piece.units, &young_.units})
      for (const FileUnit& unit : *of_age) bytes += ++seen > units ? unit.bytes : 0;
    most = std::max(most, bytes);
  }
  return most;
}

// Pieces have no row in common, so the newest runs of all of them are one, and so on.
std::vector<FileRun> KeyRanges::Runs() const {
  std::vector<FileRun> from_newest;
  for (const KeyPiece& piece : pieces_) {
    std::vector<FileRun> runs = RunsOf(piece.files);
    if (from_newest.size() < runs.size()) from_newest.resize(runs.size());
    for (size_t i = 0; i < runs.size(); ++i) {
      StoreFiles& files = from_newest[i].files;
      const StoreFiles& more = runs[runs.size() - 1 - i].files;
      files.insert(files.end(), more.begin(), more.end());
    }
  }
  std::reverse(from_newest.begin(), from_newest.end());
  std::vector<FileRun> runs = RunsOf(young_.files);
  from_newest.insert(from_newest.end(), std::make_move_iterator(runs.begin()),
                     std::make_move_iterator(runs.end()));
  return from_newest;
}

std::vector<std::string> KeyRanges::Recut(uint64_t bytes_of_piece) const {
  std::vector<std::string> cuts;
  bool is_begun = false;  // there is a file before
  for (const KeyPiece& piece : pieces_) {
    if (piece.files.empty()) continue;
    if (std::exchange(is_begun, true)) cuts.push_back(piece.begin);
    uint64_t left = BytesOf(piece.files);
    for (Gap& gap : GapsBetween(piece.files, bytes_of_piece)) {
      if (left <= 2 * bytes_of_piece) break;
      left -= gap.before;
      cuts.push_back(std::move(gap.row));
    }
  }
  return cuts;
}

std::vector<std::string> KeyRanges::Seams(uint64_t bytes_of_piece) const {
  std::vector<std::string> seams;
  for (const KeyPiece& piece : pieces_) {
    if (piece.units.empty()) continue;
    const std::vector<Gap> gaps = GapsBetween(piece.units.front().files, bytes_of_piece);
    if (!gaps.empty()) seams.push_back(gaps.front().row);
  }
  return seams;
}

}  // namespace cellfs
