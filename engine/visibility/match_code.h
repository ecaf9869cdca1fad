// SPDX-License-Identifier: MIT
//
// What a matcher says of a cell, and where the walk goes on (ScanQueryMatcher.MatchCode).
#ifndef CELLFS_ENGINE_VISIBILITY_MATCH_CODE_H_
#define CELLFS_ENGINE_VISIBILITY_MATCH_CODE_H_

namespace cellfs {

enum class MatchCode {
  kInclude,
  kIncludeAndSeekNextColumn,
  kIncludeAndSeekNextRow,
  kSkip,
  kSeekNextColumn,
  kSeekNextRow,
  kSeekNextUsingHint,
  kDoneScan,  // the filter wants nothing more of this family, in no row
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_MATCH_CODE_H_
