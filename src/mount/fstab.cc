// SPDX-License-Identifier: MIT
#include "src/mount/fstab.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "src/mount/store_name.h"

namespace cellfs {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kEscaped = " \t\n\r\v\f\\";
constexpr std::string_view kTypes[] = {"cellfs", "fuse.cellfs"};
constexpr mode_t kUsualMode = 0644;

Status FstabFailure(const std::string& path) {
  const bool is_forbidden = errno == EACCES || errno == EPERM;
  return {is_forbidden ? StatusCode::kAccessDenied : StatusCode::kIoError,
          path + ": " + strerror(errno) + (is_forbidden ? "; only root may change it" : "")};
}

std::string Escape(const std::string& text) {
  std::string escaped;
  for (const char byte : text) {
    if (kEscaped.find(byte) == std::string_view::npos) {
      escaped += byte;
    } else {
      char digits[5];
      snprintf(digits, sizeof digits, "\\%03o", static_cast<unsigned char>(byte));
      escaped += digits;
    }
  }
  return escaped;
}

bool IsOctal(std::string_view digits) {
  return digits.size() == 3 && digits[0] <= '3' &&
         digits.find_first_not_of("01234567") == std::string_view::npos;
}

std::string Unescape(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (text[0] == '\\' && IsOctal(text.substr(1, 3))) {
      plain += static_cast<char>(std::stoi(std::string(text.substr(1, 3)), nullptr, 8));
      text.remove_prefix(4);
    } else {
      plain += text[0];
      text.remove_prefix(1);
    }
  }
  return plain;
}

std::vector<std::string> FieldsOf(std::string_view text) {
  std::vector<std::string> fields;
  while (true) {
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(kBlanks)));
    if (text.empty()) return fields;
    const std::string_view field = text.substr(0, text.find_first_of(kBlanks));
    fields.emplace_back(field);
    text.remove_prefix(field.size());
  }
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);) lines.push_back(line);
  return lines;
}

bool IsOurs(const FstabLine& line) {
  return std::find(std::begin(kTypes), std::end(kTypes), line.type) != std::end(kTypes);
}

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// A descriptor that is closed at the end.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  const int descriptor_;
};

// For others that do the same: a lock on the directory outlives the file's replacement.
Status LockDirectory(const File& directory, const std::string& path) {
  if (directory.is_open() && flock(directory.get(), LOCK_EX) == 0) return {};
  return FstabFailure(path);
}

StatusOr<std::string> ReadAll(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return std::string();
  if (!file.is_open()) return FstabFailure(path);
  std::string text;
  char bytes[4096];
  ssize_t count = 0;
  while ((count = read(file.get(), bytes, sizeof bytes)) > 0)
    text.append(bytes, static_cast<size_t>(count));
  if (count < 0) return FstabFailure(path);
  return text;
}

bool WriteWhole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// With the owner and mode of the file that it will replace.
bool WriteLike(const std::string& path, int file, const std::string& text) {
  struct stat before {};
  const bool is_there = stat(path.c_str(), &before) == 0;
  if (is_there && fchown(file, before.st_uid, before.st_gid) != 0) return false;
  if (fchmod(file, is_there ? before.st_mode & 07777 : kUsualMode) != 0) return false;
  return WriteWhole(file, text) && fsync(file) == 0;
}

Status Replace(const std::string& path, const std::string& text, const File& directory) {
  std::string name = path + ".XXXXXX";
  const File file(mkostemp(name.data(), O_CLOEXEC));
  if (!file.is_open()) return FstabFailure(path);
  if (WriteLike(path, file.get(), text) && rename(name.c_str(), path.c_str()) == 0) {
    fsync(directory.get());
    return {};
  }
  const Status failed = FstabFailure(path);
  unlink(name.c_str());
  return failed;
}

}  // namespace

StatusOr<std::string> TextOf(const FstabLine& line) {
  const std::string options = line.options.empty() ? "defaults" : line.options;
  std::string text = Escape(line.store) + " " + Escape(line.mountpoint) + " " + line.type + " " +
                     Escape(options) + " 0 0";
  FstabLine wanted = line;
  wanted.options = options;
  const auto parsed = ParseFstabLine(text);
  const bool is_whole = parsed && *parsed == wanted && text.find('\0') == std::string::npos;
  const bool names_store = line.store[0] == '/' || IsRemote(line.store);
  if (is_whole && names_store && line.mountpoint[0] == '/') return text;
  return Status(StatusCode::kIllegalArgument,
                "no line of fstab can name " + line.store + " and " + line.mountpoint +
                    "; both must be absolute paths, or the store a cluster's name");
}

std::optional<FstabLine> ParseFstabLine(const std::string& text) {
  const std::vector<std::string> fields = FieldsOf(text);
  if (fields.size() < 3 || fields[0][0] == '#') return std::nullopt;
  return FstabLine{Unescape(fields[0]), Unescape(fields[1]), Unescape(fields[2]),
                   fields.size() > 3 ? Unescape(fields[3]) : ""};
}

StatusOr<std::string> WithLine(const std::string& text, const FstabLine& line) {
  CELLFS_ASSIGN_OR_RETURN(const std::string wanted, TextOf(line));
  const FstabLine present = *ParseFstabLine(wanted);
  std::string after;
  bool is_in = false;
  for (const std::string& before : LinesOf(text)) {
    const auto parsed = ParseFstabLine(before);
    if (!parsed || WithoutSlash(parsed->mountpoint) != line.mountpoint) {
      after += before + "\n";
      continue;
    }
    if (!IsOurs(*parsed)) {
      return Status(StatusCode::kIllegalArgument,
                    "fstab mounts " + parsed->store + " (" + parsed->type + ") on " +
                        line.mountpoint + "; remove that line, or choose another directory");
    }
    if (!is_in) after += (*parsed == present ? before : wanted) + "\n";
    is_in = true;
  }
  return is_in ? after : after + wanted + "\n";
}

Status CheckFstab(const std::string& path, const FstabLine& line) {
  CELLFS_ASSIGN_OR_RETURN(const std::string before, ReadAll(path));
  CELLFS_ASSIGN_OR_RETURN(const std::string after, WithLine(before, line));
  const std::string directory = std::filesystem::path(path).parent_path();
  return before == after || access(directory.c_str(), W_OK) == 0 ? Status() : FstabFailure(path);
}

Status UpdateFstab(const std::string& path, const FstabLine& line) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::weakly_canonical(path, error);
  if (error) return {StatusCode::kIoError, path + ": " + error.message()};
  const File directory(open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CELLFS_RETURN_IF_ERROR(LockDirectory(directory, file.string()));
  CELLFS_ASSIGN_OR_RETURN(const std::string before, ReadAll(file.string()));
  CELLFS_ASSIGN_OR_RETURN(const std::string after, WithLine(before, line));
  return before == after ? Status() : Replace(file.string(), after, directory);
}

std::string FstabPath() {
  const char* const path = getenv("LIBMOUNT_FSTAB");
  return path == nullptr || *path == '\0' ? "/etc/fstab" : path;
}

}  // namespace cellfs
