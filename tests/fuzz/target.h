// SPDX-License-Identifier: MIT
//
// A fuzz target takes any bytes and must neither crash nor hang nor break its own rules
// (FUZZ_CHECK). With libFuzzer (-Dfuzz=true, clang) it is fed with inventions; else replay.cc feeds
// it the corpus.
#ifndef CELLFS_TESTS_FUZZ_TARGET_H_
#define CELLFS_TESTS_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#define FUZZ_CHECK(condition)                                                 \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                \
    }                                                                         \
  } while (false)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

inline std::string_view AsText(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

#endif  // CELLFS_TESTS_FUZZ_TARGET_H_
