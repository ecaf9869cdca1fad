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
