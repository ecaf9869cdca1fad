// SPDX-License-Identifier: MIT
//
// GivingUp: a call that waits for others, of a cluster's store, ends with kCancelled (a change that
// may have been made: with kOutcomeUnknown) once nobody waits for it any more. Who serves others
// says whether they still do:
//
//     class Request : public GivingUp { ... };
//     Request request;
//     GivingUp::OfThisThread() = &request;  // as long as the thread works for it
//
// Beside it a read has `cancelled` (engine/read.h), which ends work as well as waiting.
#ifndef CELLFS_ENGINE_GIVING_UP_H_
#define CELLFS_ENGINE_GIVING_UP_H_

namespace cellfs {

class GivingUp {
 public:
  virtual ~GivingUp() = default;

  // Asked some ten times a second while a call waits, by any thread.
  virtual bool HasGivenUp() const noexcept = 0;

  // Null: nobody says it.
  static const GivingUp*& OfThisThread() { return of_this_thread_; }

 private:
  static inline constinit thread_local const GivingUp* of_this_thread_ = nullptr;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_GIVING_UP_H_
