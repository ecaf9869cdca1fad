# SPDX-License-Identifier: MIT
"""Owners, modes and times: what is set is shown, kept over remounts, and makes no version."""

import errno
import os
import stat
import subprocess
import sys
import time

from mounts import fails_with, sh, versions

SECOND = 10**9


def state(path):
    attributes = os.stat(path)
    return (stat.S_IMODE(attributes.st_mode), attributes.st_uid, attributes.st_gid,
            attributes.st_mtime_ns, attributes.st_ctime_ns)


def test_creating_sets_owner_and_mode(make_mount):
    mount = make_mount("allow_other")
    family = mount.family()
    os.umask(0o027)
    try:
        (family / "q").write_text("x")
        (family.parent.parent / "r2").mkdir()
    finally:
        os.umask(0o022)
    assert state(family / "q")[:3] == (0o640, 0, 0)
    assert state(family.parent.parent / "r2")[0] == 0o750
    os.chmod(family, 0o777)
    os.chmod(family.parent.parent, 0o777)
    sh(f"setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'echo x >{family}/of-nobody'")
    assert state(family / "of-nobody")[:3] == (0o644, 65534, 65534)


def test_chmod_chown_and_touch_make_no_version_and_last(mount, family):
    cell = family / "q"
    cell.write_text("x")
    before = mount.raw()
    os.chmod(cell, 0o751)
    os.chown(cell, 1000, 1001)
    os.utime(cell, ns=(0, 1234567890 * SECOND + 123456789))
    expected = state(cell)
    assert expected[:4] == (0o751, 1000, 1001, 1234567890 * SECOND + 123456789)
    assert mount.raw() == before and len(versions(cell)) == 1
    mount.remount()
    assert state(cell) == expected
    stamp = versions(cell)[0]
    assert state(family / f"q@{stamp}")[:3] == (0o751, 1000, 1001)


def test_attributes_belong_to_the_column_with_all_its_versions(family):
    cell = family / "q"
    cell.write_text("one")
    os.chmod(cell, 0o600)
    cell.write_text("two")
    assert state(cell)[0] == 0o600
    for stamp in versions(cell):
        assert state(family / f"q@{stamp}")[0] == state(family / f".versions/q/{stamp}")[0] == 0o600


def test_directories_keep_modes_and_times(mount, family):
    for number, path in enumerate((mount / "default", family.parent.parent, family.parent, family)):
        (family / "q").write_text("x")
        os.chmod(path, 0o700 + number)
        os.utime(path, ns=(0, (1000 + number) * SECOND + 5))
    mount.remount()
    for number, path in enumerate((mount / "default", family.parent.parent, family.parent, family)):
        assert state(path)[0] == 0o700 + number
        assert state(path)[3] == (1000 + number) * SECOND + 5


def test_times_that_nobody_set_last_over_a_remount(mount, family):
    (mount / "ns").mkdir()
    paths = (mount / "ns", mount / "default", mount / "default/t")
    paths += (mount.path, mount / "default/.namespace.toml", mount / "hbase/meta/.schema.toml")
    before = [state(path)[3] for path in paths]
    mount.remount()
    assert [state(path)[3] for path in paths] == before
    (mount / "default/t/r2").mkdir()
    assert state(paths[0])[3] == before[0] and state(paths[2])[3] > before[2]
    os.utime(paths[2], ns=(0, 5 * SECOND))
    mount.remount()
    assert state(paths[2])[3] == 5 * SECOND


def test_chmod_and_chown_of_a_directory_are_about_it_alone(make_mount):
    mount = make_mount("allow_other")
    family = mount.family()
    (family / "q").write_text("x")
    (family / "q").write_text("y")
    (mount.family(row="r2") / "p").write_text("x")
    for mode in (0o777, 0o1777, 0o700, 0o333, 0o755):
        os.chmod(family, mode)
        assert state(family / "q")[:3] == (0o644, 0, 0)
    os.chown(family, 1000, 1001)
    assert state(family / "q")[:3] == (0o644, 0, 0)
    mount.remount()
    assert state(family / "q")[:3] == (0o644, 0, 0) and state(family)[:3] == (0o755, 1000, 1001)
    for directory in (mount / "default/t", mount / "default", mount.path):
        os.chmod(directory, 0o1777)  # is never passed on: nobody else shall write what is in it
        assert state(mount / "default/t/r2/f/p")[0] == 0o644
        assert state(mount / "default/t/r2/f")[0] == state(mount / "default/t/r2")[0] == 0o755


def test_files_inherit_what_the_directory_has(family):
    os.chown(family.parent.parent, 1000, 1000)
    (family / "q@5").write_text("x")
    assert state(family / "q")[:2] == (0o644, 0)  # made by root, whatever the directory says
    assert state(family)[1] == 1000  # nothing else was ever said of it


def test_a_time_set_before_the_put_is_its_timestamp(family, outside):
    (outside / "q").write_text("x")
    os.utime(outside / "q", ns=(0, 1500000000 * SECOND + 123456789))
    sh(f"cp -p {outside / 'q'} {family / 'q'}")
    assert versions(family / "q") == [1500000000123]
    assert state(family / "q")[3] == 1500000000 * SECOND + 123456789


def test_a_time_that_is_not_newer_is_only_remembered(family, outside):
    (family / "q").write_text("present")
    (outside / "q").write_text("older file")
    os.utime(outside / "q", ns=(0, 1500000000 * SECOND))
    sh(f"cp -p {outside / 'q'} {family / 'q'}")
    assert (family / "q").read_text() == "older file"  # what is put is what is read next
    assert state(family / "q")[3] == 1500000000 * SECOND
    assert len(versions(family / "q")) == 2 and versions(family / "q")[0] > 1500000000000


def test_a_future_time_is_only_remembered(family):
    (family / "q").write_text("x")
    future = (int(time.time()) + 10**6) * SECOND
    with open(family / "q", "w") as file:
        file.write("y")
        file.flush()
        os.utime(file.fileno(), ns=(0, future))
    assert state(family / "q")[3] == future and versions(family / "q")[0] < future // 10**6


def test_touch(mount, family):
    sh("touch new; touch -d '2001-02-03 04:05:06.789 UTC' old; touch -r old new", cwd=family)
    assert state(family / "new")[3] == state(family / "old")[3] == 981173106789 * 10**6
    assert len(versions(family / "new")) == len(versions(family / "old")) == 1
    sh("touch old", cwd=family)
    assert abs(state(family / "old")[3] - time.time_ns()) < 60 * SECOND
    assert len(versions(family / "old")) == 1


def test_ctime_is_the_clock_at_the_last_change(mount, family):
    cell = family / "q"
    cell.write_text("x")
    for change in (lambda: os.chmod(cell, 0o600), lambda: os.utime(cell, ns=(0, 0)),
                   lambda: cell.write_text("y"), lambda: os.chown(cell, 5, 5),
                   lambda: os.utime(cell, ns=(0, 10**18))):
        before = time.time_ns()
        time.sleep(0.01)
        change()
        assert before < state(cell)[4] <= time.time_ns()
    changed = state(cell)[4]
    mount.remount()
    assert state(cell)[4] == changed


def test_ctime_changes_with_every_put_at_an_old_timestamp(family):
    (family / "q@5").write_text("one")
    before = state(family / "q")[4]
    time.sleep(0.01)
    (family / "q@5").write_text("two")
    assert before < state(family / "q")[4]
    assert state(family / "q")[3] == 5 * 10**6


def test_rename_carries_owner_mode_and_time(family):
    (family / "a").write_text("a")
    os.chmod(family / "a", 0o604)
    os.chown(family / "a", 7, 8)
    os.utime(family / "a", ns=(0, 1400000000 * SECOND + 7))
    (family / "b").write_text("b")
    os.rename(family / "a", family / "b")
    assert state(family / "b")[:4] == (0o604, 7, 8, 1400000000 * SECOND + 7)
    (family / "a").write_text("new")
    assert state(family / "a")[:3] == (0o644, 0, 0)


def test_tar_restores_modes_owners_and_times(mount, family, outside):
    for name, mode in (("a", 0o600), ("b", 0o644), ("c", 0o755)):
        (outside / name).write_text(name)
        os.chmod(outside / name, mode)
        os.chown(outside / name, 1, 2)
        os.utime(outside / name, ns=(0, 1300000000 * SECOND + 987654321))
    sh(f"tar -C {outside} --format=pax -c a b c | tar -C {family} -xp")
    for name in "abc":
        assert state(family / name)[:4] == state(outside / name)[:4]
    mount.remount()
    for name in "abc":
        assert state(family / name)[:4] == state(outside / name)[:4]


def test_a_fresh_name_does_not_inherit_from_a_removed_one(family):
    (family / "q").write_text("x")
    os.chmod(family / "q", 0o600)
    os.utime(family / "q", ns=(0, 5))
    (family / "q").unlink()
    (family / "q").write_text("y")
    assert state(family / "q")[0] == 0o644 and state(family / "q")[3] > 10**18


# ---- Several users -------------------------------------------------------------------------------

AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c"]


def as_nobody(code):
    """The errno of what Python does as nobody, or 0."""
    program = f"import os,sys\ntry:\n {code}\nexcept OSError as error: sys.exit(error.errno)"
    return subprocess.run([*AS_NOBODY, program], timeout=60, check=False).returncode


def test_modes_are_enforced_for_other_users(make_mount):
    family = make_mount("allow_other").family()
    (family / "open").write_text("x")
    (family / "closed").write_text("x")
    os.chmod(family / "closed", 0o600)
    stamp = versions(family / "closed")[0]
    assert as_nobody(f"open('{family}/open').read()") == 0
    for path in ("closed", f"closed@{stamp}", f".versions/closed/{stamp}"):
        assert as_nobody(f"open('{family}/{path}').read()") == errno.EACCES
    assert as_nobody(f"open('{family}/new', 'w')") == errno.EACCES
    assert as_nobody(f"os.unlink('{family}/open')") == errno.EACCES
    assert as_nobody(f"os.chmod('{family}/open', 0o777)") == errno.EPERM
    assert as_nobody(f"os.mkdir('{family.parent}/g')") == errno.EACCES


def test_without_allow_other_nobody_else_comes_in(mount):
    assert as_nobody(f"os.listdir('{mount.path}')") == errno.EACCES


def test_attributes_that_are_not_supported(mount, family):
    (family / "q").write_text("x")
    with fails_with(errno.EOPNOTSUPP):
        os.setxattr(family / "q", "user.mine", b"x")
    with fails_with(errno.EOPNOTSUPP):
        os.getxattr(family / "q", "user.mine")
    assert "not supported" in sh("setfacl -m u:1000:r q", cwd=family, check=False)[2]


def test_times_of_directories_last_over_a_remount(mount):
    family = mount.family()
    row, table = family.parent, family.parent.parent
    for name in "ab":
        (family / name).write_text("x")
        time.sleep(0.01)
    (row / "g").mkdir()
    (row / "g/q").write_text("x")
    time.sleep(0.01)
    (family / "b").unlink()
    set_by_hand = table / "other/f"
    set_by_hand.mkdir(parents=True)
    (set_by_hand / "q").write_text("x")
    os.utime(set_by_hand, ns=(0, 1_500_000_000_000_000_001))
    paths = [family, row, row / "g", table, table.parent, set_by_hand]
    before = [path.stat() for path in paths]
    mount.remount()
    after = [path.stat() for path in paths]
    assert [s.st_mtime_ns for s in after] == [s.st_mtime_ns for s in before]
    assert [s.st_ctime_ns for s in after] == [s.st_ctime_ns for s in before]
    assert after[-1].st_mtime_ns == 1_500_000_000_000_000_001
    (set_by_hand / "q2").write_text("x")
    changed = set_by_hand.stat().st_mtime_ns
    assert changed > after[-1].st_mtime_ns
    mount.remount()
    assert set_by_hand.stat().st_mtime_ns == changed


def test_times_of_directories_stay_when_what_is_in_them_is_overwritten(mount):
    """As tar compares them at the beginning and at the end."""
    table = mount.path / "default/t"
    for row, files in ("one", "a"), ("two", "ab"):
        (table / row / "f").mkdir(parents=True)
        for name in files:
            (table / row / "f" / name).write_text("x")
            time.sleep(0.01)
    paths = [table / row / below for row in ("one", "two") for below in ("", "f")] + [table]
    before = [(path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in paths]

    def expect_same():
        for path in paths:
            os.listdir(path)  # after which the kernel asks for its attributes
        assert [(path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in paths] == before

    for value in "yz":
        mount.remount()
        expect_same()
        for row in "one", "two":
            (table / row / "f/a").write_text(value)
        expect_same()
    mount.remount()
    expect_same()
    for path in paths:
        os.chmod(path, 0o711)
        os.listdir(path)
    mount.remount()
    assert [path.stat().st_mtime_ns for path in paths] == [mtime for mtime, _ in before]


def test_the_time_of_a_fresh_row_does_not_change_with_each_file(mount):
    """Nothing comes to the row but its family; by a later file tar would say "file changed as we read it"."""
    family = mount.path / "default/t/fresh/f"
    family.mkdir(parents=True)
    (family / "a").write_text("1")
    times = family.parent.stat().st_mtime_ns, family.stat().st_mtime_ns
    while time.time_ns() // 10**6 <= times[0] // 10**6:
        time.sleep(0.001)
    (family / "b").write_text("2")
    assert (family.parent.stat().st_mtime_ns, family.stat().st_mtime_ns > times[1]) == (times[0], True)


def test_the_time_of_a_fresh_row_does_not_change_by_being_read(mount):
    """tar says "file changed as we read it" where it does."""
    for number in range(10):
        row = mount.path / f"default/t/fresh{number}"
        (row / "f").mkdir(parents=True)
        row.stat(), (row / "f").stat()
        (row / "f/q").write_text("b")
        assert sh("tar cf - . | wc -c", cwd=row).strip() == "10240"
        times = [(path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in (row, row / "f")]
        assert times[0][0] >= (row / "f/q").stat().st_mtime_ns
        os.listdir(row / "f")
        assert times == [(path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in (row, row / "f")]
