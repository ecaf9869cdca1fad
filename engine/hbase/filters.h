// SPDX-License-Identifier: MIT
//
// The engine's filters as HBase's messages: the Java class by name, and what that class makes of
// its own message.
#ifndef CELLFS_ENGINE_HBASE_FILTERS_H_
#define CELLFS_ENGINE_HBASE_FILTERS_H_

#include "engine/filters.h"
#include "engine/status_or.h"

namespace cellfs::hbase {

namespace pb {
class Comparator;
class Filter;
}  // namespace pb

// kUnsupportedOperation for a filter that is code alone (MakeVisibleCellsFilter), also as a part of
// another one. What is in `message` then is of no use.
Status Write(const Filter& filter, pb::Filter& message);

bool CanBeSent(const Filter& filter);

void Write(const Comparator& comparator, pb::Comparator& message);

// KeyOnlyFilter with the length as value, behind the filter that `message` has, if any.
void AddLengthsOnly(pb::Filter& message);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_FILTERS_H_
