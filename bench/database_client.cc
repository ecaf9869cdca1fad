// SPDX-License-Identifier: MIT
//
// What `database.py` compares a mount with: plain SQL on the same tables, by the same client library,
// one statement after the other. Takes lines "WORK FIRST END TABLE" and answers each with seconds:
//
//     cat    each row's newest value         write  one more version of each row, each committed
//     names  the rows' names                 scan   all cells with their values
//     put    new rows in one transaction
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "engine/obkv/connection.h"

namespace {

using cellfs::Patience;
using cellfs::Status;
using cellfs::obkv::Connection;

constexpr char kInsert[] = " (K, Q, T, V) VALUES (?, 'q', ?, ?)";
const std::string kValue(100, 'x');

Patience Soon() { return Patience::For(std::chrono::minutes(5)); }

std::string RowOf(int number) {
  std::string digits = std::to_string(number);
  return "r" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

int64_t Milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Status EachRow(int first, int end, const std::function<Status(const std::string& row)>& act) {
  for (int number = first; number < end; ++number) CELLFS_RETURN_IF_ERROR(act(RowOf(number)));
  return {};
}

Status Work(Connection& connection, const std::string& work, int first, int end,
            const std::string& table) {
  const auto insert = [&](const std::string& row) {
    return connection.Change("INSERT INTO " + table + kInsert, {row, -Milliseconds(), kValue}, Soon())
        .status();
  };
  if (work == "cat") {
    return EachRow(first, end, [&](const std::string& row) {
      const std::string sql = "SELECT V FROM " + table + " WHERE K = ? AND Q = 'q' ORDER BY T LIMIT 1";
      return connection.Query(sql, {row}, Soon()).status();
    });
  }
  if (work == "write") return EachRow(first, end, insert);
  if (work == "put") {
    CELLFS_RETURN_IF_ERROR(connection.Command("START TRANSACTION", Soon()));
    CELLFS_RETURN_IF_ERROR(EachRow(first, end, insert));
    return connection.Command("COMMIT", Soon());
  }
  const std::string what = work == "names" ? "DISTINCT K" : "K, Q, T, V";
  return connection.Query("SELECT " + what + " FROM " + table + " ORDER BY K", {}, Soon()).status();
}

}  // namespace

int main() {
  cellfs::ObkvOptions options;
  options.socket = std::getenv("CELLFS_TEST_DATABASE");
  options.user = "root";
  const auto connection = Connection::Open(options, Soon());
  if (!connection.ok()) return 1;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string work, table;
    int first = 0, end = 0;
    words >> work >> first >> end >> table;
    const auto begin = std::chrono::steady_clock::now();
    const Status done = Work(**connection, work, first, end, table);
    if (!done.ok()) {
      std::cerr << done.ToString() << "\n";
      return 1;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::cout << took.count() << std::endl;
  }
}
