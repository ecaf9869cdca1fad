#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real cluster whose clock is another than this machine's: it is seen, shown, and nothing is written.

Run by on_hbase: clocks.py CELLFS
"""

import contextlib
import errno
import pathlib
import sys
import tempfile
import time
import unittest

from cluster import NAME, cellfs, control


class Clocks(unittest.TestCase):
    def mount(self, name):
        root = self.directory / name
        root.mkdir()
        cellfs("mount", NAME, str(root))
        self.stack.callback(cellfs, "umount", str(root))
        return root, root / "default/t/r/f/note"

    def test_by_a_clock_that_is_wrong_nothing_is_written(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.directory = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        cellfs("create", f"{NAME}default/t", "f")
        root, note = self.mount("right")
        note.parent.mkdir(parents=True)
        note.write_text("before\n")
        self.assertIn("clock_difference_ms = 0 ", (root / ".cellfs/status").read_text())
        self.assertNotIn("clock", cellfs("status", str(root)))

        control("skew 100000")
        time.sleep(4)  # region servers report every three seconds
        root, note = self.mount("wrong")
        with self.assertRaises(OSError) as failed:
            note.write_text("after\n")
        self.assertEqual(failed.exception.errno, errno.EIO)
        with self.assertRaises(OSError) as failed:
            note.unlink()
        self.assertEqual(failed.exception.errno, errno.EIO)
        self.assertIn("behind the cluster's", (root / ".cellfs/errors").read_text())
        self.assertIn("behind the cluster's; nothing is written", cellfs("status", str(root)))
        self.assertRegex((root / ".cellfs/status").read_text(), "clock_difference_ms = -9[0-9]{4} ")
        self.assertEqual(note.read_text(), "before\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
