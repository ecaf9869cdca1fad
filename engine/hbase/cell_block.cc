// SPDX-License-Identifier: MIT
#include "engine/hbase/cell_block.h"

#include <optional>

#include "engine/big_endian.h"


namespace cellfs::hbase {
namespace {

constexpr size_t kRowLengthSize = 2;
constexpr size_t kFamilyLengthSize = 1;
constexpr size_t kTimestampSize = 8;
constexpr size_t kTypeSize = 1;
constexpr size_t kKeyOverhead = kRowLengthSize + kFamilyLengthSize + kTimestampSize + kTypeSize;
constexpr uint8_t kTimeToLiveTag = 8;  // HBase's TagType.TTL_TAG_TYPE

Status NoCell(const std::string& what) {
  return {StatusCode::kIoError, "the server sent what is no cell: " + what};
}

// Takes bytes from the front of others, and notes where they do not suffice.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  std::string_view Take(size_t length) {
    if (length > rest_.size()) {
      is_short_ = true;
      length = rest_.size();
    }
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }
  template <typename T>
  T TakeNumber() {
    const std::string_view bytes = Take(sizeof(T));
    return bytes.size() == sizeof(T) ? ReadBigEndian<T>(bytes) : T{0};
  }
  std::string_view rest() const { return rest_; }
  bool is_short() const { return is_short_; }

 private:
  std::string_view rest_;
  bool is_short_ = false;
};

std::optional<CellType> TypeOf(uint8_t code) {
  for (const CellType type : {CellType::kPut, CellType::kDelete, CellType::kDeleteFamilyVersion,
                              CellType::kDeleteColumn, CellType::kDeleteFamily}) {
    if (static_cast<uint8_t>(type) == code) return type;
  }
  return std::nullopt;
}

Status ReadKey(std::string_view bytes, Cell& cell) {
  if (bytes.size() < kKeyOverhead) return NoCell("its key is too short");
  Bytes key(bytes);
  cell.row = key.Take(key.TakeNumber<uint16_t>());
  cell.family = key.Take(key.TakeNumber<uint8_t>());
  if (key.is_short() || key.rest().size() < kTimestampSize + kTypeSize) {
    return NoCell("row and family are longer than its key");
  }
  cell.qualifier = key.Take(key.rest().size() - kTimestampSize - kTypeSize);
  cell.timestamp = static_cast<Timestamp>(key.TakeNumber<uint64_t>());
  const auto code = key.TakeNumber<uint8_t>();
  const auto type = TypeOf(code);
  if (!type) return NoCell("its type is " + std::to_string(code));
  cell.type = *type;
  return {};
}

}  // namespace

void AppendToBlock(const CellView& cell, std::string& block) {
  const size_t key_length =
      kKeyOverhead + cell.row.size() + cell.family.size() + cell.qualifier.size();
  AppendBigEndian(static_cast<uint32_t>(4 + 4 + key_length + cell.value.size()), block);
  AppendBigEndian(static_cast<uint32_t>(key_length), block);
  AppendBigEndian(static_cast<uint32_t>(cell.value.size()), block);
  AppendBigEndian(static_cast<uint16_t>(cell.row.size()), block);
  block += cell.row;
  AppendBigEndian(static_cast<uint8_t>(cell.family.size()), block);
  block += cell.family;
  block += cell.qualifier;
  AppendBigEndian(static_cast<uint64_t>(cell.timestamp), block);
  AppendBigEndian(static_cast<uint8_t>(cell.type), block);
  block += cell.value;
}

StatusOr<Cell> CellBlockReader::Next() {
  Bytes block(rest_);
  Bytes bytes(block.Take(block.TakeNumber<uint32_t>()));
  if (block.is_short()) return NoCell("the block ends in it");
  const auto key_length = bytes.TakeNumber<uint32_t>();
  const auto value_length = bytes.TakeNumber<uint32_t>();
  const std::string_view key = bytes.Take(key_length);
  const std::string_view value = bytes.Take(value_length);
  if (bytes.is_short()) return NoCell("key and value are longer than it");

  Cell cell;
  CELLFS_RETURN_IF_ERROR(ReadKey(key, cell));
  cell.value = value;
  cell.value_length = value.size();
  if (!bytes.rest().empty()) {
    const std::string_view tags = bytes.Take(bytes.TakeNumber<uint16_t>());
    if (bytes.is_short() || !bytes.rest().empty()) return NoCell("its tags have another length");
    CELLFS_ASSIGN_OR_RETURN(cell.time_to_live, TimeToLiveOf(tags));
  }
  rest_ = block.rest();
  return cell;
}

StatusOr<int64_t> TimeToLiveOf(std::string_view tags) {
  Bytes rest(tags);
  int64_t time_to_live = kNoCellTtl;
  while (!rest.rest().empty()) {
    Bytes tag(rest.Take(rest.TakeNumber<uint16_t>()));
    const auto type = tag.TakeNumber<uint8_t>();
    if (rest.is_short() || tag.is_short()) return NoCell("its tags are cut off");
    if (type != kTimeToLiveTag) continue;
    if (tag.rest().size() != sizeof(uint64_t)) return NoCell("its time to live is no number");
    time_to_live = static_cast<int64_t>(tag.TakeNumber<uint64_t>());
  }
  return time_to_live;
}

}  // namespace cellfs::hbase
