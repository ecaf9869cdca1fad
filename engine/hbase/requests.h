// SPDX-License-Identifier: MIT
//
// The engine's words for reads as HBase's messages.
#ifndef CELLFS_ENGINE_HBASE_REQUESTS_H_
#define CELLFS_ENGINE_HBASE_REQUESTS_H_

#include "engine/filters.h"
#include "engine/hbase/region.h"
#include "engine/read.h"
#include "engine/status_or.h"

namespace cellfs::hbase {

namespace pb {
class Get;
class RegionSpecifier;
class Scan;
class TimeRange;
enum CompareType : int;
}  // namespace pb

void Name(const Region& region, pb::RegionSpecifier& specifier);

void Write(const TimeRange& range, pb::TimeRange& message);

pb::CompareType CompareTypeOf(CompareOperator op);

// kUnsupportedOperation for what a cluster does not know: a moment, a filter that cannot be sent.
Status Write(const Get& get, pb::Get& message);
// All but where it starts and how many rows it is asked for at once.
Status Write(const Scan& scan, pb::Scan& message);

// Whether the values of a read for lengths only come as their length (KeyOnlyFilter), not whole. A
// raw scan without a filter counts versions otherwise than one with it, so it has none added.
inline bool ComesAsLengths(const Get& get) { return get.lengths_only; }
inline bool ComesAsLengths(const Scan& scan) {
  const bool counts = scan.raw && scan.filter == nullptr && scan.max_versions != kAllVersions;
  return scan.lengths_only && !counts;
}
// Of a read for lengths only: puts lengths in their place. kIoError where a value is none.
Status TakeLengths(bool come_as_lengths, RowCells& cells);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_REQUESTS_H_
