// SPDX-License-Identifier: MIT
//
// Keys are row, family, qualifier and the timestamp, newest first, as a store of versions lays them
// out on RocksDB. Its defaults otherwise, but that nothing is compressed, as in cellfs.
#include <rocksdb/db.h>

#include <algorithm>

#include "bench/sustained.h"

namespace cellfs::bench {
namespace {

void Check(const rocksdb::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

std::string ColumnKey(const std::string& row, const std::string& qualifier) {
  return row + '\0' + "f" + '\0' + qualifier + '\0';
}

std::string NewestFirst(int64_t timestamp) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8)
    bytes += static_cast<char>(~static_cast<uint64_t>(timestamp) >> shift & 0xff);
  return bytes;
}

class RocksTarget : public Target {
 public:
  RocksTarget(const std::string& directory, uint64_t write_buffer) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = write_buffer;
    options.max_write_buffer_number = 4;
    options.compression = rocksdb::kNoCompression;
    rocksdb::DB* opened = nullptr;
    Check(rocksdb::DB::Open(options, directory, &opened));
    db_.reset(opened);
  }

  void Add(std::string row, std::string qualifier, std::string value, int64_t timestamp) override {
    Check(batch_.Put(ColumnKey(row, qualifier) + NewestFirst(timestamp), value));
  }
  void Write() override {
    Check(db_->Write({}, &batch_));
    batch_.Clear();
  }
  void Flush() override { Check(db_->Flush({})); }
  bool Get(const std::string& row, const std::string& qualifier) override {
    const std::string key = ColumnKey(row, qualifier);
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}));
    at->Seek(key);
    return at->Valid() && at->key().starts_with(key) && at->value().size() > 0;
  }
  int64_t Scan(int64_t cells) override {
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}));
    int64_t seen = 0;
    for (at->SeekToFirst(); at->Valid() && seen < cells; at->Next()) ++seen;
    return seen;
  }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteBatch batch_;
};

}  // namespace

std::unique_ptr<Target> Target::Open(const std::string& directory, uint64_t write_buffer) {
  return std::make_unique<RocksTarget>(directory, write_buffer);
}

}  // namespace cellfs::bench
