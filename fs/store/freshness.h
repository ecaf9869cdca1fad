// SPDX-License-Identifier: MIT
//
// Freshness: for how long what was read from the store may be shown as the present. Everything that
// keeps something asks here: kernel time-outs, pages and listings, the cells that nodes know,
// attributes.
//   - Exact: whatever changes is changed by this mount, or told to it. What was read is true until
//     then, so it is kept for ever.
//   - Bounded: others write to the store, and nobody tells. Names and attributes are kept up to an
//     age; pages, listings and cells are not kept beyond the request or the open file they are for.
#ifndef CELLFS_FS_STORE_FRESHNESS_H_
#define CELLFS_FS_STORE_FRESHNESS_H_

#include <cstdint>

#include "engine/clock.h"
#include "engine/store_traits.h"

namespace cellfs::fs {

// Seconds; what stands for "until told otherwise".
inline constexpr double kForeverSeconds = 1e9;

// Thread-safe.
class Freshness {
 public:
  Freshness(const StoreTraits& traits, const Clock& clock)
      : clock_(clock),
        is_exact_(!traits.has_other_writers),
        max_age_ms_(traits.max_staleness_ms / 2) {}

  bool is_exact() const { return is_exact_; }

  // How long the kernel may keep a name or attributes. What this process has kept before comes on
  // top, so each of the two gets half of what the store allows.
  double ValidSeconds() const {
    return is_exact_ ? kForeverSeconds : static_cast<double>(max_age_ms_) / 1000;
  }

  // To be noted before something is read that is to be kept.
  Timestamp Now() const { return is_exact_ ? 0 : clock_.Now(); }
  // Whether it may still be shown. Not in the last millisecond, of which it may be the end: with
  // an age of 0 nothing may.
  bool IsFresh(Timestamp read_at) const {
    if (is_exact_) return true;
    const int64_t age = clock_.Now() - read_at;
    return age >= 0 && age < max_age_ms_;
  }
  // False: nothing that was read is ever shown again.
  bool KeepsAnything() const { return is_exact_ || max_age_ms_ > 0; }

 private:
  const Clock& clock_;
  const bool is_exact_;
  const int64_t max_age_ms_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_FRESHNESS_H_
