// SPDX-License-Identifier: MIT
#include "src/history/tables_then.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "fs/tree/hidden_namespace.h"
#include "src/history/dropped_tables.h"
#include "src/history/unknown.h"

namespace cellfs {
namespace {

std::string PathOf(const TableName& table) { return table.namespace_name + "/" + table.name; }

class TablesSince {
 public:
  TablesSince(const HistoryAccess& access, const CatalogAt& catalog_at,
              const std::optional<std::string>& namespace_name, Timestamp time)
      : access_(access),
        catalog_at_(catalog_at),
        namespace_(namespace_name),
        time_(time),
        statistics_(access.store.GetStatistics()) {}

  StatusOr<TablesThen> Find() && {
    if (catalog_at_) {
      CELLFS_ASSIGN_OR_RETURN(past_, catalog_at_(time_));
    }
    CELLFS_RETURN_IF_ERROR(ListNamespaces());
    for (const std::string& name : namespaces_) {
      const auto tables = access_.store.ListTables(name);
      if (!namespace_ && tables.status().code() == StatusCode::kAccessDenied) {
        TellClosedSpace(name);
        continue;
      }
      CELLFS_RETURN_IF_ERROR(tables.status());
      for (const TableName& table : *tables) CELLFS_RETURN_IF_ERROR(TakePresent(table));
    }
    if (past_ != nullptr) {
      for (const auto& [name, table] : past_->tables) TakePast(name, table.schema->id());
    }
    for (const auto& [table, when] : statistics_.dropped) {
      if (when > time_ && IsAsked(table)) CELLFS_RETURN_IF_ERROR(TakeDropped(table, when));
    }
    return std::move(found_);
  }

 private:
  bool IsAsked(const TableName& table) const {
    if (table.namespace_name == fs::kHiddenNamespace || table.IsSystemTable()) return false;
    if (closed_spaces_.contains(table.namespace_name)) return false;
    return !namespace_ || table.namespace_name == *namespace_;
  }

  Status ListNamespaces() {
    if (!namespace_) {
      CELLFS_ASSIGN_OR_RETURN(namespaces_, access_.store.ListNamespaces());
      std::erase(namespaces_, kSystemNamespace);
      std::erase(namespaces_, fs::kHiddenNamespace);
      return {};
    }
    if (*namespace_ == kSystemNamespace)
      return {StatusCode::kIllegalArgument,
              "namespace 'hbase' shows the catalog, and is not restored"};
    namespaces_ = {*namespace_};
    const Status described = access_.store.DescribeNamespace(*namespace_).status();
    const auto way_back = WayBack(statistics_, *namespace_);
    if (described.code() != StatusCode::kNamespaceNotFound || !way_back) return described;
    return {described.code(),
            described.message() + "; it was removed and is kept: " + *way_back + " brings it back"};
  }

  // One that goes at this moment is told as one that has gone.
  Status TakePresent(const TableName& table) {
    const auto schema = access_.store.DescribeTable(table);
    if (schema.status().code() == StatusCode::kTableNotFound) return {};
    if (schema.status().code() == StatusCode::kAccessDenied) {
      told_.insert(table);
      Tell(ClosedTable(table));
      return {};
    }
    CELLFS_RETURN_IF_ERROR(schema.status());
    present_.insert(table);
    const TableId id = (*schema)->id();
    const StoreKnowledge knowledge = StoreKnowledge::Ask(access_.store, table);
    const auto then = NameThen(id);
    if (past_ != nullptr ? !then : knowledge.WasNotThere(time_)) {
      TellMadeSince(table, knowledge);
      return {};
    }
    found_.there.push_back(table);
    if (then && *then != table) TellRenamed(table, *then);
    return {};
  }

  void TellClosedSpace(const std::string& name) {
    closed_spaces_.insert(name);
    Tell("namespace '" + name + "' you may not look into: it is as it was");
  }

  std::optional<TableName> NameThen(TableId id) const {
    if (past_ == nullptr) return std::nullopt;
    const auto found = past_->names.find(id);
    return found == past_->names.end() ? std::nullopt : std::optional(found->second);
  }

  void TellMadeSince(const TableName& table, const StoreKnowledge& knowledge) {
    std::string line = "table '" + table.ToString() + "' ";
    const bool is_older = knowledge.created != 0 && knowledge.created <= time_;
    if (is_older) return Tell(line + "was in .deleted then, and stays as it is");
    line += knowledge.WasNotThere(time_) ? "was not there then" : "is not the one of then";
    if (knowledge.created != 0) line += " (it was made at " + ExactTime(knowledge.created) + ")";
    Tell(line + ", and stays: rm -rf " + PathOf(table) + " takes it away");
  }

  void TellRenamed(const TableName& table, const TableName& then) {
    if (!told_.insert(then).second) return;
    std::string line = "table '" + table.ToString() + "' was '" + then.ToString() + "' then";
    if (access_.store.DescribeTable(then).ok()) {
      line += ", which is another one now: that needs another name first";
    } else {
      line += ": mv " + PathOf(table) + " " + PathOf(then) + " gives it that name";
    }
    Tell(std::move(line));
  }

  // A table that was called so then: where it is not among those that were asked for, it has been
  // moved out of them, or has gone.
  void TakePast(const TableName& name, TableId id) {
    if (!IsAsked(name) || told_.contains(name)) return;
    const auto now = FindNow(id);
    if (now && *now == name) return;
    if (now) {
      TellRenamed(*now, name);
    } else {
      TellGone(name);
    }
  }

  std::optional<TableName> FindNow(TableId id) {
    if (!now_) now_ = PresentTables(access_, namespaces_);
    const auto found = now_->find(id);
    return found == now_->end() ? std::nullopt : std::optional(found->second);
  }

  // The catalog of then has forgotten what is gone for good, and whether it was there then. What it
  // knew to the end only lost its name, or is kept.
  Status TakeDropped(const TableName& table, Timestamp when) {
    if (past_ != nullptr) {
      CELLFS_ASSIGN_OR_RETURN(const auto before, catalog_at_(when - 1));
      if (before->Find(table) != nullptr) return {};
    }
    TellGone(table);
    return {};
  }

  // Once for a name, and for a namespace that went with all that was in it.
  void TellGone(const TableName& table) {
    if (!told_.insert(table).second) return;
    const auto dropped = statistics_.dropped.find(table);
    const std::string& space = table.namespace_name;
    const auto kept_space = IsThere(space) ? std::nullopt : WayBack(statistics_, space);
    if (kept_space) {
      if (told_spaces_.insert(space).second)
        Tell("namespace '" + space + "' was removed and is kept: " + *kept_space +
             " brings it back");
      return;
    }
    std::string line = "table '" + table.ToString() + "' ";
    line += dropped == statistics_.dropped.end() ? std::string("is not there by that name any more")
                                                 : "was dropped at " + ExactTime(dropped->second);
    const auto way_back = WayBack(statistics_, table, time_);
    if (way_back) {
      line += " and is kept: " + *way_back + " brings it back";
      if (present_.contains(table)) line += ", under another name while that one is there";
    }
    Tell(line);
  }

  bool IsThere(const std::string& space) const {
    return std::ranges::find(namespaces_, space) != namespaces_.end();
  }
  void Tell(std::string line) { found_.others.push_back(std::move(line)); }

  const HistoryAccess& access_;
  const CatalogAt& catalog_at_;
  std::shared_ptr<const PastCatalog> past_;
  const std::optional<std::string>& namespace_;
  const Timestamp time_;
  const Statistics statistics_;
  std::vector<std::string> namespaces_;
  std::set<TableName> present_;
  std::optional<std::map<TableId, TableName>> now_;
  std::set<TableName> told_;
  std::set<std::string> told_spaces_;
  std::set<std::string> closed_spaces_;  // to him
  TablesThen found_;
};

}  // namespace

Status CheckHadItsName(const HistoryAccess& access, const CatalogAt& catalog_at,
                       const TableName& table, Timestamp time) {
  const auto schema = access.store.DescribeTable(table);
  if (!catalog_at || !schema.ok()) return {};
  CELLFS_ASSIGN_OR_RETURN(const auto past, catalog_at(time));
  const TableId id = (*schema)->id();
  const PastTable* const of_name = past->Find(table);
  std::string line = "table '" + table.ToString() + "' ";
  if (of_name != nullptr && of_name->schema->id() != id) {
    line += "is not the one that had that name then: ";
    if (const auto way_back = WayBack(access.store.GetStatistics(), table, time)) {
      return {StatusCode::kUnavailable,
              line + "that was dropped and is kept: " + *way_back +
                  " brings it back, under another name while this one is there"};
    }
    return {StatusCode::kUnavailable, line + table.namespace_name + "/.asof/" +
                                          std::to_string(time) + "/" + table.name +
                                          " shows that one"};
  }
  const Timestamp created = StoreKnowledge::Ask(access.store, table).created;
  const bool is_made_since = created == 0 || created > time;
  if (of_name != nullptr || past->Find(id) != nullptr || is_made_since) return {};
  return {StatusCode::kUnavailable,
          line + "was in .deleted then, as far as is known: name a time before it was dropped, or "
                 "since it is back"};
}

std::string ClosedTable(const TableName& table) {
  return "table '" + table.ToString() + "' you may not look into: it is as it was";
}

StatusOr<TablesThen> FindTablesThen(const HistoryAccess& access, const CatalogAt& catalog_at,
                                    const std::optional<std::string>& namespace_name,
                                    Timestamp time) {
  return TablesSince(access, catalog_at, namespace_name, time).Find();
}

}  // namespace cellfs
