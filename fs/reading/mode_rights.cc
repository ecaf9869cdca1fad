// SPDX-License-Identifier: MIT
#include "fs/reading/mode_rights.h"

#include "fs/reading/filter_rights.h"

namespace cellfs::fs {
namespace {

Credentials CredentialsOf(const Request& request) {
  const RunningRequest* const running = RunningRequest::OfThisThread();
  return running != nullptr ? running->FindCredentials() : Credentials{request.uid, {request.gid}};
}

}  // namespace

bool IsBoundByModes(const Reading& reading, const Request& request) {
  return reading.AreModesEnforced() && request.uid != 0;
}

Status CheckMode(const Reading& reading, const Request& request, const Place& place,
                 const OwnerAndMode& owner, mode_t permissions) {
  if (!IsBoundByModes(reading, request)) return {};
  if (Allows(owner, CredentialsOf(request), permissions)) return {};
  return {StatusCode::kAccessDenied, "the mode of " + place.ToString() + " does not allow it"};
}

}  // namespace cellfs::fs
