// SPDX-License-Identifier: MIT
#include "fs/files/file_handle.h"

#include <algorithm>

namespace cellfs::fs {

SharedBytes SharedBytes::Slice(std::shared_ptr<const std::string> whole, uint64_t offset,
                               size_t size) {
  const std::string_view all = *whole;
  const size_t begin = static_cast<size_t>(std::min<uint64_t>(offset, all.size()));
  return {std::move(whole), all.substr(begin, size)};
}

SharedBytes SharedBytes::Copy(const std::string& bytes, uint64_t offset, size_t size) {
  if (offset >= bytes.size()) return {};
  return Slice(std::make_shared<const std::string>(bytes.substr(offset, size)), 0, size);
}

}  // namespace cellfs::fs
