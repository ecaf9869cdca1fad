# SPDX-License-Identifier: MIT
"""Commands that look at a store: what they count and show is what is there, and nothing changes by them."""

import json
import os
import pty
import re
import select
import subprocess

from mounts import CELLFS


def run(*arguments, user=None, text=None):
    """Exit code, output, errors."""
    command = [CELLFS, *map(str, arguments)]
    if user is not None:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    done = subprocess.run(command, input=text, capture_output=True, timeout=120, check=False, text=True)
    return done.returncode, done.stdout, done.stderr


def ok(*arguments, **more):
    code, out, error = run(*arguments, **more)
    assert code == 0, (arguments, code, error)
    return out


def records(*arguments):
    return [json.loads(line) for line in ok(*arguments, "--json").splitlines()]


def on_a_terminal(*arguments):
    """What somebody sees who sits before it, and the exit code."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.execvp(CELLFS, [CELLFS, *map(str, arguments)])
    seen = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, seen.decode().replace("\r\n", "\n")


STEPS = """create 't', {NAME => 'f', VERSIONS => 3}, {NAME => 'g', VERSIONS => 1, KEEP_DELETED_CELLS => true}, {NAME => 'e'}
put 't', 'a', 'f:q', 'v1', 1
put 't', 'a', 'f:q', 'v2', 2
put 't', 'a', 'f:q', 'v3', 3
put 't', 'a', 'f:q', 'v4', 4
put 't', 'a', 'g:q', 'w1', 1
put 't', 'a', 'g:q', 'w2', 2
put 't', 'b', 'f:q', 'gone', 5
deleteall 't', 'b', 'f:q', 6
put 't', 'c', 'f:q', 'short', 5, {TTL => 1000}
put 't', 'c', 'g:long', 'LONG'
create 'other', 'f'
put 'other', 'r', 'f:q', 'x'
"""


def fill(mount):
    code, _, error = run("shell", "-n", mount, text=STEPS.replace("LONG", "x" * 1000))
    assert code == 0, error


def check_counts(counted):
    families = {family["family"]: family for family in counted["families"]}
    assert {name: [family[what] for what in ("rows", "cells", "versions", "tombstones", "hidden", "expired")]
            for name, family in families.items()} == {
                "e": [0, 0, 0, 0, 0, 0], "f": [1, 1, 2, 1, 2, 1], "g": [2, 2, 0, 0, 1, 0]}
    sizes = {"row": 1, "f": 1, "q": 1}
    each = 20 + sum(sizes.values())
    assert families["f"]["bytes"] == 3 * (each + 2)
    assert families["f"]["garbage_bytes"] == (each + 2) + (each + 4) + each + (each + 5)
    assert [counted[what] for what in ("rows", "cells", "tombstones")] == [2, 3, 1]
    assert [row["row"] for row in counted["largest_rows"]] == ["c", "a", "b"]
    assert counted["largest_rows"][1] == {"row": "a", "cells": 6, "bytes": 6 * (each + 2)}


def test_stats_counts_what_is_there_by_family_mounted_or_not(mount):
    fill(mount)
    counted = records("stats", mount, "t")
    assert [record["table"] for record in counted] == ["t"]
    check_counts(counted[0])
    assert "file_bytes" in counted[0]
    assert records("stats", mount / "default/t", "--rows", 1)[0]["largest_rows"][0]["row"] == "c"
    assert [record["table"] for record in records("stats", mount)] == ["other", "t"]
    mount.stop()
    counted = records("stats", mount.store, "t")[0]
    assert [counted[what] for what in ("rows", "cells", "versions", "tombstones", "hidden", "expired")] == [
        2, 3, 2, 1, 0, 0], "a flush has taken it away"


def test_stats_is_plain_in_a_pipe_and_has_bars_on_a_terminal(mount):
    fill(mount)
    lines = [line.split("\t") for line in ok("stats", mount, "t").splitlines()]
    assert [line[:4] for line in lines] == [["t", "e", "0", "0"], ["t", "f", "1", "1"], ["t", "g", "2", "2"],
                                            ["t", "all", "2", "3"]]
    code, seen = on_a_terminal("stats", mount, "t")
    plain = re.sub(r"\x1b\[[0-9;]*[mK]|\r", "", seen)
    assert code == 0 and plain.startswith("t: 2 rows"), seen
    assert re.search(r"\ng +2 +2 +0 +0 +1 +0 +1\.0 KiB +25 B +#+-+\n", plain), seen
    assert re.search(r"\nlargest rows +cells stored +bytes", plain) and re.search(r"\nc +2 +1\.0 KiB +#{20}\n", plain), seen


def test_stats_tells_what_it_cannot_count_and_what_was_called_wrongly(mount):
    fill(mount)
    ok("disable", mount, "other")
    code, out, error = run("stats", mount)
    assert code == 1 and out.startswith("t\te\t") and error.startswith("cellfs: other: not counted: ") and "disabled" in error
    code, out, error = run("stats", mount, "other")
    assert (code, out) == (3, "") and "disabled" in error
    for wrong, said, expected in ((["missing"], "missing", 1), (["t", "--rows", "-1"], "--rows", 2),
                                  (["t", "r"], "r", 2), (["t", "--rows", "many"], "--rows", 2)):
        code, out, error = run("stats", mount, *wrong)
        assert (code, out) == (expected, "") and said in error and error.count("\n") == 1, (wrong, code, error)


def test_stats_counts_what_its_caller_may_read(make_mount):
    mount = make_mount("allow_other")
    fill(mount)
    os.chmod(mount / "default/t", 0o700)
    code, out, _ = run("stats", mount, "t", user=1234)
    assert code != 0 and out == ""
    os.chmod(mount / "default/t", 0o755)
    assert ok("stats", mount, "t", user=1234) == ok("stats", mount, "t")


# ---- wal ------------------------------------------------------------------------------------------


def in_wal(*arguments):
    """The fields of each line, without where the record lies."""
    return [line.split("\t")[1:] for line in ok("wal", *arguments).splitlines()]


def test_wal_prints_the_records_of_a_table_beside_its_daemon_and_without_one(mount):
    fill(mount)
    ok("delete", mount, "t", "a", "f:q", "--timestamp", "2")
    lines = in_wal(mount, "--table", "t", "--row", "a")
    assert [line[1:] for line in lines] == [
        ["t", "a", "f:q", "1", "Put", "2"], ["t", "a", "f:q", "2", "Put", "2"], ["t", "a", "f:q", "3", "Put", "2"],
        ["t", "a", "f:q", "4", "Put", "2"], ["t", "a", "g:q", "1", "Put", "2"], ["t", "a", "g:q", "2", "Put", "2"],
        ["t", "a", "f:q", "2", "Delete", "0"]]
    sequences = [int(line[0]) for line in lines]
    assert sequences == sorted(sequences) and sequences[0] > 0
    wanted = ["--table", "default:t", "--sequence", f"{sequences[1]}..{sequences[2]}", "--values"]
    assert [line[2:] for line in in_wal(mount.store, *wanted)] == [["a", "f:q", "2", "Put", "v2"], ["a", "f:q", "3", "Put", "v3"]]
    assert len(in_wal(mount, "--table", "t", "--from", "@0", "--to", "3")) == 5
    record = records("wal", mount, "--table", "t", "--sequence", sequences[0], "--values")
    assert len(record) == 1 and record[0].pop("end") > record[0].pop("offset") and record[0].pop("table_id") > 0
    assert record[0] == {"segment": record[0]["segment"], "sequence": sequences[0], "table": "t", "row": "a", "cells": [
        {"family": "f", "qualifier": "q", "timestamp": 1, "type": "Put", "value": "v1", "value_bytes": 2}]}
    ok("drop", mount, "other", "--force")
    mount.kill9()
    assert [line[1:] for line in in_wal(mount.store, "--table", "t", "--row", "a")] == [line[1:] for line in lines]
    names = {line[1] for line in in_wal(mount.store) if line[0] != "note"}
    assert "t" in names and any(name.startswith("#") for name in names), "a table that is gone is told by its id"
    assert any(line[0] == "note" for line in in_wal(mount.store, "--notes"))


def test_wal_shows_damage_and_goes_on_behind_it(mount):
    fill(mount)
    mount.kill9()
    all_of_t = [json.loads(line) for line in ok("wal", "--json", mount.store, "--table", "t").splitlines()]
    second, third = all_of_t[1], all_of_t[2]
    segment = mount.store / "wal" / f"{second['segment']:016}.log"
    with open(segment, "r+b") as file:
        file.seek(second["end"] - 3)
        file.write(b"\xee")
    code, out, error = run("wal", segment)
    damaged = [line.split("\t") for line in out.splitlines() if line.split("\t")[1] == "damaged"]
    assert (code, error) == (1, "") and len(damaged) == 1
    assert damaged[0][0] == f"{second['segment']}:{second['offset']}" and f"begins at offset {second['end']}" in damaged[0][2]
    assert len([line for line in out.splitlines() if "\tt\ta\t" in line]) == 5
    code, out, _ = run("wal", "--json", mount.store, "--table", "t")
    told = [json.loads(line) for line in out.splitlines()]
    assert code == 1 and [record["end"] for record in told if "damage" in record] == [second["end"]]
    with open(segment, "r+b") as file:
        file.truncate(third["end"] - 2)
    assert run("wal", mount.store)[1].splitlines()[-1].split("\t")[1] in ("damaged", "unfinished")
    with open(segment, "r+b") as file:
        file.seek(12)
        file.write(b"\xee")
    lines = run("wal", mount.store)[1].splitlines()
    assert "its header is damaged; the records behind it tell" in lines[0] and "\tt\ta\tf:q\t1\t" in "".join(lines)
    segment.rename(segment.with_name(f"{second['segment'] + 2:016}.log"))
    segment.with_name(f"{second['segment']:016}.log").write_bytes(b"")
    code, out, _ = run("wal", mount.store)
    assert code == 1 and f"{second['segment'] + 1}:0\tdamaged\tthe segment is missing\n" in out


def test_wal_is_its_owners_and_says_what_was_called_wrongly(make_mount, tmp_path):
    mount = make_mount("allow_other")
    fill(mount)
    for target in (mount, mount.store):
        code, out, error = run("wal", target, user=1234)
        assert code == 3 and out == "" and "somebody else's" in error, error
    for wrong, said in ((["--sequence", "x"], "FIRST..LAST"), (["--sequence", "5..3"], "FIRST..LAST"), (["--segment", "x"], "--segment"),
                        (["--segment", "99"], "the log has no segment 99; it has 1"), (["--from", "5", "--to", "3"], "--from"),
                        (["--from", "soon"], "soon"), (["--nope"], "--nope")):
        code, out, error = run("wal", mount, *wrong)
        assert (code, out) == (2, "") and said in error and error.count("\n") == 1, (wrong, code, error)
    code, out, error = run("wal", mount, "--table", "missing")
    assert (code, out) == (1, "") and "no such record" in error
    assert run("wal", mount / "default/t")[0] == 2 and run("wal", tmp_path)[0] == 2
    code, _, error = run("wal", "hbase://localhost:1/")
    assert code == 2 and "hbase wal" in error


# ---- top ------------------------------------------------------------------------------------------


def test_top_tells_what_is_asked_for_and_by_whom(mount, family):
    (family / "q").write_text("x")
    work = subprocess.Popen(["bash", "-c", f"while :; do echo y >{family}/q; read -r line <{family}/q; done"])
    try:
        lines = [json.loads(line) for line in ok("top", "--json", "--interval", "0.5", "--count", "2", mount).splitlines()]
    finally:
        work.kill()
        work.wait()
    assert len(lines) == 2
    last = lines[1]
    assert {"open", "write", "flush", "release"} <= last["requests"].keys(), last
    written = last["requests"]["write"]
    assert written["per_second"] > 1 and 0 < written["p50_us"] <= written["p99_us"] and written["mean_us"] > 0
    assert last["mutations_per_second"] > 1 and last["memstore_bytes"] > 0 and last["maintenance"]
    askers = {asker["pid"]: asker for asker in last["askers"]}
    assert work.pid in askers and askers[work.pid]["process"] == "bash" and askers[work.pid]["uid"] == 0, last
    assert askers[work.pid]["per_second"] > 1
    scanning = subprocess.Popen(["bash", "-c", f"while :; do {CELLFS} get {family}; done"], stdout=subprocess.DEVNULL)
    try:
        last = records("top", "--interval", "0.5", "--count", "2", mount)[1]
    finally:
        scanning.kill()
        scanning.wait()
    assert last["requests"]["command"]["per_second"] > 1 and any(asker["process"] == "cellfs" for asker in last["askers"]), last
    code, seen = on_a_terminal("top", "--interval", "0.2", "--count", "1", mount)
    plain = re.sub(r"\x1b\[[0-9;]*[mKHJ]|\r", "", seen)
    assert code == 0 and plain.startswith(f"{mount}  20") and " requests/s\nmemstores " in plain and "maintenance: " in plain, seen


def test_top_is_the_owners_and_of_a_mount(make_mount):
    mount = make_mount("allow_other")
    code, out, error = run("top", "--count", "1", mount, user=1234)
    assert (code, out) == (3, "") and "for who mounted the store, and root" in error
    for wrong, said in ((["--interval", "0"], "--interval"), (["--interval", "often"], "--interval"), (["--count", "-1"], "--count")):
        code, out, error = run("top", *wrong, mount)
        assert (code, out) == (2, "") and said in error and error.count("\n") == 1, (wrong, error)
    watching = subprocess.Popen([CELLFS, "top", "--json", "--interval", "0.1", str(mount)], stdout=subprocess.PIPE)
    assert watching.stdout.readline()
    mount.stop()
    watching.stdout.read()
    assert watching.wait(60) == 0, "it ends with the mount"
    code, out, error = run("top", mount.store)
    assert (code, out) == (2, "") and "not mounted" in error
