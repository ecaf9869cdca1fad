#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the same workloads on several directories in turn and print ratio tables.

  drive.py micro  --target ext4=/x --target fs=/mnt/t ... [--rounds 5] [--base ext4] [--only RE]
  drive.py macro  (rsync, tar, cp, find, grep, du, rm)         same switches
  drive.py census (requests per operation that the kernel sends to each FUSE target; no timing)
  drive.py readonly (hot and cold reads of a tree that was made before, at the target's "tree")
  drive.py table  --in FILE [--metric p50_us]                  print again from a saved run
  drive.py check  --in FILE --goals goals.json --as NAME       compare NAME's ratios with the goals

Targets come from --target NAME=DIR and/or --config FILE (JSON):
  {"NAME": {"dir": DIR, "mount": CMD, "umount": CMD, "cold": CMD, "pidfile": FILE, "prepare": CMD}}
DIR stands for the table directory (the tree below it is row/family/qualifier); {dir} and {pid} are
replaced in the commands.  `cold` replaces the default (sync; echo 3 > drop_caches): put a daemon
restart there.  `prepare` is run in a fresh sub-directory's place before each round ({work} = its path).
Rounds alternate: for every workload the targets run one after another, the order turning each round;
every figure in a table is the median over rounds of the ratio target/base taken inside one round.
A target that cannot do something gets its error recorded and the run goes on.
Whatever has to be written goes below --work (or CELLFS_BENCH_DIR, or the current directory).
bench/run calls this program for all suites; see README.md.
"""
import argparse, contextlib, json, os, re, shutil, statistics, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
NICE = PIN = None


def sh(cmd, timeout=600, **kw):
    return subprocess.run(cmd, shell=True, timeout=timeout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kw)


class Target:
    def __init__(self, name, d):
        self.name, self.d, self.dir = name, d, d["dir"].rstrip("/")
        self.pidfile = d.get("pidfile")

    def fmt(self, cmd, work=""):
        return cmd.replace("{dir}", self.dir).replace("{pid}", self.pidfile or "").replace("{work}", work)

    def mount(self):
        if self.d.get("mount"):
            os.makedirs(self.d.get("mountpoint", self.dir), exist_ok=True)
            r = sh(self.fmt(self.d["mount"]))
            if r.returncode:
                raise RuntimeError(f"{self.name}: mount: {r.stdout}")
            time.sleep(0.3)
        os.makedirs(self.dir, exist_ok=True)

    def umount(self):
        if self.d.get("umount"):
            sh(self.fmt(self.d["umount"]))

    def cold(self):
        if self.d.get("cold"):
            r = sh(self.fmt(self.d["cold"]))
            if r.returncode:
                raise RuntimeError(f"{self.name}: cold: {r.stdout}")
        else:
            os.sync()
            with open("/proc/sys/vm/drop_caches", "w") as f:
                f.write("3")

    def prepare(self, work):
        os.makedirs(os.path.dirname(work), exist_ok=True)
        if self.d.get("prepare"):
            sh(self.fmt(self.d["prepare"], work))
        os.makedirs(work, exist_ok=True)

    def pid(self):
        try:
            return int(open(self.pidfile).read())
        except Exception:
            return None

    def cpu_ns(self):
        p = self.pid()
        if not p:
            return None
        t = 0
        try:
            for k in os.listdir(f"/proc/{p}/task"):
                t += int(open(f"/proc/{p}/task/{k}/schedstat").read().split()[0])
        except Exception:
            return None
        return t


def nice(cmd):
    return (["nice", "-n", str(NICE)] if NICE is not None else []) + (["taskset", "-c", PIN] if PIN else []) + cmd


# ---- micro ----------------------------------------------------------------------------------
# name, op, switches, preparation (None | warm | cold), tree: t = R*F*Q cells, w = one row with W cells
def micro_phases(a):
    T = ["--rows", a.rows, "--fams", a.fams, "--quals", a.quals]
    W = ["--rows", 1, "--fams", 1, "--quals", a.wide]
    R = ["--order", "rand"]
    lim = ["--limit", a.fsyncs]
    P = [
        ("mkdir", "mktree", T, None, "t"), ("create", "create", T, None, "t"),
        ("stat hot", "stat", T + R, "warm", "t"), ("statmiss", "statmiss", T + R, None, "t"),
        ("read hot", "read", T + R + ["--verify"], "warm", "t"), ("open-close hot", "openclose", T + R, "warm", "t"),
        ("ls row hot", "lsrow", T, "warm", "t"), ("ls -l row hot", "lsrow_l", T, "warm", "t"),
        ("ls table hot", "lstable", T + ["--repeat", 5], "warm", "t"),
        ("walk hot", "walk", T, "warm", "t"), ("walk+stat hot", "walk_l", T, "warm", "t"),
        ("stat cold", "stat", T + R, "cold", "t"), ("read cold", "read", T + R + ["--verify"], "cold", "t"),
        ("read cold seq", "read", T + ["--verify"], "cold", "t"),
        ("ls row cold", "lsrow", T, "cold", "t"), ("ls -l row cold", "lsrow_l", T, "cold", "t"),
        ("walk cold", "walk", T, "cold", "t"), ("walk+stat cold", "walk_l", T, "cold", "t"),
        ("overwrite", "overwrite", T + R + ["--gen", 1], None, "t"), ("append", "append", T + R, None, "t"),
        ("rename over", "rename", T + R + ["--gen", 2], None, "t"),
        ("create+fsync", "fsync", T + R + ["--gen", 3] + lim, None, "t"),
        ("stat hot p2", "stat", T + R + ["--procs", 2], "warm", "t"), ("stat hot p4", "stat", T + R + ["--procs", 4], "warm", "t"),
        ("read hot p2", "read", T + R + ["--procs", 2], "warm", "t"), ("read hot p4", "read", T + R + ["--procs", 4], "warm", "t"),
        ("read cold p4", "read", T + R + ["--procs", 4], "cold", "t"),
        ("overwrite p2", "overwrite", T + ["--gen", 4, "--procs", 2], None, "t"),
        ("overwrite p4", "overwrite", T + ["--gen", 5, "--procs", 4], None, "t"),
        ("walk+stat p2", "walk_l", T + ["--procs", 2], "warm", "t"),
        ("wide mkdir", "mktree", W, None, "w"), ("wide create", "create", W, None, "w"),
        ("ls wide hot", "lsrow", W + ["--repeat", 3], "warm", "w"), ("ls -l wide hot", "lsrow_l", W, "warm", "w"),
        ("ls wide cold", "lsrow", W, "cold", "w"), ("ls -l wide cold", "lsrow_l", W, "cold", "w"),
        ("wide unlink", "unlink", W, None, "w"),
        ("unlink", "unlink", T, None, "t"), ("rmdir", "rmtree", T, None, "t"),
    ]
    always = {"mkdir", "create", "wide mkdir", "wide create", "unlink", "rmdir", "wide unlink"}
    if a.only:
        P = [p for p in P if p[0] in always or re.search(a.only, p[0])]
    if a.skip:
        P = [p for p in P if p[0] in always or not re.search(a.skip, p[0])]
    if not any(p[4] == "w" and p[0] not in always for p in P):
        P = [p for p in P if p[4] != "w"]
    return P


def mbench(a, op, d, args, timeout=None):
    cmd = nice([a.mbench, op, d] + [str(x) for x in args] + (["--size", str(a.size)] if "--size" not in args else []))
    try:
        r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout or a.timeout)
    except subprocess.TimeoutExpired:
        return {"fail": "timeout"}
    if r.returncode:
        return {"fail": (r.stderr or f"exit {r.returncode}").strip()[-200:]}
    return json.loads(r.stdout)


KEPT = ("round", "phase", "target", "p50_us", "p99_us", "mean_us", "per_us", "cpu_us", "daemon_us", "wall_s", "calls", "errors",
        "fail", "bad", "died", "rss_kib")


def save(a, rec):
    """one line of JSON, with what tables and checks need of it"""
    if a.out:
        slim = {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in rec.items() if k in KEPT and v not in (None, {}, 0.0)}
        with open(a.out, "a") as f:
            f.write(json.dumps({"round": rec["round"], **slim}) + "\n")


def run_micro(a, targets):
    phases, out = micro_phases(a), []
    stamp = f"b{os.getpid()}"
    for rnd in range(a.rounds):
        for t in targets:
            for k in "tw":
                try:
                    t.prepare(f"{t.dir}/{stamp}/{k}{rnd}")
                except Exception as e:
                    print(f"# {t.name}: prepare: {e}", file=sys.stderr)
        for i, (name, op, args, prep, tree) in enumerate(phases):
            k = (rnd + i) % len(targets)
            for t in targets[k:] + targets[:k]:
                d = f"{t.dir}/{stamp}/{tree}{rnd}"
                try:
                    if prep == "warm":
                        w = [x for x in args if x != "--verify"]
                        mbench(a, op, d, w)
                    elif prep == "cold":
                        t.cold()
                    c0 = t.cpu_ns()
                    res = mbench(a, op, d, args)
                    if c0 is not None and "count" in res:
                        time.sleep(0.02)  # let late RELEASE requests be accounted
                        c1 = t.cpu_ns()
                        if c1 is not None and c1 >= c0:
                            res["daemon_us"] = (c1 - c0) / 1e3 / max(1, res["count"])
                except Exception as e:
                    res = {"fail": str(e)[:200]}
                if "count" in res:
                    res["cpu_us"] = (res["cpu_user_s"] + res["cpu_sys_s"]) * 1e6 / max(1, res["count"]) + res.get("daemon_us", 0)
                    res["per_us"] = res["wall_s"] * 1e6 / max(1, res["count"])
                rec = {"round": rnd, "phase": name, "target": t.name, **res}
                out.append(rec)
                save(a, rec)
        for t in targets:
            shutil.rmtree(f"{t.dir}/{stamp}", ignore_errors=True)
        print(f"# round {rnd + 1}/{a.rounds} done", file=sys.stderr)
    return out


def run_readonly(a, targets):
    """reads of a tree that is there already, at the target's "tree" """
    phases = [p for p in micro_phases(a) if p[0] in ("stat hot", "read hot", "open-close hot", "ls row hot", "ls -l row hot", "walk hot", "walk+stat hot", "read cold", "stat cold")]
    out = []
    for rnd in range(a.rounds):
        for i, (name, op, args, prep, _) in enumerate(phases):
            k = (rnd + i) % len(targets)
            args = [x for x in args if x != "--verify"]
            for t in targets[k:] + targets[:k]:
                t.cold() if prep == "cold" else mbench(a, op, t.d["tree"], args)
                rec = {"round": rnd, "phase": name, "target": t.name, **mbench(a, op, t.d["tree"], args)}
                if "count" in rec:
                    rec["per_us"] = rec["wall_s"] * 1e6 / max(1, rec["count"])
                out.append(rec)
                save(a, rec)
    return out


# ---- macro ----------------------------------------------------------------------------------
def run_macro(a, targets):
    src = f"{a.scratch}/src"
    shutil.rmtree(a.scratch, ignore_errors=True)
    os.makedirs(src)
    for op in ("mktree", "create"):
        r = mbench(a, op, src, ["--rows", a.rows, "--fams", a.fams, "--quals", a.quals])
        if r.get("errors"):
            sys.exit(f"source tree: {r}")
    n = a.rows * a.fams * a.quals
    stamp = f"m{os.getpid()}"
    out = []
    # name, command, preparation of the target (None | cold | warm), before
    steps = [
        ("rsync in", "rsync -a {src}/ {d}/", None, None),
        ("rsync in, no change", "rsync -a {src}/ {d}/", "warm", None),
        ("rsync in, 1% changed", "rsync -a {src}/ {d}/", "warm", "touch"),
        ("rsync out, cold", "rsync -a {d}/ {dst}/", "cold", "rmdst"),
        ("rsync out, hot", "rsync -a {d}/ {dst}/", "warm", "rmdst"),
        ("rsync out, no change", "rsync -a {d}/ {dst}/", "warm", None),
        ("rsync out, no change, cold", "rsync -a {d}/ {dst}/", "cold", None),
        ("tar c, cold", "tar cf - -C {d} . | cat > /dev/null", "cold", None),
        ("tar c, hot", "tar cf - -C {d} . | cat > /dev/null", "warm", None),
        ("cp -r out, hot", "cp -r {d} {dst}", "warm", "rmdst"),
        ("cp -r in", "cp -r {src} {d}.cp", None, None),
        ("find | wc, cold", "find {d} | wc -l", "cold", None),
        ("find | wc, hot", "find {d} | wc -l", "warm", None),
        ("ls -lR, hot", "ls -lR {d} > /dev/null; true", "warm", None),
        ("grep -r, cold", "grep -rq NoSuchText {d}; true", "cold", None),
        ("grep -r, hot", "grep -rq NoSuchText {d}; true", "warm", None),
        ("du -s, hot", "du -s {d} > /dev/null", "warm", None),
        ("cat 100 cells (shell), hot", "for f in {d}/r00000*/f0/q000*; do cat $f; done > /dev/null", "warm", None),
        ("echo > 200 cells (shell)", "for r in 0 1 2 3 4 5 6 7 8 9; do for q in 0 1 2 3 4 5 6 7 8 9; do echo v$q > {d}/r00000$r/f0/q000$q; echo w$q > {d}/r00000$r/f0/q000$q; done; done", None, None),
        ("rm -rf", "rm -rf {d}.cp", None, None),
    ]
    if a.only:
        keep = {"rsync in", "cp -r in"}
        steps = [s for s in steps if s[0] in keep or re.search(a.only, s[0])]
    for rnd in range(a.rounds):
        for t in targets:
            try:
                t.prepare(f"{t.dir}/{stamp}/x{rnd}")
            except Exception as e:
                print(f"# {t.name}: prepare: {e}", file=sys.stderr)
        for i, (name, cmd, prep, before) in enumerate(steps):
            k = (rnd + i) % len(targets)
            if before == "touch":  # 1% of the source's files get a new value and time
                for c in range(0, n, 100):
                    q, f, r = c % a.quals, c // a.quals % a.fams, c // a.quals // a.fams
                    with open(f"{src}/r{r:06d}/f{f}/q{q:04d}", "w") as fh:
                        fh.write(f"changed {rnd} {time.time()}".ljust(a.size)[: a.size])
            for t in targets[k:] + targets[:k]:
                d, dst = f"{t.dir}/{stamp}/x{rnd}", f"{a.scratch}/dst.{t.name}"
                rec = {"round": rnd, "phase": name, "target": t.name}
                try:
                    if before == "rmdst":
                        shutil.rmtree(dst, ignore_errors=True)
                    if prep == "cold":
                        t.cold()
                    elif prep == "warm":  # another target's cold start emptied every cache
                        sh(f"tar cf - -C {d} . | cat > /dev/null; ls -lR {d} > /dev/null", a.timeout)
                    c0 = t.cpu_ns()
                    t0 = time.perf_counter()
                    p = subprocess.Popen(nice(["sh", "-c", cmd.format(src=src, d=d, dst=dst)]), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                    so, _ = p.communicate(timeout=a.timeout)
                    rec["wall_s"] = time.perf_counter() - t0
                    if p.returncode:
                        rec["fail"] = f"exit {p.returncode}: {so.strip()[-160:]}"
                    rec["per_us"] = rec["wall_s"] * 1e6 / n
                    if name.startswith("find"):
                        want = n + a.rows * (1 + a.fams) + 1 + os.path.exists(f"{d}/.schema.toml")
                        if int(so.split()[0]) != want:
                            rec["fail"] = f"found {so.strip()} of {want}"
                    c1 = t.cpu_ns()
                    if c0 is not None and c1 is not None and c1 >= c0:
                        rec["daemon_us"] = (c1 - c0) / 1e3 / n
                except subprocess.TimeoutExpired:
                    p.kill()
                    rec["fail"] = "timeout"
                except Exception as e:
                    rec["fail"] = str(e)[:160]
                out.append(rec)
                save(a, rec)
        for t in targets:
            shutil.rmtree(f"{t.dir}/{stamp}", ignore_errors=True)
        print(f"# round {rnd + 1}/{a.rounds} done", file=sys.stderr)
    shutil.rmtree(a.scratch, ignore_errors=True)
    return out


# ---- census: which requests does one operation cost? --------------------------------------------
OPC = {1: "LOOKUP", 2: "FORGET", 42: "FORGET*", 3: "GETATTR", 52: "STATX", 4: "SETATTR", 9: "MKDIR", 8: "MKNOD", 10: "UNLINK", 11: "RMDIR", 12: "RENAME",
       45: "RENAME2", 14: "OPEN", 15: "READ", 16: "WRITE", 18: "RELEASE", 20: "FSYNC", 22: "GETXATTR", 23: "LISTXATTR", 25: "FLUSH",
       27: "OPENDIR", 28: "READDIR", 29: "RELEASEDIR", 34: "ACCESS", 35: "CREATE", 44: "READDIRPLUS", 46: "LSEEK"}


TRACEFS = "/sys/kernel/tracing"


@contextlib.contextmanager
def tracing_instance():
    """an instance of our own, so that nobody else's tracing is disturbed"""
    sh(f"mountpoint -q {TRACEFS} || mount -t tracefs tracefs {TRACEFS}")
    d = f"{TRACEFS}/instances/cellfs{os.getpid()}"
    os.mkdir(d)
    try:
        put(f"{d}/buffer_size_kb", "32768")
        yield d
    finally:
        os.rmdir(d)


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


def requests_of(tracing, conn, work):
    """runs `work`, counts the requests of connection `conn` by opcode; with work's answer"""
    event = f"{tracing}/events/fuse/fuse_request_send"
    put(f"{tracing}/trace", "")
    put(f"{event}/filter", f"connection == {conn}")
    put(f"{event}/enable", "1")
    res = work()
    time.sleep(0.15)  # RELEASE and FORGET come late
    put(f"{event}/enable", "0")
    counts = {}
    with open(f"{tracing}/trace", errors="replace") as f:
        for op in re.findall(r"opcode (\d+)", f.read()):
            counts[int(op)] = counts.get(int(op), 0) + 1
    return counts, res


def run_census(a, targets):
    """needs tracefs and root: counts the kernel's own fuse_request_send events of the target's connection"""
    phases = micro_phases(a)
    rows = []
    listings = ("lsrow", "lsrow_l", "lstable", "lstable_l", "walk", "walk_l")
    for t in targets:
        if "fuse" not in sh(f"stat -f -c %T {t.dir}").stdout:
            continue
        conn = os.minor(os.stat(t.dir).st_dev)
        for tree in "tw":
            t.prepare(f"{t.dir}/census/{tree}0")
        with tracing_instance() as tracing:
            for name, op, args, prep, tree in phases:
                d = f"{t.dir}/census/{tree}0"
                if prep == "warm":
                    mbench(a, op, d, [x for x in args if x != "--verify"])
                elif prep == "cold":
                    t.cold()
                counts, res = requests_of(tracing, conn, lambda: mbench(a, op, d, args))
                c = max(1, res.get("count" if op in listings else "calls", 1))
                per = {OPC.get(o, str(o)): k / c for o, k in counts.items()}
                row = {"round": 0, "phase": name, "target": t.name, "per": per, "total": sum(per.values()), "errors": res.get("errors"), "fail": res.get("fail")}
                rows.append(row)
                if a.out:
                    with open(a.out, "a") as f:
                        f.write(json.dumps(row) + "\n")
        shutil.rmtree(f"{t.dir}/census", ignore_errors=True)
    print_census(rows)


def print_census(rows):
    targets = list(dict.fromkeys(r["target"] for r in rows))
    print("requests per operation (per entry where a directory is listed)\n\n| workload | " + " | ".join(targets) + " | which |\n|---|" + "---:|" * len(targets) + "---|")
    for p in dict.fromkeys(r["phase"] for r in rows):
        of = {r["target"]: r for r in rows if r["phase"] == p}
        parts = lambda r: " ".join(f"{k}={v:.2f}" for k, v in sorted(r["per"].items(), key=lambda x: -x[1]) if v >= 0.005)
        which = "; ".join(dict.fromkeys(parts(r) + str(r["errors"] or "") + (r["fail"] or "") for r in of.values()))
        print(f"| {p} | " + " | ".join(f"{of[t]['total']:.2f}" if t in of else "-" for t in targets) + f" | {which} |")


# ---- tables ---------------------------------------------------------------------------------
def med(x):
    return statistics.median(x) if x else None


def table(recs, base, metric, names=None):
    phases = list(dict.fromkeys(r["phase"] for r in recs))
    names = names or list(dict.fromkeys(r["target"] for r in recs))
    if base not in names:
        base = names[0]
    names = [base] + [n for n in names if n != base]
    by = {}
    for r in recs:
        by.setdefault((r["phase"], r["target"]), {})[r["round"]] = r
    w = max(len(p) for p in phases)
    print(f"\nmedian over rounds of {metric}(target)/{metric}({base}); below 1 = faster; first column: {base} itself")
    print("| " + "workload".ljust(w) + " | " + " | ".join(n.rjust(9) for n in names) + " |")
    print("|" + "-" * (w + 2) + "|" + "|".join("-" * (max(9, len(n)) + 1) + ":" for n in names) + "|")
    notes = {}

    def dead(r):  # nothing worth timing: it could not run, or half of its calls failed
        return r.get("fail") or r.get("died") or sum((r.get("errors") or {}).values()) * 2 > r.get("calls", 1)

    for p in phases:
        cells = []
        # whole-listing workloads have one call: use time per entry
        m = "per_us" if metric in ("p50_us", "p99_us", "mean_us") and any(x in p for x in ("table", "wide hot", "wide cold", "walk")) else metric
        b = by.get((p, base), {})
        for n in names:
            t = by.get((p, n), {})
            bad = [r for r in t.values() if r.get("fail") or r.get("errors") or r.get("bad") or r.get("died")]
            ok = {k: r for k, r in t.items() if r.get(m) is not None and not dead(r)}
            if n == base:
                v = med([r[m] for r in ok.values()])
                s = "-" if v is None else f"{v * 1e3:.0f}ms" if m == "wall_s" else f"{v:.1f}us" if v < 1e4 else f"{v / 1e3:.0f}ms"
            else:
                rr = [ok[k][m] / b[k][m] for k in ok if k in b and b[k].get(m) and not dead(b[k])]
                v = med(rr)
                s = "-" if v is None else f"{v:.2f}x"
            if bad:
                s += "!"
                x = bad[0]
                why = x.get("fail") or x.get("errors") or f"wrong content x{x.get('bad')}"
                why = ",".join(why) if isinstance(why, dict) else why
                notes.setdefault((n, why, f"{len(bad)} of {len(t)} rounds"), []).append(p)
            cells.append(s.rjust(max(9, len(n))))
        print("| " + p.ljust(w) + " | " + " | ".join(cells) + " |")
    for (n, why, k), ps in notes.items():
        print(f"! {n}: {why} in {k}: {', '.join(ps)}")


def check(recs, goals, name, floor_ending):
    """goals: [{"suite": .., "base": .., "metric": .., "max": {workload: ratio}}]; silent about bases not in the run"""
    by = {}
    for r in recs:
        by.setdefault((r["phase"], r["target"]), {})[r["round"]] = r
    miss = 0
    for g in goals:
        base = g["base"] + (floor_ending if g["base"].startswith("floor") else "")
        for p, limit in g["max"].items():
            m = g["metric"]
            if m in ("p50_us", "p99_us") and any(x in p for x in ("table", "wide hot", "wide cold", "walk")):
                m = "per_us"
            a, b = by.get((p, name), {}), by.get((p, base), {})
            rr = [a[k][m] / b[k][m] for k in a if k in b and a[k].get(m) and b[k].get(m) and not a[k].get("fail")]
            bad = [r for r in a.values() if r.get("fail") or r.get("errors") or r.get("bad")]
            if not rr and not bad:
                continue
            v = med(rr)
            ok = v is not None and v <= limit and not bad
            miss += not ok
            print(f"{'ok  ' if ok else 'MISS'} {p:28s} {m:7s} vs {base:10s} {'-' if v is None else f'{v:.2f}x':>7s}  goal {limit:.2f}x {'ERRORS' if bad else ''}")
    print(f"{miss} missed")
    return miss


def main():
    global NICE, PIN
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("what", choices=["micro", "macro", "census", "readonly", "table", "check"])
    ap.add_argument("--target", action="append", default=[], help="NAME=DIR")
    ap.add_argument("--config")
    ap.add_argument("--use", help="comma list: only these targets of the config, in this order")
    ap.add_argument("--base")
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--rows", type=int, default=100)
    ap.add_argument("--fams", type=int, default=1)
    ap.add_argument("--quals", type=int, default=10)
    ap.add_argument("--wide", type=int, default=2000)
    ap.add_argument("--size", type=int, default=100)
    ap.add_argument("--fsyncs", type=int, default=100)
    ap.add_argument("--only")
    ap.add_argument("--skip")
    ap.add_argument("--timeout", type=int, default=120)
    ap.add_argument("--nice", type=int)
    ap.add_argument("--pin", help="run the client programs on these CPUs (pin daemons in their mount commands)")
    ap.add_argument("--metric", action="append")
    ap.add_argument("--work", default=os.environ.get("CELLFS_BENCH_DIR", "."), help="where temporary things go")
    ap.add_argument("--mbench", default=os.environ.get("MBENCH", "mbench"), help="the program")
    ap.add_argument("--scratch", help="memory-backed place for macro's source and copies (WORK/scratch)")
    ap.add_argument("--out")
    ap.add_argument("--in", dest="inp")
    ap.add_argument("--goals", default=os.path.join(HERE, "goals.json"))
    ap.add_argument("--as", dest="as_name", default="fs")
    ap.add_argument("--floor-ending", default="", help="of the floor to compare with: _uring")
    ap.add_argument("--no-mount", action="store_true", help="targets are mounted already; leave them so")
    a = ap.parse_args()
    NICE, PIN = a.nice, a.pin
    a.scratch = a.scratch or os.path.join(a.work, "scratch")
    if a.what == "table":
        recs = [json.loads(l) for l in open(a.inp)]
        for m in a.metric or ["p50_us"]:
            table(recs, a.base, m, a.use.split(",") if a.use else None)
        return
    if a.what == "check":
        sys.exit(1 if check([json.loads(l) for l in open(a.inp)], json.load(open(a.goals)), a.as_name, a.floor_ending) else 0)
    conf = json.load(open(a.config)) if a.config else {}
    for s in a.target:
        n, d = s.split("=", 1)
        conf[n] = {"dir": d}
    if a.use:
        conf = {n: conf[n] for n in a.use.split(",")}
    targets = [Target(n, d) for n, d in conf.items()]
    if not targets:
        sys.exit("no targets")
    up = []
    try:
        for t in targets:
            if a.no_mount:
                os.makedirs(t.dir, exist_ok=True)
                up.append(t)
                continue
            try:
                t.mount()
                up.append(t)
            except Exception as e:
                print(f"# left out: {e}", file=sys.stderr)
        if a.what == "census":
            run_census(a, up)
            return
        recs = {"micro": run_micro, "readonly": run_readonly, "macro": run_macro}[a.what](a, up)
        for m in a.metric or {"micro": ["p50_us", "p99_us", "cpu_us"], "readonly": ["p50_us"], "macro": ["wall_s"]}[a.what]:
            table(recs, a.base or up[0].name, m)
    finally:
        if not a.no_mount:
            for t in up:
                t.umount()


if __name__ == "__main__":
    main()
