// SPDX-License-Identifier: MIT
#include "fs/base/account_names.h"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <limits>
#include <vector>

namespace cellfs::fs {
namespace {

// The last one stands for none.
std::optional<uint32_t> AccountNumber(const std::string& word) {
  uint32_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  const bool is_one = error == std::errc() && rest == end &&
                      number != std::numeric_limits<uint32_t>::max();
  return is_one ? std::optional(number) : std::nullopt;
}

// Of a group it is as much as all its members' names take.
template <typename Entry, typename Ask>
bool FindAccount(Entry& entry, const Ask& ask) {
  std::vector<char> buffer(16384);
  while (true) {
    Entry* found = nullptr;
    const int error = ask(&entry, buffer, &found);
    if (error == EINTR) continue;
    if (error != ERANGE || buffer.size() > (size_t{1} << 24)) return found != nullptr;
    buffer.resize(2 * buffer.size());
  }
}

}  // namespace

std::optional<uid_t> UserNamed(const std::string& word) {
  if (const auto number = AccountNumber(word)) return number;
  passwd entry{};
  const auto ask = [&](passwd* user, std::vector<char>& buffer, passwd** found) {
    return getpwnam_r(word.c_str(), user, buffer.data(), buffer.size(), found);
  };
  return FindAccount(entry, ask) ? std::optional(entry.pw_uid) : std::nullopt;
}

std::optional<gid_t> GroupNamed(const std::string& word) {
  if (const auto number = AccountNumber(word)) return number;
  group entry{};
  const auto ask = [&](group* of_name, std::vector<char>& buffer, group** found) {
    return getgrnam_r(word.c_str(), of_name, buffer.data(), buffer.size(), found);
  };
  return FindAccount(entry, ask) ? std::optional(entry.gr_gid) : std::nullopt;
}

}  // namespace cellfs::fs
