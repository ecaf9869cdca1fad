// SPDX-License-Identifier: MIT
//
// CasePlayer: plays the steps of one case on a fresh store, with a clock of its own.
#ifndef CELLFS_TESTS_CONFORMANCE_CASE_PLAYER_H_
#define CELLFS_TESTS_CONFORMANCE_CASE_PLAYER_H_

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "case_json.h"
#include "stage.h"

namespace cellfs::conformance {

// What a step gave: the kind of an error ("NoSuchColumnFamily", its message behind a colon), or an
// answer in the spelling of `expect`; null where the step answers nothing.
struct Answer {
  std::string error;
  std::string message;
  std::string answer;  // JSON text
  friend bool operator==(const Answer& a, const Answer& b) {
    return a.error == b.error && a.answer == b.answer;
  }
  std::string ToString() const;
};

// A step whose answer was not the expected one; both are empty but for that.
struct Difference {
  size_t step = 0;
  std::string expected;
  std::string got;
};

class CasePlayer {
 public:
  // With clock, settings and schema of the case. Throws as MakeStage does.
  CasePlayer(const Json& test_case, StageKind kind);
  CasePlayer(const CasePlayer&) = delete;
  CasePlayer& operator=(const CasePlayer&) = delete;

  Answer Play(const Json& step);

  void Reopen() { stage_->Reopen(); }

 private:
  using Result = StatusOr<Json>;  // of one step

  Result PlayStep(const Json& step);
  Result PlayRead(const std::string& op, const Json& step);
  Result PlayScan(const std::string& op, const Json& step);
  Result PlayWrite(const std::string& op, const Json& step);
  Result PlayCheck(const Json& step);
  Result PlayMaintenance(const std::string& op, const Json& step);
  Result PlaySchema(const std::string& op, const Json& step);
  Result PlayNamespace(const std::string& op, const Json& step);
  Result PlayRights(const std::string& op, const Json& step);
  Status AlterFamily(const Caller& caller, const TableName& table, const Json& step);
  Status SetReadOnly(const Caller& caller, const TableName& table, bool read_only);
  StatusOr<std::vector<RowCells>> ScanAll(const Caller& caller, const TableName& table,
                                          const Scan& scan);
  Store& store(const Caller& caller) { return stage_->StoreOf(caller); }

  const std::unique_ptr<Stage> stage_;
  Timestamp now_;
};

// Plays all steps; empty where every answer was as expected. `trace`, where there is one, is told
// each step and its answer.
std::vector<Difference> PlayCase(const Json& test_case, StageKind kind,
                                 const std::function<void(const Json&, const Answer&)>& trace);

// `expect`, `expect_rows` or `expect_value` of a step in the one spelling that answers have.
std::string ExpectedAnswer(const Json& step);

}  // namespace cellfs::conformance

#endif  // CELLFS_TESTS_CONFORMANCE_CASE_PLAYER_H_
