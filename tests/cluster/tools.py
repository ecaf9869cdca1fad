#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ordinary tools do on a mount, on a real cluster: the matrix of docs/tools.md, the examples, and
copies from a store to a cluster and back.

Run by on_hbase: tools.py CELLFS
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from cluster import CELLFS, NAME, cellfs, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["CELLFS"] = os.path.abspath(CELLFS)
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.path.insert(0, str(ROOT / "tests/mount"))
from mounts import empty_remote  # noqa: E402

PYTEST = shutil.which("pytest-3") or shutil.which("pytest")


class Tools(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.stack.callback(empty_remote)
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.stack.callback(shutil.rmtree, self.directory)

    def mount(self, name, store, *options):
        root = self.directory / name
        root.mkdir()
        cellfs("mount", *options, str(store), str(root))
        self.stack.callback(cellfs, "umount", str(root))
        return root

    @unittest.skipUnless(PYTEST, "there is no pytest")
    def test_the_matrix(self):
        done = subprocess.run([PYTEST, "-q", "-p", "no:cacheprovider", "test_tools.py"],
                              cwd=ROOT / "tests/mount", text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout[-5000:])
        print(done.stdout.splitlines()[-1], flush=True)

    def test_the_examples(self):
        for example in ("webtable", "packages", "employees"):
            done = subprocess.run(["bash", ROOT / f"examples/{example}.sh"], stdin=subprocess.DEVNULL,
                                  env={**os.environ, "STORE": NAME}, text=True, timeout=500,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout[-3000:])

    @unittest.skipUnless(PYTEST, "there is no pytest")
    def test_the_page_on_clusters_shows_what_happens(self):
        from test_documents import check_document
        text = (ROOT / "docs/cluster.md").read_text()
        check_document(text.replace("master1:16000", os.environ["CELLFS_TEST_CLUSTER"]), self.directory / "home")

    @staticmethod
    def facts(table):
        """{path: (bytes, time)} of a table's files."""
        return {str(path.relative_to(table)): (path.read_bytes(), path.stat().st_mtime_ns)
                for path in table.rglob("*") if path.is_file() and path.name != ".schema.toml"}

    @staticmethod
    def history(family):
        versions = family / ".versions"
        return {name: {stamp: (versions / name / stamp).read_bytes()
                       for stamp in os.listdir(versions / name)}
                for name in os.listdir(family) if not name.startswith(".")}

    def make(self, root, table):
        for number in range(40):
            family = root / f"default/{table}/row{number:02}/{'fg'[number % 2]}"
            family.mkdir(parents=True)
            (family / "value").write_bytes(os.urandom(number * 100))
            os.utime(family / "value", ns=(0, (1_600_000_000 + number) * 10**9 + 123_456_789))
            (family / "ü b").write_text("first")
            (family / "ü b").write_text("second")
        return root / f"default/{table}"

    def test_rsync_from_a_store_to_the_cluster_and_back(self):
        source = self.make(self.mount("source", self.directory / "store"), "copied")
        cluster = self.mount("cluster", NAME)
        run("rsync", "-a", f"{source}/", f"{cluster}/default/copied/", timeout=120)
        back = self.mount("back", self.directory / "restored")
        run("rsync", "-a", f"{cluster}/default/copied/", f"{back}/default/copied/", timeout=120)
        facts = self.facts(source)
        self.assertEqual(len(facts), 80)
        self.assertEqual(self.facts(cluster / "default/copied"), facts)
        self.assertEqual(self.facts(back / "default/copied"), facts)
        for one, other in ((source, cluster), (cluster / "default/copied", back)):
            target = other / "default/copied"
            self.assertNotIn("<f", run("rsync", "-ani", f"{one}/", f"{target}/", timeout=120))

    def test_rsync_with_visible_controls_carries_the_history(self):
        """A time that the store only remembers becomes a version more there, which cannot be withdrawn."""
        options = ("-o", "controls=visible")
        source = self.make(self.mount("source", self.directory / "store", *options), "history")
        cluster = self.mount("cluster", NAME, *options)
        run("rsync", "-a", f"{source}/", f"{cluster}/default/history/", timeout=240)
        back = self.mount("back", self.directory / "restored", *options)
        run("rsync", "-a", f"{cluster}/default/history/", f"{back}/default/history/", timeout=240)
        for row in ("row00/f", "row01/g", "row39/g"):
            history = self.history(source / row)
            self.assertEqual(len(history["ü b"]), 2)
            for copy in (cluster, back):
                copied = self.history(copy / "default/history" / row)
                self.assertEqual(copied["ü b"], history["ü b"])
                self.assertEqual(copied["value"] | history["value"], copied["value"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
