// SPDX-License-Identifier: MIT
#include "engine/local/moment_registry.h"

#include <algorithm>
#include <new>

namespace cellfs {
namespace {

// `version` with the files that the flush from `before` to `after` has made, instead of its memstore.
TableVersionPtr WithoutMemstore(const TableVersionPtr& version, const TableVersionPtr& before,
                              const TableVersionPtr& after) {
  auto without = std::make_shared<TableVersion>(*version);
  if (without->active == before->frozen) without->active = nullptr;
  if (without->frozen == before->frozen) without->frozen = nullptr;
  const StoreFiles known = before->files->All();
  StoreFiles files = version->files->All();
  for (const auto& file : after->files->All())
    if (std::find(known.begin(), known.end(), file) == known.end()) files.push_back(file);
  without->files = std::make_shared<TableFiles>(files);
  return without;
}

}  // namespace

struct MomentRegistry::HeldMoment : Moment {
  explicit HeldMoment(const std::string& name) : holder(name) {}
  const std::string holder;
};

std::shared_ptr<const Moment> MomentRegistry::Pin(const std::atomic<SequenceId>& read_point,
                                                  Timestamp now, const std::string& holder) {
  auto moment = std::make_unique<HeldMoment>(holder);
  moment->now = now;
  std::multiset<Timestamp> time{now};
  std::map<std::string, uint32_t> one{{holder, 1}};
  {
    const std::lock_guard lock(mutex_);
    moment->sequence_id = read_point.load();
    auto& holders = pinned_.try_emplace(moment->sequence_id).first->second.holders;
    const auto known = holders.find(holder);
    if (known != holders.end()) {
      ++known->second;
    } else {
      holders.merge(one);
    }
    times_.merge(time);
  }
  // Where memory runs out here, the pin is taken back at once.
  return {moment.release(), [registry = shared_from_this()](HeldMoment* gone) {
            registry->Unpin(*gone);
            delete gone;
          }};
}

// What is not needed any more goes after the lock: files may have to be removed.
void MomentRegistry::Unpin(const HeldMoment& moment) {
  std::map<SequenceId, Pinned>::node_type gone;
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  times_.erase(times_.find(moment.now));
  const auto found = pinned_.find(moment.sequence_id);
  auto& holders = found->second.holders;
  const auto holder = holders.find(moment.holder);
  if (--holder->second == 0) holders.erase(holder);
  if (holders.empty()) gone = pinned_.extract(found);
}

void MomentRegistry::Close() {
  std::map<SequenceId, Pinned> gone;  // after the lock
  const std::lock_guard lock(mutex_);
  closed_ = true;
  gone.swap(pinned_);
  times_.clear();
}

StatusOr<TableVersionPtr> MomentRegistry::VersionFor(const Moment& moment, TableId table,
                                                 const std::function<TableVersionPtr()>& present) {
  const std::lock_guard lock(mutex_);
  const auto pinned = pinned_.find(moment.sequence_id);
  if (pinned == pinned_.end()) {
    return Status(StatusCode::kIllegalArgument, "nobody has pinned this moment");
  }
  if (pinned->second.lost) {
    return Status(StatusCode::kIoError, "memory ran out when this moment was to be kept");
  }
  const auto kept = pinned->second.kept.find(table);
  return kept == pinned->second.kept.end() ? present() : kept->second;
}

SequenceId MomentRegistry::Newest(const std::unique_lock<std::mutex>& /*held*/) const {
  return pinned_.empty() ? 0 : pinned_.rbegin()->first;
}

// What is in force is in force: without memory the moments are given up, not the rewrite.
void MomentRegistry::Keep(const std::unique_lock<std::mutex>& /*held*/, TableId table,
                          const TableVersionPtr& before) noexcept {
  for (auto& [sequence_id, pinned] : pinned_) {
    try {
      pinned.kept.try_emplace(table, before);
    } catch (const std::bad_alloc&) {
      pinned.lost = true;
    }
  }
}

void MomentRegistry::KeepOverFlush(const std::unique_lock<std::mutex>& /*held*/, TableId table,
                                   const TableVersionPtr& before, const TableVersionPtr& after,
                                   SequenceId complete_up_to) noexcept {
  for (auto& [sequence_id, pinned] : pinned_) {
    try {
      const auto kept = pinned.kept.find(table);
      if (sequence_id > complete_up_to) {
        pinned.kept.try_emplace(table, before);
      } else if (kept != pinned.kept.end() && (kept->second->active == before->frozen ||
                                               kept->second->frozen == before->frozen)) {
        kept->second = WithoutMemstore(kept->second, before, after);
      }
    } catch (const std::bad_alloc&) {
      pinned.lost = true;
    }
  }
}

namespace {

using Holders = std::set<std::string>;

// What versions of one table have beyond the present one, and who wants it.
class BytesOfVersions {
 public:
  explicit BytesOfVersions(const TableVersionPtr& present) {
    if (present == nullptr) return;
    Visit(*present, [this](const void* part, uint64_t) { present_.insert(part); });
  }
  void Add(const TableVersion& version, const Holders& holders) {
    Visit(version, [&](const void* part, uint64_t bytes) {
      if (present_.contains(part)) return;
      Part& wanted = parts_[part];
      wanted.bytes = bytes;
      wanted.holders.insert(holders.begin(), holders.end());
    });
  }
  void AddTo(MomentRegistry::Kept& kept) const {
    for (const auto& [_, part] : parts_) {
      kept.bytes += part.bytes;
      for (const std::string& holder : part.holders) kept.by_holder[holder] += part.bytes;
    }
  }

 private:
  struct Part {
    uint64_t bytes = 0;
    Holders holders;
  };

  template <typename Take>
  static void Visit(const TableVersion& version, const Take& take) {
    for (const auto& cells : {version.active, version.frozen})
      if (cells != nullptr) take(cells.get(), cells->memstore().bytes());
    for (const auto& file : version.files->All()) take(file.get(), file->facts().bytes);
  }

  std::set<const void*> present_;
  std::map<const void*, Part> parts_;
};

}  // namespace

MomentRegistry::Kept MomentRegistry::BytesBeyond(
    const std::function<TableVersionPtr(TableId)>& present) {
  std::map<TableId, std::map<TableVersionPtr, Holders>> kept;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [sequence_id, pinned] : pinned_)
      for (const auto& [table, version] : pinned.kept)
        for (const auto& [holder, moments] : pinned.holders) kept[table][version].insert(holder);
  }
  Kept bytes;
  for (const auto& [table, versions] : kept) {
    BytesOfVersions of_table(present(table));
    for (const auto& [version, holders] : versions) of_table.Add(*version, holders);
    of_table.AddTo(bytes);
  }
  return bytes;
}

uint32_t MomentRegistry::Count() {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(times_.size());
}

uint32_t MomentRegistry::CountOf(const std::string& holder) {
  const std::lock_guard lock(mutex_);
  uint32_t count = 0;
  for (const auto& [sequence_id, pinned] : pinned_) {
    const auto found = pinned.holders.find(holder);
    if (found != pinned.holders.end()) count += found->second;
  }
  return count;
}

Timestamp MomentRegistry::OldestNow(Timestamp otherwise) {
  const std::lock_guard lock(mutex_);
  return times_.empty() ? otherwise : *times_.begin();
}

}  // namespace cellfs
