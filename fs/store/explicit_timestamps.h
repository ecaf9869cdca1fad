// SPDX-License-Identifier: MIT
//
// ExplicitTimestamps: Stamping::kAboveColumn and kReadable for a store that knows neither. The
// timestamps are chosen from what lies on the columns, as a store would (engine/column_head.h), and
// given with the mutations. Another writer may come in between: `guard` says what must hold when
// they are made, and Choose is called again where it does not.
#ifndef CELLFS_FS_STORE_EXPLICIT_TIMESTAMPS_H_
#define CELLFS_FS_STORE_EXPLICIT_TIMESTAMPS_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/clock.h"
#include "engine/column_head.h"
#include "engine/store.h"

namespace cellfs::fs {

class ExplicitTimestamps {
 public:
  // Of one column: nothing is visible in this range of time.
  struct Guard {
    std::string family;
    std::string qualifier;
    TimeRange empty_range;
  };

  // From here on `mutations` ask for no stamping. They stay where they are: they may be moved, but
  // not copied or changed. An Append stands alone in them.
  ExplicitTimestamps(Store& store, const Clock& clock, const TableName& table,
                     RowMutations& mutations);

  // Gives the mutations their timestamps. kTimestampsExhausted, kTimestampUnreadable; kIoError where
  // this machine's clock is none to choose one by.
  Status Choose();
  // That nothing later has come to the column that is put; nullopt: nothing is put above one.
  const std::optional<Guard>& guard() const { return guard_; }
  // What a store that stamps would have told.
  void Complete(MutationResult& result) const;

 private:
  struct Stamped {
    const std::string* family;
    const std::string* qualifier;
    StampWish wish;
    Timestamp* timestamp;
    bool is_put = false;
  };
  struct Readable {
    const PutCell* cell;
    int64_t time_to_live;
  };

  void Take(Put& put);
  void Take(Delete& deletion);
  void Take(Append& append);
  Status CheckClock() const;
  void WaitForStamps() const;
  Status Stamp(const Stamped& one, const FamilySchema& family);
  Status CheckReadable(const Readable& put, const FamilySchema& family);
  bool IsHiddenByStep(const PutCell& put) const;

  Store& store_;
  const Clock& clock_;
  const TableName& table_;
  const std::string row_;
  std::vector<Stamped> stamped_;
  std::vector<Readable> readable_;
  std::vector<const DeleteMarker*> markers_;
  bool is_append_ = false;
  std::optional<Guard> guard_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_EXPLICIT_TIMESTAMPS_H_
