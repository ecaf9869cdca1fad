// SPDX-License-Identifier: MIT
//
// RandomCase: a case of random steps, without expectations. The same seed gives the same case
// everywhere. What HBase itself gets wrong, or leaves open, does not come (README.md has the list).
#ifndef CELLFS_TESTS_CONFORMANCE_RANDOM_CASE_H_
#define CELLFS_TESTS_CONFORMANCE_RANDOM_CASE_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "case_json.h"

namespace cellfs::conformance {

struct RandomCaseOptions {
  int puts = 8;    // before the steps
  int steps = 26;  // of all kinds
  int scans = 12;  // after the steps
  // HBase before 2.6.6 keeps more tombstones in a flush and hides cells past their own TTL from raw
  // scans. False: raw scans come in cases that have neither.
  bool raw_scans = true;
};

Json RandomCase(uint64_t seed, const RandomCaseOptions& options);

}  // namespace cellfs::conformance

#endif  // CELLFS_TESTS_CONFORMANCE_RANDOM_CASE_H_
