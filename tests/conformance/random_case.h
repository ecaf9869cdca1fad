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
  int steps = 30;
  bool raw_scans =
      true;  // HBase before 2.6.6 keeps more markers in a flush, and hides expired cells
};

Json RandomCase(uint64_t seed, const RandomCaseOptions& options);

}  // namespace cellfs::conformance

#endif  // CELLFS_TESTS_CONFORMANCE_RANDOM_CASE_H_
