// SPDX-License-Identifier: MIT
//
// The engine's words for writes as HBase's messages. Rows, columns and values lie in the message;
// none goes into a cell block.
#ifndef CELLFS_ENGINE_HBASE_MUTATIONS_H_
#define CELLFS_ENGINE_HBASE_MUTATIONS_H_

#include <vector>

#include "engine/mutation.h"
#include "engine/status_or.h"

namespace cellfs::hbase {

namespace pb {
class Condition;
class MutationProto;
}  // namespace pb

// kUnsupportedOperation for what is ours alone: to withdraw, and to stamp otherwise than HBase
// does.
Status Write(const Mutation& mutation, Durability durability, pb::MutationProto& message);

// kUnsupportedOperation for a filter that is code alone.
Status Write(const cellfs::CheckAndMutate& check, pb::Condition& message);

// Whether the store is the same when it is done twice: all its timestamps are the caller's.
bool IsRepeatable(const Mutation& mutation);

// Whether it adds to what is there: it has a nonce, by which a server knows what it has done.
bool TakesNonce(const Mutation& mutation);

// What MutationResult::timestamps says of it; a server does not tell which it chose, so
// kLatestTimestamp stands for that.
void AddTimestamps(const Mutation& mutation, std::vector<Timestamp>& timestamps);

// How a conditional change ends of which one try was not answered, and a later one answered that the
// condition does not hold: the first may have seen to that.
Status MayHaveEndedIt();

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_MUTATIONS_H_
