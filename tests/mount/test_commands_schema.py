# SPDX-License-Identifier: MIT
"""Schemas, rights and quotas by commands: the mount shows them at once, and so does whoever may do what."""

import errno
import json
import os
import subprocess
import threading

from mounts import CELLFS, fails_with, sh
from test_commands import ok, run

NOBODY = {"user": 65534}


def fails(code, *arguments, **more):
    got, out, error = run(*arguments, **more)
    assert got == code and error.count("\n") == 1 and error.startswith("cellfs: "), (arguments, got, out, error)
    return error


def says_no(*arguments, **more):
    got, out, error = run(*arguments, **more)
    assert got == 1 and not error, (arguments, got, error)
    return out


def test_a_table_is_there_at_once_and_gone_at_once(mount):
    tables = mount / "default"
    assert os.listdir(tables) == [".namespace.toml"]
    for number in range(20):
        assert not os.path.exists(tables / "t")
        ok("create", mount, "t", f"f:VERSIONS={number + 1}")
        assert sorted(os.listdir(tables)) == [".namespace.toml", "t"]
        assert f"VERSIONS = {number + 1}\n" in (tables / "t/.schema.toml").read_text()
        ok("put", mount, "t", "r", "f:q=x")
        assert (tables / "t/r/f/q").read_text() == "x"
        ok("drop", "--force", mount, "t")
        assert not os.path.exists(tables / "t/r/f/q") and os.listdir(tables) == [".namespace.toml"]
    ok("create_namespace", mount, "n")
    assert sorted(os.listdir(mount.path)) == ["default", "hbase", "n"]
    ok("create", mount / "n", "t", "f")
    assert os.listdir(mount / "n/t") == [".schema.toml"]
    ok("drop", "--force", mount / "n/t")
    ok("drop_namespace", mount / "n")
    assert sorted(os.listdir(mount.path)) == ["default", "hbase"]


def test_what_is_open_of_a_table_that_goes_is_kept(mount):
    """As after rm: for who reads it and for who writes it."""
    for command in (["truncate"], ["drop", "--force"]):
        ok("create", mount, "t", "f")
        path = mount / "default/t/r/f/q"
        ok("put", mount, "t", "r", "f:q=held")
        with open(path, "rb") as reader, open(path, "r+b", buffering=0) as writer:
            ok(*command, mount, "t")
            assert not path.exists()
            assert os.fstat(reader.fileno()).st_size == 4 and reader.read() == b"held"
            os.ftruncate(writer.fileno(), 2)
            assert os.pwrite(writer.fileno(), b"y", 2) == 1
            os.fsync(writer.fileno())
            assert os.pread(reader.fileno(), 10, 0) == b"hey"
        assert not path.exists()
        if command == ["truncate"]:
            ok("drop", "--force", mount, "t")


def test_what_is_open_of_a_disabled_table_that_goes_is_an_error(mount):
    """It cannot be read before the table goes, and must not seem empty afterwards."""
    ok("create", mount, "t", "f")
    path = mount / "default/t/r/f/q"
    ok("put", mount, "t", "r", "f:q=held")
    file = os.open(path, os.O_RDWR)
    ok("disable", mount, "t")
    ok("truncate", mount, "t")
    for call in (os.fstat, lambda fd: os.pread(fd, 10, 0), lambda fd: os.pwrite(fd, b"x", 0), os.fsync):
        with fails_with(errno.EROFS):
            call(file)
    with fails_with(errno.EROFS):
        os.close(file)
    assert not path.exists()


def test_the_schema_is_read_anew_after_a_change(mount):
    ok("create", mount, "t", "f", "old", "--set", "team=a")
    schema = mount / "default/t/.schema.toml"
    before = os.stat(schema)
    ok("put", mount, "t", "r", "f:q=x", "old:q=x")
    assert sorted(os.listdir(mount / "default/t/r")) == ["f", "old"]
    ok("alter", mount, "t", "f:VERSIONS=7", "new", "--unset", "team", "--drop-family", "old")
    text = schema.read_text()
    assert "VERSIONS = 7\n" in text and "[families.new]" in text and "team" not in text and "old" not in text
    assert os.stat(schema).st_mtime_ns > before.st_mtime_ns and os.stat(schema).st_size == len(text)
    assert os.listdir(mount / "default/t/r") == ["f"] and not os.path.exists(mount / "default/t/r/old/q")
    ok("split", mount, "t", "m")
    assert 'splits = ["m"]' in schema.read_text()
    assert len([name for name in os.listdir(mount / "hbase/meta") if name.startswith("t,")]) == 2
    ok("set_quota", mount, "t", "1G", "no_writes")
    assert "limit = 1073741824" in schema.read_text() and "NO_WRITES" in schema.read_text()
    ok("disable", mount, "t")
    assert "enabled = false" in schema.read_text()
    assert ok("list", mount) == "t\tdisabled\n"
    ok("enable", mount, "t")
    assert (mount / "default/t/r/f/q").read_text() == "x"
    ok("truncate", mount, "t")
    assert os.listdir(mount / "default/t") == [".schema.toml"]
    # What a program writes there comes after what a command did.
    schema.write_text(schema.read_text().replace("VERSIONS = 7", "VERSIONS = 8"))
    assert "VERSIONS=8" in ok("describe", mount, "t")


def test_a_description_makes_a_table_like_it(mount):
    ok("create", mount, "t", "f:VERSIONS=5,TTL='1 DAYS'", "{NAME => 'g', note => 'a,b'}", "--splits", "g,\\x80")
    described = json.loads(ok("describe", "--json", mount, "t"))
    words = [family["text"] for family in described["families"]]
    ok("create", mount, "u", *words, "--splits", "g,\\x80")
    again = json.loads(ok("describe", "--json", mount, "u"))
    assert again.pop("table") == "u" and described.pop("table") == "t" and again == described
    sh(f"script -qec '{CELLFS} describe {mount} t' /dev/null | grep -q KEEP_DELETED_CELLS")


def test_stores_mounts_and_paths_are_the_same(mount):
    ok("create", mount / "default/t", "f")
    by_words = ok("describe", mount, "t")
    assert by_words == ok("describe", mount / "default", "t") == ok("describe", mount / "default/t")
    assert by_words == ok("describe", mount.store, "t") == ok("describe", mount / "default/t/.schema.toml")
    mount.stop()
    assert ok("describe", mount.store / "default/t") == by_words
    ok("create", mount.store, "u", "f")
    ok("grant", mount.store, "nobody", "RW", "u")
    assert ok("list", mount.store / "default") == "t\nu\n"
    mount.start()
    assert os.path.isdir(mount / "default/u") and ok("user_permission", mount) == "nobody\tRW\tu\n"


def test_what_is_said_twice_is_refused(mount):
    ok("create", mount, "t", "f", "g", "--set", "X=0")
    before = ok("describe", mount, "t")
    for call in (["create", mount, "u", "f:VERSIONS=3,VERSIONS=4"], ["create", mount, "u", "f", "--set", "X=1", "--set", "X=2"],
                 ["create", mount, "u", "{NAME => 'f', NAME => 'g'}"], ["alter", mount, "t", "f:VERSIONS=3,VERSIONS=4"],
                 ["alter", mount, "t", "f:VERSIONS=3", "f:VERSIONS=4"], ["alter", mount, "t", "--drop-family", "g", "g:VERSIONS=7"],
                 ["alter", mount, "t", "--drop-family", "g", "--unset", "g:VERSIONS"],
                 ["alter", mount, "t", "--drop-family", "g", "--drop-family", "g"],
                 ["alter", mount, "t", "--set", "X=1", "--set", "X=2"], ["alter", mount, "t", "--set", "X=1", "--unset", "X"],
                 ["alter", mount, "t", "f:VERSIONS=3", "--unset", "f:VERSIONS"],
                 ["create_namespace", mount, "n", "--set", "a=1", "--set", "a=2"],
                 ["create_namespace", mount, "n", "--max-tables", "1", "--set", "hbase.namespace.quota.maxtables=2"],
                 ["check_and_put", mount, "t", "r", "--op", "<", "--if-absent", "f:q", "f:q=1"]):
        fails(2, *call)
    assert ok("describe", mount, "t") == before and ok("list", mount) == "t\n"
    ok("alter", mount, "t", "f:VERSIONS=3", "f:TTL=5", "g:VERSIONS=7", "--unset", "g:TTL", "--set", "X=1")


def test_a_name_that_is_not_there_has_no_rights_and_no_quotas(mount):
    ok("create", mount, "t", "f")
    ok("create_namespace", mount, "n")
    ok("create", mount / "n", "t", "f")
    for arguments in ((mount, "nope"), (mount, "@nope"), (mount / "default/nope",), (mount / "nope",), (mount, "t", "g")):
        assert "nope" in fails(1, "user_permission", *arguments) or "'g'" in fails(1, "user_permission", *arguments)
    for path in (mount / "default/nope", mount / "nope"):
        assert "nope" in fails(1, "list_quotas", path)
    assert "default/t/r lies in a table" in fails(2, "list_quotas", mount / "default/t/r")
    for words in (("@n", "1G"), ("t", "2G"), ("n:t", "3G")):
        ok("set_quota", mount, *words)
    listed = {"": "n n:t t", "default": "t", "n": "n n:t", "n/t": "n:t", "default/t/.schema.toml": "t"}
    for path, names in listed.items():
        lines = ok("list_quotas", mount / path).splitlines()
        assert sorted(line.split("\t")[0].lstrip("@") for line in lines) == sorted(names.split()), (path, lines)


def test_a_tables_file_is_not_the_table(mount, tmp_path):
    ok("create", mount, "t", "f")
    ok("put", mount, "t", "r", "f:q=x")
    schema, namespace = mount / "default/t/.schema.toml", mount / "default/.namespace.toml"
    assert ok("describe_namespace", namespace) == ok("describe", namespace) == ok("describe_namespace", mount, "default")
    for command in (["truncate"], ["drop", "--force"], ["disable"], ["enable"], ["is_enabled"], ["alter", "g"], ["flush"],
                    ["compact"], ["scan"], ["count"], ["get", "r"], ["put", "r", "f:q=y"], ["deleteall", "r"], ["split", "k"],
                    ["mutate"], ["set_quota", "1G"], ["exists"]):
        error = fails(2, command[0], schema, *command[1:])
        assert "name the table itself" in error, (command, error)
    for command in (["list"], ["create", "u", "f"], ["alter_namespace", "--max-tables", "5"], ["set_quota", "1G"]):
        error = fails(2, command[0], namespace, *command[1:])
        assert "name the namespace itself" in error, (command, error)
    assert "name the table itself" in fails(2, "grant", schema, "anna", "R")
    assert "name the namespace itself" in fails(2, "revoke", namespace, "anna")
    assert ok("get", "-b", mount, "t", "r", "f:q") == "x"


def test_revoke_says_what_is_not_there(mount):
    ok("create", mount, "t", "f")
    assert "nope" in fails(1, "revoke", mount, "anna", "nope") and "nope" in fails(1, "revoke", mount, "anna", "@nope")
    assert "no grant" in run("revoke", mount, "anna", "t")[2] + run("revoke", mount, "anna", "t")[1]
    ok("grant", mount, "anna", "R", "t")
    ok("revoke", mount, "anna", "t")


def test_wrong_calls_are_told_in_a_line(mount):
    ok("create", mount, "t", "f")
    for arguments, remedy in (
            (["create", mount, "u"], "--open"), (["create", mount], "name a table"),
            (["create", mount, "u", "f:VERSION=1"], "'VERSIONS'"), (["create", mount, "u", "f:VERSIONS=0"], "allowed"),
            (["create", mount, "u", "f:READONLY=true"], "--set"), (["create", mount, "u", "f", "--set", "TTL=5"], "FAMILY"),
            (["create", mount, "u", "f", "--splits", "g,a,g"], "two are the same"),
            (["create", mount, "u", "f", "--regions", "3"], "--split-algorithm"), (["create", mount / "default/t/r", "f"], "table"),
            (["alter", mount, "t"], "--set"), (["alter", mount, "t", "f:x"], "NAME=VALUE"),
            (["alter", mount, "t", "--drop-family", "f"], "family"), (["describe", mount], "name a namespace"),
            (["describe", mount, "t", "u"], "too many"), (["describe_namespace", mount], "name a namespace"),
            (["list", mount / "default/t"], "namespace"), (["exists", mount], "name"), (["is_enabled", mount], "name"),
            (["disable", mount], "name"), (["enable", mount], "name"), (["drop", mount, "t", "u"], "too many"),
            (["truncate", mount], "name"), (["split", mount, "t"], "key"), (["create_namespace", mount], "name"),
            (["create_namespace", mount, "a", "--max-tables", "0"], "from 1"), (["alter_namespace", mount, "default"], "--set"),
            (["drop_namespace", mount], "name"), (["grant", mount, "nobody"], "PERMISSIONS"),
            (["grant", mount, "nobody", "Q"], "RWXCA"), (["grant", mount, "@staff", "R"], "users"),
            (["grant", mount / "default/t/r", "nobody", "R"], "not of rows"), (["revoke", mount], "USER"),
            (["user_permission", mount, "@"], "alone"), (["set_quota", mount, "t"], "10G"),
            (["set_quota", mount, "t", "much"], "10G"), (["set_quota", mount, "t", "1G", "NO_WRITE"], "NO_WRITES"),
            (["list_quotas"], "missing"), (["list_namespaces"], "missing")):
        assert remedy in fails(2, *arguments), arguments
    for arguments in (["create", mount, "t", "f"], ["create", mount, "n:t", "f"], ["alter", mount, "u", "f"],
                      ["describe", mount, "u"], ["drop", mount, "u"], ["list", mount, "n"],
                      ["create_namespace", mount, "default"], ["drop_namespace", mount, "n"],
                      ["alter", mount, "t", "--drop-family", "g"], ["grant", mount, "nobody", "R", "u"]):
        fails(1, *arguments)
    assert "--force" in fails(3, "drop", mount, "t")
    assert says_no("exists", mount, "u") == "false\n" and ok("exists", mount, "t") == "true\n"
    assert "already" in says_no("enable", mount, "t")
    assert ok("list", mount) == "t\n"


def test_another_user_changes_what_is_his(make_mount):
    mount = make_mount("allow_other")
    ok("create", mount, "t", "f")
    for refused in (["create", mount, "u", "f"], ["alter", mount, "t", "f:VERSIONS=2"], ["disable", mount, "t"],
                    ["drop", "--force", mount, "t"], ["truncate", mount, "t"], ["split", mount, "t", "m"],
                    ["create_namespace", mount, "n"], ["alter_namespace", mount, "default", "--set", "a=b"],
                    ["drop_namespace", mount, "default"], ["set_quota", mount, "t", "1G"], ["set_quota", mount, "@default", "1G"],
                    ["grant", mount, "nobody", "R"], ["revoke", mount, "nobody"], ["user_permission", mount]):
        fails(3, *refused, **NOBODY)
    assert ok("is_enabled", mount, "t", **NOBODY) == "true\n"
    os.chmod(mount / "default", 0o777)
    ok("create", mount, "his", "f", **NOBODY)
    assert os.stat(mount / "default/his").st_uid == 65534
    ok("alter", mount, "his", "f:VERSIONS=2", **NOBODY)
    ok("set_quota", mount, "his", "1G", **NOBODY)
    ok("truncate", mount, "his", **NOBODY)
    # A drop that is not his to do leaves the table in service.
    os.chmod(mount / "default", 0o755)
    fails(3, "drop", "--force", mount, "his", **NOBODY)
    assert ok("is_enabled", mount, "his") == "true\n"
    os.chmod(mount / "default", 0o777)
    ok("drop", "--force", mount, "his", **NOBODY)
    os.chmod(mount / "default", 0o700)
    fails(3, "describe", mount, "t", **NOBODY)
    assert ok("list", mount, **NOBODY) == ""
    fails(3, "list", mount / "default", **NOBODY)


def as_nobody(command):
    return sh(f"setpriv --reuid=65534 --regid=65534 --clear-groups bash -c '{command}'", check=False)


def test_with_authorization_a_grant_lets_another_user_in(make_mount):
    mount = make_mount("allow_other,hbase.security.authorization=true")
    ok("create", mount, "t", "f", "g")
    for directory in ("default", "default/t"):
        os.chmod(mount / directory, 0o777)
    table = mount / "default/t"
    ok("put", mount, "t", "r", "f:q=open", "g:q=closed")
    fails(3, "scan", mount, "t", **NOBODY)
    assert as_nobody(f"cat {table}/r/f/q")[0] != 0
    assert ok("grant", mount, "nobody", "R", "t", "f") == ""
    assert ok("scan", mount, "t", **NOBODY).count("open") == 1
    assert "closed" not in ok("scan", mount, "t", **NOBODY)
    assert as_nobody(f"cat {table}/r/f/q")[:2] == (0, "open")
    assert as_nobody(f"cat {table}/r/g/q")[0] != 0
    fails(3, "put", mount, "t", "new", "f:q=x", **NOBODY)
    ok("grant", table, "65534", "w", "f")  # by number is by name
    assert ok("user_permission", mount, "t") == "nobody\tRW\tt f\n" == ok("user_permission", mount, **NOBODY)
    ok("put", mount, "t", "new", "f:q=his", **NOBODY)
    assert as_nobody(f"mkdir -p {table}/row/f && echo his >{table}/row/f/q")[0] == 0
    assert (table / "row/f/q").read_text() == "his\n"
    # Making tables, and passing rights on, are rights too.
    fails(3, "create", mount, "his", "f", **NOBODY)
    ok("grant", mount, "nobody", "C", "@default")
    ok("create", mount, "his", "f", **NOBODY)
    ok("grant", mount, "daemon", "R", "his", **NOBODY)
    fails(3, "grant", mount, "daemon", "R", "t", **NOBODY)
    assert "daemon\tR\this" in ok("user_permission", mount, "his", **NOBODY)
    ok("revoke", mount, "nobody", "t", "f")
    fails(3, "scan", mount, "t", **NOBODY)
    assert as_nobody(f"cat {table}/r/f/q")[0] != 0
    assert "exactly" in says_no("revoke", mount, "nobody", "t", "f")


def test_a_grant_that_nothing_asks_for_says_so(mount):
    assert "authorization=true" in ok("grant", mount, "nobody", "R")


def test_a_quota_is_in_force_at_once(mount):
    ok("create", mount, "t", "f")
    ok("put", mount, "t", "r", "f:q=value")
    ok("flush", mount)
    ok("set_quota", mount, "t", "0")
    fails(3, "put", mount, "t", "r", "f:q=x")
    listed = json.loads(ok("list_quotas", "--json", mount))
    assert listed["table"] == "t" and listed["used"] > 0
    ok("set_quota", mount, "t", "0", "DISABLE")
    assert says_no("is_enabled", mount, "t") == "false\n"
    assert "enabled = false" in (mount / "default/t/.schema.toml").read_text()
    ok("set_quota", mount, "t", "none")
    assert ok("is_enabled", mount, "t") == "true\n" and ok("list_quotas", mount) == ""
    ok("put", mount, "t", "r", "f:q=x")


def test_changes_beside_a_tree_that_is_listed(mount):
    """Families that mkdir makes are not lost by an alter at the same time, and walkers see no error but that what they look at has gone."""
    (mount / "default/open/r").mkdir(parents=True)
    stop = threading.Event()
    problems = []

    def walk():
        while not stop.is_set():
            for _, directories, files in os.walk(mount / "default", onerror=problems.append):
                del directories, files

    walkers = [threading.Thread(target=walk) for _ in range(3)]
    for walker in walkers:
        walker.start()
    try:
        for number in range(15):
            altering = subprocess.Popen([CELLFS, "alter", str(mount), "open", f"a{number}", "--set", f"n{number}=x"])
            os.mkdir(mount / f"default/open/r/m{number}")
            assert altering.wait(60) == 0
            ok("create", mount, f"t{number}", "f", "--splits", "m")
            ok("put", mount, f"t{number}", "r", "f:q=x")
            ok("truncate" if number % 2 else "drop", mount, f"t{number}", *([] if number % 2 else ["--force"]))
    finally:
        stop.set()
        for walker in walkers:
            walker.join()
    # A table is disabled before it is dropped or emptied. A look-up may be that of who writes: EROFS.
    odd = [problem for problem in problems if not isinstance(problem, (FileNotFoundError, PermissionError))
           and problem.errno not in (errno.ENOMEDIUM, errno.EROFS)]
    assert not odd, odd
    families = {family["name"] for family in json.loads(ok("describe", "--json", mount, "open"))["families"]}
    assert families == {f"{letter}{number}" for letter in "am" for number in range(15)}
