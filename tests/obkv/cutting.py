#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A database, whose sessions end as a COMMIT is on its way, or its answer: what a mount says of a write is so.

Run by on_database: cutting.py CELLFS
"""

import contextlib
import errno
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from proxy import Proxy

CELLFS = os.path.abspath(sys.argv.pop(1))
SERVER = os.environ["CELLFS_TEST_DATABASE"]


def cellfs(*words):
    done = subprocess.run([CELLFS, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


class Cutting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with contextlib.ExitStack() as stack:
            directory = pathlib.Path(tempfile.mkdtemp())
            stack.callback(shutil.rmtree, directory)
            cls.proxy = Proxy(directory / "socket", SERVER)
            stack.callback(cls.proxy.close)
            root = directory / "m"
            root.mkdir()
            cellfs("create", f"obkv+unix://root@{SERVER}/default/cutting", "f:VERSIONS=100000")
            cellfs("mount", "-o", "obkv_partitions=3,obkv_cache_time=0,obkv_operation_timeout=6000",
                   f"obkv+unix://root@{cls.proxy.path}/", str(root))
            stack.callback(cellfs, "umount", str(root))
            cls.errors = root / ".cellfs/errors"
            cls.family = root / "default/cutting/r/f"
            cls.family.mkdir(parents=True)
            (cls.family / "first").write_text("makes tables of our own")
            cls.addClassCleanup(stack.pop_all().close)

    def read(self, name):
        try:
            return (self.family / name).read_text()
        except FileNotFoundError:
            return None

    def versions(self, name):
        history = self.family / ".versions" / name
        return len(os.listdir(history)) if history.exists() else 0

    def cut_everywhere(self, act, check, prepare=lambda: None):
        """Acts once for each COMMIT of it that can be cut, on its way there and back."""
        for part in ("request", "answer"):
            for spared in range(9):
                prepare()
                with self.proxy.cutting(part, spared):
                    act()
                with self.subTest(part=part, spared=spared):
                    check()
                if self.proxy.cuts == 0:
                    break
            self.assertGreater(spared, 0, "nothing was cut")

    def test_a_file_that_is_made(self):
        def check():
            self.assertEqual((self.read("made"), self.versions("made")), ("v", 1))
            (self.family / "made").unlink()

        self.cut_everywhere(lambda: (self.family / "made").write_text("v"), check)

    def test_a_file_that_is_appended_to(self):
        expected = ["0\n"]

        def append():
            with (self.family / "log").open("a") as file:
                file.write("more\n")

        def check():
            expected.append("more\n")
            self.assertEqual(self.read("log"), "".join(expected))

        (self.family / "log").write_text("0\n")
        self.cut_everywhere(append, check)

    def test_a_counter(self):
        counter = self.family / ".counters/n"
        sums = [0]

        def check():
            sums[0] += 1
            self.assertEqual(int(counter.read_text()), sums[0])

        self.cut_everywhere(lambda: counter.write_text("+1"), check)

    def test_a_file_that_is_removed(self):
        self.cut_everywhere(lambda: (self.family / "removed").unlink(),
                            lambda: self.assertEqual((self.read("removed"), self.versions("removed")), (None, 0)),
                            prepare=lambda: (self.family / "removed").write_text("v"))

    def test_a_file_that_is_renamed(self):
        def check():
            self.assertEqual((self.read("source"), self.read("target")), (None, "v"))
            (self.family / "target").unlink()

        self.cut_everywhere(lambda: (self.family / "source").rename(self.family / "target"), check,
                            prepare=lambda: (self.family / "source").write_text("v"))

    def test_a_write_that_is_never_answered_was_made(self):
        (self.family / "removed").write_text("v")
        with self.proxy.cutting("answer", is_last=False):
            (self.family / "unanswered").write_text("v")
            with (self.family / "unanswered").open("a") as file:
                file.write("w")
            (self.family / "removed").unlink()
        self.assertEqual((self.read("unanswered"), self.read("removed")), ("vw", None))
        self.assertGreater(self.proxy.cuts, 2)

    def fails(self, act, why):
        with self.assertRaises(OSError) as failed:
            act()
        self.assertEqual(failed.exception.errno, errno.EIO)
        self.assertIn(why, self.errors.read_text().splitlines()[-1])

    def test_a_write_that_never_arrives_was_not_made(self):
        (self.family / "kept").write_text("v")
        with self.proxy.cutting("request", is_last=False):
            for act in (lambda: (self.family / "never").write_text("v"), (self.family / "kept").unlink):
                self.fails(act, "nothing was changed")
        self.assertEqual((self.read("never"), self.read("kept")), (None, "v"))

    def test_where_nobody_can_tell_it_is_said(self):
        with self.proxy.cutting("held"):
            self.fails(lambda: (self.family / "held").write_text("v"), "may have been made or not")
        self.proxy.end_all()
        (self.family / "held").write_text("w")
        self.assertEqual(self.read("held"), "w")


if __name__ == "__main__":
    unittest.main()
