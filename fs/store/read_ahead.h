// SPDX-License-Identifier: MIT
//
// ReadAhead: where the store is far away and nothing is kept for long (fs/store/freshness.h), who
// goes through a tree in its order still does not ask for each file. Of two reads that follow each
// other in the order of keys the second brings what comes behind it along, and as long as what was
// brought is used, each time four times as much:
//
//     a row behind another one                rows from there on
//     a column behind another one of its row  columns of the family from there on
//
// Many may go through one table at once, each in a part of it: a read goes on where the nearest one
// before it ended. Who reads here and there is told by what he leaves unused. Where rows are read
// here and there so often that he may want most of them (find, du and rm go through a large
// directory in the order of inodes), all of them are brought, if they are not too many.
//
// Who looks at a row or a family goes on to what is in it, name by name: a short one is brought
// whole, for the look-up of each name, and the opening of what that has found.
//
// Only plain reads of the present are answered so, and of the past where histories are brought;
// values of the families asked for, lengths of all families. What was brought counts for as long as
// anything that was read may be shown, but of what this mount changes only until then (Forget): who
// changes a column must see it.
//
// Thread-safe.
#ifndef CELLFS_FS_STORE_READ_AHEAD_H_
#define CELLFS_FS_STORE_READ_AHEAD_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/store.h"
#include "fs/store/freshness.h"

namespace cellfs::fs {

class ReadAhead {
 public:
  // What is brought of columns with several versions.
  enum class Histories {
    kAskedForAlone,  // they may be long
    kBrought,        // they are short; so is what was there in a time that is past
  };
  // Both outlive it.
  ReadAhead(Store& store, const Freshness& freshness,
            Histories histories = Histories::kAskedForAlone)
      : store_(store), freshness_(freshness), histories_(histories) {}

  // As Store::Read.
  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get);
  struct Answer {
    RowCells cells;
    Timestamp read_at = 0;  // Freshness::Now() from before that
  };
  StatusOr<Answer> Ask(const Caller& caller, const TableName& table, const Get& get);
  // These columns of the row were changed, or may have been; anything of it; of the table.
  void Forget(const TableName& table, const RowMutations& mutations);
  void Forget(const TableName& table, const std::string& row);
  void Forget(const TableName& table);
  // Another client put this version, which was seen just now: whatever of the row does not show it.
  struct SeenVersion {
    TableName table;
    std::string row;
    std::string family;
    std::string qualifier;
    Timestamp version = 0;

    bool IsIn(const RowCells& cells) const;
  };
  void ForgetWithout(const SeenVersion& seen);

 private:
  // A plain read.
  struct Question {
    TableName table;
    bool lengths_only = false;
    int32_t max_versions = 1;
    TimeRange time_range;
    std::string row;
    std::set<std::string> families;        // empty: all of them
    std::optional<std::string> qualifier;  // of the one family; nullopt: all of them
    int32_t store_limit = -1;
  };

  // In what order reads follow each other: rows, or columns of one row and family.
  struct Sequence {
    TableName table;
    bool lengths_only = false;
    int32_t max_versions = 1;
    TimeRange time_range;
    std::optional<std::string> row;  // whose columns these are; nullopt: rows
    std::set<std::string> families;  // empty: of all of them

    bool operator==(const Sequence&) const = default;
  };
  // The question's place in it: a row, or a qualifier.
  static const std::string& KeyIn(const Sequence& sequence, const Question& question) {
    return sequence.row ? *question.qualifier : question.row;
  }

  // What was brought, from one key to another, without a gap.
  struct Window {
    Sequence sequence;
    std::string first;
    std::string last;
    bool is_to_end = false;  // nothing comes behind it
    Timestamp read_at = 0;
    size_t asked_for = 0;                   // keys
    bool is_scattered = false;              // for who reads here and there
    size_t bytes = 0;                       // about
    std::map<std::string, RowCells> cells;  // by key
    std::set<std::string> families;         // of the cells; of the table, where it has all of them
    // ---- Guarded by mutex_; the rest stays as it was brought
    size_t used = 0;                  // answers given
    std::set<std::string> forgotten;  // keys that were changed since then
    bool is_void = false;             // all of them were

    // What comes first is too large to be brought so.
    bool BringsNothing() const { return cells.empty() && !is_to_end; }
    bool WasUsed() const {
      return !BringsNothing() && used * 2 >= std::min(asked_for, cells.size());
    }
  };
  using WindowPtr = std::shared_ptr<Window>;

  // Keys that were asked for one by one, for as long as an answer counts.
  struct Scattered {
    Timestamp since = 0;
    size_t count = 0;
    std::string first;
    std::string last;
  };
  // What was asked and brought in one sequence.
  struct Asked {
    Sequence sequence;
    std::map<std::string, WindowPtr> windows;  // by the first key
    std::list<std::string> keys;               // where somebody may go on, the latest first
    Scattered scattered;
    std::optional<Timestamp> not_worth_it;  // to bring all: when that was seen
  };
  class Bringing;

  // Lengths of all cells of a short row, or of a family of it.
  struct Directory {
    TableName table;
    std::string row;
    bool is_row = false;  // that was asked for
    std::set<std::string> families;
    RowCells cells;
    Timestamp read_at = 0;
    std::map<std::string, int> answers;  // given, by column or family
  };

  std::optional<Question> QuestionOf(const Caller& caller, const TableName& table,
                                     const Get& get) const;
  // By columns where it has one, else by rows.
  static Sequence SequenceOf(const Question& question, bool by_column);
  static RowCells AnswerFrom(const RowCells& cells, const Question& question);
  static RowCells AnswerFrom(const Window& window, const Question& question);
  // One at which somebody looks by itself.
  static bool IsDirectory(const Question& question);
  StatusOr<Answer> ReadDirectory(const Caller& caller, const Question& question, Get get);
  Status Bring(const Caller& caller, Window& window) const;
  static void Take(RowCells cells, Window& window);

  // ---- REQUIRES: mutex_
  static bool MayAnswer(const Sequence& sequence, const Question& question);
  bool Covers(const Window& window, const Question& question) const;
  WindowPtr Find(const Question& question);
  std::optional<Answer> FindInDirectory(const Question& question);
  Asked& AskedIn(const Sequence& sequence);
  // What to bring for the key; false: nothing.
  bool Plan(Asked& asked, const std::string& key, Window& window) const;
  bool PlanScattered(Asked& asked, const std::string& key, Window& window) const;
  // How many keys to bring from the key on; 0: nobody goes on there.
  size_t AmountFor(Asked& asked, const std::string& key) const;
  void Keep(const WindowPtr& window);
  void DropOldest();
  bool IsInside(const Window& window, const std::string& key) const;
  bool IsLongAgo(Timestamp when) const;
  static void ForgetKeyIn(Window& window, const std::string& key);
  void ForgetIn(Window& window, const Mutation& mutation) const;
  // `may_show`: whether it is known by now what the window has.
  static void ForgetWithout(const SeenVersion& seen, bool may_show, Window& window);

  Store& store_;
  const Freshness& freshness_;
  const Histories histories_;
  std::mutex mutex_;               // guards the rest
  std::list<Asked> asked_;         // the latest first
  std::list<WindowPtr> bringing_;  // that nobody finds yet, but that hear of changes
  std::list<Directory> directories_;  // the latest first
  uint64_t changes_ = 0;              // how often anything was forgotten
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_READ_AHEAD_H_
