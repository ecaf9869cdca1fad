// SPDX-License-Identifier: MIT
//
// Feeds a fuzz target every file of the directories named, each also cut at every place and with
// single bits flipped.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/fuzz/target.h"

namespace {

void Feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

void FeedWithFaults(const std::string& bytes) {
  Feed(bytes);
  const size_t step = bytes.size() / 200 + 1;
  for (size_t i = 0; i < bytes.size(); i += step) {
    Feed(bytes.substr(0, i));
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << i % 8));
    Feed(flipped);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      FeedWithFaults(bytes.str());
      ++files;
    }
  }
  printf("%d files of the corpus\n", files);
  return files > 0 ? 0 : 1;
}
