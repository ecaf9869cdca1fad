# SPDX-License-Identifier: MIT
"""Shells ignore what close(2) answers, so what can be known before is told by open(2) and write(2): a script
under `set -e` stops at the first file that is not stored."""

import errno
import os

import pytest

from mounts import CELLFS, Mount, fails_with, sh


@pytest.fixture(params=["bash", "dash"])
def stops(request):
    """stops(script, cwd): the script ends with an error, and says so; under `set -e`."""
    def run(script, cwd):
        code, _, error = sh(f"{request.param} -ec '{script}'", cwd=cwd, check=False)
        assert code != 0 and error, f"{script}\nexit code {code}\n{error}"
        return error
    return run


def test_what_is_no_counter(family, stops):
    (family / "q").write_text("text")
    stops("echo +1 >.counters/q", family)
    stops("echo one >.counters/n", family)
    assert (family / "q").read_text() == "text" and not (family / "n").exists()
    sh("for i in 1 2 3; do echo +$i >.counters/n; done", cwd=family)
    assert (family / ".counters/n").read_text() == "6\n"


def test_a_tombstone_at_the_last_timestamp(mount, family, stops):
    (family / "q").write_text("x")
    sh(f"{CELLFS} deleteall --timestamp {2**63 - 2} {mount.path} t r f:q")
    said = stops("echo new >q", family)
    assert "Value too large for defined data type" in said  # EOVERFLOW
    sh("echo other >p", cwd=family)
    mount.remount()
    stops("echo new >q", family)
    sh("echo other >p", cwd=family)


@pytest.fixture
def small(tmp_path):
    """A mount of a store on a disk of 2 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if sh(f"mount -t tmpfs -o size=2m none {disk}", check=False)[0] != 0:
        pytest.skip("no file system can be mounted here")
    mount = Mount(disk / "store", tmp_path / "mnt")
    yield mount
    mount.stop()
    sh(f"umount {disk}")


FILL = "i=0; while [ $i -lt 9000 ]; do i=$((i+1)); echo $line >note$i; echo $i >$progress; done"


def test_a_full_disk(small, tmp_path, stops):
    family = small.family()
    progress = tmp_path / "progress"
    said = stops(f"line={'x' * 1000} progress={progress}; {FILL}", family)
    stored = int(progress.read_text())
    assert f"note{stored + 1}" in said and "No space left on device" in said
    names = os.listdir(family)
    assert len(names) == stored and stored > 500
    assert {(family / name).stat().st_size for name in names} == {1001}, "each that was stored is whole"
    stops("echo again >note1", family)
    stops("cp /etc/hostname note1", family)
    stops(": >note1", family)
    assert (family / "note1").stat().st_size == 1001, "O_TRUNC leaves what is there"
    code, _, said = sh("head -c 100000 /dev/zero >>note1", cwd=family, check=False)
    assert code != 0 and "No space left" in said and (family / "note1").stat().st_size == 1001
    (family / "note1").unlink()
    assert not (family / "note1").exists()


def test_a_file_that_is_larger_than_the_room_fails_in_a_write(small, tmp_path):
    family = small.family()
    (family / "q").write_text("before")
    (tmp_path / "large").write_bytes(os.urandom(3 << 20))
    with open(family / "q", "wb", buffering=0) as file:
        with fails_with(errno.ENOSPC):
            for _ in range(64):
                file.write(b"x" * 65536)
        for _ in range(2):
            with fails_with(errno.ENOSPC):
                os.fsync(file.fileno())
            with fails_with(errno.ENOSPC):
                os.close(os.dup(file.fileno()))
        with pytest.raises(OSError):
            file.close()
    for command in ("cp large {}/new", "cat large >{}/new", "rsync large {}/new", "dd if=large of={}/new bs=64k",
                    "tar c large | tar x -C {}", "cp large {}/q"):
        code, _, said = sh(command.format(family), cwd=tmp_path, check=False)
        assert code != 0 and "No space left on device" in said, command
        assert os.listdir(family) == ["q"] and (family / "q").read_text() == "before", command
    (family / "q").write_text("after")


def test_a_disabled_table(mount, outside, stops):
    family = mount.family()
    (family / "q").write_text("before")
    (family / "log").write_text("")
    schema = mount / "default/t/.schema.toml"
    enabled = schema.read_text()
    (outside / "disabled").write_text(enabled.replace("enabled = true", "enabled = false"))
    for command in ("echo x >q", "echo x >>log", "echo x >new", "echo +1 >.counters/n"):
        said = stops(f"cat {outside}/disabled >{schema}; {command}", family)
        assert "Read-only file system" in said, said
        schema.write_text(enabled)
    assert (family / "q").read_text() == "before" and sorted(os.listdir(family)) == ["log", "q"]


def test_a_handle_goes_on_once_its_table_is_back(mount):
    """A write that was refused took nothing; one whose put failed is the handle's last."""
    family = mount.family()
    (family / "q").write_text("old")
    for flags, end in ((os.O_WRONLY, "new"), (os.O_WRONLY | os.O_APPEND, "newnew"),
                       (os.O_WRONLY | os.O_TRUNC, "newnew")):
        file = os.open(family / "q", flags)
        mount.command("disable", "t")
        with fails_with(errno.EROFS):
            os.write(file, b"lost")
            os.fsync(file)
        mount.command("enable", "t")
        if flags & os.O_TRUNC:
            with fails_with(errno.EROFS):
                os.write(file, b"new")
            with fails_with(errno.EROFS):
                os.close(file)
        else:
            os.write(file, b"new")
            os.close(file)
        assert (family / "q").read_text() == end


def test_a_timestamp_that_could_not_be_read(mount, stops):
    mount.schema("[families.f]\n")
    family = mount.family()
    (family / "q@5").write_text("x")
    (family / "q").unlink()
    stops("echo again >q@3", family)
    stops("cp /etc/hostname q@3", family)
    assert os.listdir(family) == []
    (family / f"p@{2**63 - 2}").write_text("last")
    stops("echo after >p", family)
    assert (family / "p").read_text() == "last"
