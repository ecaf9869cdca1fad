// SPDX-License-Identifier: MIT
//
// Nonces: by the same one a server knows that what comes again is the same thing, and does it once.
#ifndef CELLFS_ENGINE_HBASE_NONCES_H_
#define CELLFS_ENGINE_HBASE_NONCES_H_

#include <cstdint>

namespace cellfs::hbase {

// Never 0, which stands for none.
uint64_t NewNonce();

// Of this process: nonces are its own.
uint64_t NonceGroup();

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_NONCES_H_
