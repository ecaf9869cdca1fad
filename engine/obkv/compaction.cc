// SPDX-License-Identifier: MIT
#include "engine/obkv/compaction.h"

#include <optional>
#include <utility>
#include <vector>

#include "engine/obkv/retries.h"
#include "engine/obkv/sql_cursor.h"
#include "engine/obkv/transaction.h"
#include "engine/visibility/compaction_matcher.h"

namespace cellfs::obkv {
namespace {

// Of a step.
constexpr size_t kMostCells = 8192;
constexpr size_t kMostDropped = 512;

// By the rules of a family whose deletes leave nothing: no writer's order is known here.
std::unique_ptr<CompactionMatcher> MatcherFor(const FamilySchema& family, Timestamp now) {
  FamilySchema plain = family;
  plain.Keep("NEW_VERSION_BEHAVIOR", "false");
  return MakeCompactionMatcher(plain, {.kind = RewriteKind::kMajor, .now = now});
}

class FamilyCompaction {
 public:
  FamilyCompaction(const std::string& sql_name, const DescribedFamily& family, Timestamp now)
      : sql_name_(sql_name),
        has_ttl_(family.has_ttl),
        matcher_(MatcherFor(family.note.family, now)) {}

  bool at_end() const { return at_end_; }

  // Goes on behind the last cell that it has looked at.
  Status Look(Connection& connection, const Patience& patience) {
    Transaction transaction(connection, patience);
    CELLFS_RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kReading));
    const auto cursor = OpenSqlCursor(connection,
                                      {.table = sql_name_,
                                       .has_ttl = has_ttl_,
                                       .only_row = {},
                                       .stop_row = {},
                                       .lengths_only = true},
                                      patience);
    CELLFS_RETURN_IF_ERROR(
        cursor->Seek(last_ ? CellPlace{last_->row, last_->qualifier, last_->timestamp - 1}
                           : CellPlace{""}));
    size_t cells = 0;
    while (cursor->valid() && cells++ < kMostCells && dropped_.size() < kMostDropped) {
      CellView cell = cursor->cell();
      cell.sequence_id = kMaxSequenceId;  // no moment is pinned that would still see it
      if (!matcher_->Keep(cell)) dropped_.push_back(CopyOf(cell));
      last_ = CopyOf(cell);
      CELLFS_RETURN_IF_ERROR(cursor->Next());
    }
    at_end_ = !cursor->valid();
    return transaction.Commit();
  }

  // What others have changed meanwhile is as they have left it: no cell comes back from beyond
  // MaxVersions by a put, and of one that expires by itself it is said when.
  Status Remove(Connection& connection, const Patience& patience) const {
    if (dropped_.empty()) return {};
    Transaction transaction(connection, patience);
    CELLFS_RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kWriting));
    std::string sql = "DELETE FROM " + sql_name_ + " WHERE K = ? AND Q = ? AND T = ?";
    if (has_ttl_) sql += " AND TTL <=> ?";
    for (const Cell& cell : dropped_) {
      SqlParameters parameters = {cell.row, cell.qualifier, -cell.timestamp};
      if (has_ttl_) {
        parameters.emplace_back(cell.time_to_live != kNoCellTtl ? SqlParameter(cell.time_to_live)
                                                                : SqlParameter());
      }
      CELLFS_RETURN_IF_ERROR(connection.Change(sql, parameters, patience).status());
    }
    return transaction.Commit();
  }
  void Forget() { dropped_.clear(); }

 private:
  const std::string sql_name_;
  const bool has_ttl_;
  const std::unique_ptr<CompactionMatcher> matcher_;
  std::optional<Cell> last_;
  std::vector<Cell> dropped_;
  bool at_end_ = false;
};

}  // namespace

Status Compaction::Run(const std::string& sql_name, const DescribedFamily& family) {
  const FamilySchema& schema = family.note.family;
  const bool drops_nothing = schema.max_versions() == kAllVersions &&
                             schema.time_to_live() == kForever && !family.has_ttl;
  if (drops_nothing) return {};
  FamilyCompaction compaction(sql_name, family, clock_.Now());
  while (!compaction.at_end()) {
    {
      const Patience patience = Patience::For(step_timeout_);
      CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
      CELLFS_RETURN_IF_ERROR(compaction.Look(*connection, patience));
    }
    for (Retries retries(step_timeout_);;) {
      const Patience patience = Patience::For(step_timeout_);
      CELLFS_ASSIGN_OR_RETURN(const auto connection, pool_.Lend(patience));
      const Status removed = compaction.Remove(*connection, patience);
      // To remove twice is to remove.
      const bool may_try = DidNotHappen(removed) || removed.code() == StatusCode::kOutcomeUnknown;
      if (!removed.ok() && may_try && retries.Pause()) continue;
      CELLFS_RETURN_IF_ERROR(removed);
      break;
    }
    compaction.Forget();
  }
  return {};
}

}  // namespace cellfs::obkv
