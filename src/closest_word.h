// SPDX-License-Identifier: MIT
//
// The word that was meant by one that is not known: for "did you mean".
#ifndef CELLFS_SRC_CLOSEST_WORD_H_
#define CELLFS_SRC_CLOSEST_WORD_H_

#include <string>
#include <string_view>
#include <vector>

namespace cellfs {

// Which of the others is meant by a word that is none of them; empty: none is near.
std::string ClosestTo(std::string_view word, const std::vector<std::string>& others);

}  // namespace cellfs

#endif  // CELLFS_SRC_CLOSEST_WORD_H_
