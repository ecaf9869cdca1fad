// SPDX-License-Identifier: MIT
//
// HookedStore: a store in which something happens just before or just after a call, as if another
// request had come there; and a tree over it.
#ifndef CELLFS_TESTS_FS_HOOKED_STORE_H_
#define CELLFS_TESTS_FS_HOOKED_STORE_H_

#include <functional>
#include <memory>
#include <utility>

#include "engine/forwarding_store.h"
#include "engine/write_room.h"
#include "fs/tree/hidden_namespace.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {

class HookedStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  // Each is called once, and then no more.
  std::function<void()> before_read;
  std::function<void()> before_attributes;  // are written
  std::function<void()> before_mutation;    // of anything else
  std::function<void()> after_mutation;
  std::function<void()> before_alteration;  // of a table; also before it is emptied or dropped
  // The next mutation lacks room: this is how it is awaited, by whom, and says whether it came.
  std::function<Status()> on_await;

  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get) override {
    Call(before_read);
    return ForwardingStore::Read(caller, table, get);
  }
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) override {
    Call(before_read);
    return ForwardingStore::OpenScanner(caller, table, scan);
  }
  StatusOr<MutationResult> Mutate(const Caller& caller, const TableName& table,
                                  const RowMutations& mutations) override {
    Call(table.namespace_name == kHiddenNamespace ? before_attributes : before_mutation);
    CELLFS_RETURN_IF_ERROR(FindRoom(table));
    auto mutated = ForwardingStore::Mutate(caller, table, mutations);
    Call(after_mutation);
    return mutated;
  }
  StatusOr<CheckAndMutateResult> CheckAndMutate(const Caller& caller, const TableName& table,
                                                const cellfs::CheckAndMutate& check) override {
    if (table.namespace_name == kHiddenNamespace) Call(before_attributes);
    CELLFS_RETURN_IF_ERROR(FindRoom(table));
    auto mutated = ForwardingStore::CheckAndMutate(caller, table, check);
    Call(after_mutation);
    return mutated;
  }
  Status AlterTable(const Caller& caller, const TableSchema& schema) override {
    Call(before_alteration);
    return ForwardingStore::AlterTable(caller, schema);
  }
  Status DropFamily(const Caller& caller, const TableName& table,
                    const std::string& family) override {
    Call(before_alteration);
    return ForwardingStore::DropFamily(caller, table, family);
  }
  Status DisableTable(const Caller& caller, const TableName& table) override {
    Call(before_alteration);
    return ForwardingStore::DisableTable(caller, table);
  }

 private:
  struct Room : WriteRoom {
    explicit Room(std::function<Status()> await) : on_await(std::move(await)) {}
    Status Await() override { return on_await(); }
    const std::function<Status()> on_await;
  };
  Status FindRoom(const TableName& table) {
    if (!on_await || table.namespace_name == kHiddenNamespace) return {};
    auto room = std::make_unique<Room>(std::exchange(on_await, nullptr));
    RoomToAwait* const callers = RoomToAwait::OfThisThread();
    if (callers == nullptr) return room->Await();
    callers->Lack(nullptr, std::move(room));
    return {StatusCode::kUnavailable, "there is no room yet"};
  }
  static void Call(std::function<void()>& hook) {
    if (const auto call = std::exchange(hook, nullptr)) call();
  }
};

struct HookedTree : WritingTree {
  HookedTree() {
    filesystem.reset();
    auto hooked_store = std::make_unique<HookedStore>(std::move(store));
    hooked = hooked_store.get();
    store = std::move(hooked_store);
    Remount();
  }

  HookedStore* hooked;
};

}  // namespace cellfs::fs

#endif  // CELLFS_TESTS_FS_HOOKED_STORE_H_
