#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What grows with the store, and what one request waits for because of another: one table.

  growth.py --programs BUILD --work DIR [--sections cells,versions,files,table,columns,stalls,values]
            [--long] [--rounds N] [--realtime] [--transport fuse|uring] [--out FILE]

Stores are filled unmounted (bench/fill) and then mounted; the floor is nullfs with a computed tree
of the same shape. Where latencies are compared, client and daemon share one processor, as in the
suite micro. Before each measurement the kernel forgets names, attributes and the pages of the
mount (echo 2 > drop_caches); the store's file stays in the machine's memory, so that ratios say
what the program does and not the disk. Ratios are medians over rounds, each within one round.
bench/run --only growth calls this; --long has the full sizes. --realtime puts what is measured in
`stalls` before everything else on the machine (chrt): without it a busy machine decides the p99.
"""
import argparse, contextlib, json, os, re, shutil, statistics, subprocess, sys, threading, time

MIB = 1 << 20
PINNED = ["nice", "-n", "-10", "taskset", "-c", "1"]
FREE = ["nice", "-n", "-10"]
REALTIME = ["chrt", "-r", "1"]


def sh(command, timeout=3600):
    return subprocess.run(command, shell=True, check=True, timeout=timeout, stdout=subprocess.PIPE, text=True).stdout


def forget():
    """makes the kernel forget names and attributes"""
    with open("/proc/sys/vm/drop_caches", "w") as f:
        f.write("2")


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Mount:
    """a mounted store, or the floor with a computed tree; both have the table's directory in .table"""

    def __init__(self, a, name):
        self.a, self.name, self.prefix = a, name, PINNED
        self.store, self.dir = f"{a.work}/{name}.store", f"{a.work}/{name}.mount"
        os.makedirs(self.dir, exist_ok=True)

    def fill(self, **shape):
        switches = " ".join(f"--{k} {v}" for k, v in shape.items())
        self.filled = json.loads(sh(f"{self.a.programs}/bench/fill {self.store} {switches}"))
        return self

    def mount(self, options=""):
        options = ",".join(filter(None, (f"transport={self.a.transport}", options)))
        command = [*self.prefix, f"{self.a.programs}/src/cellfs", "mount", "-o", options, self.store, self.dir]
        self.mount_s = seconds(lambda: subprocess.run(command, check=True))
        self.pid = int(json.loads(sh(f"{self.a.programs}/src/cellfs status --json {self.dir}"))["pid"])
        self.table = f"{self.dir}/default/t"
        self.level = self.rss()
        return self

    def floor(self, rows, columns):
        command = [*self.prefix, f"{self.a.programs}/bench/nullfs", "--floor", *(["--loop", "uring"] if self.a.transport == "uring" else []),
                   "--syn", f"{rows},1,{columns},100", self.dir]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.ismount(self.dir):
            time.sleep(0.05)
        self.pid = self.process.pid
        self.table = f"{self.dir}/syn"
        self.level = self.rss()
        return self

    def umount(self):
        if hasattr(self, "filled"):
            self.umount_s = seconds(lambda: sh(f"{self.a.programs}/src/cellfs umount {self.dir}"))
        else:
            sh(f"umount {self.dir}")
            self.process.wait()

    def command(self, text):
        sh(f"{self.a.programs}/src/cellfs {text} {self.dir}")

    def status(self, key):
        with open(f"/proc/{self.pid}/status") as f:
            return int(re.search(rf"{key}:\s+(\d+)", f.read()).group(1)) * 1024

    def rss(self):
        return self.status("VmRSS")

    def put_first(self):
        """the threads that serve requests, and the clients to come, go before all else on the machine; a command's
        thread, which is made for it, does not"""
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            os.sched_setscheduler(int(thread), os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
        self.prefix = REALTIME

    def peak_from_now(self):
        with open(f"/proc/{self.pid}/clear_refs", "w") as f:
            f.write("5")

    def peak(self):
        return self.status("VmHWM")

    def mbench(self, op, *switches):
        done = subprocess.run([*self.prefix, f"{self.a.programs}/bench/mbench", op, self.table, *map(str, switches)],
                              stdout=subprocess.PIPE, text=True, timeout=3600)
        result = json.loads(done.stdout)
        if result["errors"]:
            raise RuntimeError(f"{self.name}: {op}: {result['errors']}")
        return result


class Table:
    def __init__(self, a):
        self.a = a
        print("| | value | goal | |\n|---|---:|---:|---|", flush=True)

    def row(self, what, value, goal="", note=""):
        print(f"| {what} | {value} | {goal} | {note} |", flush=True)
        if self.a.out:
            with open(self.a.out, "a") as f:
                f.write(json.dumps({"what": what, "value": value, "goal": goal, "note": note}) + "\n")

    def ratio(self, what, pairs, goal, unit="us"):
        """pairs of (this, what it is compared with), one of each round"""
        ratio = statistics.median(x / y for x, y in pairs)
        this, base = (statistics.median(side) for side in zip(*pairs))
        self.row(what, f"{ratio:.2f}x", f"{goal:.2f}x" if goal else "", f"{this:.1f} {unit} to {base:.1f}" + ("; missed" if goal and ratio > goal else ""))


@contextlib.contextmanager
def gone_at_end(a, *names):
    mounts = [Mount(a, name) for name in names]
    try:
        yield mounts
    finally:
        for m in mounts:
            subprocess.run(["umount", "-l", m.dir], stderr=subprocess.DEVNULL) if os.path.ismount(m.dir) else None
            shutil.rmtree(m.store, ignore_errors=True)


def in_turn(a, targets, work, settle=forget):
    """work(target, round) of all targets, the order turning from round to round; pairs of the last two to the first"""
    pairs = []
    for turn in range(a.rounds):
        results = {}
        for target in targets if turn % 2 == 0 else reversed(targets):
            settle()
            results[target.name] = work(target, turn)
        pairs.append(tuple(results[t.name] for t in targets))
    return pairs


# ---- 10,000 -> 5,000,000 cells ------------------------------------------------------------------
def cells(a, table):
    columns = 10
    small, large = 1000, 500000 if a.long else 20000
    with gone_at_end(a, "large", "small", "large_floor") as (many, few, floor):
        for target, rows in ((many, large), (few, small)):
            target.rows = rows
            target.fill(rows=rows, columns=columns).mount()
        name = f"{large * columns:,} cells"
        table.row(f"{name}: fill", f"{large * columns / many.filled['seconds']:,.0f} /s", "300,000", "100 bytes each, in key order")
        space = many.filled["file_bytes"] / (large * columns) - 100
        table.row(f"{name}: space a cell beside its value", f"{space:.1f} B", "80 B")
        table.row(f"{name}: time to mount", f"{many.mount_s * 1000:.0f} ms", "", f"{few.mount_s * 1000:.0f} ms with 10,000")
        table.row(f"{name}: memory when mounted", f"{many.level / MIB:.0f} MiB", "", f"{few.level / MIB:.0f} MiB with 10,000")
        # One column of each row, so that each operation looks up a row, a family and a column.
        shape = lambda t, turn: ["--rows", t.rows, "--quals", 1, "--order", "rand", "--limit", 1000, "--seed", turn + 1]
        for operation in ("stat", "statmiss", "read", "lsrow_l", "overwrite", "append", "rename", "unlink", "create"):
            def work(t, turn):
                if operation == "create":
                    t.mbench("unlink", *shape(t, turn))
                    forget()
                time_of_one = t.mbench(operation, *shape(t, turn))["p50_us"]
                if operation == "unlink":
                    t.mbench("create", *shape(t, turn))
                return time_of_one
            table.ratio(f"{name} to 10,000: {operation}, p50", in_turn(a, [many, few], work), 1.3)
        table.row(f"{name}: memory after these", f"{many.rss() / MIB:.0f} MiB", "128 MiB", f"64 MiB of page cache in it; {few.rss() / MIB:.0f} MiB with 10,000")
        floor.floor(large, columns)
        programs_over(a, table, f"{name} against the floor", [many, floor], lambda t: t.table, FIND)
        table.row(f"{name}: memory while the kernel knows {large:,} rows", f"{many.rss() / MIB:.0f} MiB")
        forget()
        time.sleep(12)  # the daemon looks every five seconds
        table.row(f"{name}: memory after a drop of caches", f"{many.rss() / MIB:.0f} MiB", "128 MiB", "64 MiB of page cache in it")
        for target in (many, few, floor):
            target.umount()
        table.row(f"{name}: time to unmount", f"{many.umount_s * 1000:.0f} ms", "", f"{few.umount_s * 1000:.0f} ms with 10,000")


# ---- 1 -> 10,000 versions -----------------------------------------------------------------------
def versions(a, table):
    """both stores have the same number of stored cells; 100 columns of each are used, all over the file"""
    count = 10000 if a.long else 1000
    title = f"{count:,} versions to one, of a cell"
    with gone_at_end(a, "versions", "one") as (many, one):
        many.fill(rows=10, columns=10, versions=count).mount()
        one.fill(rows=10, columns=10 * count).mount()
        many.columns, one.columns = 10, 10 * count

        def work(operation):
            def median_of_20(target, turn):
                times = []
                for _ in range(20):
                    forget()
                    shape = ["--rows", 10, "--quals", target.columns, "--order", "rand", "--limit", 100, "--seed", turn]
                    times.append(target.mbench(operation, *shape)["p50_us"])
                return statistics.median(times)
            return median_of_20

        for operation in ("stat", "read", "overwrite", "append", "rename"):
            table.ratio(f"{title}: {operation}, p50", in_turn(a, [many, one], work(operation)), 1.1)
        for target in (many, one):
            target.umount()


# ---- 1 -> 10 store files --------------------------------------------------------------------------
def files(a, table):
    """every one of the ten has some of each part of the table, as after ten flushes without a compaction"""
    count = 500000 if a.long else 50000
    title = f"{count:,} rows in ten store files to one"
    with gone_at_end(a, "ten", "one") as (ten, one):
        ten.fill(rows=count, files=10).mount("background_maintenance=no")
        one.fill(rows=count).mount("background_maintenance=no")
        shape = ["--rows", count, "--quals", 1]
        for operation, most in (("read", 1.5), ("stat", 1.5), ("statmiss", 1.5)):
            work = lambda t, turn: t.mbench(operation, *shape, "--order", "rand", "--limit", 2000, "--seed", turn)["p50_us"]
            table.ratio(f"{title}: {operation}, p50", in_turn(a, [ten, one], work), most)
        for operation in ("lstable", "lstable_l"):
            work = lambda t, turn: t.mbench(operation, *shape)["wall_s"] * 1e6 / count
            table.ratio(f"{title}: {'list' if operation == 'lstable' else 'list with lstat of each'}, an entry", in_turn(a, [ten, one], work), 1.3)
        ten.umount()
        one.umount()


# ---- Thousands of temporaries in one row ----------------------------------------------------------
def temporaries(a, table):
    """files of one row that are replaced through temporaries: what all of them leave shall cost the last ones nothing"""
    count = 20000 if a.long else 4000
    few, pairs = count // 10, []
    for _ in range(a.rounds):
        with gone_at_end(a, "temporaries") as (ours,):
            ours.fill(columns=count).mount()
            shape = ["--rows", 1, "--quals", count, "--order", "rand"]
            replaced = lambda seed, limit: ours.mbench("rename", *shape, "--seed", seed, "--limit", limit)["p50_us"]
            first, _, last = replaced(1, few), replaced(2, count - 2 * few), replaced(3, few)
            pairs.append((last, first))
            ours.umount()
    table.ratio(f"{count:,} temporaries renamed in a row, the last to the first: p50", pairs, 1.3)


# ---- 1,000,000 rows, 1,000,000 columns ------------------------------------------------------------
def first_entry(directory):
    return seconds(lambda: sh(f"ls -f {directory} | head -1"))


def listed(a, table, title, ours, floor, directory_of, count, operation, shape):
    def per_entry(op):
        def work(target, turn):
            result = target.mbench(op, *shape)
            if result["count"] - count not in (0, 1):  # .schema.toml
                raise RuntimeError(f"{target.name}: {result['count']} entries of {count}")
            return result["wall_s"] * 1e6 / count
        return work

    ours.peak_from_now()
    table.ratio(f"{title}: list, an entry", in_turn(a, [ours, floor], per_entry(operation)), 1.7)
    table.row(f"{title}: memory gained by listing, at most", f"{(ours.peak() - ours.level) / MIB:.0f} MiB", "", f"{ours.level / MIB:.0f} MiB when mounted")
    pairs = in_turn(a, [ours, floor], lambda t, turn: first_entry(directory_of(t)) * 1000)
    table.ratio(f"{title}: ls -f to its first line", pairs, None, "ms")
    ours.peak_from_now()
    table.ratio(f"{title}: list with lstat of each, an entry", in_turn(a, [ours, floor], per_entry(operation + "_l")), 1.7)
    known = ours.peak()
    forget()
    time.sleep(12)  # the daemon looks every five seconds
    table.row(f"{title}: memory while the kernel knows all of it", f"{known / MIB:.0f} MiB", "", f"{(known - ours.level) / count:.0f} bytes an entry")
    table.row(f"{title}: memory after the kernel forgot", f"{ours.rss() / MIB:.0f} MiB", f"{ours.level / MIB + 64 + 64:.0f} MiB",
              f"{ours.level / MIB:.0f} MiB when mounted; page cache of 64 MiB and 64 MiB")


def programs_over(a, table, title, targets, directory_of, commands):
    """whole programs, once where they take minutes"""
    empty = f"{a.work}/empty"
    os.makedirs(empty, exist_ok=True)
    once = argparse.Namespace(**{**vars(a), "rounds": 1 if a.long else a.rounds})
    for name, command in commands:
        run = lambda t, turn: seconds(lambda: sh("nice -n -10 sh -c '" + command.format(d=directory_of(t), e=empty) + "'"))
        table.ratio(f"{title}: {name}", in_turn(once, targets, run), None, "s")


FIND = [("find", "find {d} | wc -l")]
PROGRAMS = [*FIND, ("du -s", "du -s {d}"), ("rsync -an to an empty directory", "rsync -an {d}/ {e}")]


def rows(a, table):
    count = 1000000 if a.long else 20000
    with gone_at_end(a, "rows", "rows_floor") as (ours, floor):
        ours.fill(rows=count).mount()
        floor.floor(count, 1)
        title = f"table of {count:,} rows"
        listed(a, table, title, ours, floor, lambda t: t.table, count, "lstable", ["--rows", count, "--quals", 1])
        ours.umount()
        floor.umount()


def columns(a, table):
    count = 1000000 if a.long else 20000
    with gone_at_end(a, "columns", "columns_floor") as (ours, floor):
        ours.fill(columns=count).mount()
        floor.floor(1, count)
        title = f"row of {count:,} columns"
        shape = ["--rows", 1, "--quals", count]
        listed(a, table, title, ours, floor, lambda t: f"{t.table}/r000000/f0", count, "lsrow", shape)
        for operation in ("stat", "read"):
            work = lambda t, turn: t.mbench(operation, *shape, "--order", "rand", "--limit", 2000, "--seed", turn)["p50_us"]
            table.ratio(f"{title}: {operation}, p50", in_turn(a, [ours, floor], work), 1.3)
        programs_over(a, table, title, [ours, floor], lambda t: f"{t.table}/r000000/f0", PROGRAMS)
        ours.umount()
        floor.umount()


# ---- Stalls -------------------------------------------------------------------------------------
def beside(a, target, operation, shape, disturb):
    """latencies of an operation while `disturb` runs, at least two seconds"""
    stop = f"{a.work}/stop.{target.name}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(stop)
    if a.realtime:
        target.put_first()
    out = {}
    client = threading.Thread(target=lambda: out.update(target.mbench(operation, *shape, "--order", "rand", "--stop", stop)))
    client.start()
    time.sleep(0.2)
    end = time.monotonic() + 2
    disturb()
    time.sleep(max(0, end - time.monotonic()))
    open(stop, "w").close()
    client.join()
    return out


def stalls(a, table):
    count = 1000000 if a.long else 50000
    with gone_at_end(a, "stalls", "stalls_floor") as (ours, floor):
        ours.prefix = floor.prefix = FREE
        ours.fill(rows=count).mount("background_maintenance=no")
        floor.floor(count, 1)
        shape = ["--rows", count, "--quals", 1]

        def load():  # a memstore to flush; what it replaces is garbage then
            ours.mbench("overwrite", *shape, "--order", "rand", "--seed", 99, "--limit", 50000 if a.long else 10000, "--size", 1000)

        def load_elsewhere():
            elsewhere = f"{a.work}/elsewhere"
            sh(f"{a.programs}/bench/sustained {elsewhere} --order random --cells {20_000_000 if a.long else 2_000_000}")
            shutil.rmtree(elsewhere)

        def list_all(target):
            return lambda: sh(f"find {target.table} -maxdepth 1 | wc -l")

        clients = {"read": (["--limit", 30000], 1.5), "overwrite": (["--size", 100, "--limit", 5000, "--repeat", 8], 2.0)}

        def measure(target, client, name, disturb, prepare=None, beside_what=None):
            """beside_what: the record whose p99 is the measure"""
            switches, most = clients[client]
            got = []
            for turn in range(a.rounds):
                forget()
                if prepare is not None:
                    prepare()
                got.append(beside(a, target, client, [*shape, *switches, "--seed", turn], disturb))
            middle = {k: statistics.median(g[k] for g in got) for k in ("p50_us", "p99_us", "max_us")}
            goal = "" if beside_what is None else f"p99 {beside_what['p99_us'] * most:.0f} us"
            missed = beside_what is not None and middle["p99_us"] > beside_what["p99_us"] * most
            table.row(f"{target.name}: {client} beside {name}: p50, p99, max", f"{middle['p50_us']:.0f}, {middle['p99_us']:.0f}, {middle['max_us']:.0f} us",
                      goal, f"{sum(g['calls'] for g in got):,} calls" + ("; missed" if missed else ""))
            return middle

        measure(floor, "read", "nothing else", lambda: None)
        floor_listing = measure(floor, "read", "a listing of all rows", list_all(floor))
        for client in clients:
            alone = measure(ours, client, "nothing else", lambda: None)
            measure(ours, client, "a flush", lambda: ours.command("flush"), load, alone)
            measure(ours, client, "a major compaction", lambda: ours.command("compact"), None, alone)
            measure(ours, client, "a listing of all rows", list_all(ours), None, floor_listing)
            # The floor's computed tree takes no writes.
            loaded = measure(floor, client, "a load on another store", load_elsewhere) if client == "read" else alone
            measure(ours, client, "a load on another store", load_elsewhere, None, loaded)
        ours.umount()
        floor.umount()


# ---- 10 MB and 50 MB values ---------------------------------------------------------------------
def values(a, table):
    with gone_at_end(a, "values") as (ours,):
        limit = 64 * MIB
        ours.fill().mount(f"max_value_size={limit},hbase.client.keyvalue.maxsize={limit},hbase.server.keyvalue.maxsize={limit},background_maintenance=no")
        directory = f"{ours.table}/r000000/f0"
        for size in (10000000, 50000000):
            mega = size // 1000000
            for parallel in (1, 4):
                files = [f"{directory}/big{mega}.{i}" for i in range(parallel)]

                def measured(what, command, share):
                    sh(f"{ours.a.programs}/src/cellfs flush {ours.dir}")
                    time.sleep(0.5)
                    before = ours.rss()
                    ours.peak_from_now()
                    took = seconds(lambda: sh(" & ".join(command.format(f=f) for f in files) + " & wait"))
                    copies = (ours.peak() - before) / size / parallel
                    table.row(f"{what} {parallel} of {mega} MB: copies of each in memory, at most", f"{copies:.2f}", share,
                              f"{took * 1000 / parallel:.0f} ms each; {(ours.rss() - before) / MIB:.0f} MiB more afterwards")

                measured("write", f"head -c {size} /dev/zero | dd bs=1M of={{f}} status=none", "")
                forget()
                measured("read", "dd bs=1M if={f} of=/dev/null status=none", "")
                measured("overwrite a byte in", "printf x | dd of={f} bs=1 seek=1000 conv=notrunc status=none", "")
        ours.command("flush")
        time.sleep(6)
        table.row("memory after all of these", f"{ours.rss() / MIB:.0f} MiB", "", f"{ours.level / MIB:.0f} MiB when mounted")
        ours.umount()


SECTIONS = {"cells": cells, "versions": versions, "files": files, "temporaries": temporaries, "table": rows, "columns": columns, "stalls": stalls, "values": values}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--programs", required=True)
    ap.add_argument("--work", default=os.environ.get("CELLFS_BENCH_DIR", "."))
    ap.add_argument("--sections", default=",".join(SECTIONS))
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--long", action="store_true")
    ap.add_argument("--realtime", action="store_true")
    ap.add_argument("--transport", choices=["fuse", "uring"], default="fuse", help="of the mounts and of the floor")
    ap.add_argument("--out")
    a = ap.parse_args()
    table = Table(a)
    for name in a.sections.split(","):
        print(f"# growth: {name}", file=sys.stderr)
        SECTIONS[name](a, table)


if __name__ == "__main__":
    main()
