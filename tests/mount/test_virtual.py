# SPDX-License-Identifier: MIT
"""What is not stored as it is shown: .deleted, .asof, .scan, the .toml files, /.cellfs, attributes."""

import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time

import pytest

from mounts import CELLFS, fails_with, sh, tree_of, versions, wait_until


# ---- .deleted ------------------------------------------------------------------------------------


@pytest.mark.parametrize("restore", ["cp .deleted/q q", "mv .deleted/q q", "cp -p .deleted/q q",
                                     "mv .deleted/q elsewhere"])
def test_what_was_deleted_is_restored(family, restore):
    (family / "q").write_text("precious")
    (family / "q").unlink()
    assert os.listdir(family / ".deleted") == ["q"]
    assert (family / ".deleted/q").read_text() == "precious"
    sh(restore, cwd=family)
    assert (family / restore.split()[-1]).read_text() == "precious"


def test_a_restored_column_is_no_longer_deleted(family):
    (family / "q").write_text("x")
    (family / "q").unlink()
    sh("cp .deleted/q q", cwd=family)
    assert os.listdir(family / ".deleted") == [] and os.listdir(family) == ["q"]


def test_rm_in_deleted_lets_compaction_free_it(mount, family):
    (family / "q").write_text("x")
    (family / "q").unlink()
    (family / ".deleted/q").unlink()
    assert os.listdir(family / ".deleted") == []
    mount.command("compact")
    assert [y for _, _, _, y in mount.raw() if y == 4] == []


@pytest.mark.parametrize("copy", [shutil.copy, shutil.copy2])
def test_pythons_copies_out_of_deleted_look_at_their_source_again(family, copy):
    (family / "q").write_text("precious")
    os.chmod(family / "q", 0o640)
    os.utime(family / "q", ns=(0, 1500000000123456789))
    (family / "q").unlink()
    copy(family / ".deleted/q", family / "q")
    assert (family / "q").read_text() == "precious" and os.stat(family / "q").st_mode & 0o777 == 0o640
    if copy is shutil.copy2:
        assert os.stat(family / "q").st_mtime_ns == 1500000000123456789
    assert os.listdir(family / ".deleted") == []
    assert sh("cat .deleted/q", cwd=family, check=False)[0] != 0  # for nobody else


def test_a_descriptor_of_a_deleted_column_outlives_its_restoration(family):
    (family / "q").write_text("precious")
    (family / "q").unlink()
    with open(family / ".deleted/q", "rb") as file:
        (family / "q").write_text("new")
        assert os.fstat(file.fileno()).st_size == 8


def test_an_asof_goes_on_seeing_what_was_freed(mount, family):
    (family / "q").write_text("x")
    past = mount / "default/t/.asof" / os.readlink(mount / "default/t/.asof/now") / "r/f/q"
    assert past.read_text() == "x"
    (family / "q").unlink()
    (family / ".deleted/q").unlink()
    for command in ("flush", "compact"):
        assert past.read_text() == "x" and os.listdir(family / ".deleted") == []
        mount.command(command)
    assert past.read_text() == "x"


def test_a_table_that_an_asof_holds_can_be_dropped(mount, family):
    cell = family / "q@5"
    cell.write_text("x")
    os.chmod(cell, 0o600)
    os.utime(cell, ns=(0, 77))
    table = mount / "default/t"
    assert os.listdir(table / ".asof" / os.readlink(table / ".asof/now")) == [".schema.toml", "r"]
    sh("rm -r t", cwd=mount / "default")
    assert os.listdir(mount / "default") == [".namespace.toml"]
    mount.family()
    cell.write_text("y")
    assert (os.stat(cell).st_mode & 0o777, os.stat(cell).st_mtime_ns) == (0o644, 5000000)


def test_deleted_takes_nothing_in(family):
    (family / "q").write_text("x")
    with pytest.raises(OSError):
        (family / ".deleted/p").write_text("x")
    with pytest.raises(OSError):
        os.rename(family / "q", family / ".deleted/q")


# ---- .deleted of a table and of a row ------------------------------------------------------------


def removed_row(mount):
    """A row of two families, that `rm -r` removed after this was noted of it."""
    row = mount.family().parent
    (row / "g").mkdir()
    for name in ("f/a", "f/b", "g/c"):
        (row / name).write_text("content of " + name)
    os.chmod(row / "f/a", 0o640)
    os.utime(row / "f/a", ns=(0, 1500000000123456789))
    os.chmod(row / "g", 0o750)
    before = attributes_of(row)
    shutil.rmtree(row)
    return row, before


def attributes_of(row):
    found = {}
    for path in sorted(row.rglob("*")):
        status = path.stat()
        found[str(path.relative_to(row))] = (
            (path.read_text(), status.st_mtime_ns) if path.is_file() else None,
            status.st_mode, status.st_uid, status.st_gid)
    return found


@pytest.mark.parametrize("remounted", [False, True])
@pytest.mark.parametrize("restore",
                         ["cp -a .deleted/r .", "mv .deleted/r .", "rsync -a .deleted/ ."])
def test_a_deleted_row_is_restored(mount, restore, remounted):
    row, before = removed_row(mount)
    if remounted:
        mount.remount()
    table = row.parent
    assert not row.exists() and os.listdir(table / ".deleted") == ["r"]
    assert sorted(attributes_of(table / ".deleted/r")) == ["f", "f/a", "f/b", "g", "g/c"]
    sh(restore, cwd=table)
    assert attributes_of(row) == before and os.listdir(table / ".deleted") == []


def test_single_files_of_a_deleted_row_are_restored(mount):
    row, before = removed_row(mount)
    (row / "f").mkdir(parents=True)
    sh("mv .deleted/r/f/a r/f/", cwd=row.parent)
    assert attributes_of(row)["f/a"] == before["f/a"]
    assert os.listdir(row.parent / ".deleted") == []  # the row shows something again
    assert os.listdir(row.parent / ".deleted/r/f") == ["b"]
    assert os.listdir(row / ".deleted") == ["g"] and os.listdir(row / ".deleted/g") == ["c"]
    sh("mkdir g; cp -p .deleted/g/c g/", cwd=row)
    assert attributes_of(row)["g/c"] == before["g/c"] and os.listdir(row / ".deleted") == []


def test_commands_take_a_deleted_row_for_the_row(mount):
    row, before = removed_row(mount)
    sh(f"{CELLFS} undelete r", cwd=row.parent / ".deleted")
    assert (row / "f/a").read_text() == "content of f/a" and (row / "g/c").exists()


def test_rm_frees_a_deleted_row(mount):
    row, _ = removed_row(mount)
    table = row.parent
    with fails_with(errno.ENOTEMPTY):
        (table / ".deleted/r").rmdir()
    sh("rm -r .deleted/r", cwd=table)
    assert os.listdir(table / ".deleted") == [] and not (table / ".deleted/r").exists()
    mount.command("compact")
    assert [y for _, _, _, y in mount.raw() if y == 4] == []


def test_nobody_enters_a_deleted_row_that_he_could_not_enter(make_mount):
    mount = make_mount("allow_other")
    row = mount.family().parent
    (row / "f/q").write_text("secret")
    os.chmod(row, 0o700)
    shutil.rmtree(row)
    as_nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups"
    assert sh(f"{as_nobody} ls {row.parent}/.deleted") == "r\n"
    assert sh(f"{as_nobody} cat {row.parent}/.deleted/r/f/q", check=False)[0] != 0
    sh(f"cat {row.parent}/.deleted/r/f/q")


# ---- .asof ---------------------------------------------------------------------------------------


def test_asof_shows_the_tree_of_a_moment(mount, family):
    (family / "q").write_text("before")
    (family / "gone").write_text("still here")
    moment = os.readlink(mount / "default/t/.asof/now")
    assert abs(int(moment) - time.time() * 1000) < 60000
    past = mount / "default/t/.asof" / moment / "r/f"
    assert past.joinpath("q").read_text() == "before"
    (family / "q").write_text("after, and longer")
    (family / "new").write_text("x")
    (family / "gone").unlink()
    assert tree_of(past) == {"q": b"before", "gone": b"still here"}
    for scope in (mount / ".asof" / moment / "default/t", mount / "default/.asof" / moment / "t"):
        assert tree_of(scope / "r/f") == tree_of(past)
    with fails_with(errno.EROFS):
        (past / "q").write_text("x")
    with fails_with(errno.EROFS):
        (past / "q").unlink()
    with fails_with(errno.EROFS):
        (past / "p").write_text("x")


def test_asof_of_explicit_timestamps(family):
    for timestamp in (3, 5, 6):
        (family / f"html@{timestamp}").write_text(f"v{timestamp}")
    asof = family.parent.parent / ".asof"
    assert [(asof / str(t) / "r/f/html").read_text() for t in (3, 4, 5, 6)] == ["v3", "v3", "v5", "v6"]
    assert not (asof / "2/r/f/html").exists() and os.listdir(asof / "2") == [".schema.toml"]
    assert (asof / "1970-01-01T00:00:00.005Z/r/f/html").read_text() == "v5"
    assert (asof / "-1h/r/f/html").read_text() == "v6"
    with fails_with(errno.ENOENT):
        (asof / "yesterday-ish").stat()


def test_status_names_what_an_asof_holds(mount, family):
    (family / "q").write_text("x")
    moment = os.readlink(mount / ".asof/now")
    os.listdir(mount / ".asof" / moment)
    assert moment in (mount / ".cellfs/status").read_text()
    status = mount.status()
    assert status["pinned_moments"] == 1
    assert [held["time"] for held in status["asof"]] == [int(moment)]
    for what, said in ((moment, "within the last minute"), ("7", "is not a time that is held")):
        code, _, error = sh(f"{CELLFS} status --release {what} {mount.path}", check=False)
        assert code in (2, 3) and said in error
    assert "not let go of  1 time: in use, or used within the last minute" in mount.command("status", "--release all")
    assert "not let go of" not in mount.command("status")


def test_a_moment_stays_while_somebody_stands_in_it(make_mount):
    mount = make_mount("asof_hold=1")
    (mount.family() / "q").write_text("then")
    moment = os.readlink(mount / ".asof/now")
    stands = subprocess.Popen(["sleep", "100"], cwd=mount / ".asof" / moment / "default/t/r/f")

    def is_held_where_the_kernel_keeps_no_more_than_it_must():
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("2")
        return [held["time"] for held in mount.status()["asof"]] == [int(moment)]

    try:
        (mount / "default/t/r/f/q").write_text("now")
        until = time.monotonic() + 3
        while time.monotonic() < until:
            assert is_held_where_the_kernel_keeps_no_more_than_it_must()
            time.sleep(0.2)
        assert pathlib.Path(f"/proc/{stands.pid}/cwd/q").read_text() == "then"
    finally:
        stands.kill()
        stands.wait()
    wait_until(lambda: not is_held_where_the_kernel_keeps_no_more_than_it_must(), "it goes")


# ---- .scan ---------------------------------------------------------------------------------------


@pytest.fixture
def rows(mount):
    for row in ("com.a", "com.b", "com.c", "org.a", "org.b"):
        for family in ("f", "g"):
            (mount.family(row=row, family=family) / "q").write_text(f"{row} {family}")
            (mount.family(row=row, family=family) / "p").write_text("1")
    return mount / "default/t/.scan"


@pytest.mark.parametrize("query, expected", [
    ("prefix=com.", ["com.a", "com.b", "com.c"]),
    ("prefix=com.,limit=2", ["com.a", "com.b"]),
    ("start=com.b,stop=org.a", ["com.b", "com.c"]),
    ("start=com.b,stop=org.a,start_exclusive,stop_inclusive", ["com.c", "org.a"]),
    ("reverse,limit=2", ["org.b", "org.a"]),
    ("start=com.b,reverse", ["com.b", "com.a"]),
    ("filter=RowFilter(=%2C'substring:.a')", ["com.a", "org.a"]),
    ("start=x", []),
])
def test_scan_lists_the_rows_it_returns_in_its_order(rows, query, expected):
    assert os.listdir(rows / query) == expected


def test_look_up_in_a_scan_finds_what_it_lists(rows):
    for query in ("limit=2", "prefix=com.,limit=1", "reverse,limit=2", "limit=0", "limit=99"):
        for row in ("com.a", "com.b", "com.c", "org.a", "org.b"):
            assert (rows / query / row / "f/q").exists() == (row in os.listdir(rows / query)), (query, row)
    sh("rm -r com.a", cwd=rows.parent)
    assert not (rows / "limit=2/com.a").exists() and (rows / "limit=2/com.c").exists()


@pytest.mark.parametrize("query, reason", [
    ("limit=x", "a number of rows"), ("prefix=a,prefix=b", "once"), ("reverse=yes", "without a value"),
    ("columns=none:q", "'none' is not declared"), ("filter=Foo()", "unknown filter"), ("nonsense", "prefix="),
])
def test_a_query_that_is_wrong_says_why(mount, rows, query, reason):
    with fails_with(errno.ENOENT):
        os.listdir(rows / query)
    assert reason in (mount / ".cellfs/errors").read_text()


def test_scan_shows_the_columns_it_returns(rows):
    assert tree_of(rows / "prefix=com.a,columns=f:q") == {"com.a": None, "com.a/f": None, "com.a/f/q": b"com.a f"}
    assert os.listdir(rows / "columns=g/com.a") == ["g"]
    with fails_with(errno.ENOENT):
        (rows / "prefix=com.,limit=2/org.a").stat()
    with fails_with(errno.EROFS):
        (rows / "prefix=com./com.a/f/q").write_text("x")
    with fails_with(errno.ENOENT):
        os.listdir(rows / "no=such")


def test_scan_with_versions_and_time_range(mount):
    family = mount.family()
    for timestamp in (3, 5, 6):
        (family / f"q@{timestamp}").write_text(f"v{timestamp}")
    scan = mount / "default/t/.scan"
    assert os.listdir(scan / "versions=2/r/f") == ["q@6", "q@5"]
    assert (scan / "versions=2/r/f/q@5").read_text() == "v5"
    assert (scan / "time_range=3..6/r/f/q").read_text() == "v5"


# ---- .schema.toml and .namespace.toml ------------------------------------------------------------


def test_a_written_schema_makes_a_table(mount):
    table = mount.schema('MAX_FILESIZE = 10000000\nFREE = "x"\nsplits = ["g", "t"]\n'
                         '[families.f]\nVERSIONS = 3\nCOMPRESSION = "ZSTD"\nmode = "0600"\n')
    text = (table / ".schema.toml").read_text()
    for part in ("VERSIONS = 3", '"ZSTD"', "MAX_FILESIZE = 10000000", "FREE", '"g"'):
        assert part in text, text
    assert (table / ".schema.toml").stat().st_size == len(text.encode())
    (table / ".schema.toml").write_text(text)
    assert (table / ".schema.toml").read_text() == text


def test_mkdirs_families_get_the_family_defaults(make_mount, tmp_path):
    (tmp_path / "config").write_text('[family_defaults]\nVERSIONS = 4\nTTL = 1000\n')
    mount = make_mount(config=tmp_path / "config")
    mount.family()
    text = (mount / "default/t/.schema.toml").read_text()
    assert "VERSIONS = 4" in text and "TTL = 1000" in text and "open = true" in text


@pytest.mark.parametrize("text", [
    "this is no TOML", "[families.f]\nVERSIONS = 0\n", '[families.f]\nTTL = "soon"\n',
    '[families.f]\nKEEP_DELETED_CELLS = "PERHAPS"\n', "[families.g]\n",
    '[families.f]\n[families."a:b"]\n', "[families.f]\ndrop = 3\n", "unknown_table = {x = [1]}\n[families.f]\n",
])
def test_a_schema_that_is_wrong_changes_nothing_and_says_why(mount, text):
    (mount.family() / "q").write_text("x")
    before = (mount / "default/t/.schema.toml").read_text()
    with fails_with(errno.EINVAL):
        (mount / "default/t/.schema.toml").write_text(text)
    assert (mount / "default/t/.schema.toml").read_text() == before
    assert (mount / "default/t/r/f/q").read_text() == "x"
    assert "default:t/.schema.toml" in (mount / ".cellfs/errors").read_text()


@pytest.mark.parametrize("edit", [
    "sed -i s/.*VERSIONS.=.*10/VERSIONS=7/ .schema.toml",
    "sed s/.*VERSIONS.=.*10/VERSIONS=7/ .schema.toml >$T/new && cp $T/new .schema.toml",
    "sed s/.*VERSIONS.=.*10/VERSIONS=7/ .schema.toml >$T/.schema.toml && rsync $T/.schema.toml .",
    "sed s/.*VERSIONS.=.*10/VERSIONS=7/ .schema.toml >.schema.toml.tmp && mv .schema.toml.tmp .schema.toml",
    "vim -es -u NONE -N -c 'set swapfile' -c '%s/VERSIONS = 10/VERSIONS = 7/' -c wq .schema.toml </dev/null",
    "vim -es -u NONE -N -c 'set swapfile backup backupcopy=no' -c '%s/VERSIONS = 10/VERSIONS = 7/' -c wq "
    ".schema.toml </dev/null",
])
def test_editors_alter_a_schema(mount, outside, edit):
    (mount.family() / "q").write_text("x")
    table = mount / "default/t"
    sh(edit, cwd=table, T=str(outside), HOME=str(outside))
    assert "VERSIONS = 7" in (table / ".schema.toml").read_text()
    mount.remount()
    assert "VERSIONS = 7" in (table / ".schema.toml").read_text()
    assert os.listdir(table) == [".schema.toml", "r"]


@pytest.mark.parametrize("edit", [
    "sed -i 's/enabled = false/enabled = true/' .schema.toml",
    "sed 's/enabled = false/enabled = true/' .schema.toml >.schema.toml.tmp && mv .schema.toml.tmp .schema.toml",
    "vim -es -u NONE -N -c 'set swapfile' -c '%s/enabled = false/enabled = true/' -c wq .schema.toml </dev/null",
])
def test_editors_enable_a_table(mount, outside, edit):
    family = mount.family()
    (family / "q").write_text("x")
    table = mount / "default/t"
    sh("sed -i 's/enabled = true/enabled = false/' .schema.toml", cwd=table)
    mount.remount()
    with fails_with(errno.EROFS):
        (family / "q").read_text()
    sh(edit, cwd=table, HOME=str(outside))
    assert (family / "q").read_text() == "x"


def test_a_schema_is_not_removed(mount):
    mount.family()
    schema = mount / "default/t/.schema.toml"
    schema.unlink()
    schema.touch()
    assert "families.f" in schema.read_text()


def test_disabled_and_read_only_tables(mount):
    (mount.family() / "q").write_text("x")
    schema = mount / "default/t/.schema.toml"
    text = schema.read_text()
    schema.write_text(text.replace("enabled = true", "enabled = false"))
    with fails_with(errno.EROFS):
        (mount / "default/t/r/f/q").write_text("y")
    with fails_with(errno.ENOMEDIUM):
        os.listdir(mount / "default/t")
    assert "table 't' is disabled (ENOMEDIUM)" in (mount / ".cellfs/errors").read_text()
    schema.write_text(text)
    (mount / "default/t/r/f/q").write_text("y")


def test_a_new_namespace_shows_its_file(mount):
    (mount / "ns").mkdir()
    assert os.listdir(mount / "ns") == [".namespace.toml"]
    assert sh("cat .namespace.toml", cwd=mount / "ns").startswith("# The properties")
    # As cp does with what it has made.
    with open(mount / "ns/.namespace.toml", "x") as file:
        file.write('owner = "me"\n')
    assert "me" in (mount / "ns/.namespace.toml").read_text()


def test_what_nobody_wrote_can_be_made_behind_what_is_in_the_directory(mount):
    """With O_EXCL, as cp does where it comes to it last. Who only looks finds it."""
    (mount / "ns/t/r/f").mkdir(parents=True)
    (mount / "ns/t/r/f/q").write_text("x")
    for path, text in (("ns/t/.schema.toml", "[families.f]\nVERSIONS = 7\n"), ("ns/.namespace.toml", 'owner = "me"\n')):
        assert (mount / path).read_text()
        with open(mount / path, "x") as file:
            file.write(text)
        assert text.splitlines()[-1] in (mount / path).read_text()
        with fails_with(errno.EEXIST):
            open(mount / path, "x").close()
    assert (mount / "ns/t/r/f/q").read_text() == "x"


def test_who_makes_a_namespace_finds_what_is_listed_in_it(mount):
    (mount / "ns").mkdir()
    assert [entry.stat().st_size > 0 for entry in os.scandir(mount / "ns")] == [True]
    shutil.rmtree(mount / "ns")
    assert not (mount / "ns").exists()


def test_what_is_there_is_not_made_anew(mount):
    mount.schema("[families.f]\n")
    mount.command("create", "default:other", "f")
    for path in ("default/t/.schema.toml", "default/other/.schema.toml", "default/.namespace.toml"):
        with fails_with(errno.EEXIST):
            open(mount / path, "x").close()


def test_namespace_quota(mount):
    (mount / "ns").mkdir()
    (mount / "ns/.namespace.toml").write_text('"hbase.namespace.quota.maxtables" = "1"\nowner = "me"\n')
    (mount / "ns/one").mkdir()
    mount.family(namespace="ns", table="one")
    with fails_with(errno.EDQUOT):
        (mount / "ns/two/r/f").mkdir(parents=True)
    text = (mount / "ns/.namespace.toml").read_text()
    assert "owner" in text and "maxtables" in text
    with fails_with(errno.EINVAL):
        (mount / "ns/.namespace.toml").write_text('"hbase.namespace.quota.maxtables" = "many"\n')


def test_schemas_take_units_and_names_of_users(mount):
    (mount.family() / "q").write_text("x")
    mount.schema('MEMSTORE_FLUSHSIZE = "64M"\n[space_quota]\nlimit = "1G"\n[families.f]\nBLOCKSIZE = "32K"\n'
                 'cellfs.owner = "nobody"\ncellfs.group = "root"\n')
    text = (mount / "default/t/.schema.toml").read_text()
    for line in ("MEMSTORE_FLUSHSIZE = 67108864", "limit = 1073741824", "BLOCKSIZE = 32768", "65534"):
        assert line in text, text
    assert (mount / "default/t/r/f/q").stat().st_uid == 65534
    sh(f"{CELLFS} alter {mount}/default/t g:cellfs.owner=daemon,BLOCKSIZE=16K")
    assert "BLOCKSIZE = 16384" in (mount / "default/t/.schema.toml").read_text()
    with fails_with(errno.EINVAL):
        mount.schema('[families.f]\ncellfs.owner = "nobody-has-this-name"\n[families.g]\n')
    assert "nor a name that is known here" in (mount / ".cellfs/errors").read_text()


def test_space_quota_shows_in_statfs(mount):
    mount.schema('[space_quota]\nlimit = 1048576\npolicy = "NO_INSERTS"\n[families.f]\n')
    shown = os.statvfs(mount / "default/t")
    assert shown.f_blocks * shown.f_frsize == 1048576
    mount.schema('[space_quota]\nlimit = 1000\npolicy = "NO_INSERTS"\n[families.f]\n')
    shown = os.statvfs(mount / "default/t")
    assert 1000 <= shown.f_blocks * shown.f_frsize <= 1024 and shown.f_bavail > 0


# ---- /.cellfs ------------------------------------------------------------------------------------


def test_the_daemon_about_itself(mount, family):
    (family / "q").write_text("x")
    assert set(os.listdir(mount / ".cellfs")) >= {"status", "config", "errors", "metrics"}
    assert 'name = "t"' in (mount / ".cellfs/status").read_text()
    assert "[family_defaults]" in (mount / ".cellfs/config").read_text()
    metrics = [line for line in (mount / ".cellfs/metrics").read_text().splitlines() if line[0] != "#"]
    assert metrics and all(len(line.rsplit(" ", 1)) == 2 and float(line.rsplit(" ", 1)[1]) >= 0 for line in metrics)
    look_ups = [float(line.rsplit(" ", 1)[1]) for line in metrics if line.startswith('cellfs_request_duration_seconds_bucket{kind="lookup"')]
    count = next(line for line in metrics if line.startswith('cellfs_request_duration_seconds_count{kind="lookup"'))
    assert look_ups == sorted(look_ups) and look_ups[-1] == float(count.rsplit(" ", 1)[1]) > 0
    with pytest.raises(OSError):
        (mount / ".cellfs/status").write_text("x")


def test_the_daemons_own_tables_are_not_shown(mount, family):
    (family / "q").write_text("x")
    os.chmod(family / "q", 0o600)  # stored in one of them
    shown = sh(f"ls -A {mount} {mount}/hbase/*; cat {mount}/.cellfs/status {mount}/.cellfs/metrics")
    shown += mount.command("status") + mount.command("status", "--json")
    assert "attributes" not in shown and "cellfs:" not in shown
    assert not (mount / "hbase/meta/cellfs:attributes").exists()
    assert os.listdir(mount / "hbase/namespace") == [".schema.toml", "default", "hbase"]


def test_commands_through_the_daemon(mount, family):
    (family / "q").write_text("x")
    mount.command("flush", "default:t")
    (table,) = [t for t in mount.status()["tables"] if t["table"] == "t"]
    assert table["flushes"] == 1
    mount.command("set", "log_level=debug", "cache_size=4194304")
    assert mount.status()["log_level"] == "debug"
    assert sh(f"cellfs set {mount.path} log_level=loud".replace("cellfs", os.environ.get("CELLFS", "cellfs")),
              check=False)[0] != 0
    assert not [p for p in mount.store.iterdir() if p.is_socket()], "it lies in no directory"


def test_errors_say_the_reason(mount):
    mount.schema("[families.f]\n")
    family = mount.family()
    (family / "q@5").write_text("x")
    (family / "q").unlink()
    with fails_with(errno.ERANGE):
        (family / "q@4").write_text("y")
    assert "q" in (mount / ".cellfs/errors").read_text()


def test_errors_of_one_kind_hide_no_other_and_name_the_process(mount):
    family = mount.family()
    with fails_with(errno.EINVAL):
        (mount / "default/t/.schema.toml").write_text("no TOML")
    sh("for i in $(seq 300); do mkdir d$i; done", cwd=family, check=False)
    lines = (mount / ".cellfs/errors").read_text().splitlines()
    assert len(lines) == 2 and "line 1" in lines[0] and "; 300 times since 20" in lines[1], lines
    assert re.search(r"'d300': a family holds files only \(EPERM\), by mkdir \([0-9]+\); ", lines[1])
    assert f", by python3 ({os.getpid()})" in lines[0] or f"({os.getpid()})" in lines[0]
    # The daemon's log takes some of them and says so.
    log = mount.log_text()
    assert "'d100': a family holds files only" in log and "'d300'" not in log
    assert log.count("what this user fails at next is in /.cellfs/errors alone") == 1


@pytest.mark.parametrize("command, error, reason", [
    ("touch file", errno.EPERM, "'file': files are made in a family"),
    ("touch default/t/file", errno.EPERM, "'file': files are made in a family"),
    ("mkdir default/t/r/f/d", errno.EPERM, "'d': a family holds files only"),
    ("rmdir default", errno.EPERM, "'default': it always exists"),
    ("touch default/t/.asof/1/x", errno.EROFS, "read-only"),
    ("rm -r hbase/meta/t/table/state", errno.EROFS, "read-only"),
    ("mkdir default/t:x", errno.EINVAL, "'t:x': "),
    ("mkdir closed/t/r/g", errno.EPERM, "'g': table 'closed:t' has no family 'g'"),
    ("mv default/t/.x.tmp default/t/.schema.toml", errno.EINVAL, "'.schema.toml': IllegalArgument: line 1"),
    ("dd if=/dev/zero of=default/t/r/f/q bs=1M count=11", errno.EFBIG, "default:t/r/f:q"),
])
def test_each_refusal_has_its_reason(mount, command, error, reason):
    mount.family()
    mount.schema("[families.f]\n", namespace="closed")
    mount.family(namespace="closed")
    (mount / "default/t/.schema.toml.tmp").write_text("no TOML")
    code, _, shown = sh(command.replace(".x.tmp", ".schema.toml.tmp"), cwd=mount.path, check=False)
    assert code != 0 and (os.strerror(error) in shown or error == errno.EINVAL), shown
    assert reason in (mount / ".cellfs/errors").read_text()


# ---- Extended attributes -------------------------------------------------------------------------


def test_extended_attributes(make_mount):
    mount = make_mount("xattr")
    family = mount.family()
    (family / "a%2Fb").write_text("one")
    (family / "a%2Fb").write_text("two")
    cell = family / "a%2Fb"
    assert os.getxattr(cell, "user.cellfs.key") == b"a/b"
    assert int(os.getxattr(cell, "user.cellfs.timestamp")) == versions(cell)[0]
    assert int(os.getxattr(cell, "user.cellfs.versions")) == 2
    (family / ".counters/n").write_text("+42")
    assert os.getxattr(family / "n", "user.cellfs.counter") == b"42"
    assert os.listxattr(cell) == []
    with fails_with(errno.EOPNOTSUPP):
        os.setxattr(cell, "user.other", b"x")
    assert "not supported" in sh("setfacl -m u:1000:r a%2Fb", cwd=family, check=False)[2]


def test_a_time_to_live_by_attribute(make_mount):
    family = make_mount("xattr").family()
    cell = family / "q"
    cell.write_text("x")
    stamp = versions(cell)
    os.setxattr(cell, "user.cellfs.ttl", b"86400000")
    assert os.getxattr(cell, "user.cellfs.ttl") == b"86400000"
    assert versions(cell) == stamp and cell.read_text() == "x"
    with open(family / "p", "w") as file:
        file.write("y")
        os.setxattr(file.fileno(), "user.cellfs.ttl", b"100000")
    assert os.getxattr(family / "p", "user.cellfs.ttl") == b"100000"
    with open(cell, "rb+"):  # has nothing to put
        os.setxattr(cell, "user.cellfs.ttl", b"76400000")
        assert os.getxattr(cell, "user.cellfs.ttl") == b"76400000"


def test_a_time_to_live_does_not_wait_for_readers_that_wait_for_it(make_mount):
    family = make_mount("xattr").family()
    cell = family / "q"
    cell.write_text("x" * 100000)
    done = threading.Event()

    def read():
        while not done.is_set():
            assert cell.read_text() == "x" * 100000

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(100):
        os.setxattr(cell, "user.cellfs.ttl", b"%d" % (86400000 + number))
    done.set()
    for reader in readers:
        reader.join()


def test_the_reason_of_a_failure_by_attribute(make_mount):
    mount = make_mount("xattr")
    mount.family()
    with fails_with(errno.EINVAL):
        (mount / "default/t/.schema.toml").write_text("[families.f]\nVERSIONS = 0\n")
    reason = os.getxattr(mount / "default/t/.schema.toml", "user.cellfs.error")
    assert b"VERSIONS" in reason


# ---- .versions -----------------------------------------------------------------------------------


def test_rm_of_a_whole_history(family):
    for number in range(3):
        (family / "q").write_text(str(number))
    sh("rm -r .versions/q", cwd=family)
    assert os.listdir(family) == [] and not (family / ".versions/q").exists()


def test_a_directory_beside_versions_is_renamed(family):
    (family / "q").write_text("x")
    history = family / ".versions/q"
    (history / "d").mkdir()
    sh("mv -T d e", cwd=history)
    assert (history / "e").is_dir() and not (history / "d").exists()
    assert sh("mv -T e 5", cwd=history, check=False)[0] != 0
    (history / "e").rmdir()
    assert versions(family / "q") and (family / "q").read_text() == "x"


def test_versions_are_removed_one_by_one(family):
    for timestamp in (3, 5, 6):
        (family / f"q@{timestamp}").write_text(f"v{timestamp}")
    (family / ".versions/q/5").unlink()
    assert versions(family / "q") == [6, 3]
    shutil.rmtree(family / ".versions/q", ignore_errors=True)
    assert not (family / "q").exists()


def test_a_history_is_restored_by_cp(family, outside):
    for timestamp in (3, 5, 6):
        (family / f"q@{timestamp}").write_text(f"v{timestamp}")
    other = family.parent.parent / "r2/f"
    other.mkdir(parents=True)
    sh(f"cp -a {family}/.versions/q {outside}/q && cp -a {outside}/q {other}/.versions/")
    assert versions(other / "q") == [6, 5, 3]
    assert json.dumps(tree_of(family / ".versions"), default=str) == json.dumps(
        tree_of(other / ".versions"), default=str)
