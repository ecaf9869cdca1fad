#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A mount of a cluster beside HBase's own client making the same calls, in one run.

    tests/cluster/on_hbase bench/cluster.py build/src/cellfs [--cells N]

Each line: seconds through the mount, seconds of the client, and the ratio. Both are measured in turn, three
times, and the best counts.
"""

import argparse
import contextlib
import multiprocessing
import os
import pathlib
import shutil
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("cellfs")
parser.add_argument("--cells", type=int, default=10_000)
ARGUMENTS = parser.parse_args()
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/cluster"))
from cluster import NAME, cellfs, java, run  # noqa: E402

CELLS = ARGUMENTS.cells
SOME = CELLS // 10  # of what goes call by call


def path_of(root, number):
    return f"{root}/r{number:05}/f/q"


def read(root, numbers):
    for number in numbers:
        with open(path_of(root, number), "rb") as file:
            file.read()


def write(root, numbers):
    for number in numbers:
        with open(path_of(root, number), "wb") as file:
            file.write(b"x" * 100)


def by_processes(work, count, root):
    fork = multiprocessing.get_context("fork")
    all_of_them = [fork.Process(target=work, args=(root, range(SOME * i // count, SOME * (i + 1) // count)))
                   for i in range(count)]
    for process in all_of_them:
        process.start()
    for process in all_of_them:
        process.join()
        assert process.exitcode == 0


def seconds(act):
    begin = time.monotonic()
    act()
    return time.monotonic() - begin


class Bench:
    def __init__(self, stack):
        self.stack = stack
        self.directory = pathlib.Path(tempfile.mkdtemp())
        stack.callback(shutil.rmtree, self.directory)
        cellfs("create", f"{NAME}default/bench", "f")
        self.root = self.directory / "m"
        self.root.mkdir()
        self.table = self.root / "default/bench"
        self.client = stack.enter_context(java(HERE / "ClusterBench.java", os.environ["CELLFS_TEST_CLUSTER"], "bench"))
        self.remount()
        stack.callback(cellfs, "umount", str(self.root))

    def remount(self):
        if os.path.ismount(self.root):
            cellfs("umount", str(self.root))
        cellfs("mount", NAME, str(self.root))

    def ask(self, work, threads=1, first=0, count=None):
        self.client.stdin.write(f"{work} {threads} {first} {count or SOME}\n")
        self.client.stdin.flush()
        return float(self.client.stdout.readline())

    def compare(self, what, act, *work, cold=False):
        ours, theirs = [], []
        for _ in range(3):
            if cold:
                self.remount()
            ours.append(seconds(act))
            theirs.append(self.ask(*work))
        print(f"| {what} | {min(ours):.2f} | {min(theirs):.2f} | {min(ours) / min(theirs):.1f} |", flush=True)

    def run(self):
        for work in ("put", "get", "write", "scan", "names"):  # so that Java has compiled them
            self.ask(work, 1, 0, CELLS if work == "put" else 0)
        print(f"| | mount, s | client, s | ratio |\n|---|---|---|---|", flush=True)
        self.compare(f"cat of {SOME} files, cold", lambda: read(self.table, range(SOME)), "get", cold=True)
        self.compare(f"cat of {SOME} files, again", lambda: read(self.table, range(SOME)), "get")
        self.compare(f"ls of {CELLS} rows", lambda: run("ls", "-U", str(self.table)), "names", 1, 0, CELLS, cold=True)
        self.compare(f"find over {CELLS} cells", lambda: run("find", str(self.table), "-name", "q", timeout=300),
                     "scan", 1, 0, CELLS, cold=True)
        self.compare(f"overwriting {SOME} files; the same calls", lambda: write(self.table, range(SOME)), "write")
        self.compare(f"overwriting {SOME} files; a bare Put", lambda: write(self.table, range(SOME)), "put")
        for work, how, count in ((read, "get", 1), (read, "get", 16), (write, "write", 1), (write, "write", 4)):
            self.compare(f"{SOME} files, {count} processes, {work.__name__}",
                         lambda: by_processes(work, count, self.table), how, count)
        source = self.directory / "out"
        rsync = ("rsync", "-rt", "--exclude=/.schema.toml")
        out = seconds(lambda: run(*rsync, f"{self.table}/", f"{source}/", timeout=600))
        print(f"| rsync out, {CELLS} cells; a scan | {out:.2f} | {self.ask('scan', 1, 0, CELLS):.2f} | |", flush=True)
        cellfs("create", f"{NAME}default/copy", "f")
        time.sleep(1.5)
        into = seconds(lambda: run(*rsync, f"{source}/", f"{self.root}/default/copy/", timeout=900))
        print(f"| rsync in, {CELLS} cells; bare Puts | {into:.2f} | {self.ask('put', 1, 0, CELLS):.2f} | |", flush=True)


with contextlib.ExitStack() as everything:
    Bench(everything).run()
