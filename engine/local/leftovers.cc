// SPDX-License-Identifier: MIT
#include "engine/local/leftovers.h"

#include <string_view>
#include <utility>

namespace cellfs {
namespace {

constexpr std::string_view kMarkOfLeftover = ".gone";

}  // namespace

void Leftovers::Add(const std::string& path) {
  std::string aside = path;
  if (!path.ends_with(kMarkOfLeftover)) {
    aside += kMarkOfLeftover;
    if (!files_.Rename(path, aside).ok()) return;
  }
  const std::lock_guard lock(mutex_);
  paths_.push_back(std::move(aside));
}

void Leftovers::Remove(const std::function<bool()>& stopped) {
  while (!stopped()) {
    std::string path;
    {
      const std::lock_guard lock(mutex_);
      if (paths_.empty()) return;
      path = std::move(paths_.back());
      paths_.pop_back();
    }
    static_cast<void>(files_.Remove(path));
  }
}

}  // namespace cellfs
