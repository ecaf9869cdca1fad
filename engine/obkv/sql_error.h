// SPDX-License-Identifier: MIT
//
// What a server of MySQL's protocol says of a statement that failed, in the engine's words: its own
// numbers, those of the client library, and OceanBase's that have none of MySQL's.
#ifndef CELLFS_ENGINE_OBKV_SQL_ERROR_H_
#define CELLFS_ENGINE_OBKV_SQL_ERROR_H_

#include <string_view>

#include "engine/status.h"

namespace cellfs::obkv {

// What is not known here is kIoError. kUnavailable where it may pass: the statement did nothing,
// and what its transaction had done is gone or can be rolled back.
Status StatusOfError(unsigned number, std::string_view message);
// Whether its transaction is rolled back with it; of others nobody knows it where they answer COMMIT.
bool RollsBack(unsigned number);
// Whether the server does not know, or does not support, what the statement says.
bool IsUnknownSyntax(unsigned number);
// Whether the session is gone with it: nobody knows then what has become of the statement.
bool EndsSession(unsigned number);

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_SQL_ERROR_H_
