// SPDX-License-Identifier: MIT
//
// Descriptor: an open file descriptor, which is closed with it.
#ifndef CELLFS_ENGINE_DESCRIPTOR_H_
#define CELLFS_ENGINE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace cellfs {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }  // -1: there is none

 private:
  int fd_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_DESCRIPTOR_H_
