#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real cluster, whose connections are cut within each write, and within its answer, at every few bytes.

What the mount acknowledges is there, once; a write of which it says that it failed was made once or
not at all. As each write of a file can be looked for or made again, none fails here but where no
request of it arrives, and an append of which no answer does.

Run by on_hbase: cutting.py CELLFS
"""

import contextlib
import errno
import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

from cluster import NAME, cellfs, control
from proxy import Proxy

STEP = int(os.environ.get("CELLFS_CUT_STEP", "7"))  # bytes; 1 takes some minutes
LONGEST = 20  # seconds, for a write that is tried as often as HBase's client does, and looked for


class Cut(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with contextlib.ExitStack() as stack:
            cls.directory = pathlib.Path(tempfile.mkdtemp())
            stack.callback(shutil.rmtree, cls.directory)
            cellfs("create", f"{NAME}default/cutting", "f:VERSIONS=100000")
            cls.proxy = stack.enter_context(Proxy(control("servers").split()[1::2]))
            root = cls.directory / "m"
            root.mkdir()
            cellfs("mount", "-o", "cache_time=0,hbase.client.pause=1", cls.proxy.name, str(root))
            stack.callback(cellfs, "umount", str(root))
            cls.errors = root / ".cellfs/errors"
            cls.family = root / "default/cutting/r/f"
            cls.family.mkdir(parents=True)
            cls.addClassCleanup(stack.pop_all().close)

    def setUp(self):
        self.number = 0  # of the act
        self.expected = ""

    def read(self, name):
        try:
            return (self.family / name).read_text()
        except FileNotFoundError:
            return None

    def versions(self, name):
        history = self.family / ".versions" / name
        return len(os.listdir(history)) if history.exists() else 0

    def cut_everywhere(self, act, check, prepare=lambda: None):
        """Acts once for each place in the call and in its answer."""
        for part in ("request", "answer"):
            at = 0
            while True:
                self.number += 1
                prepare()
                cut = self.proxy.cut_next(b"cutting,", part, at)
                act()
                check()
                self.assertIsNotNone(cut.length, "no call was cut")
                if at >= cut.length:
                    break
                at += STEP
            self.assertGreater(at, 10)

    def write(self, name, mode="w"):
        with (self.family / name).open(mode) as file:
            file.write(f"{self.number}\n")

    def test_a_file_that_is_made(self):
        def check():
            self.assertEqual(self.read("made"), f"{self.number}\n")
            self.assertEqual(self.versions("made"), 1)
            (self.family / "made").unlink()

        self.cut_everywhere(lambda: self.write("made", "x"), check)

    def test_a_file_that_is_overwritten(self):
        def check():
            self.assertEqual(self.read("written"), f"{self.number}\n")
            self.assertEqual(self.versions("written"), self.number + 1)

        self.write("written")
        self.cut_everywhere(lambda: self.write("written"), check)

    def test_a_file_that_is_edited(self):
        def edit():
            with (self.family / "edited").open("r+") as file:
                file.write(f"{self.number:06}")

        def check():
            self.assertEqual(self.read("edited"), f"{self.number:06} and the rest")
            self.assertEqual(self.versions("edited"), self.number + 1)

        (self.family / "edited").write_text("000000 and the rest")
        self.cut_everywhere(edit, check)

    def test_a_file_that_is_appended_to(self):
        def check():
            self.expected += f"{self.number}\n"
            self.assertEqual(self.read("log"), self.expected)

        self.write("log", "w")
        self.expected = self.read("log")
        self.cut_everywhere(lambda: self.write("log", "a"), check)

    def test_a_counter(self):
        counter = self.family / ".counters/n"
        self.cut_everywhere(lambda: counter.write_text("+1"),
                            lambda: self.assertEqual(int(counter.read_text()), self.number))

    def test_a_file_that_is_removed(self):
        def check():
            self.assertIsNone(self.read("removed"))
            self.assertEqual(self.versions("removed"), 0)

        self.cut_everywhere((self.family / "removed").unlink, check,
                            prepare=lambda: self.write("removed"))

    def test_a_file_that_is_renamed(self):
        def check():
            self.assertIsNone(self.read("source"))
            self.assertEqual(self.read("target"), f"{self.number}\n")
            self.assertEqual(self.versions("target"), self.number)

        self.cut_everywhere(lambda: (self.family / "source").rename(self.family / "target"), check,
                            prepare=lambda: self.write("source"))

    def fails(self, act):
        """With EIO, soon, and a line that says why."""
        began = time.monotonic()
        with self.assertRaises(OSError) as failed:
            act()
        self.assertEqual(failed.exception.errno, errno.EIO)
        self.assertLess(time.monotonic() - began, LONGEST)
        self.assertIn("may have done it or not", self.errors.read_text().splitlines()[-1])

    def test_a_write_that_is_never_answered_is_looked_for(self):
        self.write("source")
        self.write("removed")
        with self.proxy.cut_each(b"cutting,", "answer", 10):
            self.write("unanswered", "x")
            self.assertEqual(self.versions("unanswered"), 1)
            with (self.family / "unanswered").open("r+") as file:
                file.write("edited")
            (self.family / "removed").unlink()
            (self.family / "source").rename(self.family / "moved")
        self.assertEqual(self.read("unanswered")[:6], "edited")
        self.assertEqual(self.versions("unanswered"), 2)
        self.assertEqual((self.read("removed"), self.read("source")), (None, None))
        self.assertEqual(self.read("moved"), "0\n")

    def test_a_write_that_never_arrives_fails(self):
        self.write("kept")
        self.write("unmoved")
        with self.proxy.cut_each(b"cutting,", "request", 10):
            for act in (lambda: self.write("never", "x"), lambda: self.write("kept", "r+"),
                        (self.family / "kept").unlink,
                        lambda: (self.family / "unmoved").rename(self.family / "kept")):
                self.fails(act)
        self.assertEqual([self.read(name) for name in ("kept", "unmoved", "never")], ["0\n", "0\n", None])
        self.assertEqual(self.versions("kept"), 1)

    def test_an_append_that_is_never_answered_was_made_once(self):
        self.write("unsure")
        with self.proxy.cut_each(b"cutting,", "answer", 10):
            self.fails(lambda: self.write("unsure", "a"))
        self.assertEqual(self.read("unsure"), "0\n0\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
