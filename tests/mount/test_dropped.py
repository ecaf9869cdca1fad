# SPDX-License-Identifier: MIT
"""Tables and namespaces that were removed and are kept: .deleted of a namespace and of the root."""

import errno
import os
import time

from mounts import CELLFS, fails_with, sh, versions


def test_rm_of_a_table_and_back(mount):
    sh("mkdir -p default/t/r/f && echo one >default/t/r/f/q && echo two >default/t/r/f/q &&"
       "chown 1234:4321 default/t/r/f/q && chmod 640 default/t/r/f/q", cwd=mount.path)
    history = versions(mount / "default/t/r/f/q")
    before = os.readlink(mount / ".asof/now")
    for back in ("t", "u"):
        sh("rm -rf default/t", cwd=mount.path)
        assert os.listdir(mount / "default") == [".namespace.toml"]
        assert os.listdir(mount / "default/.deleted") == ["t"]
        assert (mount / ".asof" / before / "default/t/r/f/q").read_text() == "two\n"
        mount.remount()
        assert mount.status()["kept_tables"] == 1
        sh(f"mv default/.deleted/t default/{back}", cwd=mount.path)
        assert os.listdir(mount / "default/.deleted") == []
        sh("mkdir -p r/f && cp -a .deleted/r/f/q r/f/q", cwd=mount / "default" / back)
        assert versions(mount / f"default/{back}/r/f/q")[-len(history):] == history
        assert (mount / f"default/{back}/r/f/q").read_text() == "two\n"
        owner = os.stat(mount / f"default/{back}/r/f/q")
        assert (owner.st_uid, owner.st_gid, owner.st_mode & 0o777) == (1234, 4321, 0o640)


def test_the_table_as_it_was(mount):
    sh("mkdir -p default/t/r/f default/t/s/f && echo one >default/t/r/f/q && echo two >default/t/s/f/p &&"
       "chmod 600 default/t/s/f/p", cwd=mount.path)
    before = os.readlink(mount / ".asof/now")
    sh(f"rm -rf default/t && cp -a .asof/{before}/default/t default/t", cwd=mount.path)
    assert (mount / "default/t/r/f/q").read_text() == "one\n"
    assert (mount / "default/t/s/f/p").read_text() == "two\n"
    assert os.stat(mount / "default/t/s/f/p").st_mode & 0o777 == 0o600


def test_mv_that_cannot_rename_frees_nothing(mount, tmp_path):
    sh("mkdir -p default/t/r/f n/t/r/f && echo one | tee default/t/r/f/q >n/t/r/f/q && rm -rf default/t n &&"
       "mkdir -p default/t n", cwd=mount.path)
    for command in ("mv default/.deleted/t default/t", f"mv default/.deleted/t {tmp_path}",
                    "cp -a default/.deleted/t default/u", "mv .deleted/n n", "ls default/.deleted/t",
                    f"rsync -a default/.deleted/t {tmp_path}"):
        assert sh(command, cwd=mount.path, check=False)[0] != 0, command
        assert os.listdir(mount / "default/.deleted") == ["t"]
        assert os.listdir(mount / ".deleted") == ["n"]
    assert "rm -r frees it for good" in (mount / ".cellfs/errors").read_text()
    sh("rmdir default/t && mv default/.deleted/t default/t && rm -r .deleted/n", cwd=mount.path)
    assert (mount / "default/t/.deleted/r/f/q").read_text() == "one\n"
    assert mount.status()["kept_tables"] == 0


def test_restore_knows_what_was_before_the_drop(mount):
    sh("mkdir -p default/t/r/f default/t/s/f && echo one >default/t/r/f/q && echo two >default/t/s/f/p",
       cwd=mount.path)
    before = os.readlink(mount / ".asof/now")
    time.sleep(0.01)
    sh("rm -rf default/t && mv default/.deleted/t default/t", cwd=mount.path)
    sh(f"{CELLFS} restore --at {before} {mount}/default/t")
    assert (mount / "default/t/r/f/q").read_text() == "one\n"
    assert (mount / "default/t/s/f/p").read_text() == "two\n"


def test_restore_knows_what_a_table_held_under_other_names(mount):
    sh("mkdir -p default/v/r/f && echo one >default/v/r/f/q", cwd=mount.path)
    before = os.readlink(mount / ".asof/now")
    time.sleep(0.01)
    sh("mv default/v default/w && mkdir -p default/v/r/f && echo other >default/v/r/f/q &&"
       "rm -r default/v && mv default/w default/v && echo two >default/v/r/f/q", cwd=mount.path)
    sh(f"{CELLFS} restore --at {before} {mount}/default/v")
    assert (mount / "default/v/r/f/q").read_text() == "one\n"


def test_the_past_of_a_removed_namespace_is_copied_back(mount):
    sh("mkdir -p n/t/r/f && echo one >n/t/r/f/q && chmod 755 n n/t n/t/r n/t/r/f && chmod 644 n/t/r/f/q",
       cwd=mount.path)
    before = os.readlink(mount / ".asof/now")
    time.sleep(0.01)
    sh(f"rm -rf n && cp -a .asof/{before}/n .", cwd=mount.path)
    modes = [os.stat(mount / path).st_mode & 0o777 for path in ("n", "n/t", "n/t/r", "n/t/r/f", "n/t/r/f/q")]
    assert modes == [0o755] * 4 + [0o644]
    assert (mount / "n/t/r/f/q").read_text() == "one\n"


def test_a_copy_of_what_was_dropped_for_good_fails(mount, tmp_path):
    sh("mkdir -p default/t/r/f && echo one >default/t/r/f/q", cwd=mount.path)
    schema = (mount / "default/t/.schema.toml").read_text()
    (mount / "default/t/.schema.toml").write_text(schema.replace("2592000", "0"))
    past = mount / "default/.asof" / os.readlink(mount / ".asof/now")
    assert os.listdir(past) == [".namespace.toml", "t"]
    sh(f"{CELLFS} drop --force {mount.path} t")
    code, _, _ = sh(f"rsync -a {past}/ {tmp_path}/copy/", check=False)
    assert code != 0 or not (tmp_path / "copy/t").exists()


def test_rm_of_a_namespace_and_back(mount):
    sh("mkdir -p n/t/r/f n/u/r/f n/empty && echo one >n/t/r/f/q && echo two >n/u/r/f/q && chmod 750 n",
       cwd=mount.path)
    sh("rm -rf n", cwd=mount.path)
    assert sorted(os.listdir(mount.path)) == ["default", "hbase"]
    assert os.listdir(mount / ".deleted") == ["n"]
    mount.remount()
    sh("mv .deleted/n n && mv n/.deleted/t n/t", cwd=mount.path)
    assert os.stat(mount / "n").st_mode & 0o777 == 0o750
    assert os.listdir(mount / "n/.deleted") == ["u"]
    assert (mount / "n/t/.deleted/r/f/q").read_text() == "one\n"
    sh("rm -r n/.deleted/u && rm -rf n/t && rm -r n/.deleted/t && rmdir n", cwd=mount.path)
    assert os.listdir(mount / ".deleted") == []
    assert mount.status()["kept_tables"] == 0


def test_the_schema_says_for_how_long(mount):
    sh("mkdir -p default/t/r/f && echo one >default/t/r/f/q", cwd=mount.path)
    schema = (mount / "default/t/.schema.toml").read_text()
    assert "DROPPED_TTL" in schema and "2592000" in schema
    (mount / "default/t/.schema.toml").write_text(schema.replace("2592000", "0"))
    sh("rm -r default/t", cwd=mount.path)
    assert os.listdir(mount / "default/.deleted") == []


def test_a_store_with_kept_tables_is_whole(mount):
    sh("mkdir -p default/t/r/f && echo one >default/t/r/f/q && rm -r default/t", cwd=mount.path)
    assert "no damage" in mount.command("check")
    mount.stop()
    assert "no damage" in sh(f"{CELLFS} check {mount.store}")
    mount.start()
    assert os.listdir(mount / "default/.deleted") == ["t"]


def test_what_is_freed_gives_its_files_back(mount):
    sh("mkdir -p default/t/r/f && head -c 1000000 /dev/urandom >default/t/r/f/q", cwd=mount.path)
    mount.command("flush")
    tables = set(os.listdir(mount.store / "tables"))
    sh("rm -rf default/t", cwd=mount.path)
    assert set(os.listdir(mount.store / "tables")) >= tables
    sh("rm -r default/.deleted/t", cwd=mount.path)
    assert len(os.listdir(mount.store / "tables")) < len(tables)
    with fails_with(errno.ENOENT):
        os.rename(mount / "default/.deleted/t", mount / "default/t")


def test_empty_tables_leave_no_litter(mount):
    sh("for i in 1 2 3; do mkdir -p default/t/r/f && rm -r default/t; done", cwd=mount.path)
    assert os.listdir(mount / "default/.deleted") == []
