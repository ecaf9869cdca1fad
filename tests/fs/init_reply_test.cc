// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <unistd.h>

#include <cerrno>

#include "fs/kernel/fuse_init_reply.h"

namespace cellfs::fs {
namespace {

struct Reply {
  fuse_out_header header{};
  fuse_init_out init{};
};

class InitReplyTest : public testing::Test {
 protected:
  InitReplyTest() { EXPECT_EQ(pipe(pipe_), 0); }
  ~InitReplyTest() override {
    for (const int end : pipe_) close(end);
  }

  // What the kernel gets of it.
  Reply Sent(Reply reply) {
    iovec parts[] = {{&reply.header, sizeof reply.header}, {&reply.init, sizeof reply.init}};
    EXPECT_EQ(written_.Write(pipe_[1], parts, 2), static_cast<ssize_t>(sizeof reply));
    Reply sent;
    EXPECT_EQ(read(pipe_[0], &sent, sizeof sent), static_cast<ssize_t>(sizeof sent));
    return sent;
  }

  InitReply written_;

 private:
  int pipe_[2];
};

TEST_F(InitReplyTest, TheFirstReplyGetsWhatItLacksAndKeepsTheRest) {
  Reply reply;
  reply.header.unique = 7;
  reply.init.major = FUSE_KERNEL_VERSION;
  reply.init.flags = FUSE_ASYNC_READ;
  reply.init.max_write = 1 << 20;
  written_.Ask(FUSE_PARALLEL_DIROPS);
  const Reply sent = Sent(reply);
  EXPECT_EQ(sent.init.flags, FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS);
  EXPECT_EQ(sent.header.unique, 7u);
  EXPECT_EQ(sent.init.major, static_cast<uint32_t>(FUSE_KERNEL_VERSION));
  EXPECT_EQ(sent.init.max_write, 1u << 20);
  EXPECT_EQ(Sent(reply).init.flags, static_cast<uint32_t>(FUSE_ASYNC_READ));
}

TEST_F(InitReplyTest, RingsAreAskedForWhereTheyCanBeMade) {
  Reply reply;
  reply.init.max_write = 3 << 20;
  reply.init.max_pages = 256;
  size_t largest = 0;
  for (const bool can_be_made : {true, false}) {
    written_.AskForRings([&](size_t size) {
      largest = size;
      return can_be_made;
    });
    const Reply sent = Sent(reply);
    EXPECT_EQ(sent.init.flags & FUSE_INIT_EXT, can_be_made ? FUSE_INIT_EXT : 0u);
    EXPECT_EQ(sent.init.flags2, can_be_made ? kFuseOverIoUring >> 32 : 0u);
  }
  EXPECT_EQ(largest, size_t{3} << 20);
}

TEST(OfferedFlagsTest, TheHighOnesCountWhereTheKernelSaysThatItSendsThem) {
  struct {
    fuse_in_header header{};
    fuse_init_in init{};
  } request;
  request.init.flags = FUSE_ASYNC_READ;
  request.init.flags2 = static_cast<uint32_t>(kFuseOverIoUring >> 32);
  EXPECT_EQ(OfferedFlags(&request, sizeof request), uint64_t{FUSE_ASYNC_READ});
  request.init.flags |= FUSE_INIT_EXT;
  EXPECT_EQ(OfferedFlags(&request, sizeof request),
            FUSE_ASYNC_READ | uint64_t{FUSE_INIT_EXT} | kFuseOverIoUring);
  EXPECT_EQ(OfferedFlags(&request, sizeof request - 1), 0u);
}

TEST_F(InitReplyTest, AnErrorStaysAsItIs) {
  Reply reply;
  reply.header.error = -EPROTO;
  written_.Ask(FUSE_PARALLEL_DIROPS);
  EXPECT_EQ(Sent(reply).init.flags, 0u);
}

}  // namespace
}  // namespace cellfs::fs
