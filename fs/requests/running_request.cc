// SPDX-License-Identifier: MIT
#include "fs/requests/running_request.h"

#include <utility>

namespace cellfs::fs {
namespace {

thread_local RunningRequest* of_this_thread = nullptr;

}  // namespace

RunningRequest::RunningRequest(uid_t uid, Interruption* interruption, const CallerGroups* groups,
                               pid_t pid)
    : uid_(uid),
      pid_(pid),
      interruption_(interruption),
      groups_(groups),
      before_(std::exchange(of_this_thread, this)),
      giving_up_before_(std::exchange(GivingUp::OfThisThread(), this)) {}

RunningRequest::~RunningRequest() {
  of_this_thread = before_;
  GivingUp::OfThisThread() = giving_up_before_;
}

bool RunningRequest::HasGivenUp() const noexcept {
  return interruption_ != nullptr && !will_reply_ && interruption_->HasHappened();
}

Credentials RunningRequest::FindCredentials() const {
  return {uid_, groups_ == nullptr ? std::vector<gid_t>() : groups_->All()};
}

RunningRequest* RunningRequest::OfThisThread() { return of_this_thread; }

uid_t RunningRequest::UserOfThisThread() {
  const RunningRequest* const request = OfThisThread();
  return request == nullptr ? 0 : request->uid();
}

pid_t RunningRequest::AskerOfThisThread() {
  const RunningRequest* const request = OfThisThread();
  return request == nullptr ? 0 : request->pid();
}

}  // namespace cellfs::fs
