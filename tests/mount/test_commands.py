# SPDX-License-Identifier: MIT
"""Commands beside the mount: what they do shows in it at once, and what they may do is what it allows."""

import json
import os
import re
import signal
import subprocess
import time

from mounts import CELLFS, sh, wait_until


def run(*arguments, user=None, text=None):
    """Exit code, output, errors."""
    command = [CELLFS, *map(str, arguments)]
    if user is not None:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    done = subprocess.run(command, input=text, stdin=None if text is not None else subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False, text=True)
    return done.returncode, done.stdout, done.stderr


def ok(*arguments, **more):
    code, out, error = run(*arguments, **more)
    assert code == 0, (arguments, code, error)
    return out


def test_what_a_command_puts_is_there_at_once(mount, family):
    (family / "q").write_text("old")
    assert (family / "q").read_text() == "old" and os.listdir(family) == ["q"]
    for number in range(30):
        ok("put", mount, "t", "r", f"f:q=value {number}", f"f:new{number}=x")
        assert (family / "q").read_text() == f"value {number}"
        assert len(os.listdir(family)) == number + 2
    ok("put", mount, "t", "elsewhere", "f:q=1")
    assert sorted(os.listdir(mount / "default/t")) == [".schema.toml", "elsewhere", "r"]
    ok("deleteall", mount, "t", "elsewhere")
    assert sorted(os.listdir(mount / "default/t")) == [".schema.toml", "r"]
    ok("delete", family / "q")
    assert (family / "q").read_text() == "value 28"
    ok("deleteall", mount, "t", "r", "f")
    assert os.listdir(family.parent.parent) == [".schema.toml"] or not os.listdir(family)


def test_a_reader_that_has_it_open_meets_the_new_value_after_an_open(mount, family):
    (family / "q").write_text("old")
    with open(family / "q") as before:
        assert before.read() == "old"
        ok("put", family / "q", "newer")
        assert (family / "q").read_text() == "newer" and os.stat(family / "q").st_size == 5


def test_what_is_written_to_a_name_that_a_command_took_away_is_there(mount, family):
    path = family / "q"
    ways = (["deleteall", mount, "t", "r"], ["deleteall", mount, "t", "r", "f"], ["deleteall", mount, "t", "r", "f:q"],
            ["delete", mount, "t", "r", "f:q"], ["truncate", mount, "t"])
    for way in ways:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("old")
        with open(path) as held:
            assert held.read() == "old"
            ok(*way)
            ok("put", mount, "t", "r", "f:other=x")
            path.write_text("new")
            assert path.read_text() == "new" and ok("get", "-b", path) == "new", way
        ok("deleteall", mount, "t", "r")


def test_a_writer_beside_commands_loses_nothing(mount, family):
    with open(family / "log", "ab", buffering=0) as log:
        for number in range(50):
            log.write(b"w")
            ok("append", family / "log", "c")
    value = (family / "log").read_bytes()
    assert value.count(b"w") == 50 and value.count(b"c") == 50


def test_paths_words_and_stores_name_the_same(mount, family):
    ok("put", mount, "t", "r", "f:a b=1", "f:\\x00\\xff=2")
    by_words = ok("get", mount, "t", "r")
    assert by_words == ok("get", mount / "default", "t", "r") == ok("get", mount / "default/t", "r")
    assert by_words == ok("get", mount / "default/t/r") == ok("get", family)
    assert "f:\\x00\\xFF" in by_words
    assert ok("get", family / "a b") == ok("get", family, "a b") == ok("get", mount, "t", "r", "f:a b")
    assert ok("get", mount.store, "t", "r") == by_words, "through its daemon"
    mount.stop()
    assert ok("get", mount.store, "t", "r") == by_words == ok("get", mount.store / "default/t/r")
    mount.start()


def test_a_table_goes_through_a_pipe_as_it_was(mount, family):
    for name in ("plain", "b@1", "%2Ex", "\udcff"):
        (family / name.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")).write_bytes(
            bytes(range(256)))
    (mount / "default/copy/r/f").mkdir(parents=True)
    scanned = ok("scan", "--json", "--versions", "all", mount, "t")
    assert json.loads(ok("mutate", "--json", mount, "copy", text=scanned)) == {"rows": 1}
    assert ok("scan", "--json", "--versions", "all", mount, "copy") == scanned


def test_standard_input_that_cannot_be_read_puts_nothing(mount, family):
    (family / "q").write_text("old")
    lines = '{"row": "r", "column": "f:q", "value": "new"}'
    for command in (f"put {family}/q -", f"put {mount} t r f:q=-", f"append {family}/q -", f"mutate {mount} t",
                    f"check_and_put {mount} t r --if f:q=old f:q=-"):
        for given in ("</tmp", "<&-"):
            done = subprocess.run(["bash", "-c", f"{CELLFS} {command} {given}"], capture_output=True, text=True,
                                  timeout=60, check=False)
            assert done.returncode == 3, (command, given, done)
            assert "standard input cannot be read: " in done.stderr, (command, given, done)
    assert (family / "q").read_text() == "old"
    ok("mutate", mount, "t", text=lines)
    assert (family / "q").read_text() == "new"
    ok("put", family / "q", "-", text="")
    assert (family / "q").read_text() == ""
    for closed in (">&-", ">&- 2>&-"):
        assert subprocess.run(["bash", "-c", f"{CELLFS} get {family}/q {closed}"], stderr=subprocess.DEVNULL,
                              timeout=60, check=False).returncode == 3
    assert subprocess.run(["bash", "-c", f"{CELLFS} count {mount} t 2>&- <&-"], capture_output=True,
                          timeout=60, check=False).stdout == b"1\n"


def test_a_value_from_standard_input_has_its_format(mount, family):
    ok("put", family / "q", "-", "--format", "hex", text="00fF\n")
    assert (family / "q").read_bytes() == b"\0\xff"
    ok("append", family / "q", "-", text="-\n")
    assert (family / "q").read_bytes() == b"\0\xff-\n"
    ok("put", mount, "t", "r", "f:q=-", "--format", "long", text="-2\r\n")
    assert (family / "q").read_bytes() == b"\xff" * 7 + b"\xfe"
    for form in ("hex", "long"):
        code, _, error = run("put", family / "q", "-", "--format", form, text="no\nmore\n")
        assert code == 2 and "standard input is no " in error
    ok("put", family / "q", "-", text="\\x00\n")
    assert (family / "q").read_text() == "\\x00\n", "bytes, as they are"


def test_a_condition_of_numbers_is_one(mount, family):
    long = ("--format", "long")
    ok("check_and_put", mount, "t", "r", "--if-absent", "f:n", "f:n=-5", *long)
    assert run("check_and_put", mount, "t", "r", "--if-absent", "f:n", "f:n=1", *long)[0] == 1
    for op in ("<", "<=", ">", ">="):
        code, _, error = run("check_and_put", mount, "t", "r", "--if", "f:n=0", "--op", op, "f:n=1", *long)
        assert code == 2 and "bytes are compared" in error, (op, code, error)
    ok("check_and_put", mount, "t", "r", "--if", "f:n=-5", "f:n=6", *long)
    ok("check_and_put", mount, "t", "r", "--if", "f:n=-5", "--op", "!=", "f:n=7", *long)
    assert ok("get_counter", mount, "t", "r", "f:n") == "7\n"
    assert run("check_and_put", mount, "t", "r", "--if-absent", "f", "f:n=1")[0] == 2


def test_options_may_stand_before_the_command(mount, family):
    (family / "q").write_text("x")
    assert ok("--json", "list", mount) == ok("list", "--json", mount)
    assert ok("--no-pager", "--colour", "always", "log", family / "q") == ok("log", "--colour=always", family / "q")
    for words, told in ((["-n", "1", "log", family], "'-n' stands before the command"), (["--json"], "before the command"),
                        (["--json", "gte", mount], "did you mean 'get'"), (["get", "-x"], "'-x' is not understood"),
                        (["--json", "mount", "s", "m"], "'--json' is not understood"),
                        (["put", mount, "t", "r", "f:q=1", "--ttl", "5", "--ttl", "6"], "'--ttl' is said twice"),
                        (["check_and_put", mount, "t", "r", "--if", "f:q=1", "--if", "f:q=2", "f:q=3"], "'--if' is said twice"),
                        (["get", "/"], "cellfs mount STORE MOUNTPOINT")):
        code, out, error = run(*words)
        assert code == 2 and not out and told in error, (words, code, error)


def test_what_cannot_be_printed_is_an_error(mount, family):
    for words in ("--help", "help get", "get --help", "--version", "version", f"list {mount}"):
        assert subprocess.run(["bash", "-c", f"{CELLFS} {words} >/dev/full"], stderr=subprocess.DEVNULL, timeout=60,
                              check=False).returncode == 3, words


def test_exit_codes_say_what_happened(mount, family):
    (family / "q").write_text("x")
    for code, *arguments in (
            (0, "get", family / "q"), (1, "get", family / "nothing"), (1, "get", mount, "nothing", "r"),
            (1, "check_and_put", family, "--if", "q=y", "q=z"), (2, "get"), (2, "get", mount), (2, "gte", mount),
            (2, "scan", mount, "t", "--limit", "many"), (2, "get", "/nowhere"), (2, "put", family, "q"),
            (2, "scan", mount, "t", "--filter", "No()")):
        got, _, error = run(*arguments)
        assert got == code, (arguments, got, error)
        assert error.count("\n") == (0 if code < 2 and not error else 1), error
        assert not error or error.startswith("cellfs: ")
    assert "did you mean 'get'" in run("gte", mount)[2]
    assert "did you mean '--limit'" in run("scan", mount, "t", "--limt", "1")[2]


def test_another_user_may_what_the_modes_say(make_mount):
    mount = make_mount("allow_other")
    family = mount.family()
    (family / "open").write_text("open")
    (family / "closed").write_text("closed")
    os.chmod(family / "closed", 0o600)
    nobody = {"user": 65534}
    assert "closed" in ok("scan", mount, "t")
    seen = ok("scan", mount, "t", **nobody)
    assert "open" in seen and "closed" not in seen
    assert "closed" not in ok("scan", "--raw", mount, "t", **nobody)
    assert ok("count", "--cells", mount, "t", **nobody) == "1\t1\n"
    code, out, error = run("get", family / "closed", **nobody)
    assert code == 3 and out == "" and "no right" in error
    # A filter tells nothing either.
    code, out, _ = run("scan", mount, "t", "--filter", "ValueFilter(=,'substring:closed')", **nobody)
    assert (code, out) == (1, "")
    for refused in (["put", family, "open=x"], ["put", family, "new=x"], ["put", mount, "t", "row", "f:q=x"],
                    ["deleteall", mount, "t", "r"], ["delete", family / "open"], ["append", family / "open", "x"],
                    ["check_and_put", family, "--if", "closed=closed", "open=x"], ["flush", mount],
                    ["compact", mount], ["set", mount, "log_level=info"], ["status", "--release", "all", mount]):
        code, _, error = run(*refused, **nobody)
        assert code == 3 and error.count("\n") == 1, (refused, code, error)
    assert (family / "open").read_text() == "open" and sorted(os.listdir(family)) == ["closed", "open"]
    os.chmod(family, 0o777)
    ok("put", family, "his=1", **nobody)
    assert os.stat(family / "his").st_uid == 65534 and os.stat(family / "open").st_uid == 0
    os.chmod(family, 0o1777)
    assert run("deleteall", family / "open", **nobody)[0] == 3
    ok("deleteall", family / "his", **nobody)
    os.chmod(family.parent.parent.parent, 0o700)
    assert run("scan", mount, "t", **nobody)[0] == 3
    assert "t\t" not in ok("status", mount, **nobody)


def test_a_mount_of_ones_own_is_closed_to_others(mount, family):
    code, _, error = run("scan", mount, "t", user=65534)
    assert code == 3 and "allow_other" in error


def test_many_commands_of_one_user_leave_the_others_theirs(make_mount):
    mount = make_mount("allow_other")
    (mount.family() / "q").write_text("x")
    waiting = [subprocess.Popen(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", CELLFS, "scan", str(mount),
                                 "t", "--filter", "ValueFilter(=,'regexstring:x')"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for _ in range(40)]
    assert "x" in ok("scan", mount, "t")
    for process in waiting:
        process.wait(60)
    assert "x" in ok("scan", mount, "t", user=65534)


def test_errors_tell_each_user_his_own(make_mount):
    mount = make_mount("allow_other")
    family = mount.family()
    (mount / "default/t").chmod(0o777)
    family.chmod(0o777)
    assert run("put", mount, "t", "r", "f:q=x")[0] == 0
    refused = "echo x >" + str(mount / "default/t/.schema.toml")
    follows = subprocess.Popen([CELLFS, "errors", "-f", str(mount / "default/t")], stdout=subprocess.PIPE, text=True)
    sh(refused, check=False)
    assert ".schema.toml" in follows.stdout.readline()
    follows.kill()
    follows.wait()
    follows.stdout.close()
    assert ".schema.toml" in ok("errors", mount) and ".schema.toml" in ok("errors", mount / "default/t")
    # Both in the caller's time.
    for followed in (ok("errors", mount), ok("errors", mount / "default/t")):
        assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \w+ default:t", followed), followed
    sh(refused, check=False)
    assert re.search(r"; 2 times since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$", ok("errors", mount), re.M)
    assert ok("errors", family) == ""
    assert ok("errors", mount, user=65534) == ""
    code, out, _ = run("errors", mount.store / "default", user=65534)
    assert ".schema" not in out and code in (0, 3)


def test_help_shows_every_command_with_an_example(mount):
    listing = ok("help").split("\nExit codes:")[0]
    listed = [line.split()[0] for line in listing.splitlines() if line.startswith("  ")]
    assert {"mount", "get", "scan", "status"} <= set(listed)
    for command in listed:
        text = ok("help", command)
        assert "Example" in text and f"cellfs {command}" in text and text == ok(command, "--help")
    assert sh(f"{CELLFS} mount", check=False)[0] == 2


def test_a_no_says_what_it_means(mount, family):
    (family / "q").write_text("words")
    for call, told in (("log", "no version"), ("show", "nothing is stored"), ("undelete", "still kept"),
                       ("get", "no such cell"), ("get_counter", "no such counter")):
        code, out, error = run(call, family / "missing")
        assert (code, out) == (1, "") and told in error and str(family / "missing") in error, (call, error)
    code, _, error = run("check_and_put", mount, "t", "r", "--if", "f:q=other", "f:q=new")
    assert code == 1 and "does not hold" in error and (family / "q").read_text() == "words"


def test_a_row_or_column_that_may_not_be_read_is_not_taken_for_empty(make_mount):
    mount = make_mount("allow_other")
    ok("create", mount, "t", "f")
    ok("put", mount, "t", "r", "f:q=secret")
    column = mount / "default/t/r/f/q"
    for closed in (column, column.parent.parent):
        os.chmod(closed, 0o700)
        for call in (["log"], ["diff"], ["show"], ["show", "--at", "-1s"], ["restore", "--at", "-1s"], ["undelete"],
                     ["get"], ["get_counter"]):
            code, out, error = run(*call, column, user=65534)
            assert code == 3 and not out and "no right" in error, (call, code, out, error)
        os.chmod(closed, 0o755)
    os.chmod(column.parent.parent, 0o711)
    code, out, error = run("log", column.parent.parent, user=65534)
    assert code == 3 and "no right to list" in error
    assert ok("show", column, user=65534) == "secret"


def test_what_is_named_and_may_not_be_read_is_no_nothing(make_mount):
    """A row that may not be listed, a file that may not be read, a family that may only be searched."""
    mount = make_mount("allow_other")
    ok("create", mount, "t", "f")
    table = mount / "default/t"
    for row in ("closed", "open", "searched"):
        ok("put", mount, "t", row, "f:q=secret", "f:s=secret")
    os.chmod(table / "closed", 0o700)
    os.chmod(table / "open/f/s", 0o600)
    os.chmod(table / "searched/f", 0o711)
    for call in ("get", "scan", "count"):
        for path in ("closed", "closed/f", "closed/f/q", "open/f/s", "searched/f"):
            code, out, error = run(call, table / path, user=65534)
            assert code == 3 and not out and "no right" in error, (call, path, code, out, error)
        ok(call, table / "searched/f/q", user=65534)
        ok(call, table / "open", user=65534)
        ok(call, table / "closed")
    seen = ok("scan", mount, "t", user=65534)  # of a table all that may be read
    assert [line.split("\t")[:2] for line in seen.splitlines()] == [["open", "f:q"]]


def test_a_family_that_is_named_twice_is_a_mistake(mount, family):
    (family / "q").write_text("x")
    for call in (["put", family, "f:w=bob"], ["put", family, "f:w", "bob"], ["deleteall", family, "f:q"],
                 ["delete", family, "f:q"], ["get", family, "f:q"], ["append", family, "f:q", "y"],
                 ["incr", family, "f:n"], ["check_and_put", family, "--if", "f:q=x", "q=y"]):
        code, out, error = run(*call)
        assert code == 2 and not out and "names the family 'f' already" in error, (call, code, error)
    assert os.listdir(family) == ["q"] and (family / "q").read_text() == "x"
    ok("put", family.parent, "f:f:w=said")
    assert (family / "f:w").read_text() == "said"


def test_what_was_mistyped_is_told(mount, family):
    (family / "q").write_text("x")
    table = family.parent.parent
    for call, told in ((["count", table / "nothing"], "no such row"), (["count", mount, "t", "f:zz"], "no such row"),
                       (["scan", table, "--prefix", "zz"], "no such cell"), (["errors", mount / "default/nosuch"], "nosuch"),
                       (["errors", mount / "nosuch"], "nosuch"), (["scan", table, "f:zz"], "no such cell")):
        code, _, error = run(*call)
        assert code == 1 and told in error, (call, code, error)
    ok("errors", table)
    ok("deleteall", mount, "t", "r")
    assert ok("count", table) == "0\n"
    for call, told in ((["get", mount], "a table and a row"), (["scan", "--filter", "Foo", table], "'(' is expected"),
                       (["scan", "-v", "x", table], "--versions is 'x'"), (["scan", "-n", "x", table], "--limit is 'x'"),
                       (["scan", "--raw", mount, "t", "f:a"], "name 'f'"),
                       (["config", "--config", "/nope"], "/nope: No such file")):
        code, out, error = run(*call)
        assert code == 2 and not out and told in error, (call, code, error)


def test_mutate_refuses_what_would_do_something_else(mount, family):
    (family / "q").write_text("x")
    for line, told in (({"column": "f:q", "type": "DeleteFamily"}, "of a column says DeleteColumn"),
                       ({"column": "f:q", "type": "DeleteFamilyVersion", "timestamp": 1}, "of a column says Delete"),
                       ({"column": "f:q", "type": "Remove"}, "there are Put, Append")):
        code, _, error = run("mutate", mount, "t", text=json.dumps({"row": "r", **line}) + "\n")
        assert code == 2 and told in error and (family / "q").read_text() == "x", (line, code, error)
    code, _, error = run("mutate", mount, "t", text='{"row": "r", "row": "s", "column": "f:q", "value": "y"}\n')
    assert code == 2 and "a member twice" in error and (family / "q").read_text() == "x"
    for line, told in (({"column": "f:a", "family": "g", "qualifier": "z", "value": "1"}, "one or the other"),
                       ({"column": "f:y", "qualifier": "z", "value": "1"}, "one or the other"),
                       ({"column": "f:y", "amount": 1, "value": "q"}, '"amount" does not go with the type Put'),
                       ({"column": "f:y", "type": "Increment", "amount": 1, "value": "q"}, '"value" does not go with'),
                       ({"column": "f:y", "type": "Delete", "value": "q"}, '"value" does not go with the type Delete'),
                       ({"column": "f:y", "type": "DeleteColumn", "ttl": 5}, '"ttl" does not go with'),
                       ({"family": "f", "qualifier": 5, "value": "1"}, '"qualifier" is neither text nor'),
                       ({"column": "f:y", "type": 1, "value": "1"}, '"type" is neither text nor'),
                       ({"column": "f:y", "type": "Increment", "amount": 2 ** 64 - 1}, "no number of 8 bytes"),
                       ({"column": "f:y", "value": "1", "timestamp": 2 ** 64 - 1}, "no number of 8 bytes"),
                       ({"column": "f:y", "value": "1", "timestamp": -1}, "negative"),
                       ({"column": "f:y", "value": "1", "ttl": -1}, "from 1 to"),
                       ({"column": "f:y", "value": "1", "ttl": 0}, "from 1 to"),
                       ({"column": "f", "type": "DeleteFamilyVersion"}, '"timestamp" is missing')):
        code, _, error = run("mutate", mount, "t", text=json.dumps({"row": "r", **line}) + "\n")
        assert code == 2 and told in error and os.listdir(family) == ["q"], (line, code, error)
    assert run("mutate", mount, "nosuch", text="")[0] == 1
    for path in (family / "q", family, family.parent):
        code, _, error = run("mutate", path, text='{"row": "s", "column": "f:q", "value": "y"}\n')
        assert code == 2 and "name the table" in error, (path, code, error)
    code, _, error = run("mutate", mount, "t", text='{"row": "r", "column": "f:q", "value": "y"}\n\n'
                                                    '{"row": "r", "column": "nope:q", "value": "y"}\n')
    assert code == 1 and "line 3: " in error and "nope" in error, error
    code, _, error = run("mutate", mount, "t", text='{"row": "r", "column": "f:q", "value": "y"}\n'
                                                    '{"row": "r", "column": "f:q", "type": "Increment", "amount": 1}\n')
    assert code == 2 and "lines 1 to 2, one step: " in error, error
    half = json.dumps({"row": "r", "column": "f:half", "value": "x" * (9 << 20)}) + "\n"
    code, _, error = run("mutate", mount, "t", text=half * 2)
    assert code == 2 and "line 2: " in error and "16 MiB" in error and os.listdir(family) == ["q"], error
    for column in ("f", "f:"):
        ok("mutate", mount, "t", text=json.dumps({"row": "r", "column": column, "type": "DeleteFamily"}) + "\n")
        assert not (family / "q").exists()
        (family / "q").write_text("x")
    raw = ok("scan", "--raw", "--json", mount, "t")
    assert "DeleteFamily" in raw
    ok("mutate", mount, "t", text=raw)


def test_status_of_a_store_that_is_not_mounted_says_nothing_of_puts(mount, family):
    (family / "q").write_text("x")
    mount.stop()
    assert "refused" not in ok("status", mount.store)
    ok("put", mount.store, "t", "r", "f:q=y")


def test_status_tells_times_and_states_apart(mount, family):
    (family / "q").write_text("x")
    for seconds in range(1, 4):
        os.listdir(mount / f".asof/{1700000000000 + seconds}")
    told = ok("status", mount)
    states = int(re.search(r"states kept +(\d+) of the store", told)[1])
    assert "held by .asof  3 times" in told and 1 <= states <= 3, told
    assert re.search(r"170000000000\d \(2023-11-1[45] ", told), "as a date, and as --release takes it"
    for seconds in range(4, 13):
        os.listdir(mount / f".asof/{1700000000000 + seconds}")
    told = ok("status", mount)
    assert "held by .asof  12 times" in told and told.count(" s ago") == 10 and " and 2 more" in told, told


def test_what_is_made_in_an_emptied_table_is_its_makers(make_mount):
    mount = make_mount("allow_other")
    ok("create", mount, "t", "f", "g")
    os.chmod(mount / "default/t", 0o777)
    row = mount / "default/t/r"
    theirs = f"mkdir -p {row}/f {row}/g; echo 1 >{row}/f/q; echo 1 >{row}/g/q; chmod 700 {row}/g; chmod 711 {row}"
    for _ in range(2):
        sh(f"setpriv --reuid=65534 --regid=65534 --clear-groups sh -c '{theirs}'")
        assert (row / "f/q").stat().st_uid == 65534 and (row / "g").stat().st_mode & 0o777 == 0o700
        ok("alter", mount, "t", "--drop-family", "g")
        ok("alter", mount, "t", "g")
        ok("put", mount, "t", "r", "g:q=2")
        assert (row / "g/q").stat().st_uid == 0 and (row / "g").stat().st_mode & 0o777 == 0o755
        assert (row / "f/q").stat().st_uid == 65534 and row.stat().st_mode & 0o777 == 0o711
        ok("truncate", mount, "t")
        assert os.listdir(mount / "default/t") == [".schema.toml"]
        ok("put", mount, "t", "r", "f:q=2")
        for path in (row, row / "f", row / "f/q"):
            assert path.stat().st_uid == 0, path
        assert row.stat().st_mode & 0o777 == 0o755
        ok("truncate", mount, "t")
        mount.stop()
        mount.start()
        (row / "f").mkdir(parents=True)
        assert row.stat().st_uid == 0 and (row / "f").stat().st_uid == 0
        ok("truncate", mount, "t")


def test_a_row_of_many_columns_is_copied_in_pieces(mount):
    ok("create", mount, "t", "f")
    ok("create", mount, "copy", "f")
    lines = "".join(json.dumps({"row": "r", "column": f"f:q{i:05}", "value": "v"}) + "\n" for i in range(10001))
    code, _, error = run("mutate", mount, "t", text=lines)
    assert code == 2 and "at most 10000 columns" in error and "--in-pieces" in error, error
    assert ok("count", "--cells", mount, "t") == "0\t0\n"
    ok("mutate", "--in-pieces", mount, "t", text=lines)
    sh(f"{CELLFS} scan --json {mount} t | {CELLFS} mutate --in-pieces {mount} copy")
    assert ok("count", "--cells", mount, "copy") == "1\t10001\n"


def test_a_stopped_daemon_is_not_waited_for(mount, family):
    (family / "q").write_text("x")
    os.kill(mount.pid, signal.SIGSTOP)
    try:
        for call in (["status", mount], ["get", family / "q"]):
            code, out, error = run(*call)
            assert (code, out) == (3, "") and f"kill -CONT {mount.pid}" in error and error.count("\n") == 1, error
    finally:
        os.kill(mount.pid, signal.SIGCONT)
    assert "x" in ok("get", family / "q")


def test_who_follows_errors_is_done_when_the_mount_ends(mount):
    follower = subprocess.Popen([CELLFS, "errors", "-f", mount.path], stderr=subprocess.PIPE, text=True)
    while "socket:" not in sh(f"ls -l /proc/{follower.pid}/fd", check=False)[1]:
        assert follower.poll() is None
    time.sleep(0.2)  # for its request
    mount.stop()
    assert follower.wait(30) == 0 and follower.stderr.read() == ""


def test_a_put_may_be_written_as_in_hbases_shell(mount, family):
    ok("put", mount, "t", "r", "f:q", "v", "1700000000000")
    assert json.loads(ok("get", "--json", mount, "t", "r", "f:q"))["timestamp"] == 1700000000000


def test_a_version_is_meant_however_its_path_is_spelled(mount):
    ok("create", mount, "plain", "f:VERSIONS=9")
    family = mount.family("plain")
    for column, spelled in (("p", "p@{}"), ("q", ".versions/q/{}")):
        def versions():
            return sorted(os.listdir(family / ".versions" / column))

        for timestamp in (1000, 2000, 3000):
            ok("put", family / spelled.format(timestamp), f"at {timestamp}")
        assert versions() == ["1000", "2000", "3000"] and ok("get", "-b", family / spelled.format(2000)) == "at 2000"
        ok("delete", family / spelled.format(2000))
        assert versions() == ["1000", "3000"]
        ok("put", family / spelled.format(4000), "at 4000")
        ok("deleteall", family / spelled.format(3000))
        assert versions() == ["4000"]
        for call in (["append", family / spelled.format(4000), "x"], ["incr", family / spelled.format(4000)],
                     ["split", family / spelled.format(4000)], ["truncate", family / spelled.format(4000)]):
            code, out, error = run(*call)
            assert code == 2 and not out, (call, code, error)
        # Said twice, it might be meant twice.
        for call in (["put", "-t", "5", family / spelled.format(4000), "x"], ["delete", "-t", "5", family / spelled.format(4000)],
                     ["deleteall", "-t", "5", family / spelled.format(4000)], ["get", "--from", "5", family / spelled.format(4000)],
                     ["scan", "--until", "5", family / spelled.format(4000)]):
            code, out, error = run(*call)
            assert code == 2 and not out and "names version 4000 already" in error, (call, code, error)
        assert versions() == ["4000"]
    code, _, error = run("put", "-t", "5", mount, "plain", "r", "f:q", "v", "6")
    assert code == 2 and "said twice" in error


def test_a_counter_is_a_number_or_refused(mount, family):
    ok("incr", family / ".counters/n", "7")
    assert ok("get_counter", family / ".counters/n") == "7\n"
    for call in (["put", family / ".counters/n", "6"], ["append", family / ".counters/n", "6"],
                 ["check_and_put", family / ".counters/n", "--if-absent", "f:x", "6"]):
        code, _, error = run(*call)
        assert code == 2 and "default/t/r/f/.counters/n is a counter; use incr" in error, (call, code, error)
    assert ok("get", family / ".counters/n").split()[-1] == "7" == ok("show", family / ".counters/n").split()[-1]
    assert ok("get", "--format", "hex", family / ".counters/n").split()[-1] == "0000000000000007"
    assert ok("get", "-b", family / ".counters/n") == ok("show", family / "n") == "\0" * 7 + "\7"
    assert json.loads(ok("show", "--json", family / "n")).keys() == {"row", "family", "qualifier", "timestamp", "value"}
    code, _, error = run("get", family / ".deleted/n")
    assert code == 2 and "default/t/r/f/.deleted/n is not what this command takes" in error


def test_bytes_of_a_filter_are_said_as_those_of_a_key(mount, family):
    ok("put", mount, "t", "\\xff\\x00a", "f:q=1")
    ok("put", mount, "t", "b", "f:q=2")
    for call in (["scan", "--filter", "PrefixFilter('\\xff\\x00')", mount, "t"],
                 ["get", "--filter", "PrefixFilter('\\xff')", mount, "t", "\\xff\\x00a"]):
        assert ok(*call).endswith("1\n") and ok(*call).count("\n") == 1
    assert ok("count", "--filter", "PrefixFilter('\\xff')", mount, "t") == "1\n"


def test_no_limit_is_said_by_0_everywhere(mount, family):
    for name in "abc":
        ok("put", mount, "t", name, "f:q=1")
    assert ok("scan", "-n", "0", mount, "t").count("\n") == 3 == ok("log", "-n", "0", mount / "default/t").count("\n")
    assert ok("count", "-n", "0", mount, "t") == "3\n" and ok("count", "-n", "2", mount, "t") == "2\n"


def test_what_contradicts_itself_is_refused(mount, family):
    for name in ("ba", "bb", "c"):
        ok("put", mount, "t", name, "f:q=1")
    assert ok("scan", "--prefix", "b", "--start", "bb", mount, "t").split()[0] == "bb"
    for call, told in ((["scan", "--prefix", "b", "--start", "a", mount, "t"], "--start does not begin"),
                       (["count", "--prefix", "b", "--stop", "c", mount, "t"], "--stop does not begin"),
                       (["scan", "--start", "a", mount / "default/t/ba"], "names a row already"),
                       (["log", "--since", "2000", "--until", "1000", mount / "default/t"], "--since is later"),
                       (["put", mount, "t", "r", "f:q=1", "f:q=2"], "'f:q' is said twice"),
                       (["set", mount, "log_level=info", "log_level=debug"], "'log_level' is said twice")):
        code, out, error = run(*call)
        assert code == 2 and not out and told in error, (call, code, error)


def test_a_path_is_named_as_its_caller_spells_it(mount, family):
    (family / "q").write_text("x")
    for call, told in ((["get", mount / ".cellfs/status"], ".cellfs/status is no data"),
                       (["get", family / ".versions/q"], "default/t/r/f/.versions/q is not what"),
                       (["get", family / ".versions"], "default/t/r/f/.versions is not what"),
                       (["show", family / ".versions/q/5"], "default/t/r/f/.versions/q/5 is no cell"),
                       (["show", mount / "default"], "default is no table"), (["log", mount.path], "/ is no table"),
                       (["put", family / "q"], "give one value for default/t/r/f/q"),
                       (["flush", family], "default/t/r/f is in a table"), (["alter", family, "f:VERSIONS=1"], "default/t/r/f lies in"),
                       (["list", family], "default/t/r/f lies in")):
        code, out, error = run(*call)
        assert code == 2 and not out and told in error, (call, code, out, error)


def test_sizes_that_look_alike_are_told_to_the_byte(mount, family):
    (family / "q").write_bytes(b"\0" * 2_000_000)
    (family / "q").write_bytes(b"\0" * 2_000_002)
    code, out, _ = run("diff", family / "q")
    assert code == 1 and "2000000 B -> 2000002 B" in out, out


def test_the_version_is_told_as_json_too():
    assert "cellfs " + json.loads(ok("version", "--json"))["version"] + "\n" == ok("version")


def test_words_that_say_nothing_are_refused(mount, family):
    (family / "q").write_text("x")
    for call, told in ((["mutate", mount, "t", "file.jsonl"], "too many"), (["compact", mount / "default/t", "u"], "too many"),
                       (["flush", mount / "default/t", "u"], "too many"), (["flush", family], "name the table"),
                       (["incr", mount, "t", "r", "f:n=3"], "x3D"), (["append", mount, "t", "r", "f:n=3"], "x3D"),
                       (["get", mount, "t", ""], "row is empty"), (["get_counter", mount, "t", "", "f:c"], "row is empty"),
                       (["deleteall", mount, "t", ""], "row is empty"),
                       (["get_counter", mount, "t", "r", "f:d", "f:c"], "'f:c' is too much"),
                       (["get", "-b", "--format", "hex", family / "q"], "say one of them"),
                       (["alter", mount, "t", "METHOD=delete", "NAME=f"], "no family")):
        code, out, error = run(*call, text="")
        assert code == 2 and told in error and not out, (call, code, error)
    code, _, error = run("mount", "-o", "authorization=true", mount.store, mount.path)
    assert code == 2 and "hbase.security.authorization" in error


def test_several_tables_are_flushed_and_compacted_and_the_others_are_not(mount, family):
    for table in "t", "u", "v":
        (mount.family(table) / "q").write_text("x")
    def in_memory():
        return [t["table"] for t in mount.status()["tables"] if t["memstore_cells"] and ":" not in t["table"]]
    assert in_memory() == ["t", "u", "v"]
    ok("flush", mount, "t", "default:v", "t")
    assert in_memory() == ["u"]
    ok("flush", mount / "default", "u")
    ok("compact", mount, "u", "v")
    assert {t["table"]: t["compactions"] for t in mount.status()["tables"] if ":" not in t["table"]} == {"t": 0, "u": 1, "v": 1}
    code, _, error = run("compact", mount, "nope", "t", "other")
    assert code != 0 and "nope: " in error and "other: " in error
    assert next(t for t in mount.status()["tables"] if t["table"] == "t")["compactions"] == 1


def test_a_compaction_that_was_asked_for_is_among_the_jobs_under_way(mount, family):
    for size in 3, 2:
        (family / "q").write_bytes(os.urandom(size << 20))
        ok("flush", mount, "t")
    mount.remount(options="compaction_rate=1")  # it takes weeks
    with subprocess.Popen([CELLFS, "compact", str(mount), "t"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as asked:
        wait_until(lambda: mount.status()["maintenance"] == "compact t", "the compaction")
        assert "maintenance    compact t" in ok("status", mount)
        assert 'maintenance = "compact t"' in (mount / ".cellfs/status").read_text()
        metrics = (mount / ".cellfs/metrics").read_text()
        assert 'cellfs_jobs{kind="compact"} 1\n' in metrics and 'cellfs_jobs{kind="flush"} 0\n' in metrics
        asked.send_signal(signal.SIGINT)
        asked.communicate(timeout=60)
    wait_until(lambda: mount.status()["maintenance"] == "idle", "its end")


def test_what_is_about_a_whole_store_takes_no_path_into_one(mount, family):
    calls = (["status"], ["set", "maintenance=running"], ["check"], ["list_namespaces"])
    for command, *words in calls:
        for root in (mount, mount.store):
            code, out, error = run(command, root / "nope", *words)
            assert code == 2 and not out and f"name the store itself, {root}" in error, (command, code, out, error)
    assert f"name the store itself, {mount}" in ok("report", mount / "nope")
    for command in "flush", "compact", "errors", "umount":
        assert run(command, mount / "nope")[0] in (1, 2), command


def test_a_store_is_no_mount_point(mount, tmp_path):
    (tmp_path / "empty").mkdir()
    code, _, error = run("mount", tmp_path / "empty", mount.store)
    assert code != 0 and "comes first" in error and not os.listdir(tmp_path / "empty")
