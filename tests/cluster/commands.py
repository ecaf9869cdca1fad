#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HBase's shell, export, import and verify, on a real cluster.

Run by on_hbase: commands.py CELLFS
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from cluster import CELLFS, NAME, cellfs

TYPED = r"""create_namespace 'shop', {'team' => 'x'}
create 'shop:t', {NAME => 'f', VERSIONS => 3}, {NAME => 'g', KEEP_DELETED_CELLS => true}, SPLITS => ['m']
get_splits 'shop:t'
put 'shop:t', 'r', 'f:q', 'old', 5
put 'shop:t', 'r', 'f:q', 'new', 7
put 'shop:t', "r\x00\xff", 'g:q', "bin\x01\xfe", 7
deleteall 'shop:t', "r\x00\xff", 'g', 8
delete 'shop:t', 'r', 'f:q', 7
incr 'shop:t', 'c', 'f:n', 5
append 'shop:t', 'c', 'f:text', 'one'
append 'shop:t', 'c', 'f:text', ' more'
scan 'shop:t', {RAW => true, VERSIONS => 9}
scan 'shop:t', {FILTER => "QualifierFilter(=, 'binary:n')"}
alter 'shop:t', NAME => 'f', VERSIONS => 5
alter 'shop:t', METHOD => 'delete', NAME => 'nothing'
flush 'shop:t'
major_compact 'shop:t'
count 'shop:t'
list 'shop:.*'
describe_namespace 'shop'
"""
SHOWN = ["Total number of splits = 2\nm\n", "COUNTER VALUE = 5\n", "CURRENT VALUE = one more\n",
         " r column=f:q, timestamp=1970-01-01T00:00:00.005, value=old\n",
         " r column=f:q, timestamp=1970-01-01T00:00:00.007, type=Delete\n",
         " r\\x00\\xFF column=g:, timestamp=1970-01-01T00:00:00.008, type=DeleteFamily\n",
         "2/2 regions updated.\nDone.\n", "2 row(s)\n", "shop:t\n1 row(s)\n", "{NAME => 'shop', team => 'x'}\n"]


def run(*arguments, text=None):
    done = subprocess.run([CELLFS, *map(str, arguments)], input=text, capture_output=True, timeout=120, check=False, text=True)
    return done.returncode, done.stdout, done.stderr


class Commands(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.addCleanup(run, "shell", NAME, text="disable 'shop:t'\ndrop 'shop:t'\ndrop_namespace 'shop'\n")

    def store(self, name):
        """One of this machine, not mounted."""
        store, root = self.directory / name, self.directory / (name + ".mount")
        root.mkdir()
        cellfs("mount", str(store), str(root))
        cellfs("umount", str(root))
        return store

    def test_the_shell_reaches_the_cluster(self):
        code, out, error = run("shell", NAME, text=TYPED.replace("alter 'shop:t', METHOD => 'delete', NAME => 'nothing'\n", ""))
        self.assertEqual((code, error), (0, ""))
        for text in SHOWN:
            self.assertIn(text, out)
        code, _, error = run("shell", NAME, text="scan 'nowhere'\n")
        self.assertEqual((code, error), (1, "ERROR: Unknown table nowhere!\n"))
        for command in ("balancer", "snapshot 'shop:t', 's'"):
            self.assertEqual(run("shell", NAME, "-n", text=command + "\n")[::2],
                             (1, f"ERROR: {command.split()[0]}: nothing was done: that is for the cluster's own shell\n"))

    def test_a_table_goes_out_comes_in_and_is_the_same(self):
        self.assertEqual(run("shell", NAME, text=TYPED)[0], 1)
        file, store = self.directory / "export.jsonl", self.store("s")
        code, out, error = run("export", NAME + "shop")
        self.assertEqual((code, error), (0, ""))
        file.write_text(out)
        code, out, error = run("import", store, file)
        self.assertEqual((code, error), (0, ""), out)
        self.assertEqual(run("verify", NAME + "shop", store / "shop"), (0, "", ""))
        cellfs("put", f"{store}/shop/t/r", "f:q=newer")
        code, out, _ = run("verify", NAME + "shop", store / "shop")
        self.assertEqual((code, len(out.splitlines())), (1, 1))
        # And back, into the cluster.
        run("shell", NAME, text="disable 'shop:t'\ndrop 'shop:t'\ndrop_namespace 'shop'\n")
        code, text, _ = run("export", store / "shop")
        self.assertEqual(code, 0)
        code, out, error = run("import", NAME, text=text)
        self.assertEqual((code, error), (0, ""), out)
        self.assertEqual(run("verify", NAME + "shop", store / "shop"), (0, "", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
