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

TEST_F(InitReplyTest, AnErrorStaysAsItIs) {
  Reply reply;
  reply.header.error = -EPROTO;
  written_.Ask(FUSE_PARALLEL_DIROPS);
  EXPECT_EQ(Sent(reply).init.flags, 0u);
}

}  // namespace
}  // namespace cellfs::fs
