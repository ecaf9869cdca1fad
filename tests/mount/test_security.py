# SPDX-License-Identifier: MIT
"""What another user, or whoever made the store, must not reach (docs/security.md)."""

import os
import shlex
import stat
import subprocess
import sys
import time

import pytest

from mounts import CELLFS, is_mounted, sh, versions


def as_user(user, command):
    """Exit code and output."""
    done = subprocess.run(
        ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "bash", "-c", command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout


def as_nobody(command):
    return as_user(65534, command)


@pytest.mark.parametrize("umask", [0, 0o777])
def test_the_store_is_its_owners_whatever_the_umask(tmp_path, umask):
    store, mountpoint = tmp_path / "store", tmp_path / "mnt"
    mountpoint.mkdir()
    sh(f"umask {umask:o}; {CELLFS} mount {store} {mountpoint}")
    try:
        (mountpoint / "default/t/r/f").mkdir(parents=True)
        (mountpoint / "default/t/r/f/q").write_text("x")
        sh(f"{CELLFS} flush {mountpoint}")
        for path in [store, *store.rglob("*")]:
            mode = os.lstat(path).st_mode
            assert stat.S_IMODE(mode) == (0o700 if stat.S_ISDIR(mode) else 0o600), path
    finally:
        sh(f"{CELLFS} umount {mountpoint}")


@pytest.mark.parametrize("name", ["LOCK", "FORMAT", "CATALOG", "EDITS", "wal/*.log", "tables/*/MANIFEST", "tables/*/*.db"])
def test_a_link_in_the_store_leads_nowhere(mount, tmp_path, name):
    """A store from elsewhere must not have the daemon write where its maker likes."""
    (mount.family() / "q").write_text("x")
    mount.stop()
    outside = tmp_path / "outside"
    for file in sorted(mount.store.glob(name)):
        outside.write_bytes(file.read_bytes())
        file.unlink()
        file.symlink_to(outside)
        before = outside.read_bytes()
        if sh(f"{CELLFS} mount {mount.store} {mount.path}", check=False)[0] == 0:
            sh(f"echo y >{mount.path}/default/t/r/f/q", check=False)
            sh(f"{CELLFS} umount {mount.path}")
        assert outside.read_bytes() == before and not is_mounted(mount.path)
        file.unlink()
        file.write_bytes(before)
    mount.start()
    assert (mount / "default/t/r/f/q").read_text() in ("x", "y\n")


READS = [
    "q", "q@1", ".versions/q/1", ".versions/q/2", ".counters/q", ".deleted/gone",
    "../../.asof/now/r/f/q", "../../../.asof/now/t/r/f/q", "../../../../.asof/now/default/t/r/f/q",
    "../../.scan/limit=9/r/f/q", "../../.scan/versions=all/r/f/q@1", "../../../../.cellfs/errors"
]
CHANGES = [
    ">q", ">q@5", ">.versions/q/5", "echo +1 >.counters/q", "rm -f q", "rm -f q@1", "rm -f .versions/q/1",
    "rm -f .deleted/gone", "mv .deleted/gone mine", "mv q mine", "mv q q@9", "touch -d@5 q", "truncate -s0 q"
]


def test_nobody_hides_beforehand_what_others_will_write(make_mount):
    mount = make_mount("allow_other")
    namespace = mount / "default"
    sh(f"{CELLFS} create {mount.path} n f")
    table = namespace / "n"
    os.chmod(namespace, 0o777)
    os.chmod(table, 0o1777)
    (table / "shared/f").mkdir(parents=True)
    for path in (table / "shared", table / "shared/f"):
        os.chmod(path, 0o1777)
    last = 2**63 - 2
    assert as_user(1234, f"echo x >{table}/shared/f/ann")[0] == 0
    for command in (f"deleteall {table} bob f", f"deleteall {table} bob", f"deleteall {table} shared f:ann",
                    f"delete {table} shared f:ann", f"put {table} shared f:ann=x", f"put {table} bob f:diary=x"):
        for later in (last, int(time.time() * 1000) + 60000):
            assert as_user(1234, f"{CELLFS} {command} --timestamp {later}")[0] == 3, command
    assert as_user(1234, f"echo x >{table}/shared/f/ann@{last}")[0] != 0
    assert as_user(1234, f"cd {table}/shared/f && touch mine && mv mine ann@{last}")[0] != 0
    assert as_user(1234, f"{CELLFS} put {table} shared f:ann=early --timestamp 5")[0] == 0
    assert as_user(1235, f"mkdir -p {table}/bob/f && echo diary >{table}/bob/f/diary")[0] == 0
    assert (table / "bob/f/diary").read_text() == "diary\n"
    sh(f"echo y >{table}/shared/f/root@{last} && rm {table}/shared/f/root@{last}")


def test_nobody_says_whose_others_files_are(make_mount):
    mount = make_mount("allow_other")
    os.chmod(mount / "default", 0o1777)
    table = mount / "default/mine"
    assert as_user(1234, f"mkdir -p {table}/r/f && chmod 1777 {table} {table}/r/f")[0] == 0
    for owner in 0, 5555, "root":
        assert as_user(1234, f"{CELLFS} alter {table} f:cellfs.owner={owner}")[0] == 3, owner
    assert as_user(1234, f"{CELLFS} alter {table} f:cellfs.group=0")[0] == 3
    sh(f"{CELLFS} alter {table} f:cellfs.owner=0")
    sh(f"umask 077; echo secret >{table}/r/f/s")
    assert as_user(1234, f"{CELLFS} alter {table} f:cellfs.owner=1234")[0] == 3
    schema = (table / ".schema.toml").read_text().replace('cellfs.owner', 'cellfs.other')
    assert as_user(1234, f"cat >{table}/.schema.toml <<'END'\n{schema}\nEND")[0] != 0
    assert as_user(1234, f"cat {table}/r/f/s")[0] != 0
    assert as_user(1234, f"{CELLFS} alter {table} g:cellfs.owner=1234")[0] == 0


def test_no_other_name_opens_what_is_somebody_elses(make_mount):
    family = make_mount("allow_other").family()
    (family / "gone").write_text("secret")
    os.chmod(family / "gone", 0o600)
    os.unlink(family / "gone")
    for timestamp in (1, 2):
        (family / f"q@{timestamp}").write_bytes(b"secret" + bytes([0, timestamp]))
    os.chmod(family / "q", 0o600)
    for path in READS:
        assert (family / path).exists()
        assert as_nobody(f"cat {family}/{path}") == (1, b""), path
    os.chmod(family, 0o1777)  # whoever may make files may still not touch others'
    for command in CHANGES:
        assert as_nobody(f"cd {family} && {command}")[0] != 0, command
    assert (family / "q").read_bytes() == b"secret\x00\x02"
    assert os.listdir(family / ".versions/q") == ["2", "1"]
    assert (family / ".deleted/gone").read_text() == "secret"


QUERIES = [
    "filter=ValueFilter(=%2C 'binary:secret')",
    "filter=ValueFilter(=%2C 'regexstring:^sec')",
    "filter=SingleColumnValueFilter('f'%2C 'q'%2C =%2C 'binary:secret'%2C true%2C true)",
    "limit=9,filter=SKIP ValueFilter(=%2C 'substring:ecre')",
]


def list_as(user, path, groups=()):
    groups = f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups"
    done = subprocess.run(["setpriv", f"--reuid={user}", f"--regid={user}", groups, "ls", path],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().split()


@pytest.mark.parametrize("query", QUERIES)
def test_a_filter_tells_nothing_of_a_file_that_is_closed(make_mount, query):
    mount = make_mount("allow_other")
    for row in ("open", "shut"):
        (mount.family(row=row) / "q").write_text("secret")
    listed = mount / "default/t/.scan" / query
    shut = mount / "default/t/shut/f/q"
    assert list_as(65534, listed) == ["open", "shut"]
    shut.chmod(0o600)
    assert os.listdir(listed) == ["open", "shut"]
    assert list_as(65534, listed) == ["open"]
    for path in ("shut", "shut/f", "shut/f/q"):
        assert as_nobody(f"stat {shlex.quote(str(listed / path))}") == (1, b""), path
    assert as_nobody(f"cat {shlex.quote(str(listed))}/open/f/q") == (0, b"secret")
    # By its group, be it not the one that comes with the request.
    os.chown(shut, 0, 4711)
    shut.chmod(0o640)
    assert list_as(65534, listed) == ["open"]
    assert list_as(65534, listed, [5, 4711]) == ["open", "shut"]
    assert list_as(65534, listed, [*range(10000, 10040), 4711]) == ["open", "shut"]
    # By the directories above it.
    shut.chmod(0o644)
    assert list_as(65534, listed) == ["open", "shut"]
    shut.parent.parent.chmod(0o700)
    assert list_as(65534, listed) == ["open"]


def test_rights_hold_for_what_others_left_in_the_kernel(make_mount, tmp_path):
    """A table that root has made is nobody's else: of what root has read the kernel gives others nothing."""
    config = tmp_path / "config.toml"
    config.write_text('[site]\n"hbase.security.authorization" = "true"\n')
    mount = make_mount("allow_other", config=config)
    (mount.family() / "q").write_text("secret")
    table = mount / "default/t"
    for options in ("allow_other", "allow_other,ro"):
        mount.remount(options)
        for command in ("cat r/f/q", "stat r/f/q", "ls r/f", "stat r", "ls .asof/now/r", "ls"):
            assert (table / "r/f/q").read_text() == "secret"
            assert os.listdir(table / "r/f") == ["q"] and "r" in os.listdir(table)
            code, out = as_nobody(f"cd {table} && {command}")
            assert code != 0 and b"secret" not in out and b"q" not in out, command


def test_directories_are_changed_by_who_may_put_something_into_them(make_mount):
    """With rights of the store, where the modes let everybody in."""
    mount = make_mount("allow_other,hbase.security.authorization=true")
    family = mount.family()
    (family / "q").write_text("x")
    table = mount / "default/t"
    for path in (mount / "default", table, table / "r", family):
        path.chmod(0o777)
    sh(f"{CELLFS} grant {mount.path} nobody R t")
    changes = ["touch r", "touch r/f", "mkdir made", "mkdir r/g", "touch .", "touch ../t"]
    for change in changes:
        assert as_nobody(f"cd {table} && {change}")[0] != 0, change
    assert sorted(os.listdir(table)) == [".schema.toml", "r"] and os.listdir(table / "r") == ["f"]
    sh(f"{CELLFS} grant {mount.path} nobody W t f q")
    assert as_nobody(f"cd {table} && touch r r/f && mkdir made made/f && rmdir made/f made")[0] == 0
    assert as_nobody(f"cd {table} && mkdir r/g")[0] != 0, "that alters the table"
    assert as_nobody(f"cd {table} && touch .")[0] != 0
    sh(f"{CELLFS} grant {mount.path} nobody C t")
    assert as_nobody(f"cd {table} && mkdir r/g && touch .")[0] == 0


OPENER = """
import os, sys, time
os.setgid(65534), os.setuid(65534)
path, end = sys.argv[1:]
leaks = 0
while not os.path.exists(end):
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        continue
    time.sleep(0.001)
    leaks += b"SECRET" in os.read(file, 100)
    os.close(file)
print(leaks)
"""


def test_a_file_that_takes_a_name_is_not_read_with_the_rights_of_the_one_before(make_mount, tmp_path):
    family = make_mount("allow_other").family()
    opener = subprocess.Popen([sys.executable, "-c", OPENER, family / "t", tmp_path / "end"],
                              stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(300):
            (family / "z").write_text("SECRET")
            (family / "z").chmod(0o600)
            (family / "t").unlink(missing_ok=True)
            (family / "t").write_text("public")
            os.rename(family / "z", family / "t")
        (tmp_path / "end").touch()
        assert opener.communicate()[0] == "0\n"
    finally:
        opener.kill()
        opener.wait()


def test_the_past_has_the_rights_of_the_present(make_mount):
    family = make_mount("allow_other").family()
    (family / "q").write_text("text")
    time.sleep(0.01)
    then = family.parent.parent / ".asof" / str(int(time.time() * 1000)) / "r/f"
    assert as_nobody(f"cat {then}/q") == (0, b"text")
    (family / "q").chmod(0o600)
    assert as_nobody(f"cat {then}/q") == (1, b"")
    (family / "q").chmod(0o644)
    assert as_nobody(f"cat {then}/q") == (0, b"text")
    family.chmod(0o700)
    assert as_nobody(f"cat {then}/q") == (1, b"")


@pytest.mark.parametrize("remounts", [False, True])
def test_who_makes_a_private_row_anew_gets_nothing_of_what_was_in_it(make_mount, remounts):
    mount = make_mount("allow_other")
    table = mount / "default/t"
    table.mkdir()
    table.chmod(0o1777)
    made = f"umask 077; cd {table}; mkdir mine mine/f mine/g; echo DIARY >mine/f/diary; echo OPEN >mine/g/o; rm mine/f/diary"
    assert as_nobody(f"{made} mine/g/o")[0] == 0
    if remounts:
        mount.stop()
        mount.start()
    else:
        assert as_nobody(f"rm -r {table}/mine")[0] == 0
    assert as_user(1000, f"cd {table}; mkdir mine mine/f; {CELLFS} put {table} mine g:zz=1; echo x >mine/f/his")[0] == 0
    for call in ("cat {0}/mine/f/.deleted/diary", "cat {0}/mine/g/.deleted/o", "{1} log -p -n 0 {0}/mine",
                 "{1} undelete {0}/mine; cat {0}/mine/f/diary", "{1} show --at -1m {0}/mine", "{1} scan --raw {0}"):
        output = as_user(1000, call.format(table, CELLFS))[1]
        assert b"DIARY" not in output and b"OPEN" not in output, call
    assert as_user(1000, f"cat {table}/mine/f/his") == (0, b"x\n")
    assert sh(f"cat {table}/mine/f/.deleted/diary").strip() == "DIARY"


@pytest.mark.parametrize("closes", ["mine", "mine/f"])
@pytest.mark.parametrize("remounts", [False, True])
@pytest.mark.parametrize("makes", ["mkdir -p mine/f", "{0} put . mine f:zz=1"])
def test_who_makes_a_closed_directory_anew_gets_nothing_of_what_was_in_it(make_mount, closes, remounts, makes):
    mount = make_mount("allow_other")
    table = mount / "default/t"
    table.mkdir()
    table.chmod(0o1777)
    assert as_nobody(f"umask 022; cd {table}; mkdir -p mine/f; chmod 700 {closes}; echo DIARY >mine/f/x; rm mine/f/x")[0] == 0
    if remounts:
        mount.stop()
        mount.start()
    else:
        assert as_nobody(f"rm -r {table}/mine")[0] == 0
    assert as_user(1000, f"cd {table}; {makes.format(CELLFS)}")[0] == 0
    for call in ("cat {0}/mine/f/.deleted/x", "cat {0}/mine/f/.versions/x/*", "{1} log -p -n 0 {0}/mine",
                 "{1} undelete {0}/mine; cat {0}/mine/f/x", "{1} scan --raw {0}"):
        assert b"DIARY" not in as_user(1000, call.format(table, CELLFS))[1], call
    assert as_nobody(f"cat {table}/mine/f/.deleted/x") == (0, b"DIARY\n")


@pytest.mark.parametrize("remounts", [False, True])
def test_who_makes_a_name_anew_does_not_own_what_another_put_under_it(make_mount, remounts):
    mount = make_mount("allow_other")
    family = mount.family()
    family.chmod(0o1777)
    assert as_nobody(f"umask 077; cd {family}; echo DIARY >q; echo SECOND >q; rm q; echo SHARED >p; sleep 0.01; chmod 644 p; sleep 0.01; rm p")[0] == 0
    (newer, older), (shared,) = versions(family / "q"), versions(family / "p")
    (family / "other").write_text("x")
    if remounts:
        mount.stop()
        mount.start()
    assert as_user(1000, f"cd {family}; echo his >q; echo his too >q; echo his >p")[0] == 0
    listed = f"../../.scan/versions=9/r/f/q@{newer}"
    assert as_user(1000, f"cat {family}/{listed}") == (1, b"")
    for path in (f".versions/q/{older}", f".versions/q/{newer}", f"q@{older}"):
        assert as_user(1000, f"cat {family}/{path}") == (1, b""), path
        assert as_user(1000, f"echo forged >{family}/{path}")[0] != 0, path
        status = (family / path).stat()
        assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (65534, 0o600), path
        # Whose it was may not read the name today.
        (family / "q").chmod(0o600)
        assert as_nobody(f"cat {family}/{path}") == (1, b""), path
        assert as_nobody(f"chmod 666 {family}/{path}")[0] != 0, path
        (family / "q").chmod(0o644)
        assert as_nobody(f"cat {family}/{path}")[0] == 0, path
    for stamp in versions(family / "q")[:2]:
        assert (family / f".versions/q/{stamp}").stat().st_uid == 1000
        assert as_user(1000, f"cat {family}/.versions/q/{stamp}")[0] == 0
    for call in ("log -p -n 0 {0}", "scan --raw {1}", "get --versions all {0}/q",
                 "get --until now {0}/q", "show --at -1s {0}", "undelete {0}"):
        output = as_user(1000, f"cd {family}; {CELLFS} " + call.format(family, family.parent.parent))[1]
        assert b"DIARY" not in output and b"SECOND" not in output, (call, output)
    assert b"DIARY" in sh(f"{CELLFS} log -p -n 0 {family}").encode()
    # It was open, and is.
    assert as_user(1000, f"cat {family}/.versions/p/{shared}") == (0, b"SHARED\n")
    assert (family / f"p@{shared}").stat().st_uid == 65534
    assert sh(f"cat {family}/q@{older}") == "DIARY\n"


@pytest.mark.parametrize("aside", ["q~", "aside"])
@pytest.mark.parametrize("mover", [65534, 1000])
@pytest.mark.parametrize("makes", ["echo his >q", "echo his >mine; mv -f mine q", "echo -n >q; echo his >>q"])
def test_who_makes_a_name_anew_that_was_moved_away_gets_nothing_of_what_was_under_it(make_mount, aside, mover, makes):
    mount = make_mount("allow_other")
    family = mount.family()
    family.chmod(0o777)
    assert as_nobody(f"umask 077; cd {family}; echo DIARY >q; echo SECOND >q")[0] == 0
    newer, older = versions(family / "q")
    assert as_user(mover, f"mv {family}/q {family}/{aside}")[0] == 0
    assert as_user(1000, f"cd {family}; {makes}")[0] == 0
    for path in (f"q@{older}", f".versions/q/{newer}", f"../../.asof/{newer}/r/f/q", aside):
        assert as_user(1000, f"cat {family}/{path}") == (1, b""), path
    for call in ("log -p -n 0 .", "get --versions all q", "scan --versions all ../..", "undelete q; cat q"):
        output = as_user(1000, f"cd {family}; {CELLFS} {call}")[1]
        assert b"DIARY" not in output and b"SECOND" not in output, (call, output)
    assert as_nobody(f"cat {family}/.versions/q/{older}") == (0, b"DIARY\n")


@pytest.mark.parametrize("saver", [65534, 0])
def test_who_saves_a_closed_file_by_putting_it_aside_hides_nothing(make_mount, saver):
    """As vim does, root's too, who gives it back to its owner afterwards."""
    family = make_mount("allow_other").family()
    family.chmod(0o777)
    assert as_nobody(f"umask 077; cd {family}; echo one >q")[0] == 0
    save = f"umask 077; cd {family}; mv q q~; echo two >q; chown 65534:65534 q; rm q~"
    assert as_user(saver, save)[0] == 0
    assert len(versions(family / "q")) == 2
    assert as_nobody(f"cat {family}/.versions/q/*") == (0, b"one\ntwo\n")


CLAIMS = ["exec 3>q", "exec 3<>q; rm q", "echo b >q@5", "echo b >.versions/q/9", "exec 3>.counters/q", "umask 777; exec 3>q",
          "head -c 11000000 /dev/zero >q"]


@pytest.mark.parametrize("claim", CLAIMS)
def test_who_claims_a_name_does_not_own_what_was_deleted_of_it(make_mount, claim):
    mount = make_mount("allow_other")
    family = mount.family()
    family.chmod(0o1777)
    assert as_nobody(f"umask 077; cd {family}; echo DIARY >q; echo SECOND >q; rm q")[0] == 0
    looks = "ls -l .deleted; cat .deleted/q ../.deleted/f/q ../../.deleted/r/f/q; mv .deleted/q mine; cat mine"
    output = as_user(1000, f"cd {family}; {claim}; {looks}")[1]
    assert b"SECOND" not in output, output
    if (family / "q").exists():
        return  # he has made it: nothing of that name is deleted
    # Nor does he keep it from whose it is.
    assert as_nobody(f"cat {family}/.deleted/q") == (0, b"SECOND\n")
    assert (family / ".deleted/q").stat().st_uid == 65534


def test_the_past_of_a_removed_namespace_is_closed_to_whom_it_was(make_mount):
    mount = make_mount("allow_other")
    mount.path.chmod(0o1777)
    made = f"cd {mount}; umask 022; mkdir -p pn/t/r/f; echo DIARY >pn/t/r/f/q; chmod 700 pn"
    assert as_nobody(made)[0] == 0
    moment = os.readlink(mount / ".asof/now")
    past = mount / ".asof" / moment / "pn"
    time.sleep(0.01)
    sh("rm -r pn", cwd=mount.path)

    def is_closed():
        told = as_user(1000, f"stat -c '%a %u' {past}")
        assert told == (0, b"700 65534\n"), told
        assert as_user(1000, f"ls {past}")[0] != 0
        assert as_user(1000, f"cat {past}/t/r/f/q") == (1, b"")
        assert sh(f"cat {past}/t/r/f/q") == "DIARY\n"

    is_closed()
    assert as_user(1000, f"cd {mount}; mkdir pn; rmdir pn")[0] == 0
    is_closed()
    assert as_user(1000, f"cd {mount}; mkdir pn; chmod 777 pn")[0] == 0
    is_closed()


def test_a_file_given_away_goes_with_its_history(make_mount):
    mount = make_mount("allow_other")
    family = mount.family()
    family.chmod(0o1777)
    assert as_nobody(f"umask 077; cd {family}; echo one >q; echo two >q")[0] == 0
    os.chown(family / "q", 1000, 1000)
    assert as_user(1000, f"echo three >{family}/q; cat {family}/.versions/q/*")[1] == b"one\ntwo\nthree\n"
    assert {(family / f"q@{stamp}").stat().st_uid for stamp in versions(family / "q")} == {1000}


def test_a_query_by_names_tells_nothing_of_a_closed_row(make_mount):
    mount = make_mount("allow_other")
    family = mount.family()
    (family / "alimony").write_text("x")
    family.parent.chmod(0o700)
    scan = family.parent.parent / ".scan"
    for query in ("columns=f:alimony", "columns=f", "filter=ColumnPrefixFilter('al')", "time_range=1.."):
        assert os.listdir(scan / query) == ["r"], query
        assert as_nobody(f'ls "{scan}/{query}"') == (0, b""), query


def own_table(mount):
    """Of user 1234, closed to others but for its directory, with one file."""
    namespace = mount / "default"
    namespace.chmod(0o777)
    assert as_user(1234, f"umask 0; cd {namespace}; mkdir -p n/r/f && echo x >n/r/f/q && chmod 600 n/.schema.toml")[0] == 0
    return namespace / "n"


RENAME = "mv -f {0}.tmp {0}"
ON_A_TOML = [
    "cat n >{0}.tmp; " + RENAME, "echo enabled = false >{0}.tmp; " + RENAME, "echo junk >{0}.tmp; " + RENAME,
    "printf '[space_quota]\\nlimit = 1\\npolicy = \"NO_WRITES\"\\n' >{0}.tmp; " + RENAME,
    "printf '[families.g]\\n[families.f]\\ndrop = true\\n' >{0}.tmp; " + RENAME,
    "rm -f {0}", "mv {0} {0}~", "mv -f {0} {0}.tmp", "ln {0} {0}2", "chmod 666 {0}", "touch {0}", "true >{0}",
    "sed -i s/TRUE/FALSE/ {0}",
]


@pytest.mark.parametrize("options", ["allow_other", "allow_other,hbase.security.authorization=true"])
def test_who_may_write_in_a_directory_changes_no_toml_in_it(make_mount, options):
    mount = make_mount(options)
    if "authorization" in options:
        sh(f"for user in 1234 nobody; do {CELLFS} grant {mount.path} $user RWCXA; done")
    table = own_table(mount)
    own = mount / "own"
    own.mkdir()
    own.chmod(0o777)
    (own / ".namespace.toml").write_text("")
    for toml in (table / ".schema.toml", own / ".namespace.toml"):
        toml.chmod(0o600)
        before, shown = toml.read_text(), os.stat(toml)
        for command in ON_A_TOML:
            assert as_nobody(f"cd {toml.parent}; {command.format(toml.name)}")[0] != 0, command
            assert toml.read_text() == before, command
            now = os.stat(toml)
            assert (now.st_uid, now.st_gid, now.st_mode) == (shown.st_uid, shown.st_gid, shown.st_mode), command
    assert (table / "r/f/q").read_text() == "x\n"
    # Refused before what it says is looked at.
    with subprocess.Popen([sys.executable, "-c", RENAMER, str(table)], stdout=subprocess.PIPE, text=True) as renamer:
        assert renamer.communicate()[0] == "EACCES\n"
    # Not made anew either.
    assert as_user(1234, f"rm {table}/.schema.toml")[0] == 0
    assert as_nobody(f"cd {table}; echo '[families.g]' >.schema.toml")[0] != 0
    assert as_nobody(f"cd {table}; echo '[families.g]' >.schema.toml.tmp; mv -f .schema.toml.tmp .schema.toml")[0] != 0
    assert not (table / ".schema.toml").exists()


RENAMER = """
import errno, os, sys
os.setgroups([]), os.setgid(65534), os.setuid(65534)
os.chdir(sys.argv[1])
with open(".schema.toml.x", "w") as file:
    file.write("junk")
try:
    os.rename(".schema.toml.x", ".schema.toml")
except OSError as error:
    print(errno.errorcode[error.errno])
"""


def test_a_toml_stays_whose_it_is(make_mount):
    table = own_table(make_mount("allow_other"))
    toml = table / ".schema.toml"
    edit = "cd {}; sed 's/VERSIONS = .*/VERSIONS = {}/' .schema.toml >.schema.toml.tmp && mv -f .schema.toml.tmp .schema.toml"
    assert as_user(1234, f"umask 027; {edit.format(table, 7)}")[0] == 0
    assert "VERSIONS = 7" in toml.read_text() and stat.S_IMODE(os.stat(toml).st_mode) == 0o640
    toml.chmod(0o666)
    assert as_nobody(edit.format(table, 8))[0] == 0, "its mode lets everybody write it"
    assert "VERSIONS = 8" in toml.read_text()
    assert (os.stat(toml).st_uid, stat.S_IMODE(os.stat(toml).st_mode)) == (1234, 0o666)
    sh(f"cd {table}; cp -p .schema.toml .schema.toml.tmp; chmod 640 .schema.toml.tmp; mv .schema.toml.tmp .schema.toml")
    assert (os.stat(toml).st_uid, stat.S_IMODE(os.stat(toml).st_mode)) == (1234, 0o640), "as copies bring it"


def test_rm_of_another_finds_and_takes_away_no_schema(make_mount):
    mount = make_mount("allow_other")
    table = own_table(mount)
    as_nobody(f"rm -rf {table}")
    assert (table / ".schema.toml").exists() and "[families.f]" in (table / ".schema.toml").read_text()
    assert as_nobody(f"cd {table}; find . -name '*.toml' -delete")[0] != 0
    assert as_user(1234, f"cat {table}/.schema.toml")[0] == 0
    # Deleted values are kept in a table that is empty.
    assert as_user(1234, f"mkdir -p {table}/r/f; echo kept >{table}/r/f/k; rm -r {table}/r")[0] == 0
    assert os.listdir(table) == [".schema.toml"]
    for command in (f"rmdir {table}", f"rm -rf {table}"):
        assert as_nobody(command)[0] != 0, command
        assert as_user(1234, f"cat {table}/.schema.toml")[0] == 0
    assert as_user(1234, f"rm -r {table}")[0] == 0
    assert not table.exists()
