#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real cluster, mounted: browsed, searched, copied and backed up, also while its regions move.

Run by on_hbase: mounted.py CELLFS FILL
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from cluster import NAME, cellfs, control, run, silence

FILL = sys.argv[2]
ORDERS = [f"r{number:04}" for number in range(3000)]


def note_of(number):
    return {1: "second\n"}.get(number, f"order {number}\n")


class Mounted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run(FILL)
        cls.directory = pathlib.Path(tempfile.mkdtemp())
        cls.root = cls.directory / "m"
        cls.root.mkdir()
        cellfs("mount", "-o", "ro", NAME, str(cls.root))
        cls.orders = cls.root / "shop/orders"
        cls.notes = cls.root / "default/notes"

    @classmethod
    def tearDownClass(cls):
        cellfs("umount", str(cls.root))
        shutil.rmtree(cls.directory)

    def test_the_mount_table_has_its_name(self):
        table = pathlib.Path("/proc/self/mountinfo").read_text()
        self.assertRegex(table, f" {self.root} .* fuse.cellfs {NAME} ro")

    def test_the_tree_is_all_there(self):
        self.assertEqual(sorted(os.listdir(self.root)), ["default", "hbase", "shop"])
        self.assertEqual(sorted(os.listdir(self.orders)), [".schema.toml"] + ORDERS)
        self.assertEqual(sorted(os.listdir(self.orders / "r0010")), ["d", "n"])
        self.assertEqual(len(os.listdir(self.notes / "many/text")), 500)
        self.assertEqual((self.notes / "a%2Fb%00c/text").exists(), True)
        self.assertIn("orders", " ".join(os.listdir(self.root / "hbase/meta")))

    def test_values_history_and_counters(self):
        column = self.orders / "r0001/d"
        self.assertEqual((column / "note").read_text(), "second\n")
        versions = sorted(os.listdir(column / ".versions/note"))
        texts = [(column / ".versions/note" / version).read_text() for version in versions]
        self.assertEqual(texts, ["order 1\n", "first\n", "second\n"])
        self.assertEqual((column / f"note@{versions[1]}").read_text(), "first\n")
        self.assertEqual((self.orders / f".asof/{versions[1]}/r0001/d/note").read_text(), "first\n")
        self.assertEqual((self.orders / "r0020/n/.counters/count").read_text(), "20\n")
        self.assertEqual((self.notes / "big/text/b").read_bytes(), b"b" * 3_000_000)

    def test_schemas_are_the_clusters(self):
        text = (self.orders / ".schema.toml").read_text()
        self.assertIn("VERSIONS = 5", text)
        self.assertIn('splits = ["r1000", "r2000"]', text)

    def test_filters_run_there(self):
        scan = self.orders / ".scan/filter=ValueFilter(=%2C'substring:order 77')"
        self.assertEqual(sorted(os.listdir(scan)), ["r0077"] + [f"r077{i}" for i in range(10)])

    def test_nothing_can_be_written_where_it_is_said(self):
        for change in (lambda: (self.orders / "r0001/d/new").write_text("x"),
                       lambda: (self.orders / "r0001/d/note").unlink(),
                       lambda: (self.root / "default/t").mkdir()):
            with self.assertRaises(OSError) as failed:
                change()
            self.assertEqual(failed.exception.strerror, "Read-only file system")

    def test_what_is_not_there_is_not(self):
        for path in ("default/none", "shop/orders/none", "shop/orders/r0001/d/none",
                     "shop/orders/r0001/x"):
            self.assertFalse((self.root / path).exists(), path)

    def test_commands_take_its_name_and_paths_of_the_mount(self):
        for target in (f"{NAME}shop/orders", str(self.orders)):
            self.assertIn("second", cellfs("get", target, "r0001", "d:note"))
            self.assertEqual(cellfs("count", target).strip(), "3000")
            self.assertIn("put", cellfs("log", f"{target}/r0001/d/note"))
        self.assertIn("shop:orders", cellfs("list", NAME))
        self.assertIn("cannot connect", cellfs("get", "hbase://127.0.0.1:1/", "t", "r", code=3))

    def test_who_goes_through_a_tree_asks_seldom(self):
        self.assertEqual(len(os.listdir(self.root / "default/rows")), 10_001)
        for most, words in ((25, "ls -l default/rows"), (60, "find default/cells -name q"),
                            (15, "cat default/notes/things/text/t*")):
            self.assertLessEqual(self.requests_of(words), most, words)

    def requests_of(self, words):
        """How many requests it takes on a new mount: the fewest of three times, for the servers also
        ask each other. However slow it is, what was read is shown all the while."""
        counts = []
        for _ in range(3):
            mount = self.directory / "counted"
            mount.mkdir()
            cellfs("mount", "-o", "cache_time=600000", NAME, str(mount))
            try:
                before = int(control("requests"))
                run("sh", "-c", f"cd {mount} && {words}", timeout=200)
                counts.append(int(control("requests")) - before)
            finally:
                cellfs("umount", str(mount))
                mount.rmdir()
        return min(counts)

    def test_silence_ends_for_who_gives_up_and_at_the_deadline(self):
        hasty = self.directory / "hasty"
        hasty.mkdir()
        cellfs("mount", "-o", "hbase.client.operation.timeout=2000", NAME, str(hasty))
        try:
            time.sleep(1.5)
            with silence():
                waiting = [subprocess.Popen(["cat", str(path)], stderr=subprocess.DEVNULL)
                           for path in (self.orders / "r0002/d/note", self.root / "shop/none/x")]
                with self.assertRaises(OSError) as failed:
                    (hasty / "shop/orders/r0002/d/note").read_text()
                self.assertEqual(failed.exception.strerror, "Connection timed out")
                for process in waiting:
                    self.assertIsNone(process.poll())
                    process.send_signal(signal.SIGINT)
                for process in waiting:
                    self.assertEqual(process.wait(timeout=10), -signal.SIGINT)
            note = hasty / "shop/orders/r0002/d/note"
            self.assertEqual(note.read_text(), "order 2\n")
        finally:
            cellfs("umount", str(hasty))

    def test_several_mounts_of_one_cluster(self):
        other = self.directory / "other"
        other.mkdir()
        cellfs("mount", "-o", "file_mode=0600,hbase_user=ann", NAME, str(other))
        try:
            note = other / "shop/orders/r0002/d/note"
            self.assertEqual(note.read_text(), "order 2\n")
            self.assertEqual(note.stat().st_mode & 0o777, 0o600)
        finally:
            cellfs("umount", str(other))

    def test_tools_copy_all_of_it_while_regions_move(self):
        moves = threading.Thread(target=lambda: [control(command) for command in (
            "add_server", "move shop:orders", "split shop:orders r0500", "restart_server")])
        moves.start()
        try:
            for turn in range(3):
                copy = self.directory / f"copy{turn}"
                run("rsync", "-a", f"{self.orders}/", f"{copy}/", timeout=150)
                for number, row in enumerate(ORDERS):
                    self.assertEqual((copy / row / "d/note").read_text(), note_of(number))
                self.assertEqual(len(list(copy.glob("*/n/count"))), 300)
                shutil.rmtree(copy)
                found = run("grep", "-rl", "order 2[0-9]*5$", str(self.orders), timeout=150)
                self.assertEqual(len(found.split()), 1 + 10 + 100)
        finally:
            moves.join()
        run("tar", "-C", str(self.root), "-cf", "/dev/null", "shop", "default", timeout=150)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
