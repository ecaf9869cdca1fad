# SPDX-License-Identifier: MIT
"""Temporary files of real tools: a save is one new version of the target, and no trace of anything else
is in the raw store, in a listing or in .deleted."""

import os

import pytest

from mounts import sh, versions

PUT = 4


def assert_only_versions_of_q(mount, family, count):
    """Looks at the store itself."""
    raw = mount.raw()
    assert [(r, q, y) for r, q, _, y in raw] == [(b"r", b"q", PUT)] * count, raw
    assert [t for _, _, t, _ in raw] == versions(family / "q")
    assert os.listdir(family) == ["q"]
    assert os.listdir(family / ".deleted") == []
    assert os.listdir(family / ".versions") == ["q"]


VIM = "vim -es -u NONE -N"
SAVES = {
    "sed -i": "sed -i s/one/three/ q",
    "sed -n -i with a backup file that is removed": "sed -i.tmp s/one/three/ q && rm q.tmp",
    "perl -i": "perl -pi -e s/one/three/ q",
    "vim": f"{VIM} -c 'set swapfile' -c '%s/one/three/' -c wq q </dev/null",
    "vim with backupcopy=yes": f"{VIM} -c 'set swapfile backupcopy=yes' -c '%s/one/three/' -c wq q </dev/null",
    "vim with backupcopy=no":
        f"{VIM} -c 'set swapfile writebackup backupcopy=no' -c '%s/one/three/' -c wq q </dev/null",
    "rsync": "rsync $OUTSIDE/q .",
    "rsync -a": "rsync -a $OUTSIDE/q .",
    "rsync --inplace": "rsync --inplace $OUTSIDE/q .",
    "cp": "cp $OUTSIDE/q q",
    "cp --remove-destination of another": "cp $OUTSIDE/q q.tmp && mv q.tmp q",
    "install": "cat $OUTSIDE/q >q",
    "git's lock": "set -C; echo three >q.lock && mv q.lock q",
    "sort -o": "printf 'three\\n' | sort -o q",
    "an editor of GNOME": "cat $OUTSIDE/q >.goutputstream-ABC123 && mv .goutputstream-ABC123 q",
}


@pytest.mark.parametrize("tool", SAVES)
def test_a_save_is_exactly_one_new_version(mount, family, outside, tool):
    (outside / "q").write_text("three\n")
    os.utime(outside / "q", ns=(0, 10**18))
    (family / "q").write_text("one\n")
    sh(SAVES[tool], cwd=family, OUTSIDE=str(outside), HOME=str(outside))
    assert (family / "q").read_text() == "three\n"
    assert_only_versions_of_q(mount, family, 2)


def test_saves_in_a_row_add_one_version_each(mount, family, outside):
    (family / "q").write_text("0\n")
    for number in range(1, 5):
        sh(f"{VIM} -c 'set swapfile backupcopy=no writebackup' -c '%s/.*/{number}/' -c wq q </dev/null",
           cwd=family, HOME=str(outside))
    assert_only_versions_of_q(mount, family, 5)
    assert [(family / f"q@{stamp}").read_text() for stamp in versions(family / "q")] == [
        "4\n", "3\n", "2\n", "1\n", "0\n"]


def test_rsync_with_backup_adds_one_version_to_each(mount, family, outside):
    (outside / "q").write_text("two\n")
    (family / "q").write_text("one\n")
    sh(f"rsync --backup --ignore-times {outside / 'q'} .", cwd=family)
    assert (family / "q").read_text() == "two\n" and (family / "q~").read_text() == "one\n"
    assert [(q, y) for _, q, _, y in mount.raw()] == [(b"q", PUT), (b"q", PUT), (b"q~", PUT)]


def test_a_new_file_by_rsync_is_one_version(mount, family, outside):
    (outside / "q").write_text("new\n")
    sh(f"rsync -a {outside}/ {family}/")
    assert_only_versions_of_q(mount, family, 1)


def test_many_files_by_rsync(mount, family, outside):
    for number in range(50):
        (outside / f"file{number:02}").write_text(f"{number}\n" * number)
    sh(f"rsync -a {outside}/ {family}/")
    for number in range(50):
        (outside / f"file{number:02}").write_text(f"changed {number}\n")
    sh(f"rsync -a --ignore-times {outside}/ {family}/")
    assert [(q, y) for _, q, _, y in mount.raw()] == [
        (f"file{number:02}".encode(), PUT) for number in range(50) for _ in range(2)]


def test_temporary_names_leave_no_trace_when_they_are_removed(mount, family):
    for name in (".q.swp", "q~", "sedAb12Cd", "4913", ".q.Ab12Cd", "index.lock", "q.tmp"):
        (family / name).write_text("x")
        (family / name).unlink()
    assert mount.raw() == [] and os.listdir(family / ".deleted") == []


def test_a_lock_of_git_leaves_no_trace_and_a_file_that_is_kept_comes_back(mount, family):
    for _ in range(3):
        sh("set -C; : >index.lock; rm index.lock", cwd=family)
    assert mount.raw() == []
    for name in ("Cargo.lock", "handle.part"):
        sh(f"echo kept >{name}; rm {name}; cp .deleted/{name} .", cwd=family)
        assert (family / name).read_text() == "kept\n"


def test_another_name_leaves_a_tombstone(mount, family):
    (family / "q").write_text("x")
    (family / "q").unlink()
    assert [(q, y) for _, q, _, y in mount.raw()] == [(b"q", 12), (b"q", PUT)]
    assert os.listdir(family / ".deleted") == ["q"]


def test_names_of_ones_own(make_mount, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text('[mount]\ntemporary_names = ["scratch-*"]\n')
    mount = make_mount(config=config)
    family = mount.family()
    for name in ("scratch-1", "q.tmp"):
        (family / name).write_text("x")
        (family / name).unlink()
    assert {q for _, q, _, _ in mount.raw()} == {b"q.tmp"}


def test_a_column_with_a_history_keeps_it_when_it_is_renamed_away(mount, family):
    (family / "q").write_text("one")
    (family / "q").write_text("two")
    os.rename(family / "q", family / "p")
    assert (family / "p").read_text() == "two" and len(versions(family / "p")) == 1
    assert [y for _, q, _, y in mount.raw() if q == b"q"] == [12, PUT, PUT]
    sh("cp .deleted/q q", cwd=family)
    assert (family / "q").read_text() == "two"
