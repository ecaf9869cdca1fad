# SPDX-License-Identifier: MIT
"""Tables and schemas of the past: what .asof shows of the root and of a namespace."""

import os
import time

from mounts import CELLFS, sh


def pause():
    """So that what was done before and what is done after lie in other milliseconds."""
    time.sleep(0.01)


def now(mount):
    pause()
    moment = os.readlink(mount / ".asof/now")
    pause()
    return moment


def test_a_table_made_since_is_not_there(mount):
    sh("mkdir -p default/t/r/f && echo one >default/t/r/f/q", cwd=mount.path)
    before = now(mount)
    sh("mkdir -p later/u/r/f && echo two >later/u/r/f/q && mkdir -p default/v/r/f", cwd=mount.path)
    assert os.listdir(mount / ".asof" / before / "default") == [".namespace.toml", "t"]
    assert os.listdir(mount / "default/.asof" / before) == [".namespace.toml", "t"]
    assert sorted(os.listdir(mount / ".asof" / before)) == ["default"]
    assert "u" in os.listdir(mount / ".asof" / now(mount) / "later")
    assert sh(f"ls -d .asof/-2m/default/t", cwd=mount.path, check=False)[0] != 0


def test_a_table_is_found_under_the_name_that_it_had(mount):
    sh("mkdir -p default/t/r/f archive && echo one >default/t/r/f/q && chmod 640 default/t/r/f/q",
       cwd=mount.path)
    before = now(mount)
    sh("mv default/t archive/kept && echo two >archive/kept/r/f/q &&"
       "mkdir -p default/t/r/f && echo other >default/t/r/f/q", cwd=mount.path)
    after = now(mount)
    for _ in range(2):
        past = mount / ".asof" / before
        assert (past / "default/t/r/f/q").read_text() == "one\n"
        assert os.stat(past / "default/t/r/f/q").st_mode & 0o777 == 0o640
        assert os.listdir(past / "archive") == [".namespace.toml"]
        assert (mount / "archive/kept/.asof" / before / "r/f/q").read_text() == "one\n"
        assert (mount / ".asof" / after / "archive/kept/r/f/q").read_text() == "two\n"
        assert (mount / ".asof" / after / "default/t/r/f/q").read_text() == "other\n"
        mount.remount()
    sh(f"cp -a .asof/{before}/default/t default/again", cwd=mount.path)
    assert (mount / "default/again/r/f/q").read_text() == "one\n"


def test_schemas_are_those_of_the_time(mount):
    sh("mkdir -p default/t/r/f && echo one >default/t/r/f/q", cwd=mount.path)
    was = (mount / "default/t/.schema.toml").read_text()
    before = now(mount)
    sh("mkdir default/t/r/g && echo two >default/t/r/g/q", cwd=mount.path)
    assert (mount / "default/t/.schema.toml").read_text() != was
    assert (mount / ".asof" / before / "default/t/.schema.toml").read_text() == was
    assert not (mount / ".asof" / before / "default/t/r/g").exists()
    status = mount.status()
    assert status["past_schemas"] > 0 and 0 < status["past_schema_bytes"] < 1 << 20


def test_a_time_ago_leads_to_one_moment_for_a_while(mount):
    """As find and rsync do, which resolve it for each name."""
    for ago in ("-2h", "-3d"):
        assert len({os.readlink(mount / ".asof" / ago) for _ in range(200) if not time.sleep(0.01)}) <= 2
    ago = (time.time() - 7200) * 1000
    assert ago - 73_000 <= int(os.readlink(mount / ".asof/-2h")) <= ago + 1000


def test_now_is_after_what_was_written_and_before_what_comes(mount):
    family = mount.family()
    asof = mount.path / ".asof"
    for round in range(60):
        for number in range(5):  # faster than the clock of the cells counts
            (family / "q").write_text(f"{round} {number}")
        moment = os.readlink(asof / "now")
        (family / "q").write_text("later")
        (family / "other").write_text("later")
        then = asof / moment / "default/t/r/f"
        assert (then / "q").read_text() == f"{round} 4"
        if round == 0:
            assert not (then / "other").exists()


def test_now_waits_for_a_column_that_has_run_ahead(mount):
    counter = mount.family() / ".counters/n"
    for _ in range(2000):
        counter.write_text("+1")
    moment = os.readlink(mount.path / ".asof/now")
    assert int((mount.path / ".asof" / moment / "default/t/r/f/n").read_bytes().hex(), 16) == 2000


def test_a_time_that_is_looked_at_too_late_says_what_it_may_lack(mount):
    mount.schema("[families.f]\nVERSIONS = 2\n")
    file = mount.family() / "q"
    file.write_text("a")
    pause()
    late = str(int(time.time() * 1000))

    def write(values):
        for value in values:
            pause()
            file.write_text(value)

    def hints():
        return [line for line in (mount / ".cellfs/errors").read_text().splitlines()
                if "looked at too late" in line]

    write("bcd")
    mount.command("flush")
    assert not (mount / ".asof" / late / "default/t/r/f/q").exists()
    assert len(hints()) == 1 and "family 'f'" in hints()[0] and f"--at {late}" in hints()[0]
    taken = now(mount)
    assert os.listdir(mount / ".asof" / taken / "default/t/r/f") == ["q"]
    write("efgh")
    mount.command("flush")
    assert (mount / ".asof" / taken / "default/t/r/f/q").read_text() == "d"
    assert len(hints()) == 1


def test_over_a_family_made_since_rsync_brings_all_but_the_schema(mount):
    table = mount.family().parent.parent
    (table / "r/f/q").write_text("old")
    before = now(mount)
    (table / "r/g").mkdir()
    (table / "r/g/q").write_text("x")
    (table / "r/f/q").write_text("newer")
    call = f"rsync -a --delete {table}/.asof/{before}/ {table}/"
    assert "rc 23" in sh(f"{call} 2>/dev/null; echo rc $?")
    assert os.listdir(table / "r") == ["f"] and (table / "r/f/q").read_text() == "old"
    error = (mount / ".cellfs/errors").read_text()
    assert "family 'g' exists and is left out; to drop it with its data say drop = true in [families.g]" in error, error
    sh(f"{call} --exclude=.schema.toml")
    sh(f"{CELLFS} alter {table} --drop-family g; {call}")
    assert "families.g" not in (table / ".schema.toml").read_text()
