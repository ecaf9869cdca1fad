// SPDX-License-Identifier: MIT
#include "fs/resolve/child_place.h"

#include <algorithm>
#include <iterator>

#include "fs/reading/long_keys.h"
#include "fs/resolve/cellfs_directory.h"
#include "fs/resolve/view_places.h"
#include "fs/tree/hidden_namespace.h"
#include "fs/tree/hidden_tables.h"
#include "fs/tree/view.h"

namespace cellfs::fs {

bool ChildPlaces::IsBesideToml(std::string_view name) const {
  const auto holds = [&](PlaceKind toml) {
    return name.find(TraitsOf(toml).fixed_name) != name.npos;
  };
  return holds(PlaceKind::kSchemaFile) || holds(PlaceKind::kNamespaceFile) ||
         IsTemporaryName(options_, std::string(name));
}

// One name in one directory.
class ChildPlaces::ChildName {
 public:
  ChildName(const ChildPlaces& places, const Caller& caller, const Place& directory,
            std::string_view name, NameUse use)
      : places_(places), caller_(caller), directory_(directory), name_(name), use_(use) {}

  OutcomeOr<Place> ToPlace() const {
    if (name_.empty() || name_ == "." || name_ == "..") return NotThere();
    if (name_.size() > kMaxNameLength) return Outcome(ENAMETOOLONG);
    if (IsForLater()) return NotYet();
    switch (directory_.kind) {
      case PlaceKind::kRoot:
        return InRoot();
      case PlaceKind::kNamespace:
        return InNamespace();
      case PlaceKind::kTable:
        return InTable();
      case PlaceKind::kRow:
        return InRow();
      case PlaceKind::kFamily:
        return InFamily();
      case PlaceKind::kVersionsDirectory:
        return InVersions();
      case PlaceKind::kVersionsColumn:
        return InVersionsColumn();
      case PlaceKind::kCountersDirectory:
        return Column(PlaceKind::kCounter);
      case PlaceKind::kDeletedDirectory:
      case PlaceKind::kDeletedFamily:
        return Column(PlaceKind::kDeletedCell);
      case PlaceKind::kDeletedRowsDirectory:
        return use_ == NameUse::kLookUp ? Row(PlaceKind::kDeletedRow) : NotThere();
      case PlaceKind::kDeletedRow:
        return DeletedFamily(0);
      case PlaceKind::kDeletedFamiliesDirectory:
        return DeletedFamily(kInRow);
      case PlaceKind::kDroppedDirectory:
        if (use_ != NameUse::kLookUp) return Outcome(EPERM, "only what was removed stands there: nothing can be made in it");
        return Named(PlaceKind::kDropped);
      case PlaceKind::kAsofDirectory:
        return PlaceAsOf(places_.reading_, places_.asof_, directory_, name_);
      case PlaceKind::kScanDirectory:
        return PlaceInScan(places_.reading_, places_.options_.names, directory_, name_);
      case PlaceKind::kSelfDirectory:
        return InSelf();
      case PlaceKind::kKeysDirectory:
        return InKeys();
      default:
        return NotThere();
    }
  }

 private:
  // ---- Directories of the data ----------------------------------------------------------------

  OutcomeOr<Place> InRoot() const {
    if (auto control = Control()) return *std::move(control);
    if (use_ == NameUse::kCreateFile) return NotThere();
    if (name_ == kHiddenNamespace) return NotThere();
    Place place = directory_.As(PlaceKind::kNamespace);
    place.table.namespace_name = name_;
    return place;
  }

  OutcomeOr<Place> InNamespace() const {
    if (auto control = ControlOrMemory()) return *std::move(control);
    Place place = directory_.As(PlaceKind::kTable);
    place.table.name = name_;
    if (IsHidden(places_.options_, place.table)) return NotThere();
    return place;
  }

  OutcomeOr<Place> InTable() const {
    if (auto control = ControlOrMemory()) return *std::move(control);
    return Row(PlaceKind::kRow);
  }

  // The row that the name says, as `kind`.
  OutcomeOr<Place> Row(PlaceKind kind) const {
    ReadName read = places_.names_.rows().Read(name_);
    if (read.kind == ReadName::Kind::kLong && use_ == NameUse::kLookUp) {
      const bool is_deleted = kind == PlaceKind::kDeletedRow;
      CELLFS_ASSIGN_OR_RETURN(
          read.key, FindLongRow(places_.reading_, places_.names_.rows(), caller_,
                                is_deleted ? directory_.As(PlaceKind::kTable) : directory_,
                                is_deleted ? LongRows::kStored : LongRows::kVisible, read.key,
                                name_));
    } else if (read.kind != ReadName::Kind::kKey) {
      return NoKey(read.kind);
    }
    if (IsHiddenRow(directory_.table, read.key)) return NotThere();
    Place place = directory_.As(kind);
    place.row = std::move(read.key);
    return place;
  }

  OutcomeOr<Place> InRow() const {
    if (use_ == NameUse::kCreateFile) return NotThere();
    if (auto control = Control()) return *std::move(control);
    return Family(PlaceKind::kFamily, 0);
  }

  // The family that the name says, as `kind`.
  OutcomeOr<Place> Family(PlaceKind kind, Timestamp timestamp) const {
    if (!CheckFamilyName(name_).ok()) return NotThere();
    Place place = directory_.As(kind, timestamp);
    place.family = name_;
    return place;
  }

  OutcomeOr<Place> InFamily() const {
    if (auto control = Control()) return *std::move(control);
    if (use_ == NameUse::kCreateDirectory) return Outcome(EPERM, "a family holds files only");
    if (auto memory = TemporaryInFamily()) return *std::move(memory);
    return Column(PlaceKind::kCell);
  }

  // Where a store takes nothing back, a temporary that was put would leave a tombstone: it is in
  // memory until it is renamed.
  std::optional<Place> TemporaryInFamily() const {
    if (places_.reading_.traits().withdraws || directory_.view != nullptr) return std::nullopt;
    Place memory = directory_.As(PlaceKind::kMemoryFile, kInFamily);
    memory.name = name_;
    const bool is_made = use_ == NameUse::kCreateFile &&
                         IsTemporaryName(places_.options_, std::string(name_));
    if (is_made || places_.unstored_.Find(memory)) return memory;
    return std::nullopt;
  }

  // The column that the name says, as `kind`.
  OutcomeOr<Place> Column(PlaceKind kind) const {
    const bool lists_versions = directory_.view != nullptr && directory_.view->ShowsVersions();
    const NameSpelling& names =
        lists_versions ? places_.names_.versions() : places_.names_.qualifiers();
    ReadName read = names.Read(name_);
    if (read.kind == ReadName::Kind::kLong && use_ == NameUse::kLookUp) {
      CELLFS_ASSIGN_OR_RETURN(read.key, FindLongQualifier(places_.reading_, names, caller_,
                                                          directory_, read.key, name_));
    } else if (read.kind != ReadName::Kind::kKey) {
      return NoKey(read.kind);
    }
    if (read.timestamp && kind != PlaceKind::kCell) return NotThere();
    return PlaceOf(kind, std::move(read));
  }

  OutcomeOr<Place> PlaceOf(PlaceKind kind, ReadName&& read) const {
    OutcomeOr<Place> place(std::in_place, directory_);
    place->kind = read.timestamp ? PlaceKind::kVersion : kind;
    place->timestamp = read.timestamp.value_or(0);
    place->qualifier = std::move(read.key);
    return place;
  }

  // ---- Control directories --------------------------------------------------------------------

  OutcomeOr<Place> DeletedFamily(Timestamp where) const {
    if (use_ != NameUse::kLookUp) return NotThere();
    return Family(PlaceKind::kDeletedFamily, where);
  }

  OutcomeOr<Place> InVersions() const {
    Place memory = Named(PlaceKind::kMemoryFile);
    if (use_ == NameUse::kCreateFile || places_.unstored_.Find(memory)) return memory;
    return Column(PlaceKind::kVersionsColumn);
  }

  OutcomeOr<Place> InVersionsColumn() const {
    if (const auto timestamp = ReadTimestamp(name_)) {
      if (use_ == NameUse::kCreateDirectory) return Outcome(EPERM);
      return directory_.As(PlaceKind::kVersionsFile, *timestamp);
    }
    Place memory = directory_.As(
        use_ == NameUse::kCreateDirectory ? PlaceKind::kMemoryDirectory : PlaceKind::kMemoryFile,
        kBesideVersions);
    memory.name = name_;
    if (use_ == NameUse::kLookUp && !places_.unstored_.Find(memory)) {
      memory.kind = PlaceKind::kMemoryDirectory;
    }
    return memory;
  }

  OutcomeOr<Place> InSelf() const {
    if (const auto kind = FixedChildOf(directory_.kind, name_)) return directory_.As(*kind);
    if (std::find(std::begin(kSelfFiles), std::end(kSelfFiles), name_) == std::end(kSelfFiles)) {
      return Outcome(ENOENT);
    }
    return Named(PlaceKind::kSelfFile);
  }

  OutcomeOr<Place> InKeys() const {
    auto key = places_.names_.FullKey(name_);
    if (!key) return Outcome(ENOENT);
    Place place = Named(PlaceKind::kKeyFile);
    place.row = *std::move(key);
    return place;
  }

  // ---- Names that are no keys -----------------------------------------------------------------

  // What stands in every directory of its kind; in the data all such names begin with a dot.
  std::optional<Place> Control() const {
    if (!name_.starts_with('.')) return std::nullopt;
    const auto kind = FixedChildOf(directory_.kind, name_);
    if (!kind) return std::nullopt;
    const bool is_toml = TraitsOf(*kind).content == PlaceContent::kToml;
    const View* const view = directory_.view.get();
    const bool is_kept = name_ != ".deleted" || places_.reading_.traits().keeps_deleted;
    const bool has_it =
        view == nullptr ? is_kept : *kind == PlaceKind::kVersionsDirectory && view->ShowsPast();
    const bool has_controls = places_.options_.controls != Controls::kOff && has_it;
    const bool shows_toml = view == nullptr || view->ShowsToml();
    if (is_toml ? !shows_toml : !has_controls) return std::nullopt;
    return directory_.As(*kind);
  }

  // In a namespace or table; a failure where no file can be made there.
  std::optional<OutcomeOr<Place>> ControlOrMemory() const {
    if (auto control = Control()) return *std::move(control);
    if (directory_.view != nullptr) return std::nullopt;
    if (use_ == NameUse::kCreateFile && !places_.IsBesideToml(name_)) return NotThere();
    Place memory = Named(PlaceKind::kMemoryFile);
    if (use_ == NameUse::kCreateFile || places_.unstored_.Find(memory)) return memory;
    return std::nullopt;
  }

  Place Named(PlaceKind kind) const {
    Place place = directory_.As(kind);
    place.name = name_;
    return place;
  }

  bool IsForLater() const {
    const bool has_such = directory_.kind == PlaceKind::kRoot ||
                          directory_.kind == PlaceKind::kNamespace ||
                          directory_.kind == PlaceKind::kTable;
    if (!has_such || places_.options_.controls == Controls::kOff || !IsKeptForLater(name_))
      return false;
    const auto fixed = FixedChildOf(directory_.kind, name_);
    const bool is_there = fixed && (*fixed != PlaceKind::kDroppedDirectory ||
                                    places_.reading_.traits().keeps_dropped);
    return !is_there;
  }

  // ---- Errors ---------------------------------------------------------------------------------

  Outcome NotThere() const {
    switch (use_) {
      case NameUse::kLookUp:
        return Outcome(ENOENT);
      case NameUse::kCreateFile:
        return Outcome(EPERM,
                       "files are made in a family: /<namespace>/<table>/<row>/<family>/<file>");
      case NameUse::kCreateDirectory:
        break;
    }
    return Outcome(EPERM, "no directory of that name can be made here");
  }

  Outcome NotYet() const {
    if (use_ != NameUse::kCreateDirectory || directory_.view != nullptr) return NotThere();
    return Outcome(EOPNOTSUPP, "this name is kept for what is to come");
  }

  Outcome NoKey(ReadName::Kind kind) const {
    if (kind == ReadName::Kind::kTooLong) return Outcome(ENAMETOOLONG);
    if (kind == ReadName::Kind::kReserved) return NotThere();
    if (use_ == NameUse::kLookUp) return Outcome(ENOENT);
    if (kind == ReadName::Kind::kLong) {
      return Outcome(ENAMETOOLONG, "the long form of a name can be read, not created");
    }
    return Outcome(EILSEQ, "the name spells no key");
  }

  const ChildPlaces& places_;
  const Caller& caller_;
  const Place& directory_;
  const std::string_view name_;
  const NameUse use_;
};

OutcomeOr<Place> ChildPlaces::Find(const Caller& caller, const Place& directory,
                                   std::string_view name, NameUse use) const {
  return ChildName(*this, caller, directory, name, use).ToPlace();
}

}  // namespace cellfs::fs
