// SPDX-License-Identifier: MIT
#include "src/daemon/service_manager.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace cellfs {
namespace {

std::string TakeVariable(const char* name) {
  const char* const value = getenv(name);
  std::string text = value == nullptr ? "" : value;
  unsetenv(name);
  return text;
}

std::optional<int64_t> DecimalIn(const std::string& text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end || number <= 0) return std::nullopt;
  return number;
}

// A path, or after '@' a name in the abstract namespace.
bool IsAddress(const std::string& address) {
  return address.size() > 1 && address.size() < sizeof(sockaddr_un::sun_path) &&
         (address[0] == '/' || address[0] == '@');
}

std::string OnOneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string MonotonicMicroseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::to_string(int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000);
}

}  // namespace

ServiceManager::ServiceManager() {
  const std::string address = TakeVariable("NOTIFY_SOCKET");
  const auto watchdog = DecimalIn(TakeVariable("WATCHDOG_USEC"));
  const std::string watched = TakeVariable("WATCHDOG_PID");
  if (!IsAddress(address)) return;
  socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return;
  const timeval patience{.tv_sec = 1, .tv_usec = 0};  // nothing waits for it for ever
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  address_ = address;
  const bool is_for_us = watched.empty() || watched == std::to_string(getpid());
  if (watchdog && is_for_us) watchdog_ = std::chrono::microseconds(*watchdog);
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) close(socket_);
}

void ServiceManager::TellStatus(const std::string& status) const {
  Send("STATUS=" + OnOneLine(status));
}

void ServiceManager::TellReady(const std::string& status) const {
  Send("READY=1\nSTATUS=" + OnOneLine(status));
}

void ServiceManager::TellReloading() const {
  Send("RELOADING=1\nMONOTONIC_USEC=" + MonotonicMicroseconds());
}

void ServiceManager::TellStopping() const { Send("STOPPING=1\nSTATUS=closing the store"); }

void ServiceManager::TellAlive() const { Send("WATCHDOG=1"); }

void ServiceManager::Send(const std::string& lines) const {
  if (address_.empty()) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address_.data(), address_.size());
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  [[maybe_unused]] const ssize_t sent =
      sendto(socket_, lines.data(), lines.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&to), length);
}

}  // namespace cellfs
