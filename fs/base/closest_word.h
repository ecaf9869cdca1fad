// SPDX-License-Identifier: MIT
//
// The word that was meant by one that is not known: for "did you mean".
#ifndef CELLFS_FS_BASE_CLOSEST_WORD_H_
#define CELLFS_FS_BASE_CLOSEST_WORD_H_

#include <string>
#include <string_view>
#include <vector>

namespace cellfs::fs {

// ASCII's letters in upper case, for names that may be written either way.
std::string InUpperCase(std::string text);

// Which of the others is meant by a word that is none of them; empty: none is near.
std::string ClosestTo(std::string_view word, const std::vector<std::string>& others);

// Likewise of the name of an attribute, in either case, where others may have names of their own:
// one of few letters is not taken for a mistake unless it begins as the other does.
std::string MeantName(const std::string& name, const std::vector<std::string>& known);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_CLOSEST_WORD_H_
