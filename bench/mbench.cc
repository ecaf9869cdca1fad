// SPDX-License-Identifier: MIT
//
// mbench: one workload on one directory through plain system calls; prints one JSON line.
//
//   mbench OP DIR [--rows R] [--fams F] [--quals Q] [--size B] [--procs P] [--order seq|rand]
//                 [--seed S] [--gen G] [--limit N] [--repeat K] [--verify] [--stop FILE]
//
// The tree is DIR/rNNNNNN/fN/qNNNN with R*F*Q files. OPs:
//   mktree      mkdir every row and family            rmtree      rmdir them   (EEXIST / ENOENT are
//   fine) create      open(O_CREAT|O_WRONLY|O_TRUNC) write close        (new names) fsync       the
//   same with fsync before close      overwrite   the same on names that exist append
//   open(O_WRONLY|O_APPEND) write close stat        stat each            statmiss    stat names
//   that do not exist read        open read-to-EOF close                openclose   open close
//   lsrow       opendir/readdir/closedir of each family dir (names only)
//   lsrow_l     the same plus lstat of every name (ls -l)
//   lstable     opendir/readdir/closedir of DIR, --repeat times; lstable_l with lstat of every name
//   walk        recursive walk by d_type, no stat;    walk_l      with lstat of every entry
//   rename      rsync's pattern: create .NAME.tmp, write, utimensat, close, rename over NAME
//   unlink      unlink each
// With --procs P the rows (or the files, if there are fewer rows) are split among P processes that
// start together; ops/s is over the common wall time, latencies are pooled.
// Errors are counted by name and never stop the run. With --stop it ends once FILE is there, or
// when it is through.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {
struct Cfg {
  std::string op, dir, stop;
  int rows = 100, fams = 1, quals = 10, size = 100, procs = 1, gen = 0, repeat = 1;
  long limit = -1;
  bool rnd = false, verify = false;
  uint64_t seed = 1;
} cfg;

inline uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1000000000ull + t.tv_nsec;
}

constexpr int MAXSTEP = 6, MAXERR = 134;
struct Shared {  // one per run, shared by the processes
  std::atomic<int> ready, go;
  uint64_t t0[64], t1[64];
  uint64_t cnt[64], bytes[64], bad[64];
  double cpu_u[64], cpu_s[64];
  uint64_t err[64][MAXERR];
};
Shared* sh;
uint32_t* lat;  // [total] whole operation, ns
uint32_t* step[MAXSTEP];
const char* step_name[MAXSTEP];
int nstep = 0;

void* shm(size_t n) {
  void* p = mmap(nullptr, n ? n : 1, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (p == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  return p;
}
bool stopped(uint64_t calls) {
  return calls % 16 == 0 && !cfg.stop.empty() && access(cfg.stop.c_str(), F_OK) == 0;
}
inline uint32_t clip(uint64_t d) { return d > 0xffffffffu ? 0xffffffffu : uint32_t(d); }

long ncell() { return long(cfg.rows) * cfg.fams * cfg.quals; }
void path_of(long i, char* b, size_t n, const char* pre = "", const char* suf = "") {
  long q = i % cfg.quals, f = i / cfg.quals % cfg.fams, r = i / cfg.quals / cfg.fams;
  snprintf(b, n, "%s/r%06ld/f%ld/%sq%04ld%s", cfg.dir.c_str(), r, f, pre, q, suf);
}
void fam_of(long k, char* b, size_t n) {
  snprintf(b, n, "%s/r%06ld/f%ld", cfg.dir.c_str(), k / cfg.fams, k % cfg.fams);
}
// value: a stamp naming the cell and its generation, then filler; so a wrong answer is noticed
void fill(std::vector<char>& v, long i, int gen) {
  v.resize(cfg.size);
  char s[48];
  int n = snprintf(s, sizeof s, "cell %ld gen %d;", i, gen);
  for (size_t k = 0; k < v.size(); k++) v[k] = char('a' + (k * 7 + i) % 26);
  memcpy(v.data(), s, std::min<size_t>(n, v.size()));
}

struct W {  // one worker process
  int id;
  long slot0;  // first latency slot
  long k = 0;
  std::vector<char> buf, val;
  uint64_t ts;
  int sn;
  void fail() { sh->err[id][errno < MAXERR ? errno : 0]++; }
  void begin() {
    sn = 0;
    ts = now();
    t_begin = ts;
  }
  uint64_t t_begin;
  void mark() {
    uint64_t t = now();
    step[sn++][slot0 + k] = clip(t - ts);
    ts = t;
  }
  void end() {
    uint64_t t = now();
    lat[slot0 + k] = clip(t - t_begin);
    k++;
  }
};

int put(W& w, const char* p, int flags, bool sync) {  // steps: open write [fsync] close
  int fd = open(p, flags, 0644);
  w.mark();
  if (fd < 0) {
    w.fail();
    return -1;
  }
  ssize_t n = cfg.size ? write(fd, w.val.data(), cfg.size) : 0;
  if (n != cfg.size) w.fail();
  w.mark();
  if (sync) {
    if (fsync(fd)) w.fail();
    w.mark();
  }
  if (close(fd)) w.fail();
  w.mark();
  sh->bytes[w.id] += cfg.size;
  return 0;
}

void one(W& w, long i) {
  char p[512], q[512];
  const std::string& op = cfg.op;
  if (op == "create" || op == "overwrite" || op == "fsync") {
    path_of(i, p, sizeof p);
    fill(w.val, i, cfg.gen);
    w.begin();
    put(w, p, O_CREAT | O_WRONLY | O_TRUNC, op == "fsync");
    w.end();
  } else if (op == "append") {
    path_of(i, p, sizeof p);
    fill(w.val, i, cfg.gen);
    w.begin();
    put(w, p, O_WRONLY | O_APPEND, false);
    w.end();
  } else if (op == "stat" || op == "statmiss") {
    path_of(i, p, sizeof p, "", op == "stat" ? "" : ".none");
    struct stat st;
    w.begin();
    if (stat(p, &st)) {
      if (op == "stat" || errno != ENOENT) w.fail();
    }
    w.end();
    if (op == "stat" && cfg.verify && st.st_size != cfg.size) sh->bad[w.id]++;
  } else if (op == "read" || op == "openclose") {
    path_of(i, p, sizeof p);
    w.begin();
    int fd = open(p, O_RDONLY);
    w.mark();
    if (fd < 0) {
      w.fail();
      w.end();
      return;
    }
    size_t tot = 0;
    if (op == "read") {
      for (;;) {
        ssize_t n = read(fd, w.buf.data() + tot, w.buf.size() - tot);
        if (n < 0) {
          w.fail();
          break;
        }
        if (n == 0) break;
        tot += n;
        if (tot >= w.buf.size()) break;
      }
      w.mark();
    }
    if (close(fd)) w.fail();
    w.mark();
    w.end();
    sh->bytes[w.id] += tot;
    if (cfg.verify && op == "read") {
      fill(w.val, i, cfg.gen);
      if (tot != size_t(cfg.size) || memcmp(w.val.data(), w.buf.data(), tot)) sh->bad[w.id]++;
    }
  } else if (op == "rename") {
    path_of(i, p, sizeof p);
    path_of(i, q, sizeof q, ".", ".Tmp01");
    fill(w.val, i, cfg.gen);
    w.begin();
    int fd = open(q, O_CREAT | O_EXCL | O_RDWR, 0600);
    w.mark();
    if (fd < 0) {
      w.fail();
      w.end();
      return;
    }
    if (write(fd, w.val.data(), cfg.size) != cfg.size) w.fail();
    w.mark();
    if (close(fd)) w.fail();
    w.mark();
    timespec tv[2] = {{1700000000, 0}, {1700000000, 0}};
    if (utimensat(AT_FDCWD, q, tv, AT_SYMLINK_NOFOLLOW)) w.fail();
    if (chmod(q, 0644)) w.fail();
    w.mark();
    if (rename(q, p)) w.fail();
    w.mark();
    w.end();
  } else if (op == "unlink") {
    path_of(i, p, sizeof p);
    w.begin();
    if (unlink(p)) w.fail();
    w.end();
  } else if (op == "mktree" || op == "rmtree") {  // i counts family directories
    snprintf(q, sizeof q, "%s/r%06ld", cfg.dir.c_str(), i / cfg.fams);
    fam_of(i, p, sizeof p);
    w.begin();
    if (op == "mktree") {
      if (i % cfg.fams == 0 && mkdir(q, 0755) && errno != EEXIST)
        w.fail();  // a model may make them by itself
      if (mkdir(p, 0755) && errno != EEXIST) w.fail();
    } else {
      if (rmdir(p) && errno != ENOENT) w.fail();  // an empty row may already be gone
      if (i % cfg.fams == cfg.fams - 1 && rmdir(q) && errno != ENOENT) w.fail();
    }
    w.end();
  }
}

long list(W& w, const char* p, bool l) {  // names only, or names plus lstat
  DIR* d = opendir(p);
  if (!d) {
    w.fail();
    return 0;
  }
  long n = 0;
  errno = 0;
  while (dirent* e = readdir(d)) {
    if (e->d_name[0] == '.' && (!e->d_name[1] || (e->d_name[1] == '.' && !e->d_name[2]))) continue;
    n++;
    if (l) {
      struct stat st;
      if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW)) w.fail();
    }
    errno = 0;
  }
  if (errno) w.fail();
  closedir(d);
  return n;
}
long walk(W& w, int at, const char* name, bool l) {
  int fd = openat(at, name, O_RDONLY | O_DIRECTORY);
  if (fd < 0) {
    w.fail();
    return 0;
  }
  DIR* d = fdopendir(fd);
  if (!d) {
    w.fail();
    close(fd);
    return 0;
  }
  long n = 0;
  std::vector<std::string> sub;
  while (dirent* e = readdir(d)) {
    if (e->d_name[0] == '.' && (!e->d_name[1] || (e->d_name[1] == '.' && !e->d_name[2]))) continue;
    n++;
    bool isdir = e->d_type == DT_DIR;
    if (l || e->d_type == DT_UNKNOWN) {
      struct stat st;
      if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
        w.fail();
      else
        isdir = S_ISDIR(st.st_mode);
    }
    if (isdir) sub.push_back(e->d_name);
  }
  for (auto& s : sub) n += walk(w, fd, s.c_str(), l);
  closedir(d);
  return n;
}

void work(int id, long slot0, long lo, long hi, uint64_t* order) {
  W w;
  w.id = id;
  w.slot0 = slot0;
  w.buf.resize(std::max(cfg.size + 4096, 65536));
  sh->ready++;
  while (!sh->go) usleep(50);
  sh->t0[id] = now();
  const std::string& op = cfg.op;
  uint64_t cnt = 0;
  if (op == "lsrow" || op == "lsrow_l") {
    char p[512];
    for (int r = 0; r < cfg.repeat; r++)
      for (long i = lo; i < hi; i++) {
        fam_of(order[i], p, sizeof p);
        w.begin();
        cnt += list(w, p, op == "lsrow_l");
        w.end();
      }
  } else if (op == "lstable" || op == "lstable_l") {
    for (int r = 0; r < cfg.repeat; r++) {
      w.begin();
      cnt += list(w, cfg.dir.c_str(), op == "lstable_l");
      w.end();
    }
  } else if (op == "walk" || op == "walk_l") {
    for (int r = 0; r < cfg.repeat; r++) {
      w.begin();
      cnt += walk(w, AT_FDCWD, cfg.dir.c_str(), op == "walk_l");
      w.end();
    }
  } else {
    for (int r = 0; r < cfg.repeat; r++)
      for (long i = lo; i < hi && !stopped(cnt); i++) {
        one(w, order[i]);
        cnt++;
      }
  }
  sh->t1[id] = now();
  sh->cnt[id] = cnt;
  rusage ru;
  getrusage(RUSAGE_SELF, &ru);
  sh->cpu_u[id] = ru.ru_utime.tv_sec + ru.ru_utime.tv_usec / 1e6;
  sh->cpu_s[id] = ru.ru_stime.tv_sec + ru.ru_stime.tv_usec / 1e6;
}
double pct(std::vector<uint32_t>& v, double p) {
  if (v.empty()) return 0;
  size_t k = std::min(v.size() - 1, size_t(p * v.size()));
  std::nth_element(v.begin(), v.begin() + k, v.end());
  return v[k] / 1000.0;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr,
            "mbench OP DIR [--rows R] [--fams F] [--quals Q] [--size B] [--procs P] [--order "
            "seq|rand] [--seed S] [--gen G] [--limit N] [--repeat K] [--verify] [--stop FILE]\n");
    return 2;
  }
  cfg.op = argv[1];
  cfg.dir = argv[2];
  for (int i = 3; i < argc; i++) {
    std::string a = argv[i];
    auto v = [&]() { return ++i < argc ? argv[i] : (exit(2), argv[0]); };
    if (a == "--rows")
      cfg.rows = atoi(v());
    else if (a == "--fams")
      cfg.fams = atoi(v());
    else if (a == "--quals")
      cfg.quals = atoi(v());
    else if (a == "--size")
      cfg.size = atoi(v());
    else if (a == "--procs")
      cfg.procs = std::min(64, atoi(v()));
    else if (a == "--order")
      cfg.rnd = !strcmp(v(), "rand");
    else if (a == "--seed")
      cfg.seed = strtoull(v(), nullptr, 10);
    else if (a == "--gen")
      cfg.gen = atoi(v());
    else if (a == "--limit")
      cfg.limit = atol(v());
    else if (a == "--repeat")
      cfg.repeat = atoi(v());
    else if (a == "--stop")
      cfg.stop = v();
    else if (a == "--verify")
      cfg.verify = true;
    else {
      fprintf(stderr, "unknown switch %s\n", a.c_str());
      return 2;
    }
  }
  const std::string& op = cfg.op;
  static const std::map<std::string, std::vector<const char*>> steps = {
      {"create", {"open", "write", "close"}},
      {"overwrite", {"open", "write", "close"}},
      {"append", {"open", "write", "close"}},
      {"fsync", {"open", "write", "fsync", "close"}},
      {"read", {"open", "read", "close"}},
      {"openclose", {"open", "close"}},
      {"rename", {"open", "write", "close", "attrs", "rename"}},
      {"stat", {}},
      {"statmiss", {}},
      {"unlink", {}},
      {"mktree", {}},
      {"rmtree", {}},
      {"lsrow", {}},
      {"lsrow_l", {}},
      {"lstable", {}},
      {"lstable_l", {}},
      {"walk", {}},
      {"walk_l", {}}};
  auto it = steps.find(op);
  if (it == steps.end()) {
    fprintf(stderr, "unknown op %s\n", op.c_str());
    return 2;
  }
  bool perfam = op == "mktree" || op == "rmtree" || op == "lsrow" || op == "lsrow_l";
  bool whole = op == "lstable" || op == "lstable_l" || op == "walk" || op == "walk_l";
  long n = whole ? cfg.procs : perfam ? long(cfg.rows) * cfg.fams : ncell();
  if (cfg.limit > 0 && !whole) n = std::min(n, cfg.limit);
  // slots: each worker gets its own contiguous range
  std::vector<uint64_t> order(n);
  long full = perfam ? long(cfg.rows) * cfg.fams : ncell();
  if (cfg.rnd && !whole) {  // a random sample without repeats, grouped by worker afterwards
    std::vector<uint64_t> all(full);
    for (long i = 0; i < full; i++) all[i] = i;
    std::mt19937_64 g(cfg.seed);
    std::shuffle(all.begin(), all.end(), g);
    std::copy(all.begin(), all.begin() + n, order.begin());
  } else
    for (long i = 0; i < n; i++) order[i] = i;

  sh = static_cast<Shared*>(shm(sizeof(Shared)));
  lat = static_cast<uint32_t*>(shm(n * cfg.repeat * 4));
  for (auto s : it->second) {
    step_name[nstep] = s;
    step[nstep] = static_cast<uint32_t*>(shm(n * cfg.repeat * 4));
    nstep++;
  }

  for (int p = 0; p < cfg.procs; p++) {
    long lo = n * p / cfg.procs, hi = n * (p + 1) / cfg.procs;
    if (perfam && cfg.procs > 1) {
      lo = lo / cfg.fams * cfg.fams;
      hi = p == cfg.procs - 1 ? n : hi / cfg.fams * cfg.fams;
    }
    if (whole) {
      lo = p;
      hi = p + 1;
    }
    pid_t pid = fork();
    if (pid == 0) {
      work(p, lo * cfg.repeat, lo, hi, order.data());
      _exit(0);
    }
    if (pid < 0) {
      perror("fork");
      return 1;
    }
  }
  while (sh->ready < cfg.procs) usleep(100);
  usleep(2000);
  sh->go = 1;
  int st, died = 0;
  while (wait(&st) > 0)
    if (!WIFEXITED(st) || WEXITSTATUS(st)) died++;

  uint64_t t0 = ~0ull, t1 = 0, cnt = 0, bytes = 0, bad = 0;
  double cu = 0, cs = 0;
  std::map<std::string, uint64_t> errs;
  for (int p = 0; p < cfg.procs; p++) {
    t0 = std::min(t0, sh->t0[p]);
    t1 = std::max(t1, sh->t1[p]);
    cnt += sh->cnt[p];
    bytes += sh->bytes[p];
    bad += sh->bad[p];
    cu += sh->cpu_u[p];
    cs += sh->cpu_s[p];
    for (int e = 0; e < MAXERR; e++)
      if (sh->err[p][e]) {
        const char* nm = strerrorname_np(e);
        errs[nm && e ? nm : "unknown"] += sh->err[p][e];
      }
  }
  double wall = (t1 - t0) / 1e9;
  auto clean = [&](uint32_t* a) {
    std::vector<uint32_t> v;
    for (long i = 0; i < n * cfg.repeat; i++)
      if (a[i]) v.push_back(a[i]);
    return v;
  };
  auto v = clean(lat);
  double sum = 0;
  for (auto x : v) sum += x;
  printf(
      "{\"op\":\"%s\",\"procs\":%d,\"count\":%lu,\"calls\":%zu,\"wall_s\":%.6f,\"ops_s\":%.1f,"
      "\"bytes\":%lu,"
      "\"mean_us\":%.3f,\"p50_us\":%.3f,\"p90_us\":%.3f,\"p99_us\":%.3f,\"max_us\":%.3f,\"cpu_user_"
      "s\":%.4f,\"cpu_sys_s\":%.4f",
      op.c_str(), cfg.procs, cnt, v.size(), wall, wall > 0 ? cnt / wall : 0, bytes,
      v.empty() ? 0 : sum / v.size() / 1000, pct(v, .5), pct(v, .9), pct(v, .99), pct(v, 1), cu,
      cs);
  if (nstep) {
    printf(",\"steps\":{");
    for (int s = 0; s < nstep; s++) {
      auto x = clean(step[s]);
      printf("%s\"%s\":[%.3f,%.3f]", s ? "," : "", step_name[s], pct(x, .5), pct(x, .99));
    }
    printf("}");
  }
  if (cfg.verify) printf(",\"bad\":%lu", bad);
  if (died) printf(",\"died\":%d", died);
  printf(",\"errors\":{");
  bool first = true;
  for (auto& e : errs) {
    printf("%s\"%s\":%lu", first ? "" : ",", e.first.c_str(), e.second);
    first = false;
  }
  printf("}}\n");
  return 0;
}
