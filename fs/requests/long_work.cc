// SPDX-License-Identifier: MIT
#include "fs/requests/long_work.h"

#include <utility>

#include "fs/requests/running_request.h"

namespace cellfs::fs {
namespace {

constexpr std::chrono::milliseconds kShort{10};

uid_t UserOf(const RunningRequest* request) { return request == nullptr ? 0 : request->uid(); }

Interruption* InterruptionOf(const RunningRequest* request) {
  return request == nullptr ? nullptr : request->interruption();
}

}  // namespace

LongWork::LongWork(ScanSlots& slots, Kind kind)
    : slots_(slots),
      kind_(kind),
      request_(RunningRequest::OfThisThread()),
      ticket_(UserOf(request_)) {}

LongWork::~LongWork() {
  if (!started_) return;
  if (Interruption* const interruption = InterruptionOf(request_)) interruption->StopHearing();
  slots_.Leave(ticket_);
}

void LongWork::Start() {
  started_ = true;
  slots_.Enter(ticket_);
  if (Interruption* const interruption = InterruptionOf(request_)) interruption->Hear(&heard_);
}

Outcome LongWork::Step() {
  const bool first = !std::exchange(took_a_step_, true);
  const auto now = Clock::now();
  if (first) since_ = now;
  if (first && kind_ == Kind::kMayBeShort) return {};
  if (!started_) Start();
  if (ticket_.cancelled()) return Outcome(EINTR);
  if (request_ == nullptr) return {};
  if (has_slot_ && now - since_ >= kLongestStep && slots_.waiting() > 0) {
    slots_.GiveBack(ticket_);
    has_slot_ = false;
  }
  const bool needs_slot = kind_ == Kind::kIsLong || now - since_ >= kShort;
  return has_slot_ || !needs_slot ? Outcome() : TakeSlot();
}

Outcome LongWork::TakeSlot() {
  CELLFS_RETURN_IF_FAILED(slots_.Take(ticket_));
  has_slot_ = true;
  since_ = Clock::now();
  return {};
}

}  // namespace cellfs::fs
