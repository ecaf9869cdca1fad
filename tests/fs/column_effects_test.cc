// SPDX-License-Identifier: MIT
//
// Who is told of what: for each operation that changes a column, and for each way in which it can
// end, what the mount knows afterwards of the column, its directories and their names, and what it
// has told the kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/fs/changing_operations.h"

namespace cellfs::fs {
namespace {

using Failure = FailingStore::Failure;

struct Notices : KernelNotifier {
  void InvalidateInode(const Node& node) override { Note(whole, NameOf(node)); }
  void InvalidateAttributes(const Node& node) override { Note(attributes, NameOf(node)); }
  void InvalidateEntry(const Node& directory, const std::string& name) override {
    Note(names, NameOf(directory) + " " + name);
  }
  static std::string NameOf(const Node& node) {
    const Snapshot<Place> place = node.place();
    return place->ToString();
  }
  void Note(std::set<std::string>& noted, const std::string& what) {
    std::lock_guard lock(mutex);
    noted.insert(what);
  }

  std::mutex mutex;
  std::set<std::string> whole;  // guarded by mutex, as are the others
  std::set<std::string> attributes;
  std::set<std::string> names;
};

// Without what is the same in all of them.
std::string Short(std::string name) {
  for (const std::string same : {"default:t/r/", "17000000000", "default:"}) {
    const size_t at = name.find(same);
    if (at != name.npos) name.erase(at, same.size());
  }
  return name;
}

std::string Line(const std::string& title, const std::set<std::string>& names) {
  std::string line;
  for (const std::string& name : names) line += " " + Short(name);
  return line.empty() ? "" : title + ":" + line + "\n";
}

constexpr Timestamp kNewest = kStart + 20;

// What the kernel knows before: every name of the columns that the operations change.
const std::vector<std::string> kKnown = {
    "default/t",
    "default/t/r",
    "default/t/r/f",
    "default/t/r/g",
    "default/t/r/f/other",
    kQ,
    std::string(kQ) + "@" + std::to_string(kNewest),
    "default/t/r/f/.versions/q/" + std::to_string(kStart),
    "default/t/r/f/.versions/q/" + std::to_string(kNewest),
    "default/t/r/f/c",
    "default/t/r/f/.counters/c",
    "default/t/r/f/.counters/other",
    "default/t/r/g/in-g",
};

// Of the names that an operation may make, too.
std::vector<Place> FilesOf(const TableName& table) {
  std::vector<Place> files;
  for (const char* name : {"q", "other", "made", "renamed", "q~", "from-g", "c", ".q.Xa1b2c"})
    files.push_back(CellPlace(table, "r", "f", name));
  files.push_back(CellPlace(table, "r", "g", "in-g"));
  files.push_back(files.front().As(PlaceKind::kVersionsFile, 77));
  files.push_back(files.front().As(PlaceKind::kVersion, 77));
  return files;
}

class Effects {
 public:
  explicit Effects(FailingTree& tree) : tree_(tree) {
    for (const std::string& path : kKnown) {
      const auto entry = tree.LookUp(path);
      EXPECT_TRUE(entry.ok()) << path;
      if (entry.ok()) Know(entry->node);
    }
    kernel().AwaitNames();
    kernel().SetNotifier(&notices_);
  }
  ~Effects() { kernel().SetNotifier(nullptr); }

  // The nodes that operations made on the way to where they are.
  void KnowOthers() {
    for (const Place& place : FilesOf(tree_.table)) {
      if (const NodePtr node = tree().inodes.Find(place)) Know(node);
    }
  }

  std::string Now() {
    kernel().AwaitNames();
    std::set<std::string> told;
    std::set<std::string> unlinked;
    std::set<std::string> cells;
    for (const auto& [node, before] : known_) {
      if (node->generation() > before.generation) told.insert(before.name);
      if (node->unlinked()) unlinked.insert(before.name);
      const Snapshot<Place> place = node->place();
      if (place->kind == PlaceKind::kCell && !node->unlinked() && node->cached_cell())
        cells.insert(place->ToString());
    }
    std::lock_guard lock(notices_.mutex);
    return Line("told", told) + Line("forgotten", Minus(cells_before_, cells)) +
           Line("cached", Minus(cells, cells_before_)) + Line("unlinked", unlinked) + Columns() +
           Directories() + Line("kernel drops", notices_.whole) +
           Line("kernel asks", notices_.attributes) + Line("kernel looks up", notices_.names);
  }

 private:
  struct Before {
    std::string name;
    uint64_t generation;
  };

  LiveTree& tree() const { return tree_.filesystem->parts().tree; }
  KernelCache& kernel() const { return tree_.filesystem->kernel(); }

  void Know(const NodePtr& node) {
    const Snapshot<Place> place = node->place();
    // .versions/q/<timestamp> is another name of the same version.
    const std::string name =
        (place->kind == PlaceKind::kVersionsFile ? ".versions/" : "") + place->ToString();
    if (!known_.emplace(node, Before{name, node->generation()}).second) return;
    if (place->kind == PlaceKind::kCell && node->cached_cell())
      cells_before_.insert(place->ToString());
  }

  static std::set<std::string> Minus(const std::set<std::string>& a,
                                     const std::set<std::string>& b) {
    std::set<std::string> rest;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
    return rest;
  }

  std::string Columns() const {
    std::set<std::string> unstored;
    std::set<std::string> created;
    std::set<std::string> renamed;
    for (const Place& place : FilesOf(tree_.table)) {
      if (tree().unstored.Find(place)) unstored.insert(place.ToString());
      if (place.kind != PlaceKind::kCell) continue;
      const ColumnPtr column = tree().columns.Find(place);
      if (column == nullptr) continue;
      if (column->created()) created.insert(place.ToString());
      if (column->renamed_away()) renamed.insert(place.ToString());
    }
    return Line("claimed", unstored) + Line("created", created) + Line("renamed away", renamed);
  }

  std::string Directories() const {
    std::set<std::string> unstored;
    std::set<std::string> times;
    for (const Place& place :
         {RowPlace(tree_.table, "r"), FamilyPlace(tree_.table, "r", "f"),
          FamilyPlace(tree_.table, "r", "g")}) {
      if (tree().unstored.Find(place)) unstored.insert(place.ToString());
      if (tree().directory_times.Find(place)) times.insert(place.ToString());
    }
    return Line("kept", unstored) + Line("times of", times);
  }

  FailingTree& tree_;
  Notices notices_;
  std::map<NodePtr, Before> known_;
  std::set<std::string> cells_before_;
};

enum class Verdict { kDone, kRefused, kUnknownDone, kUnknown };

void Fail(FailingStore& store, Verdict verdict) {
  Failure failure;
  failure.call = 1;
  failure.counted = FailingStore::Calls::kMutations;
  failure.status = Status(StatusCode::kOutcomeUnknown, "nobody knows");
  if (verdict == Verdict::kDone) return;
  if (verdict == Verdict::kRefused) failure.status = Status(StatusCode::kIoError, "refused");
  if (verdict == Verdict::kUnknownDone) failure.effect = FailingStore::Effect::kDone;
  store.Fail(failure);
}

std::string EffectsOf(const Operation& operation, Verdict verdict) {
  FailingTree tree;
  Fill(tree);
  const auto call = operation.prepare(tree);
  Effects effects(tree);
  effects.KnowOthers();
  Fail(*tree.failing, verdict);
  const int error = call();
  tree.failing->Heal();
  EXPECT_EQ(error == 0, verdict == Verdict::kDone) << operation.name;
  return effects.Now();
}

struct Expected {
  std::string operation;
  std::string done;
  std::string refused;
  std::string unknown;  // whether or not it was done, but for directories that were emptied
};

std::string WithoutKept(std::string effects) {
  const size_t at = effects.find("kept: ");
  if (at != effects.npos) effects.erase(at, effects.find('\n', at) + 1 - at);
  return effects;
}

const std::vector<Expected>& AllExpected() {
  static const std::vector<Expected> expected = {
      {"append",
       "told: .versions/f:q@00 .versions/f:q@20 f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: f:q\n",
       "kernel drops: f:q\n",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "forgotten: f:q\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:q\n"
       "kernel asks: f:q\n"
       "kernel looks up: f q\n"},
      {"append with a time",
       "told: .versions/f:q@00 .versions/f:q@20 f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: f:q\n",
       "kernel drops: f:q\n",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "forgotten: f:q\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:q\n"
       "kernel asks: f:q\n"
       "kernel looks up: f q\n"},
      {"edit",
       "told: .versions/f:q@00 .versions/f:q@20 f:q f:q@20\n"
       "times of: t/r f\n",
       "kernel drops: f:q\n",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "forgotten: f:q\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:q\n"
       "kernel asks: f:q\n"
       "kernel looks up: f q\n"},
      {"overwrite",
       "told: .versions/f:q@00 .versions/f:q@20 f:q f:q@20\n"
       "times of: t/r f\n",
       "kernel drops: f:q\n",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "forgotten: f:q\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:q\n"
       "kernel asks: f:q\n"
       "kernel looks up: f q\n"},
      {"overwrite with a time",
       "told: .versions/f:q@00 .versions/f:q@20 f:q f:q@20\n"
       "times of: t/r f\n",
       "kernel drops: f:q\n",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "forgotten: f:q\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:q\n"
       "kernel asks: f:q\n"
       "kernel looks up: f q\n"},
      {"create",
       "told: f:made\n"
       "cached: f:made\n"
       "created: f:made\n"
       "times of: t/r f\n",
       "told: t t/r f f:made\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:made\n"
       "kernel asks: f:made\n"
       "kernel looks up: f made\n",
       "told: t t/r f f:made\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:made\n"
       "kernel asks: f:made\n"
       "kernel looks up: f made\n"},
      {"create exclusively",
       "told: f:made\n"
       "cached: f:made\n"
       "created: f:made\n"
       "times of: t/r f\n",
       "told: t t/r f f:made\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:made\n"
       "kernel asks: f:made\n"
       "kernel looks up: f made\n",
       "told: t t/r f f:made\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:made\n"
       "kernel asks: f:made\n"
       "kernel looks up: f made\n"},
      {"create a version",
       "told: .versions/f:q@00 .versions/f:q@20 .versions/f:q@77 t t/r f f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:q\n"
       "kernel looks up: f q\n",
       "told: .versions/f:q@00 .versions/f:q@20 .versions/f:q@77 t t/r f f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:q@77\n"
       "kernel asks: f:q f:q@77\n"
       "kernel looks up: f q f:q 77\n",
       "told: .versions/f:q@00 .versions/f:q@20 .versions/f:q@77 t t/r f f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:q@77\n"
       "kernel asks: f:q f:q@77\n"
       "kernel looks up: f q f:q 77\n"},
      {"count",
       "told: t t/r f f:c\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:c\n"
       "kernel looks up: f c\n",
       "",
       "told: t t/r f f:c\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:c\n"
       "kernel asks: f:c\n"
       "kernel looks up: f c\n"},
      {"count a line",
       "told: t t/r f f:c\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:c\n"
       "kernel looks up: f c\n",
       "",
       "told: t t/r f f:c\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:c\n"
       "kernel asks: f:c\n"
       "kernel looks up: f c\n"},
      {"unlink default/t/r/f/q",
       "told: .versions/f:q@00 .versions/f:q@20 f:q f:q@20\n"
       "unlinked: f:q\n"
       "times of: t/r f\n",
       "cached: f:q\n",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f\n"
       "kernel asks: f:q\n"
       "kernel looks up: f q\n"},
      {"unlink default/t/r/f/.versions/q/1700000000000",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "unlinked: .versions/f:q@00\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:q\n"
       "kernel looks up: f q\n",
       "",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f\n"
       "kernel asks: f:q f:q@00\n"
       "kernel looks up: f q f:q 00\n"},
      {"unlink default/t/r/f/.versions/q/1700000000020",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "unlinked: .versions/f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:q\n"
       "kernel looks up: f q\n",
       "",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f\n"
       "kernel asks: f:q f:q@20\n"
       "kernel looks up: f q f:q 20\n"},
      {"unlink a temporary",
       "told: f:.q.Xa1b2c\n"
       "forgotten: f:.q.Xa1b2c\n"
       "unlinked: f:.q.Xa1b2c\n"
       "times of: t/r f\n",
       "created: f:.q.Xa1b2c\n"
       "times of: t/r f\n",
       "told: t t/r f f:.q.Xa1b2c\n"
       "forgotten: f:.q.Xa1b2c\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f\n"
       "kernel asks: f:.q.Xa1b2c\n"
       "kernel looks up: f .q.Xa1b2c\n"},
      {"rename default/t/r/f/q default/t/r/f/q~",
       "told: .versions/f:q@00 .versions/f:q@20 f:q f:q@20\n"
       "cached: f:q~\n"
       "created: f:q~\n"
       "renamed away: f:q\n"
       "times of: t/r f\n"
       "kernel asks: f:q~\n",
       "",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f\n"
       "kernel asks: f:q\n"
       "kernel looks up: f q\n"},
      {"rename default/t/r/f/q default/t/r/f/other",
       "told: .versions/f:q@00 .versions/f:q@20 f:other f:q f:q@20\n"
       "cached: f:other\n"
       "unlinked: f:other\n"
       "created: f:other\n"
       "times of: t/r f\n"
       "kernel asks: f:other\n"
       "kernel looks up: f other\n",
       "",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:other f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f\n"
       "kernel asks: f:other f:q\n"
       "kernel looks up: f other f q\n"},
      {"rename default/t/r/g/in-g default/t/r/f/from-g",
       "told: g:in-g\n"
       "cached: f:from-g\n"
       "created: f:from-g\n"
       "kept: g\n"
       "times of: t/r f g\n"
       "kernel asks: f:from-g\n",
       "",
       "told: t t/r f g g:in-g\n"
       "kept: g\n"
       "times of: t/r f g\n"
       "kernel drops: t t/r f g\n"
       "kernel asks: g:in-g\n"
       "kernel looks up: g in-g\n"},
      {"rename default/t/r/f/.q.Xa1b2c default/t/r/f/q",
       "told: .versions/f:q@00 .versions/f:q@20 f:.q.Xa1b2c f:q f:q@20\n"
       "forgotten: f:.q.Xa1b2c\n"
       "cached: f:q\n"
       "unlinked: f:q\n"
       "created: f:q\n"
       "times of: t/r f\n"
       "kernel asks: f:q\n",
       "created: f:.q.Xa1b2c\n"
       "times of: t/r f\n",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:.q.Xa1b2c f:q f:q@20\n"
       "forgotten: f:.q.Xa1b2c\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f\n"
       "kernel asks: f:.q.Xa1b2c f:q\n"
       "kernel looks up: f .q.Xa1b2c f q\n"},
      {"rename default/t/r/f/.q.Xa1b2c default/t/r/f/renamed",
       "told: f:.q.Xa1b2c\n"
       "forgotten: f:.q.Xa1b2c\n"
       "cached: f:renamed\n"
       "created: f:renamed\n"
       "times of: t/r f\n"
       "kernel asks: f:renamed\n",
       "created: f:.q.Xa1b2c\n"
       "times of: t/r f\n",
       "told: t t/r f f:.q.Xa1b2c\n"
       "forgotten: f:.q.Xa1b2c\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f\n"
       "kernel asks: f:.q.Xa1b2c\n"
       "kernel looks up: f .q.Xa1b2c\n"},
      {"rename default/t/r/f/.versions/q/.77.Xa1b2c default/t/r/f/.versions/q/77",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f f:q\n"
       "kernel asks: f:q@77\n"
       "kernel looks up: f q\n",
       "",
       "told: .versions/f:q@00 .versions/f:q@20 t t/r f f:q f:q@20\n"
       "times of: t/r f\n"
       "kernel drops: t t/r f\n"
       "kernel asks: f:q\n"
       "kernel looks up: f q\n"},
  };
  return expected;
}

TEST(ColumnEffectsTest, WhoIsToldOfWhat) {
  if (StoreKindOfTests() != StoreKind::kLocal) GTEST_SKIP() << "about what is known for ever";
  const std::vector<Operation> operations = Operations();
  ASSERT_EQ(operations.size(), AllExpected().size());
  for (size_t i = 0; i < operations.size(); ++i) {
    const Expected& expected = AllExpected()[i];
    SCOPED_TRACE(expected.operation);
    ASSERT_EQ(operations[i].name, expected.operation);
    EXPECT_EQ(EffectsOf(operations[i], Verdict::kDone), expected.done);
    EXPECT_EQ(EffectsOf(operations[i], Verdict::kRefused), expected.refused);
    EXPECT_EQ(EffectsOf(operations[i], Verdict::kUnknownDone), expected.unknown);
    EXPECT_EQ(EffectsOf(operations[i], Verdict::kUnknown), WithoutKept(expected.unknown));
  }
}

}  // namespace
}  // namespace cellfs::fs
