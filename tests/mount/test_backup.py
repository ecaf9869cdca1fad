# SPDX-License-Identifier: MIT
"""Backups: a copy of a mount into an empty store is the same store; a copy of a moment is consistent."""

import os
import re
import stat
import subprocess
import threading
import time

import pytest

from mounts import CELLFS, sh, tree_of, versions

RSYNC = "rsync -a --modify-window=-1"  # nanoseconds are compared too


@pytest.fixture
def outside(tmp_path):
    """A plain directory on a disk that cp copies in the order of creation: splits go before the rows."""
    directory = tmp_path / "outside"
    directory.mkdir()
    sh(f"mount -t tmpfs tmpfs {directory}")
    yield directory
    sh(f"umount {directory}")


def transferred(source, target):
    """What rsync did, one line each."""
    out = sh(f"{RSYNC} --itemize-changes {source}/ {target}/")
    return [line for line in out.splitlines() if re.match(r"[<>ch.*]", line)]


def attributes_of(root):
    """{path: what a copy must keep}."""
    found = {}
    for path, directories, files in os.walk(root):
        for name in directories + files:
            full = os.path.join(path, name)
            now = os.lstat(full)
            found[os.path.relpath(full, root)] = (
                stat.S_IMODE(now.st_mode), now.st_uid, now.st_gid, now.st_mtime_ns,
                0 if stat.S_ISDIR(now.st_mode) else now.st_size)
    return found


def fill(mount):
    """Namespaces with an open table, one of a written schema, odd names, modes, times, a history."""
    open_family = mount.family(namespace="ns", table="open", row="row/..".replace("/", "%2F"))
    for name in ("plain", "with space", "mail%401", "ünï", "%empty"):
        (open_family / name).write_text(f"value of {name}")
    os.chmod(open_family / "plain", 0o600)
    os.chown(open_family / "plain", 1000, 1001)
    mount.schema('splits = ["g", "t"]\nFREE_METADATA = "kept"\n[families.a]\nVERSIONS = 3\n'
                 "[families.b]\nTTL = 86400\nMIN_VERSIONS = 1\n", table="pages", namespace="ns")
    for row in ("com.cnn.www", "org.hbase"):
        for timestamp in (3, 5, 6):
            (mount.family(namespace="ns", table="pages", row=row, family="a") / f"html@{timestamp}").write_text(
                f"{row} {timestamp}")
        (mount.family(namespace="ns", table="pages", row=row, family="b") / "q").write_text(row)
    os.chmod(mount / "ns/pages/org.hbase", 0o750)
    (mount / "ns/.namespace.toml").write_text(
        (mount / "ns/.namespace.toml").read_text() + '\nowner_of_this = "somebody"\n')


def test_rsync_into_an_empty_store_restores_everything(make_mount):
    one, two = make_mount(), make_mount()
    fill(one)
    os.utime(one / "ns/open/row%2F../f/with space", ns=(0, 1111111111 * 10**9 + 123))
    sh(f"{RSYNC} {one}/ns/ {two}/ns/")
    assert tree_of(two / "ns") == tree_of(one / "ns")
    assert attributes_of(two / "ns") == attributes_of(one / "ns")
    for path in ("open/row%2F../f/plain", "pages/com.cnn.www/a/html"):
        assert versions(two / "ns" / path) == versions(one / "ns" / path)[:1]
    assert transferred(one / "ns", two / "ns") == []
    two.remount()
    assert attributes_of(two / "ns") == attributes_of(one / "ns")
    assert transferred(one / "ns", two / "ns") == []


@pytest.mark.parametrize("copy", [
    "cp -a {one}/ns {two}/ns",
    "cp -a {one}/ns {outside}/ns && mv {outside}/ns {two}/ns",
    "mkdir {two}/ns && tar -C {one}/ns -c --format=posix . | tar -C {two}/ns -xp"])
def test_other_copies_restore_everything_too(make_mount, outside, copy):
    one, two = make_mount(), make_mount()
    fill(one)
    os.chmod(one / "ns/pages/org.hbase/b/q", 0o600)  # as the directory that cp makes would have it
    sh(copy.format(one=one, two=two, outside=outside))
    assert tree_of(two / "ns") == tree_of(one / "ns")
    assert attributes_of(two / "ns") == attributes_of(one / "ns")
    assert transferred(one / "ns", two / "ns") == []


@pytest.mark.parametrize("last", [".schema.toml", "r"])
def test_cp_brings_rows_and_schema_in_any_order(mount, tmp_path, last):
    """cp goes by inode number, or as its directory is listed."""
    table = tmp_path / "ns/t"
    table.mkdir(parents=True)
    for name in sorted((".schema.toml", "r"), key=lambda name: name == last):
        if name == "r":
            (table / "r/f").mkdir(parents=True)
            (table / "r/f/q").write_text("x")
        else:
            (table / name).write_text("[families.f]\nVERSIONS = 7\n[families.g]\n")
    sh(f"cp -a {tmp_path}/ns {mount}/ns")
    assert (mount / "ns/t/r/f/q").read_text() == "x"
    assert "VERSIONS = 7" in (mount / "ns/t/.schema.toml").read_text()


def test_with_visible_controls_the_history_comes_along(make_mount):
    one, two = make_mount("controls=visible"), make_mount("controls=visible")
    fill(one)
    for number in range(4):
        (one / "ns/open/row%2F../f/plain").write_text(f"version {number}")
        time.sleep(0.002)
    sh(f"{RSYNC} {one}/ns/ {two}/ns/")
    assert tree_of(two / "ns") == tree_of(one / "ns")
    for path in ("open/row%2F../f/plain", "pages/com.cnn.www/a/html", "pages/org.hbase/a/html"):
        assert versions(two / "ns" / path) == versions(one / "ns" / path)
    assert len(versions(two / "ns/open/row%2F../f/plain")) == 5
    # The time of a .versions directory is not kept.
    assert [line for line in transferred(one / "ns", two / "ns") if line[1] != "d"] == []


def test_a_remembered_time_makes_no_version_where_the_history_is_restored(make_mount):
    one, two = make_mount("controls=visible"), make_mount("controls=visible")
    for name in ("once", "often"):
        cell = one.family(namespace="ns") / name
        for number in range(3 if name == "often" else 1):
            cell.write_text(f"version {number}")
        os.utime(cell, ns=(0, 1500000000123456789))
    for _ in range(2):
        sh(f"{RSYNC} {one}/ns/ {two}/ns/")
        assert tree_of(two / "ns") == tree_of(one / "ns")
        for name in ("once", "often"):
            assert os.stat(two / "ns/t/r/f" / name).st_mtime_ns == 1500000000123456789
    assert [line for line in transferred(one / "ns", two / "ns") if line[1] != "d"] == []


def test_rsync_by_way_of_a_plain_directory(make_mount, outside):
    one, two = make_mount(), make_mount()
    fill(one)
    assert transferred(one / "ns", outside) != []
    sh(f"{RSYNC} {outside}/ {two}/ns/")
    assert attributes_of(two / "ns") == attributes_of(one / "ns")
    assert transferred(two / "ns", outside) == []


def test_an_old_table_with_a_time_to_live_keeps_all_its_values(make_mount, outside):
    """Restored years later: the old times would end the values at once, so they are remembered only."""
    row = outside / "t/r/f"
    row.mkdir(parents=True)
    (outside / "t/.schema.toml").write_text("[families.f]\nTTL = 86400\n")
    (row / "q").write_text("still here")
    os.utime(row / "q", ns=(0, 1000000000 * 10**9))
    mount = make_mount()
    sh(f"{RSYNC} {outside}/ {mount.path}/default/")
    assert (mount / "default/t/r/f/q").read_text() == "still here"
    assert os.stat(mount / "default/t/r/f/q").st_mtime == 1000000000
    assert [line for line in transferred(outside, mount / "default") if ".toml" not in line] == []


WRITER = """
import pathlib, sys, itertools
family = pathlib.Path(sys.argv[1])
for number in itertools.count():
    for name in ("first", "second"):   # second is never ahead of first
        (family / name).write_text(f"{number} " * 200)
    (family / f"n{number % 40}").write_text(str(number))
    if number % 5 == 0:
        (family / f"n{(number + 20) % 40}").unlink(missing_ok=True)
"""


@pytest.mark.parametrize("scope", ["", "default/", "default/t/"])
def test_a_backup_of_a_moment_is_consistent_and_repeatable(mount, outside, scope):
    writers = []
    try:
        for number in range(4):
            family = mount.family(row=f"r{number}")
            (family / "first").write_text("0 ")
            (family / "second").write_text("0 ")
            writers.append(subprocess.Popen(["python3", "-c", WRITER, family]))
        time.sleep(0.5)
        moment = os.readlink(mount / scope / ".asof/now")
        past = mount / scope / ".asof" / moment
        sh(f"{RSYNC} {past}/ {outside}/one/")
        mount.command("flush")
        sh(f"{CELLFS} compact {mount}")  # keeps what the moment sees
        sh(f"{RSYNC} {past}/ {outside}/two/")
        assert transferred(past, outside / "one") == []
        assert all(writer.poll() is None for writer in writers)
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    assert tree_of(outside / "one") == tree_of(outside / "two")
    table = outside / "one" / {"": "default/t", "default/": "t", "default/t/": ""}[scope]
    for number in range(4):
        first, second = ((table / f"r{number}/f" / name).read_text().split() for name in ("first", "second"))
        assert len(set(first)) == len(set(second)) == 1
        assert int(first[0]) - int(second[0]) in (0, 1)


def stopped(writers):
    for writer in writers:
        writer.kill()
        writer.wait()


def many_kinds(mount):
    """Tables in two namespaces, owners, modes and times at every level."""
    for number, path in enumerate(["default/t/r/f", "default/t/r/g", "default/u/%E9/f", "ns/t/row/f"]):
        family = mount / path
        family.mkdir(parents=True, exist_ok=True)
        for name in ("plain", "with space", "%empty", "mail%401"):
            (family / name).write_text(f"{path} {name}")
            os.chown(family / name, 1000 + number, 2000)
            (family / name).chmod(0o640 if number % 2 else 0o755)
        os.utime(family / "plain", ns=(0, 1500000000123456789))
        os.chown(family, 1000, 2000 + number)
        family.parent.chmod(0o710)
    os.chown(mount / "ns/t", 1234, 2345)
    (mount / "default/u").chmod(0o751)
    (mount / "ns").chmod(0o1775)


@pytest.mark.parametrize("copy", [RSYNC + " {}/ {}/", "cp -a {}/. {}/"])
def test_the_root_that_was_lost_comes_back_from_a_backup(make_mount, outside, copy):
    mount = make_mount()
    many_kinds(mount)
    writers = []
    try:
        for number in range(4):
            family = mount.family(table="busy", row=f"r{number}")
            writers.append(subprocess.Popen(["python3", "-c", WRITER, family]))
        time.sleep(0.3)
        past = mount / ".asof" / os.readlink(mount / ".asof/now")
        sh(copy.format(past, outside))
        before = attributes_of(past)
        assert attributes_of(outside) == before
        assert all(writer.poll() is None for writer in writers)
    finally:
        stopped(writers)
    sh("rm -rf default/t default/u default/busy ns", cwd=mount.path)
    assert sorted(os.listdir(mount.path)) == ["default", "hbase"]
    sh(copy.format(outside, mount))
    left = {path: of for path, of in attributes_of(mount.path).items() if path.split("/")[0] != "hbase"}
    assert left == before


@pytest.mark.parametrize("copy", [RSYNC + " {}/ {}/", "cp -a {}/. {}/"])
def test_rows_that_were_lost_come_back_into_the_root_from_its_own_past(make_mount, copy):
    mount = make_mount()
    many_kinds(mount)
    past = mount / ".asof" / os.readlink(mount / ".asof/now")
    before = attributes_of(past)
    sh("rm -r default/t/r default/u/* ns/t/row", cwd=mount.path)
    sh(copy.format(past, mount))
    left = {path: of for path, of in attributes_of(mount.path).items() if path.split("/")[0] != "hbase"}
    assert left == before


def test_a_family_made_while_the_schema_is_written_does_not_take_its_time(mount):
    # As rsync does: one process makes directories ahead, another puts the files in their places.
    (mount.family() / "q").write_text("x")
    text = (mount / "default/t/.schema.toml").read_text()
    for number in range(40):
        table = mount / f"default/u{number}"
        (table / "r").mkdir(parents=True)
        temporary = table / "..schema.toml.Ab1"
        temporary.write_text(text.replace('"default:t"', f'"default:u{number}"'))
        os.utime(temporary, (1600000000, 1600000000))
        both = threading.Barrier(2)
        failures = []

        def make_family():
            both.wait()
            try:
                (table / "r/f").mkdir()
            except OSError as error:
                failures.append(error)

        thread = threading.Thread(target=make_family)
        thread.start()
        both.wait()
        temporary.rename(table / ".schema.toml")
        thread.join()
        assert not failures
        assert (table / ".schema.toml").stat().st_mtime == 1600000000


def test_the_whole_root_from_a_moment_into_another_mount(make_mount, tmp_path):
    one, other = make_mount(), make_mount()
    (one.family() / "q").write_text("x")
    moment = os.readlink(one / ".asof/now")
    # The tables that show the catalog are there, and read-only.
    assert sh(f"rsync -a {one}/ {other}/", check=False)[0] != 0
    sh(f"rsync -a --exclude /hbase {one}/.asof/{moment}/ {other}/")
    copy = other / "default/t/r/f/q"
    assert copy.read_text() == "x" and copy.stat().st_mode & 0o777 == 0o644
    sh(f"rsync -a --exclude /hbase {one}/.asof/{moment}/ {tmp_path}/plain/")
    (tmp_path / "plain/default/t/r/f/q").write_text("changed")


def test_a_copy_of_a_moment_is_what_was(make_mount):
    mount = make_mount()
    family = mount.family()
    for name, mode in (("open", 0o664), ("closed", 0o600), ("script", 0o755)):
        (family / name).write_text(name)
        (family / name).chmod(mode)
    os.chown(family / "closed", 1234, 2345)
    os.utime(family / "open", ns=(1, 1600000000123456789))
    os.chmod(family, 0o750)

    before = attributes_of(family)
    moment = os.readlink(mount / ".asof/now")
    past = mount / f"default/t/.asof/{moment}/r"
    assert past.is_dir()
    sh(f"rm -r {family.parent}")
    sh(f"cp -a {past} {mount}/default/t/")
    assert attributes_of(family) == before
    assert family.stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("source", [".asof/{0}/r", ".deleted/r"])
@pytest.mark.parametrize("copy", ["cp -a", "rsync -a"])
def test_a_closed_row_comes_back_with_the_modes_of_what_was_in_it(make_mount, source, copy):
    mount = make_mount("allow_other")
    family = mount.family()
    for name, mode in (("open", 0o644), ("group", 0o664), ("closed", 0o600), ("program", 0o755)):
        (family / name).write_text(name)
        (family / name).chmod(mode)
    sh(f"chown -R 1000:1000 {family.parent}; chmod 700 {family.parent}; chmod 750 {family}")
    before = {name: row[:3] for name, row in attributes_of(family.parent).items()}
    moment = os.readlink(mount / "default/t/.asof/now")
    time.sleep(0.01)
    sh(f"rm -r {family.parent}")
    past = mount / "default/t" / source.format(moment)
    for _ in range(2):
        sh(f"{copy} {past} {mount}/default/t/")
        assert {name: row[:3] for name, row in attributes_of(family.parent).items()} == before
        if "deleted" in source:
            break
        sh(f"rm -r {family.parent}")
        assert {name: row[:3] for name, row in attributes_of(past).items()} == before


def test_a_file_of_the_past_is_whose_it_was_and_opened_by_whom_both_let(make_mount):
    """The example of the manual."""
    mount = make_mount("allow_other")
    family = mount.family()
    family.chmod(0o777)
    file = family / "diary"
    users = {"anna": 1000, "bert": 1001, "carl": 1002}
    moments = []

    def take_moment():
        time.sleep(0.005)
        moments.append(str(int(time.time() * 1000)))
        time.sleep(0.005)

    def readers():
        """For each moment its owner, mode and readers."""
        told = []
        for moment in moments:
            past = mount / f"default/t/.asof/{moment}/r/f/diary"
            shown = past.stat()
            may = [name for name, uid in users.items()
                   if sh(f"setpriv --reuid={uid} --regid={uid} --clear-groups cat {past}", check=False)[0] == 0]
            owner = next(name for name, uid in users.items() if uid == shown.st_uid)
            assert past.read_text()
            told.append((owner, shown.st_mode & 0o777, may))
        return told

    file.write_text("anna's\n")
    os.chown(file, 1000, 1000)
    take_moment()
    file.chmod(0o600)
    take_moment()
    assert readers() == [("anna", 0o644, ["anna"]), ("anna", 0o600, ["anna"])]
    os.chown(file, 1001, 1001)
    take_moment()
    assert readers() == [("anna", 0o644, ["bert"]), ("anna", 0o600, []), ("bert", 0o600, ["bert"])]
    file.unlink()
    sh(f"setpriv --reuid=1002 --regid=1002 --clear-groups sh -c 'umask 022; echo new >{file}'")
    take_moment()
    assert readers() == [("anna", 0o644, ["bert"]), ("anna", 0o600, []), ("bert", 0o600, ["bert"]),
                         ("carl", 0o644, ["anna", "bert", "carl"])]
