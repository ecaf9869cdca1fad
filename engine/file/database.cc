// SPDX-License-Identifier: MIT
#include "engine/file/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <mutex>
#include <system_error>

#include "engine/disk/file_layer.h"
#include "engine/disk/full_disk.h"
#include "engine/file/page_checksums.h"

namespace cellfs {
namespace {

// That a connection keeps itself: those from the root down to a leaf, and some more. All others are
// in the store's cache.
constexpr int kPagesOfConnection = 32;

Status FullDisk(const std::string& path) {
  return {StatusCode::kStoreFull, path + ": " + DescribeFullDisk(path)};
}

Status ErrorOf(sqlite3* connection, int code, const std::string& path) {
  if (code == SQLITE_IOERR_DATA) {
    return Status(StatusCode::kCorruption, path + ": page " + std::to_string(LastDamagedPage()) +
                                               " does not match its checksum");
  }
  // Some calls that fail leave no message behind.
  const bool has_message = connection != nullptr && sqlite3_errcode(connection) != SQLITE_OK;
  std::string message =
      path + ": " + (has_message ? sqlite3_errmsg(connection) : sqlite3_errstr(code));
  const int kind = code & 0xff;
  const int error = connection != nullptr ? sqlite3_system_errno(connection) : 0;
  if ((kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN) && error != 0)
    message += ": " + std::generic_category().message(error);
  // SQLite knows ENOSPC alone, and that not where a file is made. A failed sync may have lost more
  // than room.
  if (kind == SQLITE_IOERR && error == EDQUOT && code != SQLITE_IOERR_FSYNC)
    return FullDisk(path);
  if (kind == SQLITE_CANTOPEN && (error == ENOSPC || error == EDQUOT)) return FullDisk(path);
  switch (kind) {
    case SQLITE_FULL:
      return FullDisk(path);
    case SQLITE_TOOBIG:
      return Status(StatusCode::kValueTooLarge, message);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Status(StatusCode::kCorruption, path + ": it is not what was written (SQLite: " +
                                                 message.substr(path.size() + 2) + ")");
    default:
      return Status(StatusCode::kIoError, message);
  }
}

std::string ImmutableUri(const std::string& path) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain =
        std::isalnum(byte) != 0 || byte == '/' || byte == '.' || byte == '-' || byte == '_';
    if (is_plain) {
      uri += c;
    } else {
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri + "?immutable=1";
}

// Statistics of memory cost a global lock in every allocation, and nobody reads them.
void ConfigureOnce() {
  static std::once_flag once;
  std::call_once(once, [] { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); });
}

}  // namespace

Statement::Statement(Statement&& other) noexcept { *this = std::move(other); }

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(connection_, other.connection_);
  std::swap(statement_, other.statement_);
  std::swap(path_, other.path_);
  std::swap(bind_error_, other.bind_error_);
  return *this;
}

Statement::~Statement() { sqlite3_finalize(statement_); }

// A parameter that was not bound would be NULL, and nobody would know.
void Statement::NoteBind(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

void Statement::Bind(int parameter, int64_t value) {
  NoteBind(sqlite3_bind_int64(statement_, parameter, value));
}

void Statement::Bind(int parameter, std::string_view bytes) {
  // A null pointer would bind NULL instead of no bytes.
  NoteBind(sqlite3_bind_blob64(statement_, parameter, bytes.empty() ? "" : bytes.data(),
                               bytes.size(), SQLITE_STATIC));
}

void Statement::BindNull(int parameter) { NoteBind(sqlite3_bind_null(statement_, parameter)); }

StatusOr<bool> Statement::Step() {
  const int unbound = std::exchange(bind_error_, SQLITE_OK);
  const int code = unbound != SQLITE_OK ? unbound : sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Status error = ErrorOf(connection_, code, *path_);
  sqlite3_reset(statement_);
  return error;
}

Status Statement::Run() {
  for (;;) {
    CELLFS_ASSIGN_OR_RETURN(const bool row, Step());
    if (!row) break;
  }
  Reset();
  return Status();
}

void Statement::Reset() { sqlite3_reset(statement_); }

int64_t Statement::Integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Statement::Bytes(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return {static_cast<const char*>(bytes), static_cast<size_t>(size)};
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& path, const std::string& name,
                                                   int flags) {
  ConfigureOnce();
  std::unique_ptr<Database> database(new Database(path));  // first, so that no connection is lost
  const int code =
      sqlite3_open_v2(name.c_str(), &database->connection_,
                      flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, ChecksummedVfs());
  if (code != SQLITE_OK) return ErrorOf(database->connection_, code, path);
  return database;
}

StatusOr<std::unique_ptr<Database>> Database::Build(const std::string& path) {
  // SQLite would let others read it.
  const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made < 0) return ErrnoStatus("make", path, errno);
  ::close(made);
  StatusOr<std::unique_ptr<Database>> database = GoOnBuilding(path);
  if (!database.ok()) ::unlink(path.c_str());
  return database;
}

StatusOr<std::unique_ptr<Database>> Database::GoOnBuilding(const std::string& path) {
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                          Open(path, path, SQLITE_OPEN_READWRITE));
  int reserved = kPageChecksumSize;
  sqlite3_file_control(database->connection_, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
  CELLFS_RETURN_IF_ERROR(database->Execute(
      "PRAGMA page_size = " + std::to_string(kDatabasePageSize) +
      "; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
      "PRAGMA temp_store = MEMORY"));
  return database;
}

StatusOr<std::unique_ptr<Database>> Database::OpenImmutable(const std::string& path,
                                                            BlockCache& cache, uint64_t owner) {
  // Whoever made the store could have it lead anywhere, and SQLite would follow.
  struct stat found {};
  const bool is_there = lstat(path.c_str(), &found) == 0;
  if (!is_there && errno == ENOENT)
    return Status(StatusCode::kCorruption, path + ": it is missing");
  if (!is_there) return ErrnoStatus("open", path, errno);
  if (S_ISLNK(found.st_mode)) return Status(StatusCode::kCorruption, path + " is a symbolic link");
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                          Open(path, ImmutableUri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
  CacheBinding binding{&cache, owner};
  sqlite3_file_control(database->connection_, "main", kBindCache, &binding);
  sqlite3_file_control(database->connection_, "main", SQLITE_FCNTL_FILE_POINTER, &database->file_);
  // One transaction for all: to begin and end one costs a tenth of a Get.
  CELLFS_RETURN_IF_ERROR(database->Execute("PRAGMA cell_size_check = ON; PRAGMA cache_size = " +
                                           std::to_string(kPagesOfConnection) + "; BEGIN"));
  return database;
}

Database::~Database() { sqlite3_close(connection_); }

Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : ErrorOf(connection_, code, path_);
}

StatusOr<Statement> Database::Prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return ErrorOf(connection_, code, path_);
  return Statement(connection_, statement, &path_);
}

StatusOr<int64_t> Database::QueryInteger(const std::string& sql) {
  CELLFS_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  CELLFS_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Integer(0) : int64_t{0};
}

StatusOr<uint32_t> Database::RootOf(std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(
      Statement statement,
      Prepare("SELECT rootpage FROM sqlite_schema WHERE CAST(name AS BLOB) = ?1"));
  statement.Bind(1, name);
  CELLFS_ASSIGN_OR_RETURN(const bool found, statement.Step());
  const int64_t root = found ? statement.Integer(0) : 0;
  if (root > 1) return static_cast<uint32_t>(root);
  return Status(StatusCode::kCorruption, path_ + ": it has no table '" + std::string(name) + "'");
}

Status Database::ReadPage(uint32_t number, char* page) {
  if (number == 0) return ErrorOf(nullptr, SQLITE_CORRUPT, path_);
  const sqlite3_int64 offset = (sqlite3_int64{number} - 1) * kDatabasePageSize;
  const int code = file_->pMethods->xRead(file_, page, kDatabasePageSize, offset);
  if (code == SQLITE_OK) return {};
  return ErrorOf(nullptr, code == SQLITE_IOERR_SHORT_READ ? SQLITE_CORRUPT : code, path_);
}

uint64_t Database::FileBytes() {
  sqlite3_int64 bytes = 0;
  const bool is_known = file_->pMethods->xFileSize(file_, &bytes) == SQLITE_OK;
  return is_known ? static_cast<uint64_t>(bytes) : 0;
}

Status Database::ReadBlob(const std::string& table, const char* column, int64_t rowid,
                          std::string* bytes) {
  sqlite3_blob* opened = nullptr;
  int code = sqlite3_blob_open(connection_, "main", table.c_str(), column, rowid, 0, &opened);
  const std::unique_ptr<sqlite3_blob, decltype(&sqlite3_blob_close)> blob(opened,
                                                                         sqlite3_blob_close);
  if (code == SQLITE_OK) {
    bytes->resize(static_cast<size_t>(sqlite3_blob_bytes(opened)));
    code = sqlite3_blob_read(opened, bytes->data(), static_cast<int>(bytes->size()), 0);
  }
  return code == SQLITE_OK ? Status() : ErrorOf(connection_, code, path_);
}

StatusOr<Transaction> Transaction::Begin(Database& database) {
  CELLFS_RETURN_IF_ERROR(database.Execute("BEGIN"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // A rollback that fails has been done by SQLite itself already.
  if (database_ != nullptr) static_cast<void>(database_->Execute("ROLLBACK"));
}

Status Transaction::Commit() {
  CELLFS_RETURN_IF_ERROR(database_->Execute("COMMIT"));
  database_ = nullptr;
  return Status();
}

}  // namespace cellfs
