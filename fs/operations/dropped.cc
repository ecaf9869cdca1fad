// SPDX-License-Identifier: MIT
#include "fs/operations/dropped.h"

#include "fs/operations/kept_shares.h"
#include "fs/reading/change_rights.h"
#include "fs/reading/schema_rights.h"
#include "fs/tree/dropped_names.h"

namespace cellfs::fs {
namespace {

// With the right to it.
OutcomeOr<DroppedName> Take(const DirectoryChanging& with, const Request& request,
                            const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(auto found, with.reading.FindDropped(place));
  if (!found) return Outcome(ENOENT);
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, with.reading.FindOwner(*found));
  CELLFS_RETURN_IF_FAILED(CheckMayHandleDropped(with.reading, request, place, owner));
  return *std::move(found);
}

Outcome BringBackTable(const DirectoryChanging& with, const Request& request,
                       const DroppedName& dropped, const Place& to) {
  const auto turn = with.schemas.TakeTurn(to.table);
  if (dropped.table->name().namespace_name != to.table.namespace_name)
    CELLFS_RETURN_IF_FAILED(with.attributes.KeepOwner(*dropped.table));
  const ColumnTable::ClosedColumns closed(with.tree.columns, {to.table, {}, {}});
  const Status back =
      with.store.BringBackTable(*request.caller, dropped.table->id(), to.table);
  if (IsInForce(back)) {
    with.tree.ForgetTable(to.table);
    closed.Changed();
  }
  return back;
}

Outcome BringBackNamespace(const DirectoryChanging& with, const Request& request,
                           const DroppedName& dropped, const Place& to) {
  const std::string& name = to.table.namespace_name;
  const auto is_there = [&] { return with.store.DescribeNamespace(name).ok(); };
  if (is_there()) return EEXIST;
  const Place before = AttributeStore::PlaceOfDropped(dropped.key, dropped.dropped);
  CELLFS_RETURN_IF_FAILED(with.attributes.CopyNamespace(before, to));
  const Status back = with.store.BringBackNamespace(*request.caller, dropped.dropped, name);
  if (!IsInForce(back)) {
    if (!is_there()) with.errors.Record("rename", to, with.attributes.ForgetNamespace(to));
    return back;
  }
  with.errors.Record("rename", to, with.attributes.ForgetNamespace(before));
  with.tree.unstored.ShowToml(to);
  return back;
}

// Not EXDEV: mv would copy then, which has nothing to copy, and remove, which frees it for good.
Outcome NotThere(bool is_table) {
  return {EPERM, is_table ? "a table that was dropped comes back into a namespace; where one of "
                            "its name is there again, give it another: mv .deleted/T U"
                          : "a namespace that was dropped comes back into the root; where one of "
                            "its name is there again, give it another: mv .deleted/N M"};
}

}  // namespace

Outcome BringBack(const DirectoryChanging& with, const Request& request, const Place& dropped,
                  const Place& new_directory, std::string_view new_name) {
  CELLFS_ASSIGN_OR_RETURN(const DroppedName taken, Take(with, request, dropped));
  const bool is_table = taken.table != nullptr;
  if (new_directory.kind != (is_table ? PlaceKind::kNamespace : PlaceKind::kRoot))
    return NotThere(is_table);
  if (new_name == WithTimeOfDrop(taken.key, taken.dropped)) {
    return {EINVAL, "what follows the '@' is the time of its drop: mv .deleted/" +
                        std::string(new_name) + " " + taken.key};
  }
  CELLFS_ASSIGN_OR_RETURN(const Place to,
                          with.resolver.Child(*request.caller, new_directory, new_name,
                                              NameUse::kCreateDirectory));
  if (to.kind != (is_table ? PlaceKind::kTable : PlaceKind::kNamespace)) return EPERM;
  CELLFS_RETURN_IF_FAILED(is_table ? CheckTableName(to.table)
                                   : CheckNamespaceName(to.table.namespace_name));
  const Outcome back = is_table ? BringBackTable(with, request, taken, to)
                                : BringBackNamespace(with, request, taken, to);
  if (!back.ok() && !back.is_unknown()) return back;
  with.tree.unstored.ShowToml(new_directory);
  with.tree.inodes.Move(dropped, to);
  if (is_table) {
    with.tree.kernel.TableChanged(to.table);
  } else {
    with.tree.kernel.NamespaceChanged(to.table.namespace_name);
  }
  return back;
}

Outcome FreeDropped(const DirectoryChanging& with, const Request& request, const Place& dropped) {
  CELLFS_ASSIGN_OR_RETURN(const DroppedName taken, Take(with, request, dropped));
  if (taken.table == nullptr) {
    CELLFS_RETURN_IF_FAILED(with.store.FreeDroppedNamespace(*request.caller, taken.dropped));
    const Place place = AttributeStore::PlaceOfDropped(taken.key, taken.dropped);
    with.errors.Record("rmdir", dropped, with.attributes.ForgetNamespace(place));
    return {};
  }
  return FreeDroppedTable(with.store, with.attributes, with.errors, *request.caller, *taken.table);
}

}  // namespace cellfs::fs
