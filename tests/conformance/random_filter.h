// SPDX-License-Identifier: MIT
//
// RandomFilter: any filter of a case, filters within filters and lists included. Where HBase itself
// goes wrong with one, it does not come (README.md has the list).
#ifndef CELLFS_TESTS_CONFORMANCE_RANDOM_FILTER_H_
#define CELLFS_TESTS_CONFORMANCE_RANDOM_FILTER_H_

#include "random_scene.h"

namespace cellfs::conformance {

struct FilterPlace {
  int depth = 1;  // how many filters may lie in each other
  bool raw = false;
  bool in_while_match = false;
};

Json RandomFilter(RandomScene& scene, const FilterPlace& place);

}  // namespace cellfs::conformance

#endif  // CELLFS_TESTS_CONFORMANCE_RANDOM_FILTER_H_
