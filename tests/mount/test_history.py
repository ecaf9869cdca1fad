# SPDX-License-Identifier: MIT
"""log, diff, show, restore, undelete beside the mount, as people use them."""

import json
import os
import random
import re
import subprocess
import time

from mounts import CELLFS, sh, tree_of, versions
from test_commands import ok, run


def now():
    time.sleep(0.003)
    moment = int(time.time() * 1000)
    time.sleep(0.003)
    return moment


def events(*arguments):
    return [json.loads(line) for line in ok("log", "--json", *arguments).splitlines()]


def test_log_tells_what_happened_to_a_cell(mount, family):
    (family / "q").write_text("one")
    (family / "q").write_text("three")
    (family / "q").unlink()
    told = events(family / "q")
    assert [event["type"] for event in told] == ["DeleteColumn", "Put", "Put"]
    assert [event.get("size") for event in told] == [None, 5, 3]

    assert len(events("-n", "1", family / "q")) == 1
    assert run("log", family / "nothing")[0] == 1
    patch = ok("log", "-p", family / "q")
    assert "-one" in patch and "+three" in patch and "-three" in patch



def test_log_of_a_table_is_newest_first_and_whole_row_by_row(mount, family):
    for number in range(150):
        (family / f"q{number}").write_text("x")
    told = events(mount / "default/t")
    assert len(told) == 100 and told[0]["qualifier"] == "q149"
    stamps = [event["timestamp"] for event in told]
    assert stamps == sorted(stamps, reverse=True)
    assert len(events("-n", "0", mount / "default/t")) == 150
    assert events("-n", "0", mount / "default/t")[0]["qualifier"] == "q0"
    moment = now()
    (family / "late").write_text("x")
    assert [event["qualifier"] for event in events("--since", moment, mount / "default/t")] == ["late"]
    assert [event["qualifier"] for event in events("--until", moment, "-n", "1", mount / "default/t")] == ["q149"]


def test_diff_and_show_tell_what_was(mount, family):
    (family / "text").write_text("a\nb\n")
    (family / "gone").write_text("x\n")
    (family / "bytes").write_bytes(b"\0\1\2")
    moment = now()
    (family / "text").write_text("a\nc\n")
    (family / "gone").unlink()
    (family / "new").write_text("y\n")
    (family / "bytes").write_bytes(b"\0")
    code, out, _ = run("diff", "--at", moment, mount / "default/t")
    assert code == 1 and "-b\n+c\n" in out and "+y\n" in out and "-x\n" in out
    assert "~\tr f:bytes\t3 B -> 1 B" in out
    assert run("diff", "--at", now(), mount / "default/t") == (0, "", "")
    assert run("diff", family / "text")[1].count("\n+") == 2, "without times: the last change"
    assert ok("show", "--at", moment, family / "text") == "a\nb\n" and ok("show", family / "text") == "a\nc\n"
    assert ok("show", "--at", moment, family / "gone") == "x\n"
    assert run("show", "--at", moment, family / "new")[0] == 1


def test_when_a_version_was_deleted_is_not_kept(mount, family):
    (family / "q").write_text("one\n")
    (family / "q").write_text("two\n")
    (family / "p").write_text("p")
    moment = now()
    newest = versions(family / "q")[0]
    (family / f"q@{newest}").unlink()
    assert (family / "q").read_text() == "one\n"
    code, out, error = run("show", "--at", moment, family / "q")
    assert (code, out) == (3, "") and "deleted by its timestamp" in error
    code, out, error = run("show", "--at", moment, family)
    assert code == 3 and "one" not in out and "p" in out
    for command in ("diff", "restore"):
        assert run(command, "--at", moment, family / "q")[0] == 3
    code, out, _ = run("diff", family / "q")
    assert code == 1 and "-two\n+one\n" in out
    assert events(family / "q")[0]["type"] == "Delete"
    ok("undelete", family / "q")
    assert (family / "q").read_text() == "two\n"
    assert run("undelete", family / "q")[0] == 1


def test_restore_makes_it_what_it_was_and_can_be_undone(mount):
    families = [mount.family("t", row) for row in ("a", "b", "c")]
    for family in families:
        for name in "xyz":
            (family / name).write_text(name)
    before, moment = tree_of(mount / "default/t"), now()
    (families[0] / "x").write_text("changed")
    (families[1] / "y").unlink()
    (families[2] / "new").write_text("new")
    changed, later = tree_of(mount / "default/t"), now()
    code, out, _ = run("restore", "--dry-run", "--at", moment, mount / "default/t")
    assert code == 0 and len(out.splitlines()) == 3 and tree_of(mount / "default/t") == changed
    assert ok("restore", "--at", moment, mount / "default/t") == out
    assert tree_of(mount / "default/t") == before
    assert ok("restore", "--at", moment, mount / "default/t") == "", "nothing is left to do"
    ok("restore", "--at", later, mount / "default/t")
    assert tree_of(mount / "default/t") == changed
    assert len(versions(families[0] / "x")) == 4
    ok("restore", "--at", moment, families[0] / "x")
    assert (families[0] / "x").read_text() == "x" and (families[2] / "new").exists()


def test_restore_refuses_what_cannot_be_known(mount):
    mount.schema("[families.f]\nVERSIONS = 1\n")
    family = mount.family()
    (family / "q").write_text("one")
    moment = now()
    (family / "q").write_text("two")
    (family / "p").write_text("p")
    mount.command("flush")
    code, out, error = run("restore", "--at", moment, mount / "default/t")
    assert code == 3 and out == "" and error.count("\n") == 1 and "VERSIONS" in error and "--known" in error
    assert (family / "q").read_text() == "two" and (family / "p").exists()
    code, out, error = run("restore", "--known", "--at", moment, mount / "default/t")
    assert code == 1 and "cannot be known" in error and (family / "q").read_text() == "two", (code, error)


def test_seconds_that_were_meant_for_milliseconds_empty_no_table(mount):
    (mount.family() / "q").write_text("x")
    seconds = str(int(time.time()))
    code, out, error = run("restore", "--at", seconds, mount / "default/t")
    assert code == 2 and not out and f"--at @{seconds}" in error, (code, out, error)
    for path in (".asof/-2hours", "default/t/.asof/last tuesday"):
        assert not (mount / path).exists()
        assert "such are -2h" in (mount / ".cellfs/errors").read_text().splitlines()[-1]


def test_of_a_table_that_was_dropped_its_successor_knows_nothing(mount):
    for anew, made in ((lambda: (mount / "default/t").mkdir(), "mkdir"), (lambda: ok("create", mount, "t", "g"), "create")):
        family = mount.family()
        (family / "q").write_text("x")
        moment = now()
        ok("drop", "--force", mount, "t")
        anew()
        for path in (mount / "default/t", family.parent, family, family / "q"):
            for command in ("show", "diff", "restore"):
                code, out, error = run(command, "--at", moment, path)
                assert (code, out) == (3, "") and "mv default/.deleted/t" in error, (made, command, path, code, error)
        assert run("show", "--at", now(), mount / "default/t")[0] == 1
        ok("drop", "--force", mount, "t")


def test_a_pager_that_ends_early_hides_no_difference(mount, family):
    (family / "q").write_text("old\n")
    moment = now()
    (family / "q").write_text("".join(f"{number}\n" for number in range(100000)))
    for pager in ("true", "head -n 1", "cat >/dev/null"):
        shown = subprocess.run(["script", "-qec", f"{CELLFS} diff --at {moment} {family}/q", "/dev/null"], timeout=60,
                               env={**os.environ, "CELLFS_PAGER": pager}, stdout=subprocess.DEVNULL, check=False)
        assert shown.returncode == 1, pager


def test_a_restore_that_an_umount_ends_says_how_it_goes_on(mount):
    def lines(value):
        return "".join(json.dumps({"row": f"r{i:05}", "column": "f:q", "value": value}) + "\n" for i in range(20000))
    ok("create", mount, "t", "f:VERSIONS=5")
    ok("mutate", mount, "t", text=lines("old"))
    moment = now()
    ok("mutate", mount, "t", text=lines("new"))
    with subprocess.Popen([CELLFS, "restore", "--at", str(moment), mount / "default/t"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as restore:
        restore.stdout.readline()
        mount.stop()
        _, error = restore.communicate(timeout=60)
    assert restore.returncode == 3 and "the same call again finishes it" in error
    mount.start()
    ok("restore", "--at", moment, mount / "default/t")
    assert ok("count", mount, "t", "--filter", "ValueFilter(=,'binary:old')") == "20000\n"


def test_undelete_brings_back_what_rm_took(mount, family):
    (family / "q").write_text("one")
    (family / "q").write_text("two")
    (family / "kept").write_text("kept")
    (family / "q").unlink()
    os.chdir(family)
    try:
        ok("undelete", "./q")
        assert (family / "q").read_text() == "two"
        assert run("undelete", "q")[0] == 1, "nothing is deleted"
        sh(f"cd {family} && rm -r {family.parent} && {CELLFS} undelete . && {CELLFS} log q")
    finally:
        os.chdir("/")
    assert sorted(os.listdir(family)) == ["kept", "q"]


def test_a_restore_that_is_killed_is_finished_by_the_next(mount):
    family = mount.family()
    (mount / "default/t/r/f/q").write_text("x")
    sh("python3 -c \"import json\nfor r in range(4000): print(json.dumps(dict(row='%05d' % r, family='f', qualifier='q', value='old')))\""
       f" | {CELLFS} mutate {mount} t")
    moment = now()
    sh(f"{CELLFS} scan --json {mount} t | sed 's/\"value\":\"old\"/\"value\":\"new\"/; s/\"timestamp\":[0-9]*,//' | {CELLFS} mutate {mount} t")
    restore = subprocess.Popen([CELLFS, "restore", "--at", str(moment), str(mount / "default/t")], stdout=subprocess.PIPE)
    restore.stdout.readline()
    time.sleep(random.random() / 20)
    mount.kill9()
    assert restore.wait(60) == 3
    restore.stdout.close()
    mount.start()
    values = [json.loads(line)["value"] for line in ok("scan", "--json", mount, "t").splitlines()]
    assert set(values) <= {"old", "new", "x"}
    ok("restore", "--at", moment, mount / "default/t")
    values = [json.loads(line)["value"] for line in ok("scan", "--json", mount, "t").splitlines()]
    assert values == ["old"] * 4000 + ["x"]
    assert family.exists()


def test_another_users_history_is_his(make_mount):
    mount = make_mount("allow_other")
    family = mount.family()
    (family / "mine").write_text("secret")
    os.chmod(family / "mine", 0o600)
    (family / "open").write_text("open")
    moment = now()
    (family / "open").write_text("changed")
    nobody = {"user": 65534}
    told = ok("log", "-p", mount / "default/t", **nobody)
    assert "open" in told and "secret" not in told and "f:mine" not in told
    assert "secret" not in run("diff", "--at", "-1h", mount / "default/t", **nobody)[1]
    assert run("show", "--at", moment, family / "mine", **nobody)[1] == ""
    code, _, error = run("restore", "--at", moment, mount / "default/t", **nobody)
    assert code == 3 and "no right" in error and (family / "open").read_text() == "changed"


def test_who_may_not_change_all_of_it_changes_nothing(make_mount):
    mount = make_mount("allow_other")
    table = mount / "default/t"
    for row in ("a", "b", "c"):
        (table / row / "f").mkdir(parents=True)
        (table / row / "f/q").write_text("old")
        os.chmod(table / row / "f/q", 0o666)
    moment = now()
    for row in ("a", "b", "c"):
        (table / row / "f/q").write_text("new")
    os.chmod(table / "b/f/q", 0o644)
    nobody = {"user": 65534}
    for option in (["--dry-run"], []):
        code, out, error = run("restore", "--at", moment, *option, table, **nobody)
        assert code == 3 and not out and "no right" in error and "nothing was changed" in error, (code, out, error)
        assert [(table / row / "f/q").read_text() for row in "abc"] == ["new"] * 3
    os.chmod(table / "b/f/q", 0o666)
    ok("restore", "--at", moment, table, **nobody)
    assert [(table / row / "f/q").read_text() for row in "abc"] == ["old"] * 3
    for row in "abc":
        (table / row / "f/q").unlink()
        os.chmod(table / row / "f", 0o755 if row == "b" else 0o777)
    assert run("undelete", table, **nobody)[0] == 3 and not (table / "a/f/q").exists()


def test_what_was_thrown_away_cannot_be_known(mount):
    """By a truncate, a drop of the table or of the family, also after the store was opened anew."""
    table = mount / "default/t"
    families = [name + ":VERSIONS=10,KEEP_DELETED_CELLS=TRUE" for name in "fg"]
    ok("create", mount, "t", *families)
    empties = ([["truncate", mount, "t"]],
               [["drop", "--force", mount, "t"], ["create", mount, "t", *families]],
               [["alter", mount, "t", "--drop-family", "f"], ["alter", mount, "t", families[0]]])
    for calls in empties:
        ok("put", mount, "t", "r", "f:q=before")
        time.sleep(0.01)
        moment = now()
        time.sleep(0.01)
        for call in calls:
            ok(*call)
        time.sleep(1)
        ok("put", mount, "t", "r", "f:q=after")
        mount.remount()
        for call in (["restore"], ["restore", "--dry-run"], ["show"], ["diff"]):
            code, out, error = run(*call, "--at", moment, table)
            assert code == 3 and not out and "thrown away" in error, (call, code, out, error)
        assert (table / "r/f/q").read_text() == "after"
        assert run("restore", "--known", "--at", moment, table)[0] == 1
        assert (table / "r/f/q").read_text() == "after"
        since = re.search(r"before (\S+Z)", error)[1]
        ok("restore", "--at", since, table)
        assert not (table / "r/f/q").exists()


def test_when_a_table_was_not_there_it_had_no_cells(mount):
    """Before it was made, and between its drop and the next one of its name; while it is dropped too."""
    table = mount / "default/t"
    before = now()
    ok("create", mount, "t", "f:VERSIONS=10,KEEP_DELETED_CELLS=TRUE")
    ok("put", mount, "t", "r", "f:q=first")
    first = now()
    code, out, error = run("show", "--at", before, table)
    assert code == 1 and not out and "was not there then" in error, (code, out, error)
    ok("drop", "--force", mount, "t")
    dropped = now()
    for call in (["show"], ["diff"], ["restore"]):
        code, out, error = run(*call, "--at", first, table)
        assert code == 3 and not out and "was dropped at" in error, (call, code, out, error)
        code, out, error = run(*call, "--at", dropped, table)
        assert code == 1 and not out and "was not there then" in error, (call, code, out, error)
        assert run(*call, "--at", dropped, mount / "default/never")[0] == 1
    for times, expected in (([], 3), (["--until", first], 3), (["--since", dropped], 1)):
        code, out, error = run("log", *times, table)
        assert code == expected and not out and "was dropped at" in error, (times, code, out, error)
    ok("create", mount, "t", "f:VERSIONS=10,KEEP_DELETED_CELLS=TRUE")
    ok("put", mount, "t", "r", "f:q=second")
    mount.remount()
    code, out, error = run("show", "--at", first, table)
    assert code == 3 and "thrown away" in error, (code, out, error)
    code, out, error = run("show", "--at", before, table)
    assert code == 1 and not out and "was not there then" in error, "before the first of its name"
    code, out, error = run("show", "--at", dropped, table)
    assert code == 1 and not out and "was not there then: it was made at" in error, (code, out, error)
    made = re.search(r"made at (\S+ \S+)", error)[1]
    assert run("show", "--at", made, table)[0] == 1 and "was not there" not in run("show", "--at", made, table)[2]
    code, out, error = run("diff", "--at", dropped, table)
    assert code == 1 and "+second" in out and "was not there then" in error, (code, out, error)
    code, out, error = run("restore", "--at", dropped, table)
    assert code == 0 and out.startswith("-") and "was not there then" in error, (code, out, error)
    assert run("show", table)[0] == 1


def test_what_is_older_than_its_table_was_not_there_before_it(mount):
    before = now()
    ok("create", mount, "t", "f:VERSIONS=10")
    ok("put", "-t", "1000", mount, "t", "r", "f:q=old")
    table = mount / "default/t"
    for path in (table, table / "r/f/q"):
        code, out, error = run("show", "--at", before, path)
        assert code == 1 and not out and "was not there then: it was made at" in error, (code, out, error)
    code, out, error = run("diff", "--at", before, table)
    assert code == 1 and "+old" in out and "was not there then" in error, (code, out, error)
    code, out, error = run("restore", "--at", before, table)
    assert code == 0 and out.startswith("-") and "was not there then" in error, (code, out, error)
    assert run("show", table)[0] == 1


def test_what_a_dropped_family_held_is_unknown_also_where_it_is_named(mount):
    before = now()
    ok("create", mount, "t", "f", "g:KEEP_DELETED_CELLS=TRUE")
    ok("put", mount, "t", "r", "f:q=1", "g:x=1")
    there = now()
    ok("alter", mount, "t", "--drop-family", "g")
    family = mount / "default/t/r/g"
    for path in (family, family / "x"):
        for command in ("show", "diff", "restore"):
            code, out, error = run(command, "--at", there, path)
            assert code == 3 and not out and "family 'g': what it held before" in error, (command, code, out, error)
            code, out, error = run(command, "--at", now(), path)
            assert code == 1 and not out and "family 'g'" in error and "does not exist" in error, (code, out, error)
        for times in ([], ["--until", there], ["--since", there]):
            code, out, error = run("log", *times, path)
            assert code == 3 and not out and "family 'g': what it held before" in error, (times, code, out, error)
        for times in (["--since", now()], ["--until", before]):
            code, out, error = run("log", *times, path)
            assert code == 1 and not out and "does not exist" in error, (times, code, out, error)
    assert run("show", "--at", there, mount / "default/t/r/never")[0] == 1
    assert run("show", "--at", before, mount / "default/t")[0] in (1, 3)


def test_who_may_not_read_a_part_of_it_is_told_that_it_stays(make_mount):
    mount = make_mount("allow_other")
    family = mount.family()
    os.chmod(family, 0o777)
    for name in ("closed", "open"):
        (family / name).write_text("old")
        os.chmod(family / name, 0o600 if name == "closed" else 0o666)
    moment = now()
    for name in ("closed", "open"):
        (family / name).write_text("new")
    nobody = {"user": 65534}
    for option in (["--dry-run"], []):
        code, out, error = run("restore", "--at", moment, *option, mount / "default/t", **nobody)
        assert code == 1 and "f:open" in out and "closed" not in out, (code, out, error)
        assert error.count("\n") == 1 and "may not read" in error, error
    assert ((family / "closed").read_text(), (family / "open").read_text()) == ("new", "old")
    (family / "open").unlink()
    code, out, error = run("undelete", mount / "default/t", **nobody)
    assert code == 1 and "f:open" in out and "may not read" in error, (code, out, error)
    assert (family / "open").read_text() == "old"
    assert run("restore", "--at", moment, family / "open", **nobody)[0] == 0, "nothing of it is closed to him"


def as_user(user, family, script):
    sh(f"setpriv --reuid={user} --regid={user} --clear-groups bash -c 'umask 077; cd {family}; {script}'")


def shared_family(make_mount):
    """A family in which everybody may make and remove files, and its table."""
    family = make_mount("allow_other").family()
    family.chmod(0o777)
    return family, family.parent.parent


def test_what_another_had_under_the_name_is_closed_and_not_gone(make_mount):
    family, table = shared_family(make_mount)
    as_user(1000, family, "echo SECRET >q")
    moment = now()
    as_user(1000, family, "rm q")
    as_user(65534, family, "echo his >q")
    nobody = {"user": 65534}
    for option in (["--dry-run"], []):
        for path in (family / "q", table):
            code, out, error = run("restore", "--at", moment, *option, path, **nobody)
            assert code == 1 and not out, (code, out, error)
            assert error.count("\n") == 1 and "a column (r f:q)" in error and "may not read" in error, error
    assert (family / "q").read_text() == "his\n"

    code, out, error = run("show", "--at", moment, family / "q", **nobody)
    assert code == 3 and not out and "may not read" in error and "7 B" in error, (code, out, error)
    code, out, error = run("show", "--at", moment, table, **nobody)
    assert code == 0 and "f:q" in out and "7 B (closed to you)" in out, (code, out, error)
    code, out, error = run("diff", "--at", moment, family / "q", **nobody)
    assert code == 1 and "7 B (closed to you) -> 4 B" in out, (code, out, error)
    out = ok("log", "-p", family / "q", **nobody)
    assert "7 B (closed to you)" in out and "+his" in out and "no longer kept" not in out, out
    told = [json.loads(line) for line in ok("log", "-p", "--json", family / "q", **nobody).splitlines()]
    assert [event.get("size") for event in told] == [4, None, 7]
    assert told[2]["after"]["closed"] and "value" not in told[2]["after"], told
    for command in (["scan", "--raw", table], ["log", "-p", table], ["show", "--at", moment, table],
                    ["diff", "--at", moment, table]):
        assert "SECRET" not in "".join(map(str, run(*command, **nobody))), command
    assert "SECRET" in ok("show", "--at", moment, family / "q"), "to root nothing is closed"


def test_what_was_anothers_does_not_become_the_present_owners(make_mount):
    family, table = shared_family(make_mount)
    as_user(1000, family, "echo SECRET >q; echo SECRET >gone; echo mine >kept")
    moment = now()
    as_user(1000, family, "rm q gone; echo newer >kept")
    as_user(1001, family, "umask 022; echo his >q; echo his >gone; rm gone")
    for user in (0, 1000):
        for option in (["--dry-run"], []):
            code, out, error = run("restore", "--at", moment, *option, family / "q", user=user)
            assert code == 1 and not out and "(r f:q)" in error and "cp -a" in error, (code, out, error)
    code, out, error = run("restore", "--at", moment, table)
    assert code == 1 and out.splitlines() == ["~\tr f:kept\t6 B -> 5 B"], (code, out, error)
    assert "2 columns (r f:gone, r f:q) what was there was another's file" in error, error
    assert (family / "q").read_text() == "his\n" and not (family / "gone").exists()
    # Nor does he make the name his by a put that is older than what was removed.
    as_user(1000, family, "echo SECRET >p; rm p")
    code, out, error = run("put", "-t", "1", family / "p", "his", user=1001)
    assert code == 3 and "another's then" in error, (code, out, error)
    # What is his own comes back.
    as_user(1001, family, "rm q")
    ok("undelete", family / "q")
    assert (family / "q").read_text() == "his\n" and os.stat(family / "q").st_uid == 1001


def test_so_is_who_has_no_right_of_the_store_to_read_it(make_mount):
    mount = make_mount("allow_other,hbase.security.authorization=true")
    ok("create", mount, "t", "f:VERSIONS=5,KEEP_DELETED_CELLS=TRUE", "g:VERSIONS=5,KEEP_DELETED_CELLS=TRUE")
    table = mount / "default/t"
    ok("put", mount, "t", "r", "f:secret=old", "g:his=old")
    for path in (table / "r", table / "r/f", table / "r/g"):
        os.chmod(path, 0o777)
    for path in (table / "r/f/secret", table / "r/g/his"):
        os.chmod(path, 0o666)
    ok("grant", mount, "nobody", "RW", "t", "g")
    moment = now()
    ok("put", mount, "t", "r", "f:secret=new", "g:his=new")
    nobody = {"user": 65534}
    for option in (["--dry-run"], []):
        code, out, error = run("restore", "--at", moment, *option, table, **nobody)
        assert code == 1 and "g:his" in out and "secret" not in out, (code, out, error)
        assert error.count("\n") == 1 and "may not read" in error, error
    assert ((table / "r/f/secret").read_text(), (table / "r/g/his").read_text()) == ("new", "old")
    (table / "r/f/secret").unlink()
    for option in (["--dry-run"], []):
        code, out, error = run("undelete", *option, table, **nobody)
        assert code == 1 and not out and "may not read" not in error, "he brings nothing back"
    (table / "r/g/his").unlink()
    code, out, error = run("undelete", "--dry-run", table, **nobody)
    assert code == 0 and "g:his" in out and not error, (code, out, error)
    code, out, error = run("undelete", table, **nobody)
    assert code == 1 and "g:his" in out and "may not read" in error, (code, out, error)
    assert run("restore", "--at", moment, table / "r/g", **nobody)[0] == 0, "all of it is his to read"
    ok("grant", mount, "nobody", "RW", "t")
    ok("undelete", table, **nobody)
    assert (table / "r/f/secret").read_text() == "new"


def test_a_column_that_one_names_and_has_no_right_to_read_is_an_error(make_mount):
    mount = make_mount("allow_other,hbase.security.authorization=true")
    ok("create", mount, "t", "f:VERSIONS=5,KEEP_DELETED_CELLS=TRUE")
    table = mount / "default/t"
    ok("put", mount, "t", "r", "f:open=1", "f:secret=1")
    ok("delete", mount, "t", "r", "f:secret")
    for path in (table / "r", table / "r/f", table / "r/f/open"):
        os.chmod(path, 0o777)
    ok("grant", mount, "nobody", "R", "t", "f", "open")
    moment = now()
    for name in ("secret", "never"):
        path = table / "r/f" / name
        for command in (["get", path], ["get", table, "r", f"f:{name}", "f:open"], ["log", path], ["show", path],
                        ["show", "--at", moment, path], ["diff", path], ["restore", "--at", moment, path],
                        ["undelete", "--dry-run", path]):
            code, out, error = run(*command, user=65534)
            assert code == 3 and not out and "has not the right R" in error, (command, code, out, error)
    assert run("log", table / "r/f/open", user=65534)[0] == 0


def test_who_may_read_one_column_sees_that_it_went_with_its_family(make_mount):
    mount = make_mount("allow_other,hbase.security.authorization=true")
    ok("create", mount, "t", "f:VERSIONS=5,KEEP_DELETED_CELLS=TRUE")
    ok("put", mount, "t", "r", "f:his=value", "f:secret=value")
    ok("grant", mount, "nobody", "R", "t", "f", "his")
    nobody = {"user": 65534}
    moment = now()
    ok("deleteall", mount, "t", "r", "f")
    row = mount / "default/t/r"
    told = [json.loads(line) for line in ok("log", "--json", row, **nobody).splitlines()]
    assert [event["type"] for event in told] == ["DeleteFamily", "Put"]
    code, out, _ = run("diff", "--at", moment, mount / "default/t", **nobody)
    assert code == 1 and "-value" in out and "secret" not in out, out
    assert run("show", row, **nobody)[1] == ""
    as_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups"
    assert sh(f"{as_nobody} ls {row}/f/.deleted; {as_nobody} cat {row}/f/.deleted/his") == "his\nvalue"


def test_what_cannot_be_known_is_not_shown_as_nothing(mount):
    """Of a family that keeps one version, after a flush."""
    ok("create", mount, "t", "f:VERSIONS=1")
    ok("put", mount, "t", "a", "f:x=first")
    ok("put", mount, "t", "b", "f:x=first")
    moment = now()
    ok("put", mount, "t", "a", "f:x=second")
    ok("flush", mount, "t")
    table = mount / "default/t"
    code, out, error = run("show", "--at", moment, table)
    assert code == 3 and "b" in out and "cannot be known" in error
    for path in (table, table / "a/f/x"):
        code, out, error = run("diff", "--at", moment, path)
        assert code == 3 and not out and "cannot be known" in error, (path, code, out, error)
    ok("put", mount, "t", "b", "f:x=second")
    code, out, error = run("diff", "--at", moment, table)
    assert code == 1 and "b f:x" in out and "a f:x" not in out and "cannot be known" in error, (code, out, error)
    ok("deleteall", mount, "t", "b")
    ok("flush", mount, "t")
    ok("compact", mount, "t")
    assert run("diff", "--at", moment, table / "b")[0] == 3
    assert run("diff", "--at", moment, "--to", moment, table)[0] == 3


def test_a_mistyped_name_is_told(mount, family):
    (family / "q").write_text("x")
    for call in (["restore", "--at", "-1h"], ["diff", "--at", "-1m"], ["diff"], ["log"], ["show"], ["undelete"]):
        code, out, error = run(*call, family / "nothing")
        assert code == 1 and not out and "stored" in error or "kept" in error, (call, code, out, error)
        assert str(family / "nothing") in error, error


def test_times_that_cannot_be_meant_are_refused(mount, family):
    (family / "q").write_text("x")
    for call, told in ((["diff", "--at", "-1h", "--to", "-2h", family / "q"], "--at is later than --to"),
                       (["restore", "--at", "2100-01-01", family / "q"], "2100-01-01"),
                       (["restore", "--at", "-1h", family / ".deleted"], "name the family"),
                       (["log", "-n", "x", family / "q"], "--limit is 'x'")):
        code, out, error = run(*call)
        assert code == 2 and not out and told in error, (call, code, out, error)
    assert (family / "q").read_text() == "x"


def test_a_table_that_is_dropped_and_kept_names_its_way_back(mount):
    table = mount.family().parent.parent
    (table / "r/f/q").write_text("old")
    moment = now()
    (table / "r/f/q").write_text("new")
    sh(f"rm -rf {table}")
    for call in (["restore"], ["show"], ["diff"]):
        code, out, error = run(*call, "--at", moment, table)
        assert code == 3 and not out and "mv default/.deleted/t default/t brings it back" in error, (call, code, out, error)
    sh(f"cd {mount} && mv default/.deleted/t default/t")
    ok("restore", "--at", moment, table)
    assert (table / "r/f/q").read_text() == "old"
    # Two of its name.
    for _ in range(2):
        sh(f"rm -rf {table}; mkdir -p {table}/r/f; echo x >{table}/r/f/q")
    moment = now()
    sh(f"rm -rf {table}")
    error = run("restore", "--at", moment, table)[2]
    way_back = re.search(r"mv default/.deleted/t@\d+ default/t", error)[0]
    sh(f"cd {mount} && {way_back}")
    ok("restore", "--at", moment, table)
    assert (table / "r/f/q").read_text() == "x\n"


def test_what_a_name_was_before_its_table_came_back_is_not_told_by_that(mount):
    table = mount.family().parent.parent
    (table / "r/f/q").write_text("kept")
    of_it = now()
    ok("drop", "--force", mount, "t")
    of_nobody = now()
    sh(f"mkdir -p {table}/r/f; echo other >{table}/r/f/q")
    of_another = now()
    sh(f"cd {mount}/default && mv t other && mv .deleted/t t")
    of_it_again = now()
    for command in ("restore", "show", "diff"):
        code, out, error = run(command, "--at", of_nobody, table)
        assert code == 3 and not out and "was in .deleted then" in error, (command, code, out, error)
        code, out, error = run(command, "--at", of_another, table)
        assert code == 3 and not out and f"default/.asof/{of_another}/t shows that one" in error, (command, code, out, error)
        assert run(command, "--at", of_it_again, table)[0] == 0
    assert (mount / f"default/.asof/{of_another}/t/r/f/q").read_text() == "other\n"
    (table / "r/f/q").write_text("new")
    ok("restore", "--at", of_it, table)
    assert (table / "r/f/q").read_text() == "kept"
    ok("restore", "--at", of_another, mount / "default/other")


def test_a_restore_of_many_tables_begins_where_each_can_be_written(mount):
    ns = mount / "ns"
    fill(ns, ["a", "b"], "old")
    moment = now()
    fill(ns, ["a", "b"], "new")
    ok("flush", mount, "ns:b")

    def is_refused(why):
        for words in (["--dry-run"], []):
            code, out, error = run("restore", *words, "--at", moment, ns)
            assert code > 1 and not out and "'ns:b'" in error and why in error, (code, out, error)
            assert error.count("\n") == 1 and "nothing was changed" in error, error
        assert values_in(ns) == {"a": "new", "b": "new"}

    ok("alter", mount, "ns:b", "--set", "READONLY=true")
    is_refused("read-only")
    ok("alter", mount, "ns:b", "--set", "READONLY=false")
    ok("set_quota", mount, "ns:b", "0", "NO_WRITES")
    assert any("NO_WRITES" in line for line in ok("status", mount).splitlines())
    is_refused("quota")
    ok("set_quota", mount, "ns:b", "none")
    ok("put", mount, "ns:b", "r", "--timestamp", "9223372036854775806", "f:q=new")
    is_refused("timestamp")


def fill(namespace, tables, value):
    for table in tables:
        (namespace / table / "r/f").mkdir(parents=True, exist_ok=True)
        (namespace / table / "r/f/q").write_text(value)


def values_in(namespace):
    return {table: (namespace / table / "r/f/q").read_text() for table in sorted(os.listdir(namespace)) if table[0] != "."}


def test_a_namespace_is_restored_table_by_table(mount):
    ns = mount / "ns"
    fill(ns, ["changed", "dropped", "renamed", "same", "truncated"], "old")
    fill(mount / "other", ["t"], "old")
    ok("create", mount, "ns:lost", "f")
    ok("put", mount, "ns:lost", "r", "f:q=old")
    moment = now()
    ok("restore", "--at", moment, ns)
    fill(ns, ["changed", "dropped", "renamed", "made"], "new")
    fill(mount / "other", ["t"], "new")
    sh(f"rm -rf {ns}/dropped; mv {ns}/renamed {ns}/name")
    ok("drop", "--force", mount, "ns:lost")
    code, out, error = run("restore", "--dry-run", "--at", moment, ns)
    assert code == 1 and values_in(ns)["changed"] == "new", (code, out, error)
    assert run("restore", "--at", moment, ns)[1:] == (out, error)
    assert sorted(line.split()[1] for line in out.splitlines()) == ["ns:changed", "ns:name"], out
    told = error.splitlines()
    assert len(told) == 4, error
    assert any("'ns:lost' was dropped at" in line and "brings" not in line for line in told), error
    assert any("'ns:dropped' was dropped at" in line and "mv ns/.deleted/dropped ns/dropped" in line for line in told), error
    assert any("'ns:made' was not there then" in line and "rm -rf ns/made" in line for line in told), error
    assert any("'ns:name' was 'ns:renamed' then: mv ns/name ns/renamed" in line for line in told), error
    assert values_in(ns) == {"changed": "old", "made": "new", "name": "old", "same": "old", "truncated": "old"}
    assert values_in(mount / "other") == {"t": "new"}

    sh(f"cd {mount} && mv ns/.deleted/dropped ns/dropped && rm -rf ns/made && mv ns/name ns/renamed")
    code, out, error = run("restore", "--at", moment, ns)
    assert code == 1 and error.count("\n") == 1 and "'ns:lost' was dropped" in error, (code, out, error)
    assert values_in(ns) == {name: "old" for name in ("changed", "dropped", "renamed", "same", "truncated")}
    assert run("restore", "--at", moment, mount)[0] == 1
    assert values_in(mount / "other") == {"t": "old"}
    told = ok("restore", "--at", moment, "--json", mount / "other").splitlines()
    assert [json.loads(line) for line in told] == [{"rows": 0, "puts": 0, "deletes": 0, "dry_run": False}]


def test_a_namespace_of_which_not_all_can_be_restored_stays_as_it_is(mount):
    ns = mount / "ns"
    fill(ns, ["a", "b"], "old")
    moment = now()
    fill(ns, ["a", "b"], "new")
    ok("truncate", mount, "ns:b")
    fill(ns, ["b"], "after")
    code, out, error = run("restore", "--at", moment, ns)
    assert code == 3 and not out and "table 'ns:b'" in error and "--known" in error, (code, out, error)
    assert values_in(ns) == {"a": "new", "b": "after"}
    assert run("restore", "--known", "--at", moment, ns)[0] == 1
    assert values_in(ns) == {"a": "old", "b": "after"}
    assert run("restore", "--at", moment, mount / "hbase")[0] == 2
    sh(f"rm -rf {ns}")
    code, out, error = run("restore", "--at", moment, ns)
    assert code == 1 and "mv .deleted/ns ns brings it back" in error, (code, out, error)
    code, out, error = run("restore", "--at", moment, mount)
    assert code == 1 and "namespace 'ns' was removed and is kept: mv .deleted/ns ns" in error, (code, out, error)


def test_of_a_namespace_a_table_that_is_closed_to_one_is_passed_over(make_mount):
    mount = make_mount("allow_other")
    ns = mount / "ns"
    fill(ns, ["closed", "open"], "old")
    moment = now()
    fill(ns, ["closed", "open"], "new")
    sh(f"chmod 666 {ns}/*/r/f/q; chmod 700 {ns}/closed")
    code, out, error = run("restore", "--at", moment, ns, user=65534)
    assert code == 1 and "ns:open" in out and "closed" not in out, (code, out, error)
    assert error == "cellfs: table 'ns:closed' you may not look into: it is as it was\n"
    assert values_in(ns) == {"closed": "new", "open": "old"}
    # Nor does a namespace that is closed to him keep the others from it.
    fill(mount / "shut", ["t"], "new")
    sh(f"chmod 700 {mount}/shut")
    for table in ("closed", "open"):
        (ns / table / "r/f/q").write_text("newer")
    code, out, error = run("restore", "--at", moment, mount, user=65534)
    assert code == 1 and "ns:open" in out, (code, out, error)
    assert "namespace 'shut' you may not look into" in error and error.count("\n") == 2, error
    assert values_in(ns) == {"closed": "newer", "open": "old"}


def test_owner_mode_and_time_come_back_by_a_copy_of_them_alone(make_mount):
    """restore brings values; rsync, from the past of the same moment, the rest, without a version more."""
    mount = make_mount("allow_other")
    table = mount.family().parent.parent
    path = table / "r/f/q"
    path.write_text("old")
    os.chmod(path, 0o640)
    os.chown(path, 1000, 1000)
    os.utime(path, (1e9, 1e9))
    os.chmod(table / "r", 0o750)
    was = os.stat(path)
    moment = now()
    path.write_text("new")
    os.chown(path, 1001, 1001)
    os.chmod(table / "r", 0o755)
    ok("restore", "--at", moment, table)
    assert path.read_text() == "old" and os.stat(path).st_uid == 1001
    stamps = versions(path)
    sh(f"rsync -a --existing --size-only --exclude=.schema.toml {table}/.asof/{moment}/ {table}/")
    now_is = os.stat(path)
    assert [now_is.st_uid, now_is.st_gid, now_is.st_mode, now_is.st_mtime] == [1000, 1000, was.st_mode, 1e9]
    assert os.stat(table / "r").st_mode & 0o777 == 0o750
    assert versions(path) == stamps and path.read_text() == "old"


def test_what_a_restore_would_do_is_told_of_what_is_only_read(mount, family):
    (family / "q").write_text("old")
    moment = now()
    (family / "q").write_text("new")
    mount.stop()
    before = {path: path.read_bytes() for path in mount.store.rglob("*") if path.is_file()}
    for target in (mount.store / "default/t", mount.store / "default", mount.store):
        assert "f:q" in ok("restore", "--dry-run", "--at", moment, target)
    assert {path: path.read_bytes() for path in mount.store.rglob("*") if path.is_file()} == before
    mount.options = "ro"
    mount.start()
    assert "f:q" in ok("restore", "--dry-run", "--at", moment, mount / "default/t")
    assert run("restore", "--at", moment, mount / "default/t")[0] == 3
