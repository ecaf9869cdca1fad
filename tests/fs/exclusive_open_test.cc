// SPDX-License-Identifier: MIT
#include "fs/requests/exclusive_open.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <sstream>
#include <string>

namespace cellfs::fs {
namespace {

// As /proc/<thread>/syscall has it: arguments, stack and instruction pointer behind the number.
std::string CallOf(long number, int second, int third) {
  std::ostringstream text;
  text << number << " 0xffffff9c 0x" << std::hex << second << " 0x" << third
       << " 0x1a4 0x0 0x0 0x7ffe5b1b4c50 0x7f3b0a5141b4";
  return text.str();
}

TEST(ExclusiveOpen, IsKnownByItsFlags) {
  constexpr int kPath = 0x7ffe0000;
  EXPECT_TRUE(IsExclusiveOpen(CallOf(SYS_openat, kPath, O_WRONLY | O_CREAT | O_EXCL)));
  EXPECT_TRUE(IsExclusiveOpen(CallOf(SYS_openat, kPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)));
  EXPECT_FALSE(IsExclusiveOpen(CallOf(SYS_openat, kPath, O_WRONLY | O_CREAT | O_TRUNC)));
  EXPECT_FALSE(IsExclusiveOpen(CallOf(SYS_openat, kPath, O_RDONLY)));
  EXPECT_FALSE(IsExclusiveOpen(CallOf(SYS_openat, O_CREAT | O_EXCL, O_RDONLY)));
  EXPECT_FALSE(IsExclusiveOpen(CallOf(SYS_newfstatat, kPath, O_CREAT | O_EXCL)));
#ifdef SYS_open
  EXPECT_TRUE(IsExclusiveOpen(CallOf(SYS_open, O_WRONLY | O_CREAT | O_EXCL, 0644)));
  EXPECT_FALSE(IsExclusiveOpen(CallOf(SYS_open, O_WRONLY, O_CREAT | O_EXCL)));
#endif
}

TEST(ExclusiveOpen, IsNotKnownOfWhatCannotBeSeen) {
  for (const char* text : {"", "running", "-1 0x7ffe5b1b4c50 0x7f3b0a5141b4", "257", "open"})
    EXPECT_FALSE(IsExclusiveOpen(text)) << text;
  EXPECT_FALSE(MakesExclusively(0));
  EXPECT_FALSE(MakesExclusively(1 << 30));  // there is none
}

}  // namespace
}  // namespace cellfs::fs
