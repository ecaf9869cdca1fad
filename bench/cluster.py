#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A mount of a cluster beside HBase's own client and one of its Thrift2 gateway, in one run.

    tests/cluster/on_hbase bench/cluster.py build/src/cellfs [--cells N]

Each line: seconds through the mount, and how many requests the servers counted for it; seconds of the two clients
for the same work, one call after the other; the ratio of mount and Java client; seconds of the Java client for the same
cells in masses (a scan) or without looking (bare Puts); and seconds through a mount of a store in a directory, which
is what a file system of this kind costs by itself. All are measured in turn, three times, and the best counts.
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
from cluster import NAME, cellfs, control, java, run  # noqa: E402

CELLS = ARGUMENTS.cells
SOME = CELLS // 10  # of what goes call by call
ROUNDS = 3


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


def list_rows(table):
    run("ls", "-U", str(table))


def find(table):
    run("find", str(table), "-name", "q", timeout=300)


def copy(source, target):
    run("rsync", "-rt", "--exclude=/.schema.toml", f"{source}/", f"{target}/", timeout=900)


def by_processes(work, count, root):
    fork = multiprocessing.get_context("fork")
    all_of_them = [fork.Process(target=work, args=(root, range(SOME * i // count, SOME * (i + 1) // count)))
                   for i in range(count)]
    for process in all_of_them:
        process.start()
    for process in all_of_them:
        process.join()
        assert process.exitcode == 0


class Clients:
    """HBase's own, and one of the gateway. Both are asked to do the same things."""

    def __init__(self, stack):
        self.own = stack.enter_context(java(HERE / "ClusterBench.java", os.environ["CELLFS_TEST_CLUSTER"]))
        self.gateway = stack.enter_context(java(HERE / "ThriftBench.java", os.environ["CELLFS_TEST_CLUSTER_THRIFT"]))

    @staticmethod
    def ask(client, work, threads=1, count=None, table="bench"):
        client.stdin.write(f"{work} {threads} 0 {count or SOME} {table}\n")
        client.stdin.flush()
        return float(client.stdout.readline())


class Bench:
    def __init__(self, stack):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        stack.callback(shutil.rmtree, self.directory)
        for table in ("bench", "copied_by_client", "warm"):
            cellfs("create", f"{NAME}default/{table}", "f")
        # "cluster" and "local" are what is compared; nothing that "exact" shows may be old.
        self.mounts = {"cluster": (NAME,), "local": (str(self.directory / "store"),),
                       "exact": ("-o", "cache_time=0", NAME)}
        for name in self.mounts:
            (self.directory / name).mkdir()
            self.mount(name)
            stack.callback(cellfs, "umount", str(self.directory / name))
        self.clients = Clients(stack)

    def mount(self, name):
        cellfs("mount", *self.mounts[name], str(self.directory / name))

    def table(self, name, table="bench"):
        return self.directory / name / "default" / table

    def measure(self, name, act, cold):
        """Seconds, requests."""
        if cold:
            cellfs("umount", str(self.directory / name))
            self.mount(name)
        before = int(control("requests"))
        begin = time.monotonic()
        act(name)
        return time.monotonic() - begin, int(control("requests")) - before

    def compare(self, what, act, same, masses=None, cold=False, rounds=ROUNDS, mount="cluster"):
        """`same`, `masses`: what the clients are asked for."""
        ours, local, own, gateway, bare = [], [], [], [], []
        for _ in range(rounds):
            ours.append(self.measure(mount, act, cold))
            own.append(self.clients.ask(self.clients.own, *same))
            gateway.append(self.clients.ask(self.clients.gateway, *same))
            if masses:
                bare.append(self.clients.ask(self.clients.own, *masses))
            local.append(self.measure("local", act, cold))
        seconds, requests = min(ours)
        bare_seconds = f"{min(bare):.2f}" if bare else ""
        print(f"| {what} | {seconds:.2f} | {requests} | {min(own):.2f} | {min(gateway):.2f} | {seconds / min(own):.1f} "
              f"| {bare_seconds} | {min(local)[0]:.2f} |", flush=True)

    def warm_up(self):
        """Java compiles what is called often."""
        for client in (self.clients.own, self.clients.gateway):
            for table in ("warm", "bench"):
                self.clients.ask(client, "put", 4, CELLS, table)
            for work in ("stat", "cat", "write", "scan", "names"):
                for _ in range(3):
                    self.clients.ask(client, work, 4)
            self.clients.ask(client, "copy", 4, SOME, "warm")
        for number in range(CELLS):
            path = pathlib.Path(path_of(self.table("local"), number))
            path.parent.mkdir(parents=True)
            path.write_bytes(b"x" * 100)

    def run(self):
        self.warm_up()
        some, every = range(SOME), ("scan", 1, CELLS)
        print("| | mount, s | requests | Java, s | Thrift2, s | mount / Java | Java in masses, s | a directory, s |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|", flush=True)
        self.compare(f"cat of {SOME} files, cold", lambda name: read(self.table(name), some), ("cat",), every,
                     cold=True)
        self.compare(f"cat of {SOME} files, again", lambda name: read(self.table(name), some), ("cat",), every)
        self.compare(f"ls of {CELLS} rows", lambda name: list_rows(self.table(name)), ("names", 1, CELLS), cold=True)
        self.compare(f"find over {CELLS} cells", lambda name: find(self.table(name)), ("stat", 1, CELLS), every,
                     cold=True)
        self.compare(f"overwriting {SOME} files", lambda name: write(self.table(name), some), ("write",), ("put",))
        for work, how, masses, counts, mount in ((read, "cat", every, (1, 16), "cluster"),
                                                 (read, "cat", every, (1, 16), "exact"),
                                                 (write, "write", ("put",), (1, 4), "cluster")):
            for count in counts:
                self.compare(f"{SOME} files, {work.__name__} by {count}" + ", `cache_time=0`" * (mount == "exact"),
                             lambda name: by_processes(work, count, self.table(name)), (how, count), masses,
                             mount=mount)
        out = self.directory / "out"
        out.mkdir()
        self.compare(f"rsync out, {CELLS} cells", lambda name: copy(self.table(name), out / name), ("cat", 1, CELLS),
                     every, cold=True, rounds=1)
        for name in ("cluster", "local"):
            cellfs("create", str(self.table(name, "copy")), "f")
        self.compare(f"rsync in, {CELLS} cells", lambda name: copy(out / name, self.table(name, "copy")),
                     ("copy", 1, CELLS, "copied_by_client"), ("put", 1, CELLS), cold=True, rounds=1)


with contextlib.ExitStack() as everything:
    Bench(everything).run()
