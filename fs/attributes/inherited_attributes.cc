// SPDX-License-Identifier: MIT
#include "fs/attributes/inherited_attributes.h"

#include <charconv>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "fs/base/account_names.h"
#include "fs/requests/owner.h"
#include "fs/requests/running_request.h"

namespace cellfs::fs {
namespace {

// Free metadata of a family: what its columns inherit.
constexpr char kAttributePrefix[] = "cellfs.";
constexpr std::string_view kOwnerAttribute = "cellfs.owner";
constexpr std::string_view kGroupAttribute = "cellfs.group";
constexpr std::string_view kModeAttribute = "cellfs.mode";
constexpr uint32_t kMostMode = 07777;

std::optional<uint32_t> ReadNumber(std::string_view text, int base) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Not by FamilySchema::Get, which looks for rules and defaults: this is in the way of every stat.
// What cannot be read is no permission for anybody.
StatusOr<OwnerRecord> OwnerOf(const FamilySchema& family) {
  OwnerRecord owner;
  const auto read = [&](const std::string& name, const std::string& value, int base,
                        std::optional<uint32_t>& number) {
    number = ReadNumber(value, base);
    if (number && (base == 10 || *number <= kMostMode)) return Status();
    return Status(StatusCode::kIllegalArgument, name + " of family '" + family.name() + "' is '" +
                                                    value + "', not " +
                                                    (base == 8 ? "an octal mode"
                                                               : "a number, nor a name that is "
                                                                 "known here"));
  };
  const Attributes& set = family.attributes();
  for (auto it = set.lower_bound(kAttributePrefix);
       it != set.end() && it->first.starts_with(kAttributePrefix); ++it) {
    const auto& [name, value] = *it;
    if (name == kOwnerAttribute) CELLFS_RETURN_IF_ERROR(read(name, value, 10, owner.uid));
    if (name == kGroupAttribute) CELLFS_RETURN_IF_ERROR(read(name, value, 10, owner.gid));
    if (name == kModeAttribute) CELLFS_RETURN_IF_ERROR(read(name, value, 8, owner.mode));
  }
  return owner;
}

}  // namespace

namespace {

std::string ValueOf(const FamilySchema* family, std::string_view attribute) {
  if (family == nullptr) return "";
  const auto set = family->attributes().find(std::string(attribute));
  return set == family->attributes().end() ? "" : set->second;
}

// As of chown(2): nobody gives away, or takes, what is another's.
Status CheckMaySayOwner(const FamilySchema& family, const FamilySchema* before) {
  const RunningRequest* const request = RunningRequest::OfThisThread();
  if (request == nullptr || IsOwnerOrRoot(request->uid())) return {};
  const Credentials asker = request->FindCredentials();
  std::set<std::string> groups{""};
  for (const gid_t group : asker.groups) groups.insert(std::to_string(group));
  const auto check = [&](std::string_view attribute, const std::set<std::string>& own) -> Status {
    const std::string then = ValueOf(before, attribute);
    const std::string now = ValueOf(&family, attribute);
    if (then == now || (own.contains(then) && own.contains(now))) return {};
    return {StatusCode::kAccessDenied,
            "family '" + family.name() + "': " + std::string(attribute) +
                " is changed by root alone, but from nothing to oneself and back"};
  };
  CELLFS_RETURN_IF_ERROR(check(kOwnerAttribute, {"", std::to_string(asker.uid)}));
  return check(kGroupAttribute, groups);
}

}  // namespace

Status SettleInheritance(FamilySchema& family, const FamilySchema* before) {
  const auto settle = [&](std::string_view attribute, auto find) -> Status {
    const auto set = family.attributes().find(std::string(attribute));
    if (set == family.attributes().end() || ReadNumber(set->second, 10)) return {};
    const auto number = find(set->second);
    return number ? family.Set(attribute, std::to_string(*number)) : Status();
  };
  CELLFS_RETURN_IF_ERROR(settle(kOwnerAttribute, UserNamed));
  CELLFS_RETURN_IF_ERROR(settle(kGroupAttribute, GroupNamed));
  CELLFS_RETURN_IF_ERROR(OwnerOf(family).status());
  return CheckMaySayOwner(family, before);
}

void InheritedAttributes::Inherit(const OwnerRecord& record, Inheritance& from) {
  from.owner.uid = record.uid.value_or(from.owner.uid);
  from.owner.gid = record.gid.value_or(from.owner.gid);
  from.owner.mode = record.mode.value_or(from.owner.mode);
  from.mode_is_set = from.mode_is_set || record.mode;
}

// What the namespace, the table (of what is below it) and the mount say.
InheritedAttributes::Inheritance InheritedAttributes::FromDirectories(
    const Place& place, const DataTable& table) const {
  Inheritance from;
  from.owner = {options_.uid, options_.gid, options_.directory_mode};
  if (place.kind == PlaceKind::kNamespace || place.kind == PlaceKind::kRoot) return from;
  Inherit(Directory(place.table.namespace_name), from);
  if (place.kind != PlaceKind::kTable && !table.row.empty()) Inherit(Directory(table.row), from);
  // Who opens a table to all does not open what is in it.
  from.owner.mode &= options_.directory_mode;
  return from;
}

// What the schema of the place's family says as well. Kept for the family asked for last, as the
// entries of a directory are asked for one after the other.
StatusOr<InheritedAttributes::Inheritance> InheritedAttributes::FromFamily(const Place& place,
                                                                           const DataTable& table) {
  const auto& schema = table.schema;
  if (schema == nullptr) return FromDirectories(place, table);
  std::shared_ptr<const FamilyInheritance> kept;
  uint64_t changes = 0;
  {
    std::shared_lock lock(mutex_);
    kept = last_family_;
    changes = directory_changes_;
  }
  if (kept != nullptr && kept->schema == schema && kept->family == place.family &&
      kept->directory_changes == changes) {
    return kept->from;
  }
  FamilyInheritance found{schema, place.family, changes, FromDirectories(place, table)};
  const FamilySchema* family = schema->FindFamily(place.family);
  if (family != nullptr) {
    const auto owner = OwnerOf(*family);
    if (!owner.ok()) {
      return Status(StatusCode::kIoError, owner.status().message() + "; mend .schema.toml");
    }
    Inherit(*owner, found.from);
    // It is said for files; who may read in the directory may enter it.
    if (owner->mode) found.from.owner.mode |= (*owner->mode & 0444) >> 2;
  }
  const Inheritance from = found.from;
  std::unique_lock lock(mutex_);
  last_family_ = std::make_shared<const FamilyInheritance>(std::move(found));
  return from;
}

StatusOr<OwnerAndMode> InheritedAttributes::Of(const Place& place, const DataTable& table,
                                               const OwnerRecord& row_family) {
  Inheritance from;
  if (place.family.empty()) {
    from = FromDirectories(place, table);
  } else {
    CELLFS_ASSIGN_OR_RETURN(from, FromFamily(place, table));
  }
  if (place.IsColumn()) Inherit(row_family, from);
  if (!place.IsDirectory()) {
    from.owner.mode = from.mode_is_set ? from.owner.mode & 0666 : options_.file_mode;
  }
  return from.owner;
}

AttributeRecord InheritedAttributes::Directory(const std::string& row) const {
  std::shared_lock lock(mutex_);
  const auto found = directories_.find(row);
  return found == directories_.end() ? AttributeRecord() : found->second;
}

void InheritedAttributes::SetDirectories(Directories directories) {
  std::unique_lock lock(mutex_);
  directories_ = std::move(directories);
  ++directory_changes_;
}

void InheritedAttributes::SetDirectory(const std::string& row, const AttributeRecord& record) {
  std::unique_lock lock(mutex_);
  AttributeRecord& directory = directories_[row];
  const auto changed = directory.changed;
  directory = record;
  directory.changed = changed;
  ++directory_changes_;
}

void InheritedAttributes::SetDirectoryChanged(const std::string& row, const timespec& time) {
  std::unique_lock lock(mutex_);
  directories_[row].changed = time;
}

bool InheritedAttributes::ForgetDirectory(const std::string& row) {
  std::unique_lock lock(mutex_);
  ++directory_changes_;
  return directories_.erase(row) > 0;
}

}  // namespace cellfs::fs
