#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables on a server that knows TABLEGROUP and KV_ATTRIBUTES: MariaDB, told to keep options that it does not know,
behind a proxy that says it is OceanBase.

Run by on_database: options.py CELLFS
"""

import contextlib
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
QUERY = b"\x03"
KEEP = "SET sql_mode = 'IGNORE_BAD_TABLE_OPTIONS'; "


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def sql(text):
    return run("mariadb", "-S", SERVER, "-u", "root", "--batch", "--raw", "--skip-column-names", "-e", KEEP + text)


class Options(unittest.TestCase):
    def setUp(self):
        if os.environ["CELLFS_TEST_DATABASE_KIND"] != "mariadb":
            self.skipTest("it keeps no options that it does not know")
        self.groups = []
        sql("DROP DATABASE IF EXISTS shop; CREATE DATABASE shop")
        with contextlib.ExitStack() as stack:
            directory = pathlib.Path(tempfile.mkdtemp())
            stack.callback(shutil.rmtree, directory)
            proxy = Proxy(directory / "socket", SERVER, self.rewrite)
            stack.callback(proxy.close)
            self.table = f"obkv+unix://root@{proxy.path}/shop/t"
            self.addCleanup(stack.pop_all().close)

    def rewrite(self, request):
        if b" TABLEGROUP IF " in request:
            self.groups.append(request[1:].decode())
            return QUERY + b"DO 0"
        request = request.replace(b"VERSION()", b"'5.7.25-OceanBase-v4.2.5.0'")
        return request.replace(b"'STRICT_ALL_TABLES'", b"'IGNORE_BAD_TABLE_OPTIONS'")

    def made(self, family):
        return sql(f"SHOW CREATE TABLE shop.`t${family}`")

    def test_they_are_said_when_a_table_is_made_and_heard(self):
        run(CELLFS, "create", self.table, "f:VERSIONS=3,TTL=60", "g")
        self.assertIn("KV_ATTRIBUTES`='{\"Hbase\":{\"MaxVersions\":3,\"TimeToLive\":60}}'", self.made("f"))
        self.assertIn("`TABLEGROUP`='t'", self.made("f"))
        self.assertIn("`TABLEGROUP`='t'", self.made("g"))
        self.assertEqual(self.groups[0], "CREATE TABLEGROUP IF NOT EXISTS `t` SHARDING = 'ADAPTIVE'")
        sql("ALTER TABLE shop.`t$f` KV_ATTRIBUTES='{\"Hbase\": {\"MaxVersions\": 7, \"CreatedBy\": \"Admin\"}}'")
        described = run(CELLFS, "describe", self.table)
        self.assertIn("f:TTL=FOREVER,VERSIONS=7", described)
        run(CELLFS, "alter", self.table, "f:VERSIONS=2")
        self.assertIn("\"CreatedBy\":\"Admin\",\"MaxVersions\":2", self.made("f"))
        self.assertIn("f:VERSIONS=2", run(CELLFS, "describe", self.table))
        run(CELLFS, "disable", self.table)
        run(CELLFS, "drop", self.table)
        self.assertEqual(self.groups[-1], "DROP TABLEGROUP IF EXISTS `t`")

    def test_what_the_server_looks_after_is_left_to_it(self):
        run(CELLFS, "create", self.table, "f:VERSIONS=1", "g")
        for version in "12":
            run(CELLFS, "put", self.table, "r", "f:q", version)
        run(CELLFS, "compact", self.table)
        self.assertEqual(sql("SELECT COUNT(*) FROM shop.`t$f`").strip(), "2")


if __name__ == "__main__":
    unittest.main()
