// SPDX-License-Identifier: MIT
//
// WantedColumns: the columns of a family that a read names, or all, without a copy: what they were
// made of outlives them.
#ifndef CELLFS_ENGINE_VISIBILITY_WANTED_COLUMNS_H_
#define CELLFS_ENGINE_VISIBILITY_WANTED_COLUMNS_H_

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cellfs {

class WantedColumns {
 public:
  WantedColumns() = default;                                          // all
  WantedColumns(const std::set<std::string>* names) : set_(names) {}  // NOLINT; null: all
  static WantedColumns One(std::string_view name) {
    WantedColumns names;
    names.one_ = name;
    return names;
  }

  bool AreAll() const { return set_ == nullptr && !one_; }
  // Of those that are named.
  template <typename Condition>
  bool AnyOf(const Condition& holds_for) const {
    if (one_) return holds_for(*one_);
    return set_ != nullptr && std::any_of(set_->begin(), set_->end(), holds_for);
  }
  // The first one named at or after `from`.
  std::optional<std::string_view> FirstFrom(std::string_view from) const {
    if (one_) return *one_ < from ? std::nullopt : one_;
    if (set_ == nullptr) return std::nullopt;
    const auto found = set_->lower_bound(std::string(from));
    if (found == set_->end()) return std::nullopt;
    return *found;
  }

 private:
  const std::set<std::string>* set_ = nullptr;
  std::optional<std::string_view> one_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_WANTED_COLUMNS_H_
