// SPDX-License-Identifier: MIT
//
// Snapshot<T>: an immutable state as a getter hands it out, which stays good for whoever holds it
// while the getter's owner goes on to the next one. It may be the last holder, so that what is read
// through a temporary may go with it: `for (auto& t : directory.catalog()->tables)` walks in freed
// memory where somebody replaces the catalog meanwhile, and no compiler warns of it. So nothing can
// be read through a temporary:
//
//     const Snapshot<Catalog> catalog = directory.catalog();
//     for (const auto& [name, table] : catalog->tables) ...
#ifndef CELLFS_ENGINE_SNAPSHOT_H_
#define CELLFS_ENGINE_SNAPSHOT_H_

#include <cstddef>
#include <memory>
#include <utility>

namespace cellfs {

// As thread-safe as std::shared_ptr.
template <typename T>
class Snapshot {
 public:
  Snapshot(std::shared_ptr<const T> state) : state_(std::move(state)) {}  // NOLINT

  // REQUIRES: not null.
  const T& operator*() const& { return *state_; }
  const T* operator->() const& { return state_.get(); }
  const T& operator*() const&& = delete;
  const T* operator->() const&& = delete;

  friend bool operator==(const Snapshot& snapshot, std::nullptr_t) {
    return snapshot.state_ == nullptr;
  }

  // To be kept on.
  operator std::shared_ptr<const T>() const { return state_; }  // NOLINT

 private:
  std::shared_ptr<const T> state_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_SNAPSHOT_H_
