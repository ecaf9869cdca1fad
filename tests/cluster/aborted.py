#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A region server that is aborted in the middle of a copy into a mounted cluster.

Run by on_hbase: aborted.py CELLFS
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from cluster import NAME, cellfs, control, run

FILES = 1200
BEFORE = FILES // 4  # files that rsync has begun with when the server is told to abort
BARRIER = FILES // 2  # where rsync stands still until that is gone
PIPE_BYTES = 4096


def region_server():
    words = control("servers").split()
    host, port = words[words.index("regionserver") + 1].rsplit(":", 1)
    return host, int(port)


def is_served(address):
    try:
        socket.create_connection(address, timeout=10).close()
        return True
    except OSError:
        return False


class Abort(threading.Thread):
    """Aborts the only region server; another takes its regions over."""

    def __init__(self):
        super().__init__()
        self.address = region_server()
        self.failed = None

    def run(self):
        try:
            control("restart_server")
        except AssertionError as failed:
            self.failed = failed

    def wait_until_it_is_gone(self):
        while is_served(self.address):
            assert self.failed is None, self.failed

    def finish(self):
        self.join()
        assert self.failed is None, self.failed


class Aborted(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.stack.callback(shutil.rmtree, self.directory)
        self.table = f"aborted_{self._testMethodName[len('test_'):][:20]}"
        cellfs("create", f"{NAME}default/{self.table}", "f:VERSIONS=5", "g", "--splits", "row0400,row0800")
        self.source = self.make_source()

    def make_source(self):
        source = self.directory / "source"
        for number in range(FILES):
            file = source / f"row{number:04}/{'fg'[number % 2]}/value"
            file.parent.mkdir(parents=True)
            file.write_bytes(self.bytes_of(number, "first"))
            file.chmod(0o600 + number % 3 * 0o40)
            os.chown(file, 1000 + number % 7, 2000 + number % 5)
            os.utime(file, ns=(0, (1_500_000_000 + number) * 10**9 + 123_456_789))
        return source

    @staticmethod
    def bytes_of(number, word):
        return f"{word} {number}\n".encode() * (1 + number % 50)

    def mount(self, name):
        root = self.directory / name
        root.mkdir()
        cellfs("mount", NAME, str(root))
        self.stack.callback(lambda: root.is_mount() and cellfs("umount", str(root)))
        return root / "default" / self.table

    def copy_while_it_aborts(self, target, meanwhile=lambda: None):
        """rsync has copied some files when the server is told to abort, and not all when it is gone."""
        abort = Abort()
        command = ["rsync", "-a", "--timeout=240", "--out-format=%n", "--exclude=/.schema.toml",
                   f"{self.source}/", f"{target}/"]
        copied, is_told, is_gone = 0, False, False
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as rsync:
            # What rsync has told and nobody has read is little: so it waits where it is not read.
            fcntl.fcntl(rsync.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            for line in rsync.stdout:
                copied += line.endswith("/value\n")
                if copied == BEFORE and not is_told:
                    is_told = True
                    self.wait_until_the_first_is_there(target)
                    abort.start()
                if copied == BARRIER and not is_gone:
                    abort.wait_until_it_is_gone()
                    is_gone = True
                    meanwhile()
            errors = rsync.stderr.read()
        abort.finish()
        self.assertEqual(rsync.returncode, 0, errors)
        self.assertEqual(copied, FILES)
        self.assertTrue(is_told and is_gone)

    def wait_until_the_first_is_there(self, target):
        first = "row0000/f/value"
        while not (target / first).exists() or \
                (target / first).read_bytes() != (self.source / first).read_bytes():
            time.sleep(0.01)

    @staticmethod
    def facts(table):
        """{path: (bytes, time, mode, owner, group)} of a table's files."""
        found = {}
        for file in table.glob("row*/?/*"):
            status = file.stat()
            found[str(file.relative_to(table))] = (file.read_bytes(), status.st_mtime_ns, status.st_mode,
                                                   status.st_uid, status.st_gid)
        return found

    def check(self, table):
        self.assertEqual(self.facts(table), self.facts(self.source))
        again = run("rsync", "-ain", "--exclude=/.schema.toml", f"{self.source}/", f"{table}/", timeout=200)
        self.assertEqual(again, "")

    def stored(self):
        """What is stored, by kind."""
        lines = cellfs("scan", f"{NAME}default/{self.table}", "--raw", "--limit", "100000").splitlines()
        return [line.split("\t")[1] for line in lines]

    def test_files_that_are_new(self):
        table, leaving = self.mount("m"), self.mount("leaving")
        os.listdir(leaving)

        def leave():
            cellfs("umount", str(self.directory / "leaving"), timeout=60)

        self.copy_while_it_aborts(table, leave)
        self.check(table)
        self.check(self.mount("other"))
        self.assertEqual(len(self.stored()), FILES)
        self.assertEqual(set(self.stored()), {"f:value", "g:value"})

    def test_files_that_are_replaced(self):
        table = self.mount("m")
        run("rsync", "-a", "--exclude=/.schema.toml", f"{self.source}/", f"{table}/", timeout=200)
        for number, file in enumerate(sorted(self.source.glob("row*/?/value"))):
            file.write_bytes(self.bytes_of(number, "second"))
            os.utime(file, ns=(0, (1_600_000_000 + number) * 10**9 + 987_654_321))
        self.copy_while_it_aborts(table)
        self.check(table)
        self.check(self.mount("other"))
        for number in range(0, FILES, 2 * FILES // 20):
            history = table / f"row{number:04}/f/.versions/value"
            texts = [(history / stamp).read_bytes() for stamp in sorted(os.listdir(history))]
            self.assertEqual(texts, [self.bytes_of(number, word) for word in ("first", "second")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
