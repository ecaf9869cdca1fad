#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A mount of a database beside plain SQL on the same tables, in one run.

    tests/obkv/on_database mariadb|seekdb bench/database.py build/src/cellfs build/bench/database_client [--cells N]

Each line: seconds through the mount and how many statements the server counted for it (MariaDB alone); seconds of a client
of SQL for the same, one statement after the other; the ratio of the two; seconds of that client for all cells at once;
and seconds through a mount of a store in a directory. In turn, three times, and the best counts.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("cellfs")
parser.add_argument("client")
parser.add_argument("--cells", type=int, default=5000)
ARGUMENTS = parser.parse_args()
CELLFS = os.path.abspath(ARGUMENTS.cellfs)
SOCKET = os.environ["CELLFS_TEST_DATABASE"]
NAME = f"obkv+unix://root@{SOCKET}/"
CELLS = ARGUMENTS.cells
SOME = CELLS // 10  # of what goes call by call
ROUNDS = 3
VALUE = b"x" * 100


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, timeout=900).stdout


def statements():
    if os.environ["CELLFS_TEST_DATABASE_KIND"] != "mariadb":
        return 0
    return int(run("mariadb", "-S", SOCKET, "-u", "root", "-N", "-e", "SHOW GLOBAL STATUS LIKE 'Questions'").split()[1])


def read(table):
    for number in range(SOME):
        (table / f"r{number:05}/f/q").read_bytes()


def write(table):
    for number in range(SOME):
        (table / f"r{number:05}/f/q").write_bytes(VALUE)


def copy(source, target):
    run("rsync", "-rt", "--exclude=/.schema.toml", f"{source}/", f"{target}/")


class Bench:
    def __init__(self, stack):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        stack.callback(shutil.rmtree, self.directory)
        run(CELLFS, "create", f"{NAME}default/bench", "f")
        self.mounts = {"database": (NAME,), "local": (str(self.directory / "store"),),
                       "exact": ("-o", "obkv_cache_time=0", NAME)}
        for name in self.mounts:
            (self.directory / name).mkdir()
            run(CELLFS, "mount", *self.mounts[name], self.directory / name)
            stack.callback(run, CELLFS, "umount", self.directory / name)
        self.client = stack.enter_context(subprocess.Popen([os.path.abspath(ARGUMENTS.client)], text=True,
                                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        stack.callback(self.client.stdin.close)
        self.ask("put", CELLS)
        for number in range(CELLS):
            path = self.table("local") / f"r{number:05}/f/q"
            path.parent.mkdir(parents=True)
            path.write_bytes(VALUE)

    def table(self, name, table="bench"):
        return self.directory / name / "default" / table

    def ask(self, work, end, table="bench", first=0):
        self.client.stdin.write(f"{work} {first} {end} `default`.`{table}$f`\n")
        self.client.stdin.flush()
        return float(self.client.stdout.readline())

    def measure(self, name, act, cold):
        """Seconds, statements."""
        if cold:
            run(CELLFS, "umount", self.directory / name)
            run(CELLFS, "mount", *self.mounts[name], self.directory / name)
        before = statements()
        begin = time.monotonic()
        act(name)
        return time.monotonic() - begin, statements() - before

    def compare(self, what, act, same, masses, cold=False, rounds=ROUNDS, mount="database"):
        ours, local, sql, bare = [], [], [], []
        for _ in range(rounds):
            ours.append(self.measure(mount, act, cold))
            sql.append(self.ask(*same))
            bare.append(self.ask(*masses))
            local.append(self.measure("local", act, cold))
        seconds, count = min(ours)
        print(f"| {what} | {seconds:.3f} | {count or ''} | {min(sql):.3f} | {seconds / min(sql):.1f} | {min(bare):.3f} "
              f"| {min(local)[0]:.3f} |", flush=True)

    def run(self):
        scan = ("scan", CELLS)
        print("| seconds | mount | its statements | SQL, same calls | mount / SQL | SQL, in masses | store in a directory |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
        self.compare(f"cat of {SOME} files, cold", lambda name: read(self.table(name)), ("cat", SOME), scan, cold=True)
        self.compare(f"cat of {SOME} files, again", lambda name: read(self.table(name)), ("cat", SOME), scan)
        self.compare("the same, `cache_time=0`", lambda name: read(self.table(name)), ("cat", SOME), scan, mount="exact")
        self.compare(f"ls of {CELLS} rows", lambda name: run("ls", "-U", self.table(name)), ("names", CELLS), scan,
                     cold=True)
        self.compare(f"find over {CELLS} cells", lambda name: run("find", self.table(name), "-name", "q"), ("cat", CELLS),
                     scan, cold=True)
        self.compare(f"overwriting {SOME} files", lambda name: write(self.table(name)), ("write", SOME), scan)
        out = self.directory / "out"
        out.mkdir()
        self.compare(f"rsync out, {CELLS} cells", lambda name: copy(self.table(name), out / name), ("cat", CELLS), scan,
                     cold=True, rounds=1)
        run(CELLFS, "create", f"{NAME}default/copy", "f")
        run(CELLFS, "create", f"{NAME}default/byhand", "f")
        run(CELLFS, "create", self.table("local", "copy"), "f")
        self.compare(f"rsync in, {CELLS} cells", lambda name: copy(out / name, self.table(name, "copy")),
                     ("write", CELLS, "byhand"), ("put", 2 * CELLS, "byhand", CELLS), cold=True, rounds=1)


with contextlib.ExitStack() as everything:
    Bench(everything).run()
