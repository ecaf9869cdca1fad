# SPDX-License-Identifier: MIT
"""cellfs report: what a report of a fault needs, and no data."""

import os
import signal
import subprocess

import pytest

from mounts import CELLFS, PATIENCE

NAMES = ["secret", "table"]  # of the table, row, family, column and value


def report(*arguments):
    done = subprocess.run([CELLFS, "report", *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


@pytest.fixture
def secrets(mount):
    """A mount with data, and failures that are about it."""
    family = mount / "default/secret-table/secret-row/secretfamily"
    os.makedirs(family)
    (family / "secret-column").write_text("secret-value")
    for refused in (lambda: os.mkdir(family / "secret-directory"),
                    lambda: (mount / "default/secret-table/.schema.toml").write_text("secret = ["),
                    lambda: (mount / "default/secret-table/.asof/secret").stat()):
        with pytest.raises(OSError):
            refused()
    return mount


def test_it_has_what_is_known(secrets):
    text = report(secrets)
    for title in ("program", "system", "store", "daemon", "configuration", "log"):
        assert f"== {title}\n" in text
    assert "cellfs store, format" in text
    assert "libfuse 3." in text
    assert "max_value_size =" in text
    assert "is mounted on" in text
    assert "scrub: ended never, 0 files" in text
    assert "not to be had" not in text


def test_it_has_no_names_and_no_values(secrets):
    text = report(secrets)
    assert "secret" not in text
    assert "... (E" in text  # the failures are there


def test_names_are_there_where_they_are_asked_for(secrets):
    text = report("--names", secrets)
    assert "secret-table: " in text
    assert "secret-value" not in text


def test_it_is_written_to_a_file(mount, tmp_path):
    assert report(mount, "-o", tmp_path / "report") == ""
    assert "== daemon\n" in (tmp_path / "report").read_text()


def test_a_daemon_that_does_not_answer_holds_nothing_up(mount):
    os.kill(mount.pid, signal.SIGSTOP)
    try:
        text = report(mount)
    finally:
        os.kill(mount.pid, signal.SIGCONT)
    assert "== daemon\nnot to be had: the daemon does not answer" in text
    assert "== store\ncellfs store, format" in text


def test_a_store_that_is_not_mounted_is_not_touched(mount):
    mount.stop()
    before = {path: path.stat().st_mtime_ns for path in mount.store.rglob("*")}
    text = report(mount.store)
    assert "== store\ncellfs store, format" in text
    assert "== daemon\nnot to be had: the store is not mounted" in text
    assert {path: path.stat().st_mtime_ns for path in mount.store.rglob("*")} == before


def test_another_user_is_told_what_he_may_not_read(make_mount):
    mount = make_mount("allow_other")
    done = subprocess.run([CELLFS, "report", str(mount)], capture_output=True, timeout=PATIENCE, check=False, user=65534)
    assert f"not to be had: {mount.store}/FORMAT: Permission denied" in done.stdout.decode()


def test_what_is_no_store_is_said_and_is_no_failure(tmp_path, mountable):
    assert "== store\nnot to be had: " in report(tmp_path / "nothing")
    assert "== system\n" in report()
