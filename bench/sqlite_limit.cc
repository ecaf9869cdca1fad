// SPDX-License-Identifier: MIT
//
// sqlite_limit: what SQLite itself allows for the cell schema, without any FUSE.
//   sqlite_limit [--work DIR] [--only RE] [--rounds N] [--big]     (DIR, or
//   CELLFS_BENCH_DIR, lies on the disk to be measured)
// Every section runs its variants in turn (A B C A B C ...) and prints, per variant, the median
// over rounds of the mean time per operation, and the median of the ratio to the section's first
// variant.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <vector>

using std::string;
static string g_dir = ".";  // in it a directory sqlite_limit.PID is made, and removed at the end
static int g_rounds = 5;
static bool g_big = false;

static uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1000000000ull + t.tv_nsec;
}
static void die(sqlite3* h, const char* w) {
  fprintf(stderr, "%s: %s\n", w, sqlite3_errmsg(h));
  exit(1);
}
static double med(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  size_t n = v.size();
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

// wr: all in one WITHOUT ROWID table.  rowid: ordinary table plus unique index.
// split: WITHOUT ROWID keys with small values inline (<= inl), larger ones in blobs(id,val)
struct Opt {
  string schema = "wr";
  int page = 4096;
  long mmap = 0;
  const char* sync = "NORMAL";
  int cache_kib = 65536;
  int autock = 1000;
  bool excl = false;
  int inl = 64;
};
struct Db {
  sqlite3* h = nullptr;
  Opt o;
  string path;
  int64_t next_blob = 1;
  sqlite3_stmt *get = nullptr, *asof = nullptr, *put = nullptr, *blob = nullptr, *putb = nullptr,
               *len = nullptr, *begin = nullptr, *commit = nullptr, *next_row = nullptr,
               *next_q = nullptr, *row_all = nullptr, *row_q = nullptr;
  void ex(const string& s) {
    char* e = nullptr;
    if (sqlite3_exec(h, s.c_str(), nullptr, nullptr, &e)) {
      fprintf(stderr, "%s: %s\n", s.c_str(), e);
      exit(1);
    }
  }
  sqlite3_stmt* prep(const char* s) {
    sqlite3_stmt* p;
    if (sqlite3_prepare_v3(h, s, -1, SQLITE_PREPARE_PERSISTENT, &p, nullptr)) die(h, s);
    return p;
  }
  Db(const string& name, const Opt& op, bool fresh) : o(op) {
    path = g_dir + "/" + name;
    if (fresh)
      for (auto s : {"", "-wal", "-shm"}) unlink((path + s).c_str());
    if (sqlite3_open_v2(path.c_str(), &h,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr))
      die(h, "open");
    sqlite3_busy_timeout(h, 10000);
    if (fresh) ex("PRAGMA page_size=" + std::to_string(o.page));
    if (o.excl) ex("PRAGMA locking_mode=EXCLUSIVE");
    ex("PRAGMA journal_mode=WAL");
    ex(string("PRAGMA synchronous=") + o.sync);
    ex("PRAGMA cache_size=-" + std::to_string(o.cache_kib));
    ex("PRAGMA mmap_size=" + std::to_string(o.mmap));
    ex("PRAGMA wal_autocheckpoint=" + std::to_string(o.autock));
    if (fresh) {
      if (o.schema == "wr")
        ex("CREATE TABLE c(row BLOB, qual BLOB, nts INT, val BLOB, PRIMARY KEY(row,qual,nts)) "
           "WITHOUT ROWID");
      else if (o.schema == "rowid")
        ex("CREATE TABLE c(row BLOB, qual BLOB, nts INT, val BLOB, UNIQUE(row,qual,nts))");
      else
        ex("CREATE TABLE c(row BLOB, qual BLOB, nts INT, len INT, val BLOB, bid INT, PRIMARY "
           "KEY(row,qual,nts)) WITHOUT ROWID; CREATE TABLE b(id INTEGER PRIMARY KEY, val BLOB)");
    }
    bool sp = o.schema == "split";
    get = prep(sp ? "SELECT nts,val,bid FROM c WHERE row=?1 AND qual=?2 ORDER BY nts LIMIT 1"
                  : "SELECT nts,val FROM c WHERE row=?1 AND qual=?2 ORDER BY nts LIMIT 1");
    asof = prep(
        sp ? "SELECT nts,val,bid FROM c WHERE row=?1 AND qual=?2 AND nts>=?3 ORDER BY nts LIMIT 1"
           : "SELECT nts,val FROM c WHERE row=?1 AND qual=?2 AND nts>=?3 ORDER BY nts LIMIT 1");
    len = prep(sp ? "SELECT nts,len FROM c WHERE row=?1 AND qual=?2 ORDER BY nts LIMIT 1"
                  : "SELECT nts,length(val) FROM c WHERE row=?1 AND qual=?2 ORDER BY nts LIMIT 1");
    put = prep(sp ? "INSERT OR REPLACE INTO c(row,qual,nts,len,val,bid) VALUES(?1,?2,?3,?5,?4,?6)"
                  : "INSERT OR REPLACE INTO c(row,qual,nts,val) VALUES(?1,?2,?3,?4)");
    if (sp) {
      blob = prep("SELECT val FROM b WHERE id=?1");
      putb = prep("INSERT INTO b(id,val) VALUES(?1,?2)");
      auto s = prep("SELECT max(id) FROM b");
      sqlite3_step(s);
      next_blob = sqlite3_column_int64(s, 0) + 1;
      sqlite3_finalize(s);
    }
    begin = prep("BEGIN");
    commit = prep("COMMIT");
    next_row = prep("SELECT row FROM c WHERE row>?1 ORDER BY row LIMIT 1");
    next_q =
        prep(sp ? "SELECT qual,nts,len FROM c WHERE row=?1 AND qual>?2 ORDER BY qual,nts LIMIT 1"
                : "SELECT qual,nts,length(val) FROM c WHERE row=?1 AND qual>?2 ORDER BY qual,nts "
                  "LIMIT 1");
    row_q = prep(sp ? "SELECT qual,nts,len FROM c WHERE row=?1 ORDER BY qual,nts"
                    : "SELECT qual,nts,length(val) FROM c WHERE row=?1 ORDER BY qual,nts");
    row_all = prep("SELECT DISTINCT row FROM c ORDER BY row");
  }
  ~Db() {
    for (auto s :
         {get, asof, put, blob, putb, len, begin, commit, next_row, next_q, row_all, row_q})
      sqlite3_finalize(s);
    sqlite3_close(h);
  }
  void step(sqlite3_stmt* s) {
    int r = sqlite3_step(s);
    if (r != SQLITE_DONE && r != SQLITE_ROW) die(h, sqlite3_sql(s));
    sqlite3_reset(s);
  }
  void tx() { step(begin); }
  void done() { step(commit); }
  static int key(long i, char* b) { return snprintf(b, 24, "user%012ld", i); }
  static int qual(long i, char* b) { return snprintf(b, 16, "q%04ld", i); }
  void bindk(sqlite3_stmt* s, long r, long q) {
    static thread_local char kb[24], qb[16];
    sqlite3_bind_blob(s, 1, kb, key(r, kb), SQLITE_STATIC);
    sqlite3_bind_blob(s, 2, qb, qual(q, qb), SQLITE_STATIC);
  }
  long value(sqlite3_stmt* s) {  // touch every byte's page: what a read() reply would copy
    const char* p = static_cast<const char*>(sqlite3_column_blob(s, 1));
    int n = sqlite3_column_bytes(s, 1);
    if (o.schema == "split" && sqlite3_column_type(s, 2) != SQLITE_NULL) {
      sqlite3_bind_int64(blob, 1, sqlite3_column_int64(s, 2));
      if (sqlite3_step(blob) != SQLITE_ROW) die(h, "blob");
      n = sqlite3_column_bytes(blob, 0);
      p = static_cast<const char*>(sqlite3_column_blob(blob, 0));
      static thread_local std::vector<char> t;
      t.resize(n);
      memcpy(t.data(), p, n);
      sqlite3_reset(blob);
      return n;
    }
    static thread_local std::vector<char> t;
    t.resize(n + 1);
    if (n) memcpy(t.data(), p, n);
    return n;
  }
  long do_get(long r, long q) {
    bindk(get, r, q);
    long n = -1;
    if (sqlite3_step(get) == SQLITE_ROW) n = value(get);
    sqlite3_reset(get);
    return n;
  }
  long do_asof(long r, long q, int64_t nts) {
    bindk(asof, r, q);
    sqlite3_bind_int64(asof, 3, nts);
    long n = -1;
    if (sqlite3_step(asof) == SQLITE_ROW) n = value(asof);
    sqlite3_reset(asof);
    return n;
  }
  long do_len(long r, long q) {
    bindk(len, r, q);
    long n = -1;
    if (sqlite3_step(len) == SQLITE_ROW) n = sqlite3_column_int64(len, 1);
    sqlite3_reset(len);
    return n;
  }
  void do_put(long r, long q, int64_t ts, const char* v, int n) {
    bindk(put, r, q);
    sqlite3_bind_int64(put, 3, -ts);
    if (o.schema == "split") {
      sqlite3_bind_int(put, 5, n);
      if (n > o.inl) {
        sqlite3_bind_int64(putb, 1, next_blob);
        sqlite3_bind_blob(putb, 2, v, n, SQLITE_STATIC);
        step(putb);
        sqlite3_bind_null(put, 4);
        sqlite3_bind_int64(put, 6, next_blob++);
      } else {
        sqlite3_bind_blob(put, 4, v, n, SQLITE_STATIC);
        sqlite3_bind_null(put, 6);
      }
    } else
      sqlite3_bind_blob(put, 4, v, n, SQLITE_STATIC);
    step(put);
  }
  long scan_rows() {  // loose index scan: one seek per distinct row
    char last[24];
    int ln = 0;
    long n = 0;
    for (;;) {
      sqlite3_bind_blob(next_row, 1, last, ln, SQLITE_STATIC);
      if (sqlite3_step(next_row) != SQLITE_ROW) {
        sqlite3_reset(next_row);
        return n;
      }
      ln = sqlite3_column_bytes(next_row, 0);
      memcpy(last, sqlite3_column_blob(next_row, 0), ln);
      n++;
      sqlite3_reset(next_row);
    }
  }
  long scan_distinct() {
    long n = 0;
    while (sqlite3_step(row_all) == SQLITE_ROW) n++;
    sqlite3_reset(row_all);
    return n;
  }
  long row_seek(long r) {  // newest version of each qualifier, one seek each
    char kb[24], last[16];
    int kn = key(r, kb), ln = 0;
    long n = 0;
    for (;;) {
      sqlite3_bind_blob(next_q, 1, kb, kn, SQLITE_STATIC);
      sqlite3_bind_blob(next_q, 2, last, ln, SQLITE_STATIC);
      if (sqlite3_step(next_q) != SQLITE_ROW) {
        sqlite3_reset(next_q);
        return n;
      }
      ln = sqlite3_column_bytes(next_q, 0);
      memcpy(last, sqlite3_column_blob(next_q, 0), ln);
      n++;
      sqlite3_column_int64(next_q, 2);
      sqlite3_reset(next_q);
    }
  }
  long row_scan(long r) {  // all versions in order, duplicates skipped by the caller
    char kb[24], last[16];
    int kn = key(r, kb), ln = -1;
    long n = 0;
    sqlite3_bind_blob(row_q, 1, kb, kn, SQLITE_STATIC);
    while (sqlite3_step(row_q) == SQLITE_ROW) {
      int m = sqlite3_column_bytes(row_q, 0);
      const void* p = sqlite3_column_blob(row_q, 0);
      if (m != ln || memcmp(p, last, m)) {
        memcpy(last, p, m);
        ln = m;
        n++;
        sqlite3_column_int64(row_q, 2);
      }
    }
    sqlite3_reset(row_q);
    return n;
  }
  void load(long rows, int quals, int size, int64_t ts = 1700000000000000) {
    std::vector<char> v = val(size);
    for (long r = 0; r < rows; r++) {
      if (r % 1000 == 0) tx();
      for (int q = 0; q < quals; q++) do_put(r, q, ts, v.data(), size);
      if (r % 1000 == 999 || r == rows - 1) done();
    }
  }
  void checkpoint() {
    sqlite3_wal_checkpoint_v2(h, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  }
  long bytes() {
    checkpoint();
    struct stat st;
    stat(path.c_str(), &st);
    return st.st_size;
  }
  static std::vector<char> val(int n) {
    std::vector<char> v(n + 1);
    std::mt19937 g(7);
    for (auto& c : v) c = char(g());
    return v;
  }
};

// a variant returns the number of operations it did; time is taken here
struct Var {
  string name;
  std::function<long()> fn;
  string extra;
};
static void compare(const string& sec, std::vector<Var> vs, int rounds = 0) {
  if (!rounds) rounds = g_rounds;
  std::vector<std::vector<double>> t(vs.size());
  for (int r = -1; r < rounds; r++)
    for (size_t k = 0; k < vs.size(); k++) {
      size_t i = (k + (r + 1)) % vs.size();
      uint64_t a = now();
      long n = vs[i].fn();
      uint64_t b = now();
      if (r >= 0) t[i].push_back((b - a) / 1000.0 / std::max(1l, n));
    }
  printf("\n[%s]\n", sec.c_str());
  for (size_t i = 0; i < vs.size(); i++) {
    std::vector<double> q;
    for (size_t r = 0; r < t[i].size(); r++) q.push_back(t[i][r] / t[0][r]);
    printf("  %-44s %10.3f us/op   %6.2fx %s\n", vs[i].name.c_str(), med(t[i]), med(q),
           vs[i].extra.c_str());
  }
  fflush(stdout);
}
static std::mt19937_64 rng(42);
static long rnd(long n) { return long(rng() % uint64_t(n)); }

static void sec_get() {
  const long R = 10000;
  const int Q = 10, K = 20000;
  {
    Opt o;
    Db d("get", o, true);
    d.load(R, Q, 100);
    d.checkpoint();
  }
  Opt o, om;
  om.mmap = 1 << 30;
  Opt oc;
  oc.cache_kib = 2000;
  Db d("get", o, false), dm("get", om, false), ds("get", oc, false), dt("get", o, false);
  auto loop = [&](std::function<void()> f) {
    return [f, K]() -> long {
      for (int i = 0; i < K; i++) f();
      return K;
    };
  };
  std::vector<Var> v = {
      {"latest, one statement = one transaction", loop([&] { d.do_get(rnd(R), rnd(Q)); }), ""},
      {"latest, inside an open read transaction",
       [&]() -> long {
         dt.tx();
         for (int i = 0; i < K; i++) dt.do_get(rnd(R), rnd(Q));
         dt.done();
         return K;
       },
       ""},
      {"version <= T, one transaction each",
       loop([&] { d.do_asof(rnd(R), rnd(Q), -1700000000000000); }), ""},
      {"nts+length only (getattr)", loop([&] { d.do_len(rnd(R), rnd(Q)); }), ""},
      {"missing cell (negative lookup)", loop([&] { d.do_get(R + rnd(R), rnd(Q)); }), ""},
      {"latest, mmap 1G", loop([&] { dm.do_get(rnd(R), rnd(Q)); }), ""},
      {"latest, cache 2 MB (default)", loop([&] { ds.do_get(rnd(R), rnd(Q)); }), ""},
      {"latest, sequential keys",
       [&]() -> long {
         for (int i = 0; i < K; i++) d.do_get(i / Q, i % Q);
         return K;
       },
       ""},
  };
  compare("get: 100k cells of 100 B, warm", v);
  Opt oe;
  oe.excl = true;
  {
    Db x("get2", oe, true);
    x.load(R, Q, 100);
    x.checkpoint();
    Db y("get", o, false);
    compare("get: locking mode",
            {{"NORMAL", loop([&] { y.do_get(rnd(R), rnd(Q)); }), ""},
             {"EXCLUSIVE (one connection)", loop([&] { x.do_get(rnd(R), rnd(Q)); }), ""}});
  }
}
static void sec_hist() {
  const long R = 10000;
  const int Q = 10;
  const long V = 10000;
  const int K = 10000;
  Opt o;
  Db d("hist", o, true);
  d.load(R, Q, 100, 1700000000000000);
  auto v = Db::val(100);
  d.tx();
  for (long i = 1; i <= V; i++) d.do_put(5000, 5, 1700000000000000 + i * 1000, v.data(), 100);
  d.done();
  d.checkpoint();
  compare("history: one cell with 10k versions among 100k cells",
          {
              {"latest of an ordinary cell",
               [&]() -> long {
                 for (int i = 0; i < K; i++) d.do_get(rnd(R), 3);
                 return K;
               },
               ""},
              {"latest of the 10k-version cell",
               [&]() -> long {
                 for (int i = 0; i < K; i++) d.do_get(5000, 5);
                 return K;
               },
               ""},
              {"version <= random T of the 10k-version cell",
               [&]() -> long {
                 for (int i = 0; i < K; i++)
                   d.do_asof(5000, 5, -(1700000000000000 + rnd(V) * 1000 + 500));
                 return K;
               },
               ""},
              {"list that row, one seek per qualifier",
               [&]() -> long {
                 for (int i = 0; i < 100; i++) d.row_seek(5000);
                 return 100 * Q;
               },
               "(per entry)"},
              {"list that row, scan all versions and skip",
               [&]() -> long {
                 for (int i = 0; i < 3; i++) d.row_scan(5000);
                 return 3 * Q;
               },
               "(per entry)"},
              {"list an ordinary row, one seek per qualifier",
               [&]() -> long {
                 for (int i = 0; i < 1000; i++) d.row_seek(rnd(4000));
                 return 1000 * Q;
               },
               "(per entry)"},
              {"list an ordinary row, scan and skip",
               [&]() -> long {
                 for (int i = 0; i < 1000; i++) d.row_scan(rnd(4000));
                 return 1000 * Q;
               },
               "(per entry)"},
              {"put one more version (64 a transaction)",
               [&]() -> long {
                 static int64_t ts = 1800000000000000;
                 for (int b = 0; b < 20; b++) {
                   d.tx();
                   for (int i = 0; i < 64; i++) d.do_put(5000, 5, ts++, v.data(), 100);
                   d.done();
                 }
                 return 20 * 64;
               },
               ""},
          });
}
static void sec_scan() {
  for (int Q : {1, 10, 100}) {
    long R = 100000 / Q * (Q == 1 ? 1 : 1);
    Opt o;
    Db d("scan", o, true);
    d.load(R, Q, 100);
    d.ex("CREATE TABLE rows(row BLOB PRIMARY KEY) WITHOUT ROWID");
    d.ex("INSERT INTO rows SELECT DISTINCT row FROM c");
    d.checkpoint();
    auto s = d.prep("SELECT row FROM rows ORDER BY row");
    auto cte = d.prep(
        "WITH RECURSIVE t(r) AS (SELECT min(row) FROM c UNION ALL SELECT (SELECT min(row) FROM c "
        "WHERE row>t.r) FROM t WHERE t.r IS NOT NULL) SELECT r FROM t WHERE r IS NOT NULL");
    compare(
        "row scan: " + std::to_string(R) + " rows of " + std::to_string(Q) + " cells (per row)",
        {
            {"SELECT DISTINCT row (walks every cell)", [&]() -> long { return d.scan_distinct(); },
             ""},
            {"one seek per row, own statement each", [&]() -> long { return d.scan_rows(); }, ""},
            {"one seek per row, in one read transaction",
             [&]() -> long {
               d.tx();
               long n = d.scan_rows();
               d.done();
               return n;
             },
             ""},
            {"recursive CTE",
             [&]() -> long {
               long n = 0;
               while (sqlite3_step(cte) == SQLITE_ROW) n++;
               sqlite3_reset(cte);
               return n;
             },
             ""},
            {"separate rows table",
             [&]() -> long {
               long n = 0;
               while (sqlite3_step(s) == SQLITE_ROW) n++;
               sqlite3_reset(s);
               return n;
             },
             ""},
        },
        3);
    sqlite3_finalize(s);
    sqlite3_finalize(cte);
  }
}
static void sec_put() {
  const long R = 10000;
  const int Q = 10;
  for (int size : {100, 4000}) {
    std::vector<Var> vs;
    std::vector<std::unique_ptr<Db>> keep;
    auto v = std::make_shared<std::vector<char>>(Db::val(size));
    for (auto sync : {"OFF", "NORMAL", "FULL"}) {
      Opt o;
      o.sync = sync;
      o.schema = "split";
      o.inl = 256;
      string nm = string("put") + sync;
      auto d = std::make_unique<Db>(nm, o, true);
      d->load(R, Q, size);
      d->checkpoint();
      Db* p = d.get();
      keep.push_back(std::move(d));
      for (int g : {1, 8, 64, 512}) {
        long total = g == 1 ? 600 : g == 8 ? 1600 : 4096;
        vs.push_back({string("synchronous=") + sync + ", " + std::to_string(g) + " a transaction",
                      [=]() -> long {
                        static int64_t ts = 1800000000000000;
                        for (long i = 0; i < total;) {
                          p->tx();
                          for (int k = 0; k < g; k++, i++)
                            p->do_put(rnd(R), rnd(Q), ts++, v->data(), size);
                          p->done();
                        }
                        return total;
                      },
                      ""});
      }
    }
    compare("put: random cells, new versions, " + std::to_string(size) +
                " B, 100k cells there (checkpoints included)",
            vs);
  }
}
static void sec_tail() {  // latency of single commits: who pays for the checkpoint
  const long R = 10000;
  const int Q = 10;
  auto v = Db::val(100);
  printf("\n[tail: 4000 commits of 8 puts; p50 / p99 / max us per commit]\n");
  for (int r = 0; r < 2; r++)
    for (int ck : {1000, 10000, 0})
      for (auto sync : {"NORMAL", "FULL"}) {
        Opt o;
        o.sync = sync;
        o.autock = ck;
        Db d("tail", o, true);
        d.load(R, Q, 100);
        d.checkpoint();
        std::atomic<bool> stop{false};
        std::thread th;
        if (!ck)
          th = std::thread([&] {
            Opt oo;
            oo.sync = sync;
            Db c("tail", oo, false);
            while (!stop) {
              usleep(20000);
              sqlite3_wal_checkpoint_v2(c.h, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
            }
          });
        std::vector<double> l;
        int64_t ts = 1800000000000000;
        for (int i = 0; i < 4000; i++) {
          uint64_t a = now();
          d.tx();
          for (int k = 0; k < 8; k++) d.do_put(rnd(R), rnd(Q), ts++, v.data(), 100);
          d.done();
          l.push_back((now() - a) / 1000.0);
        }
        stop = true;
        if (th.joinable()) th.join();
        std::sort(l.begin(), l.end());
        printf("  autocheckpoint %-22s sync %-6s %8.1f %8.1f %9.1f\n",
               ck ? std::to_string(ck).c_str() : "off, own thread 20 ms", sync, l[l.size() / 2],
               l[l.size() * 99 / 100], l.back());
        fflush(stdout);
      }
}
static void
sec_ckpt() {  // how much of a random put is write-back: checkpoint interval, and sorting the batch
  const long R = 50000;
  const int Q = 10;
  auto v = std::make_shared<std::vector<char>>(Db::val(100));
  std::vector<std::unique_ptr<Db>> keep;
  std::vector<Var> vs;
  auto add = [&](const char* n, int ck, int group,
                 int mode) {  // mode 0 random, 1 random but sorted in the batch, 2 one random row
                              // per batch (rsync, bulk load)
    Opt o;
    o.schema = "split";
    o.inl = 256;
    o.autock = ck;
    auto d = std::make_unique<Db>("ckpt" + std::to_string(vs.size()), o, true);
    d->load(R, Q, 100);
    d->checkpoint();
    Db* p = d.get();
    keep.push_back(std::move(d));
    vs.push_back({n,
                  [=]() -> long {
                    static int64_t ts = 1800000000000000;
                    long total = 16384;
                    for (long i = 0; i < total; i += group) {
                      std::vector<std::pair<long, long>> k(group);
                      long r0 = rnd(R - group);
                      for (int g = 0; g < group; g++)
                        k[g] = mode == 2 ? std::make_pair(r0 + g / Q, long(g % Q))
                                         : std::make_pair(rnd(R), rnd(Q));
                      if (mode == 1) std::sort(k.begin(), k.end());
                      p->tx();
                      for (auto& x : k) p->do_put(x.first, x.second, ts++, v->data(), 100);
                      p->done();
                    }
                    return total;
                  },
                  ""});
  };
  add("64/tx random, checkpoint every 1000 pages", 1000, 64, 0);
  add("64/tx random, every 4000", 4000, 64, 0);
  add("64/tx random, every 16000", 16000, 64, 0);
  add("64/tx random, never (WAL only)", 0, 64, 0);
  add("512/tx random, every 16000", 16000, 512, 0);
  add("512/tx random sorted, every 16000", 16000, 512, 1);
  add("64/tx neighbouring cells, every 1000", 1000, 64, 2);
  add("1/tx random, every 16000", 16000, 1, 0);
  compare("checkpoint: put 100 B, 500k cells there", vs, 4);
}
static void sec_scale() {
  std::vector<long> Ns = {10000, 100000, 1000000};
  if (g_big) Ns.push_back(5000000);
  auto v = Db::val(100);
  const int Q = 10;
  printf(
      "\n[scale: 100 B inline, cache 64 MB, NORMAL, 64 puts a transaction; us per op, median of %d "
      "alternated rounds]\n  cells      put new row at end   put new random row   new version of "
      "random cell   get random   get random (mmap)  stat random  MB\n",
      g_rounds);
  for (long N : Ns) {
    Opt o;
    Db d("scale", o, true);
    // keys are even; random new rows are odd: truly new, spread over the whole tree
    d.tx();
    long k = 0;
    for (long r = 0; r < N / Q; r++) {
      for (int q = 0; q < Q; q++) d.do_put(r * 2, q, 1700000000000000, v.data(), 100);
      if (++k % 5000 == 0) {
        d.done();
        d.tx();
      }
    }
    d.done();
    long mb = d.bytes() >> 20;
    Opt om;
    om.mmap = 8l << 30;
    om.cache_kib = 2000;
    Db dm("scale", om, false);
    std::vector<double> a[6];
    int64_t ts = 1800000000000000;
    long end = N * 4;
    for (int r = 0; r < g_rounds; r++) {
      const int B = 40, G = 64;
      auto run = [&](int w, std::function<void()> f, bool tx) {
        uint64_t t = now();
        for (int b = 0; b < B; b++) {
          if (tx) d.tx();
          for (int g = 0; g < G; g++) f();
          if (tx) d.done();
        }
        a[w].push_back((now() - t) / 1000.0 / (B * G));
      };
      run(
          0, [&] { d.do_put(end++, 0, ts++, v.data(), 100); }, true);
      run(
          1, [&] { d.do_put(rnd(N / Q) * 2 + 1, rnd(100000), ts++, v.data(), 100); }, true);
      run(
          2, [&] { d.do_put(rnd(N / Q) * 2, rnd(Q), ts++, v.data(), 100); }, true);
      run(
          3, [&] { d.do_get(rnd(N / Q) * 2, rnd(Q)); }, false);
      run(
          4, [&] { dm.do_get(rnd(N / Q) * 2, rnd(Q)); }, false);
      run(
          5, [&] { d.do_len(rnd(N / Q) * 2, rnd(Q)); }, false);
    }
    printf("  %-10ld %18.2f %20.2f %28.2f %12.2f %19.2f %12.2f %4ld\n", N, med(a[0]), med(a[1]),
           med(a[2]), med(a[3]), med(a[4]), med(a[5]), mb);
    fflush(stdout);
  }
}
static void sec_schema() {
  struct S {
    const char* name;
    Opt o;
  };
  for (int size : {20, 100, 300, 1000, 4000, 65536}) {
    long R = size <= 1000 ? 20000 : size <= 4000 ? 5000 : 200;
    const int Q = 10;
    std::vector<S> ss;
    {
      Opt o;
      ss.push_back({"one WITHOUT ROWID table", o});
      o.schema = "rowid";
      ss.push_back({"rowid table + index", o});
      o.schema = "split";
      o.inl = 64;
      ss.push_back({"keys + blobs over 64 B", o});
      o.inl = 256;
      ss.push_back({"keys + blobs over 256 B", o});
    }
    std::vector<std::unique_ptr<Db>> ds;
    std::vector<Var> gets, gets_seq, lens, lists, puts, rows;
    auto v = std::make_shared<std::vector<char>>(Db::val(size));
    for (size_t i = 0; i < ss.size(); i++) {
      ds.push_back(std::make_unique<Db>("schema" + std::to_string(i), ss[i].o, true));
      Db* d = ds.back().get();
      uint64_t t = now();
      d->load(R, Q, size);
      double us = (now() - t) / 1000.0 / (R * Q);
      long by = d->bytes();
      char ex[96];
      snprintf(ex, sizeof ex, "%.1f B/cell in the file (value %d), load %.2f us",
               double(by) / (R * Q), size, us);
      long K = size > 10000 ? 1000 : 5000;
      gets.push_back({ss[i].name,
                      [=]() -> long {
                        for (long k = 0; k < K; k++) d->do_get(rnd(R), rnd(Q));
                        return K;
                      },
                      ex});
      lens.push_back({ss[i].name,
                      [=]() -> long {
                        for (long k = 0; k < K; k++) d->do_len(rnd(R), rnd(Q));
                        return K;
                      },
                      ""});
      lists.push_back({ss[i].name,
                       [=]() -> long {
                         for (long k = 0; k < K / 10; k++) d->row_scan(rnd(R));
                         return K;
                       },
                       ""});
      rows.push_back({ss[i].name, [=]() -> long { return d->scan_rows(); }, ""});
      long P = size > 10000 ? 128 : 1280;
      puts.push_back({ss[i].name,
                      [=]() -> long {
                        static int64_t ts = 1800000000000000;
                        for (long b = 0; b < P / 64; b++) {
                          d->tx();
                          for (int k = 0; k < 64; k++)
                            d->do_put(rnd(R), rnd(Q), ts++, v->data(), size);
                          d->done();
                        }
                        return P;
                      },
                      ""});
    }
    string z = std::to_string(size) + " B values, " + std::to_string(R * Q) + " cells: ";
    compare("schema: " + z + "get latest", gets);
    compare("schema: " + z + "nts+length (stat)", lens);
    compare("schema: " + z + "list a row (per entry)", lists);
    compare("schema: " + z + "row keys (per row)", rows, 3);
    compare("schema: " + z + "put new version, 64 a transaction", puts);
  }
}
static void sec_page() {
  for (int size : {100, 1000}) {
    std::vector<std::unique_ptr<Db>> ds;
    std::vector<Var> g, p, l;
    const long R = 30000;
    const int Q = 10;
    auto v = std::make_shared<std::vector<char>>(Db::val(size));
    for (auto sch : {"wr", "split"})
      for (int page : {4096, 8192, 16384})
        for (long mm : {0l, 1l << 31}) {
          if (string(sch) == "wr" && size == 1000 && mm) continue;
          Opt o;
          o.page = page;
          o.mmap = mm;
          o.schema = sch;
          o.inl = 256;
          string nm = string(sch) + std::to_string(page) + (mm ? "m" : "");
          ds.push_back(std::make_unique<Db>("page" + nm, o, true));
          Db* d = ds.back().get();
          d->load(R, Q, size);
          long by = d->bytes();
          string lab = string(sch == string("wr") ? "one table" : "keys+blobs") + ", page " +
                       std::to_string(page / 1024) + "K" + (mm ? ", mmap" : "");
          char ex[64];
          snprintf(ex, sizeof ex, "%.0f B/cell", double(by) / (R * Q));
          g.push_back({lab,
                       [=]() -> long {
                         for (int k = 0; k < 5000; k++) d->do_get(rnd(R), rnd(Q));
                         return 5000;
                       },
                       ex});
          l.push_back({lab,
                       [=]() -> long {
                         for (int k = 0; k < 500; k++) d->row_scan(rnd(R));
                         return 5000;
                       },
                       ""});
          p.push_back({lab,
                       [=]() -> long {
                         static int64_t ts = 1800000000000000;
                         for (int b = 0; b < 20; b++) {
                           d->tx();
                           for (int k = 0; k < 64; k++)
                             d->do_put(rnd(R), rnd(Q), ts++, v->data(), size);
                           d->done();
                         }
                         return 1280;
                       },
                       ""});
        }
    string z = std::to_string(size) + " B, 300k cells: ";
    compare("page size: " + z + "get latest", g);
    compare("page size: " + z + "list a row (per entry)", l);
    compare("page size: " + z + "put, 64 a transaction, checkpoints included", p);
  }
}
static void sec_conc() {
  const long R = 20000;
  const int Q = 10;
  {
    Opt o;
    Db d("conc", o, true);
    d.load(R, Q, 100);
    d.checkpoint();
  }
  auto v = Db::val(100);
  auto run = [&](int writers, int readers, int group, bool longtx, double* w, double* r,
                 double* wp99) {
    std::atomic<bool> go{false}, stop{false};
    std::atomic<long> nw{0}, nr{0};
    std::vector<std::thread> th;
    std::vector<double> lat;
    for (int i = 0; i < writers; i++)
      th.emplace_back([&] {
        Opt o;
        Db d("conc", o, false);
        std::mt19937_64 g(1);
        int64_t ts = now();
        while (!go) usleep(10);
        while (!stop) {
          uint64_t a = now();
          d.tx();
          for (int k = 0; k < group; k++)
            d.do_put(long(g() % R), long(g() % Q), ts++, v.data(), 100);
          d.done();
          lat.push_back((now() - a) / 1000.0);
          nw += group;
        }
      });
    for (int i = 0; i < readers; i++)
      th.emplace_back([&, i] {
        Opt o;
        Db d("conc", o, false);
        std::mt19937_64 g(100 + i);
        while (!go) usleep(10);
        long n = 0;
        while (!stop) {
          if (longtx) d.tx();
          for (int k = 0; k < 32; k++) d.do_get(long(g() % R), long(g() % Q));
          if (longtx) d.done();
          n += 32;
        }
        nr += n;
      });
    usleep(50000);
    uint64_t t = now();
    go = true;
    usleep(400000);
    stop = true;
    for (auto& x : th) x.join();
    double s = (now() - t) / 1e9;
    *w = nw / s;
    *r = nr / s;
    std::sort(lat.begin(), lat.end());
    *wp99 = lat.empty() ? 0 : lat[lat.size() * 99 / 100];
  };
  struct C {
    const char* n;
    int w, r, g;
    bool lt;
  };
  C cs[] = {{"1 writer (64/tx) alone", 1, 0, 64, false},
            {"1 reader alone", 0, 1, 64, false},
            {"2 readers alone", 0, 2, 64, false},
            {"2 readers alone, 32 gets a transaction", 0, 2, 64, true},
            {"1 writer (64/tx) + 2 readers", 1, 2, 64, false},
            {"1 writer (64/tx) + 2 readers, 32 gets/tx", 1, 2, 64, true},
            {"1 writer (1/tx) + 2 readers", 1, 2, 1, false},
            {"1 writer (1/tx) alone", 1, 0, 1, false}};
  const int NC = sizeof cs / sizeof *cs;
  std::vector<double> W[NC], Rr[NC], P[NC];
  for (int k = 0; k < g_rounds; k++)
    for (int i = 0; i < NC; i++) {
      double w, r, p;
      run(cs[i].w, cs[i].r, cs[i].g, cs[i].lt, &w, &r, &p);
      W[i].push_back(w);
      Rr[i].push_back(r);
      P[i].push_back(p);
    }
  printf("\n[concurrency: 200k cells of 100 B, WAL, NORMAL; thousands a second]\n");
  for (int i = 0; i < NC; i++)
    printf("  %-44s puts %8.1f k/s  gets %8.1f k/s   commit p99 %8.1f us\n", cs[i].n,
           med(W[i]) / 1e3, med(Rr[i]) / 1e3, med(P[i]));
  fflush(stdout);
}
static void sec_files() {  // the '35% faster' claim, here: same values as files on the same disk
  for (int size : {100, 1000, 10000, 100000}) {
    long n = size > 50000 ? 500 : 5000;
    auto v = std::make_shared<std::vector<char>>(Db::val(size));
    string dir = g_dir + "/files";
    (void)!system(("rm -rf " + dir + "; mkdir -p " + dir).c_str());
    auto fn = [=](long i, char* b) {
      snprintf(b, 256, "%s/d%02ld/f%06ld", dir.c_str(), i % 50, i);
    };
    for (int i = 0; i < 50; i++) {
      char b[256];
      snprintf(b, sizeof b, "%s/d%02d", dir.c_str(), i);
      mkdir(b, 0755);
    }
    auto wr = [=](long i) {
      char b[256];
      fn(i, b);
      int fd = open(b, O_CREAT | O_WRONLY | O_TRUNC, 0644);
      (void)!write(fd, v->data(), size);
      close(fd);
    };
    for (long i = 0; i < n; i++) wr(i);
    Opt o;
    o.schema = "split";
    o.inl = 256;
    Opt om = o;
    om.mmap = 1 << 30;
    Db d("files.db", o, true);
    d.load(n, 1, size);
    d.checkpoint();
    Db dm("files.db", om, false);
    string z = std::to_string(size) + " B x " + std::to_string(n);
    long du = 0;
    {
      FILE* p = popen(("du -sk " + dir).c_str(), "r");
      (void)!fscanf(p, "%ld", &du);
      pclose(p);
    }
    char ex[64];
    snprintf(ex, sizeof ex, "%.0f B/value on disk", du * 1024.0 / n);
    char ex2[64];
    snprintf(ex2, sizeof ex2, "%.0f B/value on disk", double(d.bytes()) / n);
    compare("files: read " + z + ", warm, random", {{"ext4 open/read/close",
                                                     [=]() -> long {
                                                       std::vector<char> buf(size + 1);
                                                       for (long i = 0; i < n; i++) {
                                                         char b[256];
                                                         fn(rnd(n), b);
                                                         int fd = open(b, O_RDONLY);
                                                         (void)!read(fd, buf.data(), size);
                                                         close(fd);
                                                       }
                                                       return n;
                                                     },
                                                     ex},
                                                    {"SQLite get",
                                                     [&]() -> long {
                                                       for (long i = 0; i < n; i++)
                                                         d.do_get(rnd(n), 0);
                                                       return n;
                                                     },
                                                     ex2},
                                                    {"SQLite get in one transaction",
                                                     [&]() -> long {
                                                       d.tx();
                                                       for (long i = 0; i < n; i++)
                                                         d.do_get(rnd(n), 0);
                                                       d.done();
                                                       return n;
                                                     },
                                                     ""},
                                                    {"SQLite get, mmap",
                                                     [&]() -> long {
                                                       for (long i = 0; i < n; i++)
                                                         dm.do_get(rnd(n), 0);
                                                       return n;
                                                     },
                                                     ""}});
    long m = n / 5;
    compare("files: overwrite " + z + ", random",
            {{"ext4 open(O_TRUNC)/write/close, no fsync",
              [=]() -> long {
                for (long i = 0; i < m; i++) wr(rnd(n));
                return m;
              },
              ""},
             {"ext4 temp + rename",
              [=]() -> long {
                for (long i = 0; i < m; i++) {
                  char b[256], t[300];
                  fn(rnd(n), b);
                  snprintf(t, sizeof t, "%s.tmp", b);
                  int fd = open(t, O_CREAT | O_WRONLY | O_TRUNC, 0644);
                  (void)!write(fd, v->data(), size);
                  close(fd);
                  rename(t, b);
                }
                return m;
              },
              ""},
             {"SQLite put, each its own commit, NORMAL",
              [&]() -> long {
                static int64_t ts = 1800000000000000;
                for (long i = 0; i < m; i++) {
                  d.tx();
                  d.do_put(rnd(n), 0, ts++, v->data(), size);
                  d.done();
                }
                return m;
              },
              ""},
             {"SQLite put, 64 a commit, NORMAL",
              [&]() -> long {
                static int64_t ts = 1900000000000000;
                for (long i = 0; i < m; i += 64) {
                  d.tx();
                  for (int k = 0; k < 64; k++) d.do_put(rnd(n), 0, ts++, v->data(), size);
                  d.done();
                }
                return (m + 63) / 64 * 64;
              },
              ""}},
            3);
  }
  (void)!system(("rm -rf " + g_dir + "/files").c_str());
}

int main(int argc, char** argv) {
  string only = ".*";
  if (const char* work = std::getenv("CELLFS_BENCH_DIR")) g_dir = work;
  for (int i = 1; i < argc; i++) {
    string a = argv[i];
    if (a == "--work" && i + 1 < argc)
      g_dir = argv[++i];
    else if (a == "--only" && i + 1 < argc)
      only = argv[++i];
    else if (a == "--rounds" && i + 1 < argc)
      g_rounds = atoi(argv[++i]);
    else if (a == "--big")
      g_big = true;
    else {
      fprintf(stderr,
              "sqlite_limit [--work D] [--only RE] [--rounds N] [--big]\nsections: get hist scan "
              "put tail ckpt scale schema page conc files\n");
      return 2;
    }
  }
  g_dir += "/sqlite_limit." + std::to_string(getpid());
  (void)!system(("mkdir -p '" + g_dir + "'").c_str());
  printf("SQLite %s\n", sqlite3_libversion());
  struct {
    const char* n;
    void (*f)();
  } secs[] = {{"get", sec_get},   {"hist", sec_hist}, {"scan", sec_scan},   {"put", sec_put},
              {"tail", sec_tail}, {"ckpt", sec_ckpt}, {"scale", sec_scale}, {"schema", sec_schema},
              {"page", sec_page}, {"conc", sec_conc}, {"files", sec_files}};
  for (auto& s : secs)
    if (std::regex_search(s.n, std::regex(only))) s.f();
  (void)!system(("rm -rf '" + g_dir + "'").c_str());
}
