// SPDX-License-Identifier: MIT
#include "engine/hbase/connection.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "engine/big_endian.h"
#include "engine/hbase/socket.h"
#include "engine/waiting.h"

namespace cellfs::hbase {
namespace {

// A server that refuses the connection as a whole says so in the answer to this call.
constexpr uint32_t kTheConnection = 0xffffffff;
constexpr uint32_t kTheOpening = 0;  // what is sent before the first call

// Puts together the frames that come in pieces.
class FrameReader {
 public:
  // Room for the bytes that are to come next.
  std::pair<char*, size_t> Room() {
    if (length_ == 0) return {head_ + filled_, sizeof head_ - filled_};
    // No faster than the bytes come: a server that promises much gets no memory for it.
    const size_t room = std::min<size_t>(length_ - filled_, kStep);
    frame_.resize(filled_ + room);
    return {frame_.data() + filled_, room};
  }
  // So many have come. False where no frame can be so long.
  bool Filled(size_t bytes) {
    filled_ += bytes;
    if (length_ != 0 || filled_ < sizeof head_) return true;
    length_ = ReadBigEndian<uint32_t>({head_, sizeof head_});
    filled_ = 0;
    return length_ > 0 && length_ <= kMaxFrameLength;
  }
  // The frame, where it is whole.
  std::optional<std::string> Take() {
    if (length_ == 0 || filled_ < length_) return std::nullopt;
    length_ = 0;
    filled_ = 0;
    return std::exchange(frame_, {});
  }

 private:
  static constexpr size_t kStep = size_t{1} << 20;

  char head_[sizeof(uint32_t)];
  uint32_t length_ = 0;  // 0: the head is not whole
  size_t filled_ = 0;    // of the head, or of the frame
  std::string frame_;
};

class TcpConnection : public Connection {
 public:
  TcpConnection(Descriptor socket, Descriptor wake, ServerAddress server, std::string opening)
      : socket_(std::move(socket)), wake_(std::move(wake)), server_(std::move(server)) {
    outgoing_.push_back({kTheOpening, std::move(opening)});
    thread_ = std::thread([this] { Run(); });
  }
  ~TcpConnection() override {
    {
      const std::lock_guard lock(mutex_);
      Break({StatusCode::kUnavailable, "the connection to " + server_.ToString() + " was closed"});
    }
    thread_.join();
  }

  std::unique_ptr<PendingCall> Begin(const Call& call, std::chrono::milliseconds within) override {
    const uint32_t id = NextId();
    std::string frame = EncodeCall(id, call, within);  // may be long: without the lock
    auto pending = std::make_unique<Pending>(*this, id);
    const std::lock_guard lock(mutex_);
    if (!is_open_) {
      pending->reply = {Reply::End::kNotSent, {}, broken_};
      return pending;
    }
    last_used_ = SteadyClock::now();
    pending->answers_before = answers_;
    pending_.emplace(id, pending.get());
    Queue(id, std::move(frame));
    return pending;
  }

  bool is_open() const override {
    const std::lock_guard lock(mutex_);
    return is_open_;
  }
  SteadyClock::time_point last_used() const override {
    const std::lock_guard lock(mutex_);
    return last_used_;
  }

 private:
  struct Pending : PendingCall {
    Pending(TcpConnection& its_connection, uint32_t its_id)
        : connection(its_connection), id(its_id) {}
    ~Pending() override { connection.Forget(*this); }
    Reply Wait(const Patience& patience) override { return connection.WaitFor(*this, patience); }

    TcpConnection& connection;
    const uint32_t id;
    uint64_t answers_before = 0;  // how many answers had come when it was made
    std::condition_variable has_ended{};
    std::optional<Reply> reply{};
  };
  struct Outgoing {
    uint32_t id;
    std::string bytes;
    size_t sent = 0;
  };

  Reply WaitFor(Pending& pending, const Patience& patience) {
    std::unique_lock lock(mutex_);
    const Waiting waiting(cellfs::Wait::kIsLong);
    while (!pending.reply) {
      if (patience.IsOver()) return GiveUp(pending, patience);
      pending.has_ended.wait_until(lock, patience.NextLook());
    }
    return *std::move(pending.reply);
  }

  // Nobody waits for it any more.
  void Forget(const Pending& pending) {
    const std::lock_guard lock(mutex_);
    pending_.erase(pending.id);
  }

  // Of four thousand million calls none waits so long that its number comes again.
  uint32_t NextId() {
    for (;;) {
      const uint32_t id = ++newest_id_;
      if (id != kTheOpening && id != kTheConnection) return id;
    }
  }

  // ---- The callers' and the thread's: with the lock -------------------------------------------

  auto FindOutgoing(uint32_t id) { return std::ranges::find(outgoing_, id, &Outgoing::id); }

  void Queue(uint32_t id, std::string frame) {
    outgoing_.push_back({id, std::move(frame)});
    // Who finds the socket free sends himself, which saves waking the thread.
    if (outgoing_.size() == 1) Send();
    if (!outgoing_.empty()) Wake();
  }

  // As much as the socket takes.
  void Send() {
    while (!outgoing_.empty()) {
      Outgoing& first = outgoing_.front();
      const ssize_t sent = send(socket_.get(), first.bytes.data() + first.sent,
                                first.bytes.size() - first.sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
      if (sent < 0) return Break(Lost(std::strerror(errno)));
      first.sent += static_cast<size_t>(sent);
      if (first.sent < first.bytes.size()) return;
      outgoing_.pop_front();
    }
  }

  // Ends all calls. A server does nothing before it has the whole of a call.
  void Break(const Status& why) {
    if (!is_open_) return;
    is_open_ = false;
    broken_ = why;
    for (auto& [id, pending] : pending_) {
      const bool was_sent = FindOutgoing(id) == outgoing_.end();
      End(*pending, {was_sent ? Reply::End::kUnanswered : Reply::End::kNotSent, {}, why});
    }
    pending_.clear();
    outgoing_.clear();
    Wake();
  }

  void End(Pending& pending, Reply reply) {
    pending.reply = std::move(reply);
    pending.has_ended.notify_one();  // with the lock: it is gone as soon as its caller has it
  }

  Reply GiveUp(const Pending& pending, const Patience& patience) {
    pending_.erase(pending.id);
    const Status why(StatusCode::kTimedOut, server_.ToString() + " does not answer in time");
    const auto waiting = FindOutgoing(pending.id);
    if (waiting != outgoing_.end() && waiting->sent == 0) {
      outgoing_.erase(waiting);
      return {Reply::End::kNotSent, {}, why};
    }
    // What has been begun is sent to its end, for others come behind it. But where nothing at all
    // has come for so long, the server stands still, or the network has forgotten the connection.
    if (!patience.IsCancelled() && answers_ == pending.answers_before) Break(why);
    return {Reply::End::kUnanswered, {}, why};
  }

  void Deliver(Answer answer) {
    ++answers_;
    const auto found = pending_.find(answer.call_id());
    if (found != pending_.end()) {
      End(*found->second, {Reply::End::kAnswered, std::move(answer), {}});
      pending_.erase(found);
    } else if (answer.call_id() == kTheConnection && answer.exception()) {
      Break(StatusOf(*answer.exception()));
    }  // else its caller has given up
  }

  // ---- The thread's ----------------------------------------------------------------------------

  void Wake() {
    const uint64_t one = 1;
    // It fails only where the thread has been woken 2^64 times and so is awake.
    if (write(wake_.get(), &one, sizeof one) < 0) return;
  }

  Status Lost(const std::string& why) const {
    return {StatusCode::kUnavailable, "lost the connection to " + server_.ToString() + ": " + why};
  }

  void Run() {
    for (;;) {
      pollfd ready[] = {{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                        {.fd = wake_.get(), .events = POLLIN, .revents = 0}};
      {
        const std::lock_guard lock(mutex_);
        if (!is_open_) return;
        if (!outgoing_.empty()) ready[0].events |= POLLOUT;
      }
      if (poll(ready, 2, -1) < 0) continue;  // EINTR: all else would be our mistake
      if (ready[1].revents != 0) ForgetWakings();
      if ((ready[0].revents & POLLOUT) != 0) {
        const std::lock_guard lock(mutex_);
        if (is_open_) Send();
      }
      if ((ready[0].revents & ~POLLOUT) != 0) Receive();
    }
  }

  void ForgetWakings() {
    uint64_t count = 0;
    if (read(wake_.get(), &count, sizeof count) < 0) return;  // somebody else's turn to wake
  }

  // What has come by now.
  void Receive() {
    const Status received = [this]() -> Status {
      try {
        return ReceiveAll();
      } catch (const std::bad_alloc&) {
        return Lost("no memory for an answer");
      }
    }();
    if (received.ok()) return;
    const std::lock_guard lock(mutex_);
    Break(received);
  }

  Status ReceiveAll() {
    for (;;) {
      const auto [room, size] = frames_.Room();
      const ssize_t count = recv(socket_.get(), room, size, MSG_DONTWAIT);
      if (count == 0) return Lost("the server closed it");
      if (count < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {};
        return Lost(std::strerror(errno));
      }
      if (!frames_.Filled(static_cast<size_t>(count))) {
        return Lost("the server speaks another protocol");
      }
      if (auto frame = frames_.Take()) {
        CELLFS_ASSIGN_OR_RETURN(Answer answer, Answer::Decode(*std::move(frame)));
        const std::lock_guard lock(mutex_);
        Deliver(std::move(answer));
      }
    }
  }

  const Descriptor socket_;
  const Descriptor wake_;  // an eventfd
  const ServerAddress server_;
  mutable std::mutex mutex_;
  bool is_open_ = true;
  Status broken_;         // why it is not open
  std::atomic<uint32_t> newest_id_ = 0;
  uint64_t answers_ = 0;  // that have come, to whomever
  SteadyClock::time_point last_used_ = SteadyClock::now();
  std::deque<Outgoing> outgoing_;  // the first may be sent in part
  std::unordered_map<uint32_t, Pending*> pending_;
  FrameReader frames_;
  std::thread thread_;
};

}  // namespace

StatusOr<std::unique_ptr<Connection>> Connect(const ServerAddress& server, Service service,
                                              const std::string& user, const Patience& patience) {
  CELLFS_ASSIGN_OR_RETURN(Descriptor socket, ConnectTo(server, patience));
  Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake.get() < 0) {
    return Status(StatusCode::kUnavailable, std::string("an eventfd: ") + std::strerror(errno));
  }
  try {
    return std::unique_ptr<Connection>(std::make_unique<TcpConnection>(
        std::move(socket), std::move(wake), server, OpeningOf(service, user)));
  } catch (const std::system_error& error) {
    return Status(StatusCode::kUnavailable, std::string("a thread: ") + error.what());
  }
}

}  // namespace cellfs::hbase
