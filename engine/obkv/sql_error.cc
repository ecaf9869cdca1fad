// SPDX-License-Identifier: MIT
#include "engine/obkv/sql_error.h"

#include <algorithm>
#include <array>
#include <string>

namespace cellfs::obkv {
namespace {

struct Meaning {
  unsigned number;
  StatusCode code;
};

constexpr std::array kMeanings = {
    // Names.
    Meaning{1007, StatusCode::kNamespaceExists},    // ER_DB_CREATE_EXISTS
    Meaning{1008, StatusCode::kNamespaceNotFound},  // ER_DB_DROP_EXISTS
    Meaning{1049, StatusCode::kNamespaceNotFound},  // ER_BAD_DB_ERROR
    Meaning{1050, StatusCode::kTableExists},        // ER_TABLE_EXISTS_ERROR
    Meaning{1051, StatusCode::kTableNotFound},      // ER_BAD_TABLE_ERROR
    Meaning{1146, StatusCode::kTableNotFound},      // ER_NO_SUCH_TABLE
    Meaning{1102, StatusCode::kIllegalArgument},    // ER_WRONG_DB_NAME
    Meaning{1103, StatusCode::kIllegalArgument},    // ER_WRONG_TABLE_NAME
    Meaning{1059, StatusCode::kIllegalArgument},    // ER_TOO_LONG_IDENT
    // Sizes and room.
    Meaning{1406, StatusCode::kValueTooLarge},  // ER_DATA_TOO_LONG
    Meaning{1153, StatusCode::kValueTooLarge},  // ER_NET_PACKET_TOO_LARGE
    Meaning{2020, StatusCode::kValueTooLarge},  // CR_NET_PACKET_TOO_LARGE
    Meaning{1021, StatusCode::kStoreFull},      // ER_DISK_FULL
    Meaning{1114, StatusCode::kStoreFull},      // ER_RECORD_FILE_FULL
    Meaning{4184, StatusCode::kStoreFull},      // OB_SERVER_OUTOF_DISK_SPACE
    // Rights.
    Meaning{1044, StatusCode::kAccessDenied},  // ER_DBACCESS_DENIED_ERROR
    Meaning{1045, StatusCode::kAccessDenied},  // ER_ACCESS_DENIED_ERROR
    Meaning{1142, StatusCode::kAccessDenied},  // ER_TABLEACCESS_DENIED_ERROR
    Meaning{1143, StatusCode::kAccessDenied},  // ER_COLUMNACCESS_DENIED_ERROR
    Meaning{1227, StatusCode::kAccessDenied},  // ER_SPECIFIC_ACCESS_DENIED_ERROR
    Meaning{1698, StatusCode::kAccessDenied},  // ER_ACCESS_DENIED_NO_PASSWORD_ERROR
    Meaning{1290, StatusCode::kReadOnly},      // ER_OPTION_PREVENTS_STATEMENT: read_only
    Meaning{1792, StatusCode::kReadOnly},      // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
    Meaning{1836, StatusCode::kReadOnly},      // ER_READ_ONLY_MODE
    // What passes.
    Meaning{1040, StatusCode::kUnavailable},  // ER_CON_COUNT_ERROR
    Meaning{1053, StatusCode::kUnavailable},  // ER_SERVER_SHUTDOWN
    Meaning{1129, StatusCode::kUnavailable},  // ER_HOST_IS_BLOCKED
    Meaning{1203, StatusCode::kUnavailable},  // ER_TOO_MANY_USER_CONNECTIONS
    Meaning{1205, StatusCode::kUnavailable},  // ER_LOCK_WAIT_TIMEOUT
    Meaning{1213, StatusCode::kUnavailable},  // ER_LOCK_DEADLOCK
    Meaning{1317, StatusCode::kUnavailable},  // ER_QUERY_INTERRUPTED
    Meaning{4012, StatusCode::kUnavailable},  // OB_TIMEOUT
    Meaning{6002, StatusCode::kUnavailable},  // OB_TRANS_ROLLBACKED
    Meaning{6210, StatusCode::kUnavailable},  // OB_TRANS_TIMEOUT
    Meaning{2002, StatusCode::kUnavailable},  // CR_CONNECTION_ERROR
    Meaning{2003, StatusCode::kUnavailable},  // CR_CONN_HOST_ERROR
    Meaning{2005, StatusCode::kUnavailable},  // CR_UNKNOWN_HOST
    Meaning{2006, StatusCode::kUnavailable},  // CR_SERVER_GONE_ERROR
    Meaning{2012, StatusCode::kUnavailable},  // CR_SERVER_HANDSHAKE_ERR
    Meaning{2013, StatusCode::kUnavailable},  // CR_SERVER_LOST
    Meaning{2026, StatusCode::kUnavailable},  // CR_SSL_CONNECTION_ERROR
    Meaning{2055, StatusCode::kUnavailable},  // CR_SERVER_LOST_EXTENDED
};

}  // namespace

Status StatusOfError(unsigned number, std::string_view message) {
  const auto known = std::ranges::find(kMeanings, number, &Meaning::number);
  const StatusCode code = known != kMeanings.end() ? known->code : StatusCode::kIoError;
  return {code, "the database says: " + std::string(message) + " (" + std::to_string(number) + ")"};
}

bool RollsBack(unsigned number) {
  constexpr std::array kNumbers = {1213u, 6002u};  // ER_LOCK_DEADLOCK, OB_TRANS_ROLLBACKED
  return std::ranges::find(kNumbers, number) != kNumbers.end();
}

bool IsUnknownSyntax(unsigned number) {
  // ER_PARSE_ERROR, ER_NOT_SUPPORTED_YET, MariaDB's ER_UNKNOWN_OPTION
  constexpr std::array kNumbers = {1064u, 1235u, 1911u};
  return std::ranges::find(kNumbers, number) != kNumbers.end();
}

bool EndsSession(unsigned number) {
  constexpr unsigned kFirstOfClient = 2000;
  constexpr unsigned kFirstBehindClient = 3000;
  constexpr std::array kOfServer = {1053u, 1153u};  // which closes the connection behind them
  return (number >= kFirstOfClient && number < kFirstBehindClient) ||
         std::ranges::find(kOfServer, number) != kOfServer.end();
}

}  // namespace cellfs::obkv
