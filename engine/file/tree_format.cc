// SPDX-License-Identifier: MIT
#include "engine/file/tree_format.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cellfs {
namespace {

constexpr size_t kMostOfIndex = (kUsablePage - 12) * 64 / 255 - 23;
constexpr size_t kMostOfTable = kUsablePage - 35;
constexpr size_t kLeastLocal = (kUsablePage - 12) * 32 / 255 - 23;

// The kinds of columns (serial types).
constexpr uint64_t kZero = 8;
constexpr uint64_t kOne = 9;
constexpr uint64_t kFirstBlob = 12;  // of no bytes; even numbers from here on are blobs
constexpr std::array<size_t, 10> kBytesOfType = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};

uint64_t TypeOf(int64_t number) {
  const auto size = static_cast<uint64_t>(number < 0 ? ~number : number);
  if (size <= 0x7f) return number == 0 ? kZero : number == 1 ? kOne : 1;
  if (size <= 0x7fff) return 2;
  if (size <= 0x7fffff) return 3;
  if (size <= 0x7fffffff) return 4;
  return size <= 0x7fffffffffff ? 5 : 6;
}

}  // namespace

size_t LocalBytes(PageKind kind, uint64_t payload) {
  const size_t most = kind == PageKind::kTableLeaf ? kMostOfTable : kMostOfIndex;
  if (payload <= most) return payload;
  const size_t local = kLeastLocal + (payload - kLeastLocal) % kOverflowBytes;
  return local <= most ? local : kLeastLocal;
}

void PutPageNumber(uint32_t number, char* to) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<char>(number >> (24 - 8 * i));
}

uint32_t PageNumberAt(const char* from) {
  uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | static_cast<uint8_t>(from[i]);
  return number;
}

// Seven bits a byte, the highest first; a ninth byte has eight.
void AppendVarint(uint64_t number, std::string& to) {
  if (number < 0x80) {
    to.push_back(static_cast<char>(number));
    return;
  }
  char bytes[9];
  size_t begin = 9;
  if (number >> 56 != 0) {
    bytes[--begin] = static_cast<char>(number);
    for (number >>= 8; begin > 0; number >>= 7)
      bytes[--begin] = static_cast<char>((number & 0x7f) | 0x80);
  } else {
    bytes[--begin] = static_cast<char>(number & 0x7f);
    while ((number >>= 7) != 0) bytes[--begin] = static_cast<char>((number & 0x7f) | 0x80);
  }
  to.append(bytes + begin, 9 - begin);
}

bool TakeLongVarint(std::string_view& from, uint64_t* number) {
  uint64_t taken = 0;
  for (size_t i = 0; i < std::min<size_t>(from.size(), 9); ++i) {
    const auto byte = static_cast<uint8_t>(from[i]);
    const bool is_last = i == 8 || byte < 0x80;
    taken = i == 8 ? taken << 8 | byte : taken << 7 | (byte & 0x7f);
    if (!is_last) continue;
    from.remove_prefix(i + 1);
    *number = taken;
    return true;
  }
  return false;
}

void RecordWriter::Integer(int64_t number) {
  const uint64_t type = TypeOf(number);
  header_.push_back(static_cast<char>(type));
  nulls_ = 0;
  for (size_t i = kBytesOfType[type]; i-- > 0;)
    body_.push_back(static_cast<char>(static_cast<uint64_t>(number) >> (8 * i)));
}

void RecordWriter::Blob(std::string_view bytes) {
  AppendVarint(kFirstBlob + bytes.size() * 2, header_);
  nulls_ = 0;
  body_ += bytes;
}

std::string_view RecordWriter::Finish() {
  header_.resize(header_.size() - std::exchange(nulls_, 0));
  record_.clear();
  AppendVarint(header_.size() + 1, record_);
  record_ += header_;
  record_ += body_;
  return record_;
}

bool RecordReader::Begin(std::string_view record) {
  const size_t size = record.size();
  std::string_view rest = record;
  uint64_t header = 0;
  if (!TakeVarint(rest, &header) || header < size - rest.size() || header > size) return false;
  types_ = record.substr(size - rest.size(), header - (size - rest.size()));
  body_ = record.substr(header);
  return true;
}

}  // namespace cellfs
