// SPDX-License-Identifier: MIT
#include "engine/hbase/nonces.h"

#include <random>

namespace cellfs::hbase {

uint64_t NewNonce() {
  thread_local std::mt19937_64 random(
      (uint64_t{std::random_device{}()} << 32) ^ std::random_device{}());
  return random() | 1;
}

uint64_t NonceGroup() {
  static const uint64_t group = NewNonce();
  return group;
}

}  // namespace cellfs::hbase
