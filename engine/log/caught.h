// SPDX-License-Identifier: MIT
#ifndef CELLFS_ENGINE_LOG_CAUGHT_H_
#define CELLFS_ENGINE_LOG_CAUGHT_H_

#include <exception>

#include "engine/status.h"

namespace cellfs {

// What is done to a file has an end that the log must know, also where memory runs out on the way:
// then it counts as failed. The text is so short that it needs none.
template <typename Act>
Status Caught(Act&& act) {
  try {
    return act();
  } catch (const std::exception&) {
    return {StatusCode::kIoError, "no memory"};
  }
}

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_CAUGHT_H_
