#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of a real cluster, made, changed and removed by two mounts at once.

What somebody has put, and was told that it is there, nobody else's mkdir, rmdir or schema takes away.

Run by on_hbase: together.py CELLFS
"""

import contextlib
import errno
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import unittest

from cluster import NAME, cellfs, control
from proxy import Proxy

# What begins to remove a table.
REMOVALS = (b"ModifyTable", b"DisableTable")


class Act(threading.Thread):
    """In a thread of its own; `errno` is how it failed."""

    def __init__(self, act, *arguments):
        super().__init__()
        self.act, self.arguments, self.errno = act, arguments, 0
        self.start()

    def run(self):
        try:
            self.act(*self.arguments)
        except OSError as failed:
            self.errno = failed.errno

    def end(self):
        self.join()
        return self.errno


class Together(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.stack.callback(shutil.rmtree, self.directory)
        self.name = self._testMethodName[len("test_"):][:30]
        self.store_path = f"{NAME}default/{self.name}"

    def mount(self, name, store=NAME, options="cache_time=0"):
        root = self.directory / name
        root.mkdir()
        cellfs("mount", "-o", options, store, str(root))
        self.stack.callback(cellfs, "umount", str(root))
        return root / "default" / self.name

    def test_a_table_is_made(self):
        one, other = self.mount("one"), self.mount("other")
        for number in range(4):
            tables = [table.with_name(f"{self.name}{number}") for table in (one, other)]
            acts = [Act(os.makedirs, table / f"r/f{who}") for who, table in enumerate(tables)]
            self.assertEqual([act.end() for act in acts], [0, 0])
            for who, table in enumerate(tables):
                (table / f"r/f{who}/q").write_text(f"{who}\n")
            for table in tables:
                self.assertEqual([(table / f"r/f{who}/q").read_text() for who in (0, 1)], ["0\n", "1\n"])

    def test_families_are_declared(self):
        roots = [self.mount(name) for name in ("one", "other", "third")]
        (roots[0] / "r/f").mkdir(parents=True)
        for number in range(4):
            acts = [Act(os.makedirs, root / f"r{who}/{name}")
                    for who, root in enumerate(roots) for name in (f"own{who}{number}", f"same{number}")]
            self.assertEqual([act.end() for act in acts], [0] * len(acts))
        self.assertEqual(cellfs("describe", self.store_path).count("family\t"), 1 + 4 * 4)

    def test_who_removes_a_table_into_which_another_puts(self):
        with Proxy(control("servers").split()[1::2]) as proxy:
            one, other = self.mount("one", proxy.name), self.mount("other")
            (other / "r/f").mkdir(parents=True)
            with proxy.hold_next(*REMOVALS) as removal:
                act = Act(os.rmdir, one)
                removal.wait()
                (other / "r/f/q").write_text("kept\n")
            self.assertEqual(act.end(), errno.ENOTEMPTY)
            self.assertEqual((one / "r/f/q").read_text(), "kept\n")
            (other / "r/f/q").write_text("and written on\n")
            shutil.rmtree(one)
            self.assertFalse(other.exists())

    def test_who_gives_a_table_regions_into_which_another_puts(self):
        with Proxy(control("servers").split()[1::2]) as proxy:
            one, other = self.mount("one", proxy.name), self.mount("other")
            (other / "r/f").mkdir(parents=True)
            schema = 'open = true\nsplits = ["m"]\n[families.f]\nVERSIONS = 3\n'
            with proxy.hold_next(*REMOVALS) as removal:
                act = Act((one / ".schema.toml").write_text, schema)
                removal.wait()
                (other / "r/f/q").write_text("kept\n")
            self.assertEqual(act.end(), errno.EIO)
            self.assertEqual((one / "r/f/q").read_text(), "kept\n")
            (other / "r/f/q").write_text("and written on\n")
            fresh = one.with_name("fresh")
            (fresh / "r/f").mkdir(parents=True)
            (fresh / ".schema.toml").write_text(schema)
            self.assertIn('splits = ["m"]', (fresh / ".schema.toml").read_text())

    def test_a_schema_that_does_not_know_of_anothers_family(self):
        one, other = self.mount("one", options="cache_time=600000"), self.mount("other")
        (one / "r/f").mkdir(parents=True)
        text = (one / ".schema.toml").read_text()
        (other / "r/theirs").mkdir(parents=True)
        (other / "r/theirs/q").write_text("kept\n")
        for reason in (errno.EIO, errno.EINVAL):  # it is looked at anew for the second
            with self.assertRaises(OSError) as refused:
                (one / ".schema.toml").write_text(text.replace("VERSIONS = 10", "VERSIONS = 9"))
            self.assertEqual(refused.exception.errno, reason)
        self.assertEqual((other / "r/theirs/q").read_text(), "kept\n")
        self.assertEqual((one / "r/theirs/q").read_text(), "kept\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
