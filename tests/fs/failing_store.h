// SPDX-License-Identifier: MIT
//
// FailingStore: a store of which the nth call fails, or every call from it on.
#ifndef CELLFS_TESTS_FS_FAILING_STORE_H_
#define CELLFS_TESTS_FS_FAILING_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/forwarding_store.h"

namespace cellfs::fs {

class FailingStore : public ForwardingStore {
 public:
  enum class Calls { kAll, kMutations };
  // What the failing call does all the same: kOutcomeUnknown leaves that open.
  enum class Effect { kNone, kDone };
  struct Failure {
    int call = 0;  // from 1
    Status status;
    Calls counted = Calls::kAll;
    Effect effect = Effect::kNone;
    bool lasts = false;  // the calls after it fail as well
  };

  using ForwardingStore::ForwardingStore;

  void Fail(Failure failure) {
    failure_ = std::move(failure);
    calls_ = 0;
    has_failed_ = false;
  }
  void Heal() { failure_.reset(); }
  bool has_failed() const { return has_failed_; }

  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get) override {
    return Ask<RowCells>([&] { return inner().Read(caller, table, get); });
  }
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) override {
    using Opened = std::unique_ptr<Scanner>;
    auto opened = Ask<Opened>([&] { return inner().OpenScanner(caller, table, scan); });
    if (!opened.ok()) return opened;
    return Opened(std::make_unique<FailingScanner>(*this, *std::move(opened)));
  }
  StatusOr<MutationResult> Mutate(const Caller& caller, const TableName& table,
                                  const RowMutations& mutations) override {
    return Change<StatusOr<MutationResult>>(
        [&] { return inner().Mutate(caller, table, mutations); });
  }
  StatusOr<CheckAndMutateResult> CheckAndMutate(const Caller& caller, const TableName& table,
                                                const cellfs::CheckAndMutate& check) override {
    return Change<StatusOr<CheckAndMutateResult>>(
        [&] { return inner().CheckAndMutate(caller, table, check); });
  }
  Status CheckMayPut(const Caller& caller, const TableName& table,
                     const PutToCome& put) override {
    if (Failed(Calls::kAll)) return failure_->status;
    return inner().CheckMayPut(caller, table, put);
  }
  Status Sync() override { return Failed(Calls::kAll) ? failure_->status : inner().Sync(); }

  Status CreateNamespace(const Caller& caller, const NamespaceSchema& schema) override {
    return Change<Status>([&] { return inner().CreateNamespace(caller, schema); });
  }
  Status AlterNamespace(const Caller& caller, const NamespaceSchema& schema) override {
    return Change<Status>([&] { return inner().AlterNamespace(caller, schema); });
  }
  Status DropNamespace(const Caller& caller, const std::string& name) override {
    return Change<Status>([&] { return inner().DropNamespace(caller, name); });
  }
  StatusOr<NamespaceSchema> DescribeNamespace(const std::string& name) override {
    return Ask<NamespaceSchema>([&] { return inner().DescribeNamespace(name); });
  }
  StatusOr<std::vector<std::string>> ListNamespaces() override {
    return Ask<std::vector<std::string>>([&] { return inner().ListNamespaces(); });
  }

  Status CreateTable(const Caller& caller, const TableSchema& schema) override {
    return Change<Status>([&] { return inner().CreateTable(caller, schema); });
  }
  Status AlterTable(const Caller& caller, const TableSchema& schema) override {
    return Change<Status>([&] { return inner().AlterTable(caller, schema); });
  }
  Status RenameTable(const Caller& caller, const TableName& from, const TableName& to) override {
    return Change<Status>([&] { return inner().RenameTable(caller, from, to); });
  }
  Status RecreateTable(const Caller& caller, const TableSchema& schema) override {
    return Change<Status>([&] { return inner().RecreateTable(caller, schema); });
  }
  Status SplitTable(const Caller& caller, const TableName& table,
                    const std::string& key) override {
    return Change<Status>([&] { return inner().SplitTable(caller, table, key); });
  }
  Status AddFamily(const Caller& caller, const TableName& table,
                   const FamilySchema& family) override {
    return Change<Status>([&] { return inner().AddFamily(caller, table, family); });
  }
  Status ModifyFamily(const Caller& caller, const TableName& table,
                      const FamilySchema& family) override {
    return Change<Status>([&] { return inner().ModifyFamily(caller, table, family); });
  }
  Status DropFamily(const Caller& caller, const TableName& table,
                    const std::string& family) override {
    return Change<Status>([&] { return inner().DropFamily(caller, table, family); });
  }
  Status DropTable(const Caller& caller, const TableName& table) override {
    return Change<Status>([&] { return inner().DropTable(caller, table); });
  }
  StatusOr<bool> DropEmptyTable(const Caller& caller, const TableName& table) override {
    return Change<StatusOr<bool>>([&] { return inner().DropEmptyTable(caller, table); });
  }
  Status TruncateTable(const Caller& caller, const TableName& table) override {
    return Change<Status>([&] { return inner().TruncateTable(caller, table); });
  }
  Status EnableTable(const Caller& caller, const TableName& table) override {
    return Change<Status>([&] { return inner().EnableTable(caller, table); });
  }
  Status DisableTable(const Caller& caller, const TableName& table) override {
    return Change<Status>([&] { return inner().DisableTable(caller, table); });
  }
  StatusOr<std::shared_ptr<const TableSchema>> DescribeTable(const TableName& table) override {
    using Schema = std::shared_ptr<const TableSchema>;
    return Ask<Schema>([&] { return inner().DescribeTable(table); });
  }
  StatusOr<bool> IsTableEnabled(const TableName& table) override {
    return Ask<bool>([&] { return inner().IsTableEnabled(table); });
  }
  StatusOr<std::vector<TableName>> ListTables(const std::string& namespace_name) override {
    return Ask<std::vector<TableName>>([&] { return inner().ListTables(namespace_name); });
  }

  Status SetTableSpaceQuota(const Caller& caller, const TableName& table,
                            const std::optional<SpaceQuota>& quota) override {
    return Change<Status>([&] { return inner().SetTableSpaceQuota(caller, table, quota); });
  }
  Status SetNamespaceSpaceQuota(const Caller& caller, const std::string& namespace_name,
                                const std::optional<SpaceQuota>& quota) override {
    return Change<Status>(
        [&] { return inner().SetNamespaceSpaceQuota(caller, namespace_name, quota); });
  }
  StatusOr<std::optional<SpaceQuota>> TableSpaceQuota(const TableName& table) override {
    return Ask<std::optional<SpaceQuota>>([&] { return inner().TableSpaceQuota(table); });
  }
  StatusOr<std::optional<SpaceQuota>> NamespaceSpaceQuota(const std::string& name) override {
    return Ask<std::optional<SpaceQuota>>([&] { return inner().NamespaceSpaceQuota(name); });
  }

  Status GrantPermissions(const Caller& caller, const Grant& grant, bool merge) override {
    return Change<Status>([&] { return inner().GrantPermissions(caller, grant, merge); });
  }
  Status RevokePermissions(const Caller& caller, const std::string& user,
                           const GrantScope& scope) override {
    return Change<Status>([&] { return inner().RevokePermissions(caller, user, scope); });
  }

 private:
  class FailingScanner : public Scanner {
   public:
    FailingScanner(FailingStore& store, std::unique_ptr<Scanner> scanner)
        : store_(store), scanner_(std::move(scanner)) {}
    StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
      return store_.Ask<std::vector<RowCells>>([&] { return scanner_->Next(batch); });
    }
    bool at_end() const override { return scanner_->at_end(); }

   private:
    FailingStore& store_;
    const std::unique_ptr<Scanner> scanner_;
  };

  // Counts the call.
  bool Failed(Calls kind) {
    if (!failure_ || (failure_->counted == Calls::kMutations && kind != Calls::kMutations)) {
      return false;
    }
    ++calls_;
    const bool fails = failure_->lasts ? calls_ >= failure_->call : calls_ == failure_->call;
    has_failed_ = has_failed_ || fails;
    return fails;
  }
  template <typename T, typename Call>
  StatusOr<T> Ask(Call&& call) {
    if (Failed(Calls::kAll)) return failure_->status;
    return call();
  }
  template <typename T, typename Call>
  T Change(Call&& call) {
    if (!Failed(Calls::kMutations)) return call();
    if (failure_->effect == Effect::kDone) static_cast<void>(call());
    return failure_->status;
  }

  std::optional<Failure> failure_;
  int calls_ = 0;
  bool has_failed_ = false;
};

}  // namespace cellfs::fs

#endif  // CELLFS_TESTS_FS_FAILING_STORE_H_
