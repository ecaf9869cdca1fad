#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A mount of a database: tables that other programs have made by the document's own SQL, what tools do there,
copies from other stores and back, and the rows in SQL afterwards.

Run by on_database: mounted.py CELLFS
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

CELLFS = os.path.abspath(sys.argv.pop(1))
SOCKET = os.environ["CELLFS_TEST_DATABASE"]
NAME = f"obkv+unix://root@{SOCKET}/"
ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["CELLFS"] = CELLFS
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
PYTEST = shutil.which("pytest-3") or shutil.which("pytest")
# Who loses patience ends us so; what was mounted is unmounted all the same.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def run(*words, code=0, timeout=120, **how):
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, **how)
    assert done.returncode == code, (words, done.returncode, done.stdout[-800:], done.stderr[-800:])
    return done.stdout + done.stderr


def sql(text):
    """The answer's rows."""
    return run("mariadb", "-S", SOCKET, "-u", "root", "--batch", "--skip-column-names",
               "-e", text).splitlines()


class Mounted(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.stack.callback(shutil.rmtree, self.directory)
        sql("DROP DATABASE IF EXISTS shop; CREATE DATABASE shop")

    def mount(self, store=NAME, options="obkv_partitions=3"):
        root = self.directory / f"m{len(list(self.directory.iterdir()))}"
        root.mkdir()
        run(CELLFS, "mount", "-o", options, str(store), str(root))
        self.stack.callback(run, CELLFS, "umount", str(root))
        return root

    def make_theirs(self):
        sql("CREATE TABLE shop.`htable1$family1` (K varbinary(1024) NOT NULL, Q varbinary(256) NOT NULL,"
            " T bigint(20) NOT NULL, V varbinary(1024), PRIMARY KEY (K, Q, T))"
            " PARTITION BY KEY(K) PARTITIONS 97")
        sql("INSERT INTO shop.`htable1$family1` VALUES ('row1', 'q', -1600000000000, 'first'),"
            " ('row1', 'q', -1600000001000, 'second'), ('row2', 'p', -1600000002000, 'other')")

    def test_what_others_made_is_browsed_changed_and_backed_up(self):
        self.make_theirs()
        root = self.mount()
        table = root / "shop/htable1"
        self.assertEqual(sorted(os.listdir(table)), [".schema.toml", "row1", "row2"])
        file = table / "row1/family1/q"
        self.assertEqual(file.read_text(), "second")
        self.assertEqual(file.stat().st_mtime, 1600000001)
        self.assertEqual((table / "row1/family1/q@1600000000000").read_text(), "first")
        self.assertEqual(sorted(os.listdir(table / "row1/family1/.versions/q")),
                         ["1600000000000", "1600000001000"])
        self.assertFalse((table / "row1/family1/.deleted").exists())
        run("rsync", "-a", f"{table}/", f"{self.directory}/backup/")
        self.assertEqual((self.directory / "backup/row2/family1/p").read_text(), "other")
        self.assertEqual((self.directory / "backup/row2/family1/p").stat().st_mtime, 1600000002)
        file.write_text("third")
        run("sed", "-i", "s/other/changed/", str(table / "row2/family1/p"))
        (table / "row3/family1").mkdir(parents=True)
        (table / "row3/family1/new").write_text("new")
        rows = sql("SELECT K, Q, V FROM shop.`htable1$family1` ORDER BY K, Q, T")
        self.assertEqual(rows, ["row1\tq\tthird", "row1\tq\tsecond", "row1\tq\tfirst",
                                "row2\tp\tchanged", "row2\tp\tother", "row3\tnew\tnew"])
        run("rm", "-r", str(table / "row1"))
        self.assertEqual(sql("SELECT COUNT(*) FROM shop.`htable1$family1` WHERE K = 'row1'"), ["0"])
        sql("INSERT INTO shop.`htable1$family1` VALUES ('row4', 'q', -5, 'from outside')")
        run("bash", "-c", f"for i in $(seq 100); do [ -e {table}/row4/family1/q ] && exit 0; sleep 0.1; done; exit 1")
        self.assertEqual((table / "row4/family1/q").read_text(), "from outside")

    def test_copies_by_tar_and_restic_have_all_values_and_times(self):
        self.make_theirs()
        shop = self.mount() / "shop"
        archive = str(self.directory / "t.tar")
        run("tar", "-cf", archive, "-C", str(shop), "htable1")
        run("tar", "-df", archive, "-C", str(shop))
        (shop / "again").mkdir()
        run("tar", "-xf", archive, "-C", str(shop), "--transform", "s/^htable1/again/")
        newest = ("SELECT K, Q, T, V FROM shop.`{}$family1` AS t WHERE T ="
                  " (SELECT MIN(T) FROM shop.`{}$family1` AS s WHERE s.K = t.K AND s.Q = t.Q) ORDER BY K, Q")
        rows = sql(newest.replace("{}", "htable1"))
        self.assertEqual(len(rows), 2)
        self.assertEqual(sql(newest.replace("{}", "again")), rows)
        if shutil.which("restic") is None:
            return
        restic = ["restic", "--quiet", "--no-cache", "--repo", str(self.directory / "repository")]
        environment = {**os.environ, "RESTIC_PASSWORD": "p"}
        for words in (["init"], ["backup", "htable1"],
                      ["restore", "latest", "--target", str(self.directory / "restored")]):
            run(*restic, *words, cwd=shop, env=environment)
        run("diff", "-r", str(shop / "htable1"), str(self.directory / "restored/htable1"))

    def test_what_is_too_long_is_refused(self):
        self.make_theirs()
        family = self.mount() / "shop/htable1/row1/family1"
        with self.assertRaises(OSError):
            (family / "q").write_text("v" * 1025)
        self.assertEqual((family / "q").read_text(), "second")
        self.assertIn("longer than its column takes", (family.parents[3] / ".cellfs/errors").read_text())

    def test_a_copy_of_another_store_comes_back_with_values_times_and_history(self):
        other = self.mount(self.directory / "store", "controls=visible")
        root = self.mount(options="obkv_partitions=3,controls=visible")
        for row in ("a", "b"):
            family = other / f"default/t/{row}/f"
            family.mkdir(parents=True)
            for version in range(3):
                (family / "q").write_text(f"{row}{version}")
            os.utime(family / "q", ns=(0, 1_600_000_000_123_456_789))
        run("rsync", "-a", f"{other}/default/t/", f"{root}/shop/t/")
        run("rsync", "-a", f"{root}/shop/t/", f"{other}/default/again/")

        def facts(table):
            return {str(path.relative_to(table)): (path.read_bytes(), path.stat().st_mtime_ns)
                    for path in table.rglob("*") if path.is_file() and path.name != ".schema.toml"}
        first = facts(other / "default/t")
        self.assertEqual(len(first), 8)
        self.assertEqual(facts(root / "shop/t"), first)
        self.assertEqual(facts(other / "default/again"), first)

    def test_commands_speak_to_it_as_to_any_store(self):
        run(CELLFS, "create", f"{NAME}shop/t", "f", "-o", "x", code=2)
        run(CELLFS, "create", f"{NAME}shop/t", "f")
        run(CELLFS, "put", f"{NAME}shop/t", "r", "f:q", "v")
        self.assertIn("f:q", run(CELLFS, "scan", f"{NAME}shop/t"))
        self.assertEqual(run(CELLFS, "incr", f"{NAME}shop/t", "r", "f:n", "5").strip(), "5")
        self.assertIn("keeps no grants", run(CELLFS, "grant", f"{NAME}shop/t", "bob", "R", code=2))
        self.assertIn("f:VERSIONS", run(CELLFS, "describe", f"{NAME}shop/t"))
        run(CELLFS, "disable", f"{NAME}shop/t")
        run(CELLFS, "drop", f"{NAME}shop/t")
        self.assertEqual(sql("SHOW TABLES FROM shop"), [])

    def test_owners_and_modes_are_kept_for_all_mounts(self):
        first, second = self.mount(), self.mount()
        family = first / "shop/t/r/f"
        family.mkdir(parents=True)
        (family / "q").write_text("v")
        os.chmod(family / "q", 0o640)
        os.chown(family / "q", 1234, 4321)
        run("bash", "-c", f"for i in $(seq 100); do [ $(stat -c %a:%u:%g {second}/shop/t/r/f/q) = 640:1234:4321 ]"
            " && exit 0; sleep 0.1; done; exit 1")

    def test_a_database_that_ends_is_an_error_and_not_a_hang(self):
        if os.environ["CELLFS_TEST_DATABASE_KIND"] != "mariadb":
            self.skipTest("it shows what libmariadb does")
        root = self.mount(options="obkv_partitions=3,obkv_operation_timeout=3000,obkv_cache_time=0")
        (root / "shop/t/r/f").mkdir(parents=True)
        (root / "shop/t/r/f/q").write_text("v")
        process = int(os.environ["CELLFS_TEST_DATABASE_PROCESS"])
        os.kill(process, signal.SIGSTOP)
        try:
            run("timeout", "20", "cat", str(root / "shop/t/r/f/q"), code=1)
            run("timeout", "20", "bash", "-c", f"echo w > {root}/shop/t/r/f/q", code=1)
        finally:
            os.kill(process, signal.SIGCONT)
        run("bash", "-c", f"for i in $(seq 100); do cat {root}/shop/t/r/f/q && exit 0; sleep 0.1; done; exit 1")

    def test_the_examples(self):
        self.addCleanup(sql, "DROP DATABASE IF EXISTS `default`")  # others count what is there
        examples = ["employees", "webtable"]
        if os.environ["CELLFS_TEST_DATABASE_KIND"] == "mariadb":
            examples.append("packages")  # twelve thousand transactions: minutes elsewhere
        for example in examples:
            run("bash", str(ROOT / f"examples/{example}.sh"), stdin=subprocess.DEVNULL, timeout=500,
                env={**os.environ, "STORE": NAME})

    @unittest.skipUnless(PYTEST, "there is no pytest")
    def test_the_matrix_of_tools(self):
        done = subprocess.run([PYTEST, "-q", "-p", "no:cacheprovider", "test_tools.py"],
                              cwd=ROOT / "tests/mount", text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:])
        print(done.stdout.splitlines()[-1], flush=True)


if __name__ == "__main__":
    unittest.main()
