// SPDX-License-Identifier: MIT
//
// nullfs: a FUSE filesystem with no storage behind it. It is the floor: no FUSE daemon on this
// machine can answer the same requests faster than one that only looks in its own memory.
//
//   /syn/rNNNNNN/fN/qNNNN   computed (never stored): --syn rows,fams,quals,size
//   everything else         a plain in-memory tree (hash map per directory),
//   create/write/rename/unlink
//
// Every FUSE setting that could matter is a switch, so that one setting at a time can be measured.
// Run: nullfs [switches] MOUNTPOINT   (stays in the foreground; --bg
// detaches)
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "bench/ring_loop.h"

namespace {

// ---- switches -------------------------------------------------------------------------------
struct Opt {
  std::string loop =
      "mt";  // st: one thread; mt: libfuse's pool; own: our threads, same fd or clones; uring
  int threads = 10;  // upper bound for mt / exact for own
  int idle = 10;     // max_idle_threads for mt
  bool clone_fd = false;
  int spin_us = 0;  // own loop: poll this long before sleeping
  double entry_to = 0, attr_to = 0, neg_to = 0;
  bool keep_cache = false, cache_dir = false, noflush = false, noflush_ro = false,
       direct_io = false;
  bool no_open = false, no_opendir = false, no_flush_op = false;
  std::string rdp = "auto";  // no | auto | always
  bool writeback = false;
  bool splice_r = false, splice_w = false, splice_move = false;
  bool atomic_trunc = true, pardirops = true;
  std::string inval = "auto";  // auto | explicit | none
  bool killpriv = true;
  bool xattr = false;   // implement getxattr (answers ENODATA) instead of ENOSYS
  bool defperm = true;  // default_permissions: the kernel checks modes (costs GETATTRs)
  long work_ns = 0;     // burn this much CPU in every request (to model a store)
  uint64_t syn_rows = 1000, syn_fams = 1, syn_quals = 10, syn_size = 1024;
  std::string stats;  // SIGUSR1 writes request counts here, SIGUSR2 zeroes them
  std::string pidfile;
  bool bg = false, debug = false;
  std::string fuse_opts;
} opt;

// ---- request counters -----------------------------------------------------------------------
enum Op {
  LOOKUP,
  FORGET,
  GETATTR,
  SETATTR,
  MKDIR,
  UNLINK,
  RMDIR,
  RENAME,
  OPEN,
  READ,
  WRITE,
  FLUSH,
  RELEASE,
  FSYNC,
  OPENDIR,
  READDIR,
  READDIRPLUS,
  RELEASEDIR,
  STATFS,
  CREATE,
  XATTR,
  NOPS
};
const char* const kOpName[NOPS] = {
    "LOOKUP",  "FORGET",  "GETATTR",     "SETATTR",    "MKDIR",  "UNLINK",  "RMDIR",
    "RENAME",  "OPEN",    "READ",        "WRITE",      "FLUSH",  "RELEASE", "FSYNC",
    "OPENDIR", "READDIR", "READDIRPLUS", "RELEASEDIR", "STATFS", "CREATE",  "XATTR"};
struct alignas(64) Slot {
  std::atomic<uint64_t> c[NOPS];
};
Slot g_slots[8];
std::atomic<int> g_next_slot{0};
thread_local int t_slot = -1;

uint64_t now_ns() {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return uint64_t(ts.tv_sec) * 1000000000ull + ts.tv_nsec;
}

inline void count(Op o) {
  if (t_slot < 0) t_slot = g_next_slot.fetch_add(1) & 7;
  g_slots[t_slot].c[o].fetch_add(1, std::memory_order_relaxed);
  if (opt.work_ns) {
    uint64_t e = now_ns() + opt.work_ns;
    while (now_ns() < e) {
    }
  }
}

// ---- nodes ----------------------------------------------------------------------------------
struct Node {
  std::mutex mu;
  bool dir = false;
  mode_t mode = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  timespec mt{}, ct{}, at{};
  std::string data;
  std::atomic<int64_t> nlookup{0};
  int links = 1;
  // directories: names in insertion order (null = removed) plus an index
  struct Ent {
    std::string name;
    Node* n;
  };
  std::vector<std::unique_ptr<Ent>> order;
  std::unordered_map<std::string_view, size_t> index;
  size_t live = 0;
};
Node g_root;
std::shared_mutex g_tree;  // exclusive only for rename

// computed tree: bit 62 marks it; level in bits 56..57, then row, family, qualifier
constexpr uint64_t SYN = 1ull << 62;
inline uint64_t syn_id(int lvl, uint64_t r, uint64_t f, uint64_t q) {
  return SYN | uint64_t(lvl) << 56 | r << 24 | f << 16 | q;
}
inline bool is_syn(fuse_ino_t i) { return i & SYN; }
inline int syn_lvl(fuse_ino_t i) { return (i >> 56) & 3; }
inline uint64_t syn_r(fuse_ino_t i) { return (i >> 24) & 0xffffffffu; }
inline uint64_t syn_f(fuse_ino_t i) { return (i >> 16) & 0xff; }
std::string g_syn_data;

inline Node* N(fuse_ino_t i) { return i == FUSE_ROOT_ID ? &g_root : reinterpret_cast<Node*>(i); }
inline fuse_ino_t I(Node* n) {
  return n == &g_root ? FUSE_ROOT_ID : reinterpret_cast<fuse_ino_t>(n);
}

timespec wall() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return t;
}
const timespec g_boot = wall();

void syn_stat(fuse_ino_t i, struct stat* st) {
  memset(st, 0, sizeof *st);
  st->st_ino = i;
  bool d = syn_lvl(i) < 3;
  st->st_mode = d ? (S_IFDIR | 0755) : (S_IFREG | 0644);
  st->st_nlink = d ? 2 : 1;
  st->st_size = d ? 0 : opt.syn_size;
  st->st_blocks = (st->st_size + 511) / 512;
  st->st_blksize = 4096;
  st->st_mtim = st->st_ctim = st->st_atim = g_boot;
}
void node_stat(Node* n, struct stat* st) {  // n->mu held
  memset(st, 0, sizeof *st);
  st->st_ino = I(n);
  st->st_mode = n->mode;
  st->st_nlink = n->dir ? 2 : 1;
  st->st_uid = n->uid;
  st->st_gid = n->gid;
  st->st_size = n->dir ? 0 : off_t(n->data.size());
  st->st_blocks = (st->st_size + 511) / 512;
  st->st_blksize = 4096;
  st->st_mtim = n->mt;
  st->st_ctim = n->ct;
  st->st_atim = n->at;
}
void node_entry(Node* n, fuse_entry_param* e, bool ref) {
  memset(e, 0, sizeof *e);
  std::lock_guard<std::mutex> g(n->mu);
  e->ino = I(n);
  node_stat(n, &e->attr);
  e->attr_timeout = opt.attr_to;
  e->entry_timeout = opt.entry_to;
  if (ref) n->nlookup.fetch_add(1, std::memory_order_relaxed);
}
void syn_entry(fuse_ino_t i, fuse_entry_param* e) {
  memset(e, 0, sizeof *e);
  e->ino = i;
  syn_stat(i, &e->attr);
  e->attr_timeout = opt.attr_to;
  e->entry_timeout = opt.entry_to;
}
void maybe_free(Node* n) {
  if (n != &g_root && n->links == 0 && n->nlookup.load() <= 0) delete n;
}
bool parse_num(const char* s, char pfx, uint64_t limit, uint64_t* v) {
  if (s[0] != pfx || !s[1]) return false;
  char* e;
  unsigned long long x = strtoull(s + 1, &e, 10);
  if (*e || x >= limit) return false;
  *v = x;
  return true;
}
fuse_ino_t syn_lookup(fuse_ino_t p, const char* name) {
  uint64_t v;
  switch (syn_lvl(p)) {
    case 0:
      if (parse_num(name, 'r', opt.syn_rows, &v)) return syn_id(1, v, 0, 0);
      break;
    case 1:
      if (parse_num(name, 'f', opt.syn_fams, &v)) return syn_id(2, syn_r(p), v, 0);
      break;
    case 2:
      if (parse_num(name, 'q', opt.syn_quals, &v)) return syn_id(3, syn_r(p), syn_f(p), v);
      break;
  }
  return 0;
}
uint64_t syn_count(fuse_ino_t d) {
  int l = syn_lvl(d);
  return l == 0 ? opt.syn_rows : l == 1 ? opt.syn_fams : opt.syn_quals;
}
int syn_name(fuse_ino_t d, uint64_t i, char* b, size_t n) {
  int l = syn_lvl(d);
  return l == 0   ? snprintf(b, n, "r%06" PRIu64, i)
         : l == 1 ? snprintf(b, n, "f%" PRIu64, i)
                  : snprintf(b, n, "q%04" PRIu64, i);
}
fuse_ino_t syn_child(fuse_ino_t d, uint64_t i) {
  int l = syn_lvl(d);
  return l == 0   ? syn_id(1, i, 0, 0)
         : l == 1 ? syn_id(2, syn_r(d), i, 0)
                  : syn_id(3, syn_r(d), syn_f(d), i);
}
Node* find_child(Node* d, const char* name) {  // d->mu held
  auto it = d->index.find(name);
  return it == d->index.end() ? nullptr : d->order[it->second]->n;
}
void add_child(Node* d, const char* name, Node* n) {  // d->mu held
  d->order.push_back(std::make_unique<Node::Ent>(Node::Ent{name, n}));
  d->index.emplace(d->order.back()->name, d->order.size() - 1);
  d->live++;
  d->mt = d->ct = wall();
}
Node* del_child(Node* d, const char* name) {  // d->mu held
  auto it = d->index.find(name);
  if (it == d->index.end()) return nullptr;
  size_t i = it->second;
  Node* n = d->order[i]->n;
  d->index.erase(it);
  d->order[i].reset();
  d->live--;
  if (d->live == 0) {
    d->order.clear();
    d->order.shrink_to_fit();
  }
  d->mt = d->ct = wall();
  return n;
}

// ---- operations -----------------------------------------------------------------------------
void op_init(void*, fuse_conn_info* c) {
  auto set = [&](bool on, unsigned cap) {
    if (on && (c->capable & cap))
      c->want |= cap;
    else
      c->want &= ~cap;
  };
  set(opt.writeback, FUSE_CAP_WRITEBACK_CACHE);
  set(opt.splice_r, FUSE_CAP_SPLICE_READ);
  set(opt.splice_w, FUSE_CAP_SPLICE_WRITE);
  set(opt.splice_move, FUSE_CAP_SPLICE_MOVE);
  set(opt.atomic_trunc, FUSE_CAP_ATOMIC_O_TRUNC);
  set(opt.pardirops, FUSE_CAP_PARALLEL_DIROPS);
  set(opt.inval == "auto", FUSE_CAP_AUTO_INVAL_DATA);
  set(opt.inval == "explicit", FUSE_CAP_EXPLICIT_INVAL_DATA);
  set(opt.killpriv, FUSE_CAP_HANDLE_KILLPRIV);
  set(opt.rdp != "no", FUSE_CAP_READDIRPLUS);
  set(opt.rdp == "auto", FUSE_CAP_READDIRPLUS_AUTO);
}
void op_lookup(fuse_req_t req, fuse_ino_t p, const char* name) {
  count(LOOKUP);
  fuse_entry_param e;
  if (p == FUSE_ROOT_ID && !strcmp(name, "syn")) {
    syn_entry(syn_id(0, 0, 0, 0), &e);
    fuse_reply_entry(req, &e);
    return;
  }
  if (is_syn(p)) {
    fuse_ino_t i = syn_lookup(p, name);
    if (i) {
      syn_entry(i, &e);
      fuse_reply_entry(req, &e);
      return;
    }
  } else {
    std::shared_lock<std::shared_mutex> tl(g_tree);
    Node* d = N(p);
    Node* n;
    {
      std::lock_guard<std::mutex> g(d->mu);
      n = find_child(d, name);
      if (n) n->nlookup.fetch_add(1);
    }
    if (n) {
      node_entry(n, &e, false);
      fuse_reply_entry(req, &e);
      return;
    }
  }
  if (opt.neg_to > 0) {
    memset(&e, 0, sizeof e);
    e.entry_timeout = opt.neg_to;
    fuse_reply_entry(req, &e);
  } else
    fuse_reply_err(req, ENOENT);
}
void forget1(fuse_ino_t i, uint64_t k) {
  if (is_syn(i) || i == FUSE_ROOT_ID) return;
  Node* n = N(i);
  if (n->nlookup.fetch_sub(int64_t(k)) == int64_t(k)) {
    std::unique_lock<std::shared_mutex> tl(g_tree);
    maybe_free(n);
  }
}
void op_forget(fuse_req_t req, fuse_ino_t i, uint64_t k) {
  count(FORGET);
  forget1(i, k);
  fuse_reply_none(req);
}
void op_forget_multi(fuse_req_t req, size_t cnt, fuse_forget_data* f) {
  count(FORGET);
  for (size_t i = 0; i < cnt; i++) forget1(f[i].ino, f[i].nlookup);
  fuse_reply_none(req);
}
void op_getattr(fuse_req_t req, fuse_ino_t i, fuse_file_info*) {
  count(GETATTR);
  struct stat st;
  if (is_syn(i))
    syn_stat(i, &st);
  else {
    Node* n = N(i);
    std::lock_guard<std::mutex> g(n->mu);
    node_stat(n, &st);
  }
  fuse_reply_attr(req, &st, opt.attr_to);
}
void op_setattr(fuse_req_t req, fuse_ino_t i, struct stat* a, int set, fuse_file_info*) {
  count(SETATTR);
  struct stat st;
  if (is_syn(i)) {
    syn_stat(i, &st);
    fuse_reply_attr(req, &st, opt.attr_to);
    return;
  }
  Node* n = N(i);
  std::lock_guard<std::mutex> g(n->mu);
  if (set & FUSE_SET_ATTR_MODE) n->mode = (n->mode & S_IFMT) | (a->st_mode & 07777);
  if (set & FUSE_SET_ATTR_UID) n->uid = a->st_uid;
  if (set & FUSE_SET_ATTR_GID) n->gid = a->st_gid;
  if (set & FUSE_SET_ATTR_SIZE) {
    n->data.resize(a->st_size);
    n->mt = wall();
  }
  if (set & FUSE_SET_ATTR_MTIME) n->mt = a->st_mtim;
  if (set & FUSE_SET_ATTR_MTIME_NOW) n->mt = wall();
  if (set & FUSE_SET_ATTR_ATIME) n->at = a->st_atim;
  if (set & FUSE_SET_ATTR_ATIME_NOW) n->at = wall();
  n->ct = wall();
  node_stat(n, &st);
  fuse_reply_attr(req, &st, opt.attr_to);
}
Node* make(fuse_req_t req, fuse_ino_t p, const char* name, mode_t mode, bool dir, int* err,
           bool excl) {
  if (is_syn(p) || (p == FUSE_ROOT_ID && !strcmp(name, "syn"))) {
    *err = EROFS;
    return nullptr;
  }
  std::shared_lock<std::shared_mutex> tl(g_tree);
  Node* d = N(p);
  std::lock_guard<std::mutex> g(d->mu);
  if (Node* n = find_child(d, name)) {
    if (excl || dir) {
      *err = EEXIST;
      return nullptr;
    }
    n->nlookup.fetch_add(1);
    return n;
  }
  Node* n = new Node;
  n->dir = dir;
  n->mode = mode;
  const fuse_ctx* c = fuse_req_ctx(req);
  n->uid = c->uid;
  n->gid = c->gid;
  n->mt = n->ct = n->at = wall();
  n->nlookup = 1;
  add_child(d, name, n);
  return n;
}
void op_mkdir(fuse_req_t req, fuse_ino_t p, const char* name, mode_t mode) {
  count(MKDIR);
  int err = 0;
  Node* n = make(req, p, name, S_IFDIR | (mode & 07777), true, &err, true);
  if (!n) {
    fuse_reply_err(req, err);
    return;
  }
  fuse_entry_param e;
  node_entry(n, &e, false);
  fuse_reply_entry(req, &e);
}
void set_fi(fuse_file_info* fi) {
  fi->keep_cache = opt.keep_cache;
  fi->direct_io = opt.direct_io;
  fi->noflush = opt.noflush || (opt.noflush_ro && (fi->flags & O_ACCMODE) == O_RDONLY);
}
void op_create(fuse_req_t req, fuse_ino_t p, const char* name, mode_t mode, fuse_file_info* fi) {
  count(CREATE);
  int err = 0;
  Node* n = make(req, p, name, S_IFREG | (mode & 07777), false, &err, fi->flags & O_EXCL);
  if (!n) {
    fuse_reply_err(req, err);
    return;
  }
  if (fi->flags & O_TRUNC) {
    std::lock_guard<std::mutex> g(n->mu);
    n->data.clear();
  }
  fuse_entry_param e;
  node_entry(n, &e, false);
  set_fi(fi);
  fi->fh = I(n);
  fuse_reply_create(req, &e, fi);
}
void op_open(fuse_req_t req, fuse_ino_t i, fuse_file_info* fi) {
  count(OPEN);
  if (opt.no_open) {
    fuse_reply_err(req, ENOSYS);
    return;
  }
  if (!is_syn(i) && (fi->flags & O_TRUNC)) {
    Node* n = N(i);
    std::lock_guard<std::mutex> g(n->mu);
    n->data.clear();
    n->mt = wall();
  }
  set_fi(fi);
  fuse_reply_open(req, fi);
}
void op_read(fuse_req_t req, fuse_ino_t i, size_t sz, off_t off, fuse_file_info*) {
  count(READ);
  if (is_syn(i)) {
    if (uint64_t(off) >= opt.syn_size) {
      fuse_reply_buf(req, nullptr, 0);
      return;
    }
    fuse_reply_buf(req, g_syn_data.data() + off, std::min<size_t>(sz, opt.syn_size - off));
    return;
  }
  Node* n = N(i);
  std::lock_guard<std::mutex> g(n->mu);
  if (size_t(off) >= n->data.size()) {
    fuse_reply_buf(req, nullptr, 0);
    return;
  }
  size_t len = std::min(sz, n->data.size() - off);
  if (opt.splice_w) {
    fuse_bufvec b = FUSE_BUFVEC_INIT(len);
    b.buf[0].mem = &n->data[off];
    fuse_reply_data(req, &b, FUSE_BUF_SPLICE_MOVE);
  } else
    fuse_reply_buf(req, n->data.data() + off, len);
}
void op_write(fuse_req_t req, fuse_ino_t i, const char* buf, size_t sz, off_t off,
              fuse_file_info*) {
  count(WRITE);
  if (is_syn(i)) {
    fuse_reply_err(req, EROFS);
    return;
  }
  Node* n = N(i);
  {
    std::lock_guard<std::mutex> g(n->mu);
    if (n->data.size() < off + sz) n->data.resize(off + sz);
    memcpy(&n->data[off], buf, sz);
    n->mt = n->ct = wall();
  }
  fuse_reply_write(req, sz);
}
void op_write_buf(fuse_req_t req, fuse_ino_t i, fuse_bufvec* in, off_t off, fuse_file_info*) {
  count(WRITE);
  Node* n = N(i);
  size_t sz = fuse_buf_size(in);
  ssize_t r;
  {
    std::lock_guard<std::mutex> g(n->mu);
    if (n->data.size() < off + sz) n->data.resize(off + sz);
    fuse_bufvec out = FUSE_BUFVEC_INIT(sz);
    out.buf[0].mem = &n->data[off];
    r = fuse_buf_copy(&out, in, fuse_buf_copy_flags(0));
    n->mt = n->ct = wall();
  }
  if (r < 0)
    fuse_reply_err(req, int(-r));
  else
    fuse_reply_write(req, r);
}
void op_flush(fuse_req_t req, fuse_ino_t, fuse_file_info*) {
  count(FLUSH);
  fuse_reply_err(req, opt.no_flush_op ? ENOSYS : 0);
}
void op_release(fuse_req_t req, fuse_ino_t, fuse_file_info*) {
  count(RELEASE);
  fuse_reply_err(req, 0);
}
void op_fsync(fuse_req_t req, fuse_ino_t, int, fuse_file_info*) {
  count(FSYNC);
  fuse_reply_err(req, 0);
}
void op_unlink(fuse_req_t req, fuse_ino_t p, const char* name) {
  count(UNLINK);
  if (is_syn(p)) {
    fuse_reply_err(req, EROFS);
    return;
  }
  Node* n;
  {
    std::shared_lock<std::shared_mutex> tl(g_tree);
    Node* d = N(p);
    std::lock_guard<std::mutex> g(d->mu);
    n = del_child(d, name);
    if (n) {
      n->links = 0;
      if (!n->dir) {
        std::lock_guard<std::mutex> g2(n->mu);
        std::string().swap(n->data);
      }
    }
  }
  fuse_reply_err(req, n ? 0 : ENOENT);
}
void op_rmdir(fuse_req_t req, fuse_ino_t p, const char* name) {
  count(RMDIR);
  if (is_syn(p)) {
    fuse_reply_err(req, EROFS);
    return;
  }
  std::unique_lock<std::shared_mutex> tl(g_tree);
  Node *d = N(p), *n = find_child(d, name);
  int err = !n ? ENOENT : n->live ? ENOTEMPTY : 0;
  if (!err) {
    del_child(d, name);
    n->links = 0;
  }
  tl.unlock();
  fuse_reply_err(req, err);
}
void op_rename(fuse_req_t req, fuse_ino_t p, const char* name, fuse_ino_t np, const char* nn,
               unsigned flags) {
  count(RENAME);
  if (is_syn(p) || is_syn(np)) {
    fuse_reply_err(req, EROFS);
    return;
  }
  std::unique_lock<std::shared_mutex> tl(g_tree);
  Node *d = N(p), *nd = N(np);
  Node *n = find_child(d, name), *old = find_child(nd, nn);
  if (!n) {
    tl.unlock();
    fuse_reply_err(req, ENOENT);
    return;
  }
  if (old && (flags & 1)) {
    tl.unlock();
    fuse_reply_err(req, EEXIST);
    return;
  }
  if (old && old != n) {
    del_child(nd, nn);
    old->links = 0;
  }
  if (old != n) {
    del_child(d, name);
    add_child(nd, nn, n);
  }
  tl.unlock();
  fuse_reply_err(req, 0);
}
void op_opendir(fuse_req_t req, fuse_ino_t, fuse_file_info* fi) {
  count(OPENDIR);
  if (opt.no_opendir) {
    fuse_reply_err(req, ENOSYS);
    return;
  }
  fi->cache_readdir = opt.cache_dir;
  fi->keep_cache =
      opt.cache_dir;  // without it the kernel throws the directory cache away on each open
  fuse_reply_open(req, fi);
}
void op_releasedir(fuse_req_t req, fuse_ino_t, fuse_file_info*) {
  count(RELEASEDIR);
  fuse_reply_err(req, 0);
}
void do_readdir(fuse_req_t req, fuse_ino_t i, size_t size, off_t off, bool plus) {
  static thread_local std::vector<char> buf;
  if (buf.size() < size) buf.resize(size);
  size_t used = 0;
  fuse_entry_param e;
  auto put = [&](const char* name, off_t next) {
    size_t k = plus ? fuse_add_direntry_plus(req, buf.data() + used, size - used, name, &e, next)
                    : fuse_add_direntry(req, buf.data() + used, size - used, name, &e.attr, next);
    if (k > size - used) return false;
    used += k;
    return true;
  };
  if (is_syn(i)) {
    char nm[32];
    uint64_t cnt = syn_count(i);
    for (uint64_t k = off; k < cnt; k++) {
      syn_name(i, k, nm, sizeof nm);
      syn_entry(syn_child(i, k), &e);
      if (!put(nm, off_t(k + 1))) break;
    }
  } else {
    std::shared_lock<std::shared_mutex> tl(g_tree);
    Node* d = N(i);
    std::lock_guard<std::mutex> g(d->mu);
    size_t k = off;
    if (i == FUSE_ROOT_ID) {
      if (k == 0) {
        syn_entry(syn_id(0, 0, 0, 0), &e);
        if (put("syn", 1)) k = 1;
      }
      if (k)
        for (k--; k < d->order.size(); k++) {
          auto& o = d->order[k];
          if (!o) continue;
          node_entry(o->n, &e, false);
          if (!put(o->name.c_str(), off_t(k + 2))) break;
          if (plus) o->n->nlookup.fetch_add(1);
        }
    } else
      for (; k < d->order.size(); k++) {
        auto& o = d->order[k];
        if (!o) continue;
        node_entry(o->n, &e, false);
        if (!put(o->name.c_str(), off_t(k + 1))) break;
        if (plus) o->n->nlookup.fetch_add(1);
      }
  }
  fuse_reply_buf(req, buf.data(), used);
}
void op_readdir(fuse_req_t req, fuse_ino_t i, size_t size, off_t off, fuse_file_info*) {
  count(READDIR);
  do_readdir(req, i, size, off, false);
}
void op_readdirplus(fuse_req_t req, fuse_ino_t i, size_t size, off_t off, fuse_file_info*) {
  count(READDIRPLUS);
  do_readdir(req, i, size, off, true);
}
void op_statfs(fuse_req_t req, fuse_ino_t) {
  count(STATFS);
  struct statvfs s {};
  s.f_bsize = s.f_frsize = 4096;
  s.f_blocks = s.f_bfree = s.f_bavail = 1 << 28;
  s.f_files = s.f_ffree = 1 << 28;
  s.f_namemax = 255;
  fuse_reply_statfs(req, &s);
}
void op_getxattr(fuse_req_t req, fuse_ino_t, const char*, size_t) {
  count(XATTR);
  fuse_reply_err(req, ENODATA);
}
void op_listxattr(fuse_req_t req, fuse_ino_t, size_t sz) {
  count(XATTR);
  if (sz)
    fuse_reply_buf(req, nullptr, 0);
  else
    fuse_reply_xattr(req, 0);
}

// ---- loops ----------------------------------------------------------------------------------
fuse_session* g_se;
void own_worker(int spin_us) {
  fuse_buf fb{};
  fb.mem = nullptr;
  uint64_t last = now_ns();
  pollfd pf{fuse_session_fd(g_se), POLLIN, 0};
  while (!fuse_session_exited(g_se)) {
    int r = fuse_session_receive_buf(g_se, &fb);
    if (r == -EINTR) continue;
    if (r == -EAGAIN) {
      if (spin_us && now_ns() - last < uint64_t(spin_us) * 1000) continue;
      poll(&pf, 1, 1000);
      last = now_ns();
      continue;
    }
    if (r <= 0) break;
    fuse_session_process_buf(g_se, &fb);
    last = now_ns();
  }
  fuse_session_exit(g_se);
  free(fb.mem);
}
void on_usr(int sig) {
  if (sig == SIGUSR2) {
    for (auto& s : g_slots)
      for (auto& c : s.c) c = 0;
    return;
  }
  if (opt.stats.empty()) return;
  char b[2048];
  int n = snprintf(b, sizeof b, "{");
  bool first = true;
  for (int o = 0; o < NOPS; o++) {
    uint64_t t = 0;
    for (auto& s : g_slots) t += s.c[o];
    if (!t) continue;
    n += snprintf(b + n, sizeof b - n, "%s\"%s\":%" PRIu64, first ? "" : ",", kOpName[o], t);
    first = false;
  }
  n += snprintf(b + n, sizeof b - n, "}\n");
  int fd = open(opt.stats.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
  if (fd >= 0) {
    (void)!write(fd, b, n);
    close(fd);
  }
}
void usage() {
  fprintf(stderr,
          "nullfs [switches] MOUNTPOINT\n"
          "  --loop st|mt|own|uring --threads N --idle N --clone-fd --spin US     request loop\n"
          "  --timeout S (entry+attr) --entry-timeout S --attr-timeout S --neg-timeout S\n"
          "  --keep-cache --cache-dir --noflush --noflush-ro --direct-io    per-open flags\n"
          "  --no-open --no-opendir --no-flush-op                           answer ENOSYS once\n"
          "  --rdp no|auto|always --writeback --splice r|w|rwm --no-atomic-trunc --no-pardirops\n"
          "  --inval auto|explicit|none --no-killpriv --xattr --no-defperm --work NS\n"
          "  --syn rows,fams,quals,size --stats FILE --pidfile FILE --bg --debug -o FUSEOPTS\n"
          "  --fast  = infinite timeouts, keep-cache, cache-dir, noflush (the best settings that "
          "keep OPEN)\n"
          "  --floor = what a writable store can use: --fast, but FLUSH kept for writers (close() "
          "reports), no\n"
          "            default_permissions, one thread\n");
  exit(2);
}
}  // namespace

int main(int argc, char** argv) {
  std::string mp;
  for (int i = 1; i < argc; i++) {
    std::string a = argv[i];
    auto val = [&]() -> const char* {
      if (++i >= argc) usage();
      return argv[i];
    };
    if (a == "--loop")
      opt.loop = val();
    else if (a == "--threads")
      opt.threads = atoi(val());
    else if (a == "--idle")
      opt.idle = atoi(val());
    else if (a == "--clone-fd")
      opt.clone_fd = true;
    else if (a == "--spin")
      opt.spin_us = atoi(val());
    else if (a == "--timeout")
      opt.entry_to = opt.attr_to = atof(val());
    else if (a == "--entry-timeout")
      opt.entry_to = atof(val());
    else if (a == "--attr-timeout")
      opt.attr_to = atof(val());
    else if (a == "--neg-timeout")
      opt.neg_to = atof(val());
    else if (a == "--keep-cache")
      opt.keep_cache = true;
    else if (a == "--cache-dir")
      opt.cache_dir = true;
    else if (a == "--noflush")
      opt.noflush = true;
    else if (a == "--noflush-ro")
      opt.noflush_ro = true;
    else if (a == "--direct-io")
      opt.direct_io = true;
    else if (a == "--no-open")
      opt.no_open = true;
    else if (a == "--no-opendir")
      opt.no_opendir = true;
    else if (a == "--no-flush-op")
      opt.no_flush_op = true;
    else if (a == "--rdp")
      opt.rdp = val();
    else if (a == "--writeback")
      opt.writeback = true;
    else if (a == "--splice") {
      std::string s = val();
      opt.splice_r = s.find('r') != s.npos;
      opt.splice_w = s.find('w') != s.npos;
      opt.splice_move = s.find('m') != s.npos;
    } else if (a == "--no-atomic-trunc")
      opt.atomic_trunc = false;
    else if (a == "--no-pardirops")
      opt.pardirops = false;
    else if (a == "--inval")
      opt.inval = val();
    else if (a == "--no-killpriv")
      opt.killpriv = false;
    else if (a == "--xattr")
      opt.xattr = true;
    else if (a == "--no-defperm")
      opt.defperm = false;
    else if (a == "--work")
      opt.work_ns = atol(val());
    else if (a == "--syn") {
      if (sscanf(val(), "%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64, &opt.syn_rows,
                 &opt.syn_fams, &opt.syn_quals, &opt.syn_size) != 4)
        usage();
    } else if (a == "--stats")
      opt.stats = val();
    else if (a == "--pidfile")
      opt.pidfile = val();
    else if (a == "--bg")
      opt.bg = true;
    else if (a == "--debug")
      opt.debug = true;
    else if (a == "--fast") {
      opt.entry_to = opt.attr_to = 1e9;
      opt.keep_cache = opt.cache_dir = opt.noflush = true;
    } else if (a == "--floor") {
      opt.entry_to = opt.attr_to = 1e9;
      opt.keep_cache = opt.cache_dir = opt.noflush_ro = true;
      opt.defperm = false;
      opt.loop = "st";
    } else if (a == "-o")
      opt.fuse_opts = val();
    else if (a[0] == '-')
      usage();
    else
      mp = a;
  }
  if (mp.empty()) usage();
  g_root.dir = true;
  g_root.mode = S_IFDIR | 0755;
  g_root.mt = g_root.ct = g_root.at = wall();
  g_root.nlookup = 1;
  g_syn_data.assign(opt.syn_size, 'v');

  fuse_lowlevel_ops ops{};
  ops.init = op_init;
  ops.lookup = op_lookup;
  ops.forget = op_forget;
  ops.forget_multi = op_forget_multi;
  ops.getattr = op_getattr;
  ops.setattr = op_setattr;
  ops.mkdir = op_mkdir;
  ops.unlink = op_unlink;
  ops.rmdir = op_rmdir;
  ops.rename = op_rename;
  ops.open = op_open;
  ops.read = op_read;
  if (opt.splice_r)
    ops.write_buf = op_write_buf;
  else
    ops.write = op_write;
  ops.flush = op_flush;
  ops.release = op_release;
  ops.fsync = op_fsync;
  ops.opendir = op_opendir;
  ops.releasedir = op_releasedir;
  ops.readdir = op_readdir;
  ops.readdirplus = op_readdirplus;
  ops.statfs = op_statfs;
  ops.create = op_create;
  if (opt.xattr) {
    ops.getxattr = op_getxattr;
    ops.listxattr = op_listxattr;
  }

  fuse_args fa = FUSE_ARGS_INIT(0, nullptr);
  fuse_opt_add_arg(&fa, "nullfs");
  std::string o = "-ofsname=nullfs,subtype=nullfs,allow_other";
  if (opt.defperm) o += ",default_permissions";
  if (!opt.fuse_opts.empty()) o += "," + opt.fuse_opts;
  fuse_opt_add_arg(&fa, o.c_str());
  if (opt.debug) fuse_opt_add_arg(&fa, "-d");
  g_se = fuse_session_new(&fa, &ops, sizeof ops, nullptr);
  if (!g_se || fuse_set_signal_handlers(g_se) || fuse_session_mount(g_se, mp.c_str())) return 1;
  if (opt.bg && daemon(0, 0)) return 1;
  signal(SIGUSR1, on_usr);
  signal(SIGUSR2, on_usr);
  if (!opt.pidfile.empty())
    if (FILE* f = fopen(opt.pidfile.c_str(), "w")) {
      fprintf(f, "%d\n", int(getpid()));
      fclose(f);
    }
  int rc = 0;
  if (opt.loop == "st")
    rc = fuse_session_loop(g_se);
  else if (opt.loop == "mt") {
    fuse_loop_config* cfg = fuse_loop_cfg_create();
    fuse_loop_cfg_set_clone_fd(cfg, opt.clone_fd);
    fuse_loop_cfg_set_idle_threads(cfg, opt.idle);
    fuse_loop_cfg_set_max_threads(cfg, opt.threads);
    rc = fuse_session_loop_mt(g_se, cfg);
    fuse_loop_cfg_destroy(cfg);
  } else if (opt.loop == "uring") {
    rc = cellfs::bench::RingLoop(g_se, mp, opt.threads);
  } else {
    fcntl(fuse_session_fd(g_se), F_SETFL, fcntl(fuse_session_fd(g_se), F_GETFL) | O_NONBLOCK);
    std::vector<std::thread> th;
    for (int i = 1; i < opt.threads; i++) th.emplace_back(own_worker, opt.spin_us);
    own_worker(opt.spin_us);
    for (auto& t : th) t.join();
  }
  fuse_session_unmount(g_se);
  fuse_remove_signal_handlers(g_se);
  fuse_session_destroy(g_se);
  return rc ? 1 : 0;
}
