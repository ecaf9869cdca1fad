// SPDX-License-Identifier: MIT
//
// CellLine: what a line says of a cell or tombstone, for import and mutate; as `scan --json` and
// `export` write it (docs/export-format.md), in any order:
//
//     "table", "row", "column" or "family" and "qualifier", "timestamp", "type", "ttl", "value",
//     "amount" (of an Increment), "sequence" (when it was written), "shown" (nothing that counts)
#ifndef CELLFS_SRC_COMMANDS_CELL_LINE_H_
#define CELLFS_SRC_COMMANDS_CELL_LINE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "engine/mutation.h"
#include "engine/status_or.h"

namespace cellfs {

class CellLine {
 public:
  enum Member {
    kTable,
    kRow,
    kColumn,
    kFamily,
    kQualifier,
    kTimestamp,
    kType,
    kTtl,
    kValue,
    kAmount,
    kShown,
    kSequence,
    kUnknown,  // any other
  };
  static Member MemberOf(std::string_view name);

  static CellLine Of(const nlohmann::json& object);
  void SetText(Member member, std::string text) { Set(member, {Kind::kText, std::move(text), 0}); }
  void SetNumber(Member member, int64_t number) { Set(member, {Kind::kNumber, {}, number}); }
  // A number that takes more than 8 bytes with a sign.
  void SetGreatNumber(Member member) { Set(member, {Kind::kGreatNumber, {}, 0}); }
  // Neither text nor a number.
  void SetOther(Member member) { Set(member, {Kind::kOther, {}, 0}); }
  // What it is called that is not known.
  void SetUnknown(std::string name) { SetText(kUnknown, std::move(name)); }
  void Clear() {
    for (Said& said : said_) said.kind = Kind::kNothing;
  }

  bool Has(Member member) const { return said_[member].kind != Kind::kNothing; }
  // Empty: it is no text, or not there.
  const std::string& Text(Member member) const {
    static const std::string none;
    return said_[member].kind == Kind::kText ? said_[member].text : none;
  }
  std::string TakeText(Member member) {
    return said_[member].kind == Kind::kText ? std::move(said_[member].text) : std::string();
  }
  int64_t NumberOr(Member member, int64_t otherwise) const {
    return said_[member].kind == Kind::kNumber ? said_[member].number : otherwise;
  }
  // When the cell was written, as its store told; 0: it did not.
  uint64_t Sequence() const {
    return static_cast<uint64_t>(std::max<int64_t>(0, NumberOr(kSequence, 0)));
  }

  // kIllegalArgument: what is wrong with it. Its row and value may be gone after that.
  StatusOr<Mutation> TakeMutation();

 private:
  enum class Kind { kNothing, kText, kNumber, kGreatNumber, kOther };
  struct Said {
    Kind kind = Kind::kNothing;
    std::string text;
    int64_t number = 0;
  };

  void Set(Member member, Said said) { said_[member] = std::move(said); }
  Status CheckTexts() const;
  Status CheckMembers(std::string_view type, bool is_tombstone) const;
  StatusOr<int64_t> Number(Member member, int64_t otherwise) const;
  StatusOr<int64_t> TimeToLive() const;
  StatusOr<std::string> TakeValue();
  Status TakeColumn(std::string& family, std::string& qualifier, bool& has_qualifier);
  StatusOr<Mutation> TakeTombstone(CellType type, Timestamp timestamp);

  std::array<Said, kUnknown + 1> said_;
};

// kIllegalArgument: it is none of a cell, in milliseconds.
Status CheckTimeToLive(int64_t ttl);
// Of its first cell.
const std::string& FamilyOf(const Mutation& mutation);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_CELL_LINE_H_
