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
// Only plain reads of the present are answered so; values of the families asked for, lengths of all
// families. What was brought counts for as long as anything that was read may be shown, and until
// this mount changes something: who changes a column must see it.
//
// Thread-safe.
#ifndef CELLFS_FS_STORE_READ_AHEAD_H_
#define CELLFS_FS_STORE_READ_AHEAD_H_

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "engine/store.h"
#include "fs/store/freshness.h"

namespace cellfs::fs {

class ReadAhead {
 public:
  // How it hears of changes.
  enum class Changes {
    kAny,    // whatever this mount changes ends what was brought (fs/nodes/generation.h)
    kByRow,  // Forget tells
  };
  // Both outlive it.
  ReadAhead(Store& store, const Freshness& freshness, Changes changes = Changes::kAny)
      : store_(store), freshness_(freshness), changes_(changes) {}

  // As Store::Read.
  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get);
  struct Answer {
    RowCells cells;
    Timestamp read_at = 0;  // Freshness::Now() from before that
  };
  StatusOr<Answer> Ask(const Caller& caller, const TableName& table, const Get& get);
  // This mount has changed the row.
  void Forget(const TableName& table, const std::string& row);

 private:
  // A plain read.
  struct Question {
    TableName table;
    bool lengths_only = false;
    int32_t max_versions = 1;
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
    uint64_t changes = 0;  // CountChanges() from before it was read
    size_t asked_for = 0;  // keys
    size_t used = 0;       // answers given
    std::map<std::string, RowCells> cells;  // by key
    std::set<std::string> families;         // of the cells
    std::set<std::string> forgotten;        // rows that were changed since then

    // What comes first is too large to be brought so.
    bool BringsNothing() const { return cells.empty() && !is_to_end; }
  };
  using WindowPtr = std::shared_ptr<Window>;
  struct Asked {
    Sequence sequence;
    std::string key;
  };

  static std::optional<Question> QuestionOf(const Caller& caller, const TableName& table,
                                            const Get& get);
  // By columns where it has one, else by rows.
  static Sequence SequenceOf(const Question& question, bool by_column);
  static bool Covers(const Window& window, const Question& question);
  bool IsStill(const Window& window) const;
  static RowCells AnswerFrom(const Window& window, const Question& question);
  uint64_t CountChanges() const;

  // ---- REQUIRES: mutex_
  std::optional<Answer> Find(const Question& question);
  // How many keys of the sequence to bring from the key on; 0: it does not go on there.
  size_t AmountFor(const Sequence& sequence, const std::string& key) const;
  void Note(Sequence sequence, std::string key);

  StatusOr<WindowPtr> Bring(const Caller& caller, const Sequence& sequence,
                            const std::string& first, size_t amount) const;

  Store& store_;
  const Freshness& freshness_;
  const Changes changes_;
  std::mutex mutex_;              // guards the rest
  uint64_t forgotten_ = 0;        // counts Forget
  std::list<WindowPtr> windows_;  // the newest first
  std::list<Asked> asked_;        // of the store, the latest first
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_READ_AHEAD_H_
