// SPDX-License-Identifier: MIT
#include "engine/hbase/master.h"

#include <hbase.pb.h>

#include <algorithm>
#include <string>

namespace cellfs::hbase {
namespace {

using google::protobuf::MessageLite;

// Between two questions whether a procedure is over.
constexpr SteadyClock::duration kFirstPause = std::chrono::milliseconds(10);
constexpr SteadyClock::duration kLongestPause = std::chrono::milliseconds(500);

Status OutcomeUnknown(std::string_view method, const std::string& why) {
  return {StatusCode::kOutcomeUnknown,
          std::string(method) + " may be done or not, or be done yet: " + why};
}

// Whether the master that answered so has to be looked for.
bool IsNoMaster(const RemoteException& exception) {
  const Remedy remedy = RemedyFor(exception);
  return remedy == Remedy::kFindMaster || remedy == Remedy::kReconnect;
}

RemoteException ExceptionIn(const pb::ForeignExceptionMessage& message) {
  const pb::GenericExceptionMessage& exception = message.generic_exception();
  return {.class_name = exception.class_name(), .message = exception.message()};
}

}  // namespace

Status Master::Ask(std::string_view method, const MessageLite& request, MessageLite& response,
                   const Patience& patience) {
  return Call(method, request, response, patience).status;
}

Status Master::DoAgain(std::string_view method, const MessageLite& request, MessageLite& response,
                       const Patience& patience) {
  const Tried tried = Call(method, request, response, patience);
  return tried.may_have_happened ? OutcomeUnknown(method, tried.status.message()) : tried.status;
}

Status Master::DoProcedure(std::string_view method, const MessageLite& request,
                           const Patience& patience) {
  pb::ProcedureResponse taken;
  CELLFS_RETURN_IF_ERROR(DoAgain(method, request, taken, patience));
  if (!taken.has_proc_id()) return {};  // there was nothing to do
  return WaitForProcedure(method, taken.proc_id(), patience);
}

Status Master::WaitForProcedure(std::string_view method, uint64_t procedure,
                                const Patience& patience) {
  pb::GetProcedureResultRequest request;
  request.set_proc_id(procedure);
  for (auto pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    pb::GetProcedureResultResponse response;
    const Status asked = Ask("getProcedureResult", request, response, patience);
    if (!asked.ok()) return OutcomeUnknown(method, asked.message());
    switch (response.state()) {
      case pb::GetProcedureResultResponse::FINISHED:
        return response.has_exception() ? StatusOf(ExceptionIn(response.exception())) : Status();
      case pb::GetProcedureResultResponse::NOT_FOUND:
        return OutcomeUnknown(method, "the master has forgotten it");
      case pb::GetProcedureResultResponse::RUNNING: break;
    }
    if (!Wait(pause, patience)) return OutcomeUnknown(method, "the master has not ended it");
  }
}

// May be made again, whatever it is: it changes nothing, or it has a nonce.
Master::Tried Master::Call(std::string_view method, const MessageLite& request,
                           MessageLite& response, const Patience& patience) {
  Attempts attempts(options_.attempts, patience);
  Tried tried;
  for (;;) {
    const Reply reply = Try(method, request, patience);
    std::optional<std::chrono::milliseconds> pause;
    if (reply.end != Reply::End::kAnswered) {
      Forget();
      tried.may_have_happened |= reply.end == Reply::End::kUnanswered;
      tried.status = reply.why;
    } else if (const auto& exception = reply.answer.exception()) {
      tried.status = StatusOf(*exception);
      if (RemedyFor(*exception) == Remedy::kNone) {
        tried.may_have_happened = false;  // by its nonce it would have known it
        return tried;
      }
      if (IsNoMaster(*exception)) Forget();
      pause = PauseIn(*exception);
    } else {
      tried.status = reply.answer.ParseResult(response);
      return {tried.status, !tried.status.ok()};
    }
    if (attempts.WaitForNext(pause)) continue;
    tried.status = attempts.End(tried.status);
    return tried;
  }
}

Reply Master::Try(std::string_view method, const MessageLite& request, const Patience& patience) {
  Patience share = patience;
  share.deadline = std::min(patience.deadline, SteadyClock::now() + options_.call_timeout);
  const auto master = Find(share);
  if (!master.ok()) return {Reply::End::kNotSent, {}, master.status()};
  const auto connection = pool_.To(*master, Service::kMaster, share);
  if (!connection.ok()) return {Reply::End::kNotSent, {}, connection.status()};
  return (*connection)->Make({.method = method, .parameter = &request}, share);
}

StatusOr<ServerAddress> Master::Find(const Patience& patience) {
  {
    const std::lock_guard lock(mutex_);
    if (active_) return *active_;
  }
  CELLFS_ASSIGN_OR_RETURN(const ServerAddress found, registry_.ActiveMaster(patience));
  const std::lock_guard lock(mutex_);
  active_ = found;
  return found;
}

void Master::Forget() {
  const std::lock_guard lock(mutex_);
  active_.reset();
}

}  // namespace cellfs::hbase
