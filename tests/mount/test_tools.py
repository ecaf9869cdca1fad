# SPDX-License-Identifier: MIT
"""Ordinary tools do on a mount what they do on any file system. docs/tools.md has the matrix; each of
its rows names a test, most of them here."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

from mounts import sh, tree_of, versions, wait_until


@pytest.fixture
def data(mount):
    """/default with a table of three rows and two families."""
    for row in ("r1", "r2", "r3"):
        for family in ("f", "g"):
            directory = mount.family(row=row, family=family)
            (directory / "small").write_text(f"small {row} {family}\nneedle in {row}\n")
            (directory / "large").write_bytes(f"{row}{family}\n".encode() * 30000)
    return mount / "default"


@pytest.fixture
def source(outside):
    """A plain directory laid out as a table."""
    for row in ("r1", "r2"):
        (outside / "table" / row / "f").mkdir(parents=True)
        for name in ("a", "b c", "ü"):
            path = outside / "table" / row / "f" / name
            path.write_text(f"{row} {name}\n" * 100)
            os.utime(path, ns=(0, 1600000000123456789))
            os.chmod(path, 0o640)
        for directory in (outside / "table" / row / "f", outside / "table" / row):
            os.utime(directory, ns=(0, 1600000001123456789))
    os.utime(outside / "table", ns=(0, 1600000002123456789))
    return outside / "table"


def same(one, other):
    return tree_of(one) == {k: v for k, v in tree_of(other).items() if not k.endswith(".toml")}


# ---- Looking -------------------------------------------------------------------------------------


def test_ls(data):
    assert sh("ls", cwd=data / "t/r1/f").split() == ["large", "small"]
    line = sh("ls -l --time-style=+%s small", cwd=data / "t/r1/f").split()
    assert line[0] == "-rw-r--r--" and line[1] == "1" and line[4] == "24" and line[6] == "small"
    assert sh("ls -A", cwd=data / "t").split() == [".schema.toml", "r1", "r2", "r3"]
    assert len(sh("ls -RU", cwd=data).split("\n\n")) == 11


def test_cat(data):
    assert sh("cat r1/f/small r2/g/small", cwd=data / "t") == (
        "small r1 f\nneedle in r1\nsmall r2 g\nneedle in r2\n")
    assert sh("cat <r1/f/large | wc -c", cwd=data / "t").strip() == "120000"


def test_find(data):
    assert len(sh("find . -type f -name small", cwd=data).split()) == 6
    assert len(sh("find . -type d", cwd=data).split()) == 11
    assert sh("find . -size +100k -newermt 2020-01-01 -path '*/r2/*'", cwd=data).split() == [
        "./t/r2/f/large", "./t/r2/g/large"]
    sh("find . -name small -path '*/g/*' -delete", cwd=data)
    assert len(sh("find . -name small", cwd=data).split()) == 3
    assert sh("find . -empty -type d", cwd=data) == ""


def test_grep_r(data):
    assert len(sh("grep -rl 'needle in r2' .", cwd=data).split()) == 2
    assert sh("grep -rc needle t/r3/f | sort", cwd=data) == "t/r3/f/large:0\nt/r3/f/small:1\n"


def test_du(data):
    apparent = int(sh("du -sb t/r1/f/large", cwd=data).split()[0])
    assert apparent == 120000
    assert int(sh("du -s --block-size=1 t", cwd=data).split()[0]) >= 6 * 120000
    once = int(sh("du -sb t", cwd=data).split()[0])
    assert 6 * 120024 <= once < 6 * 120024 + 100000  # the data is seen once


def test_df(data):
    size, mounted = sh("df --output=size,target . | tail -1", cwd=data).split()
    assert int(size) > 0 and data.parent.samefile(mounted)


def test_stat(data):
    assert sh("stat -c '%F %s %h %a' small", cwd=data / "t/r1/f") == "regular file 24 1 644\n"
    assert sh("stat -c '%F' .", cwd=data / "t/r1") == "directory\n"
    assert sh("stat -f -c %l .", cwd=data).strip() == "255"


def test_tree(data):
    assert "9 directories, 12 files" in sh("tree t", cwd=data) or (
        "10 directories, 12 files" in sh("tree t", cwd=data))


def test_diff_r(data, outside):
    sh(f"cp -r t {outside}/t && diff -r t {outside}/t", cwd=data)
    (data / "t/r2/f/small").write_text("changed\n")
    code, out, _ = sh(f"diff -rq t {outside}/t", cwd=data, check=False)
    assert code == 1 and out.count("differ") == 1


def test_file_and_checksums(data, outside):
    assert "ASCII text" in sh("file r1/f/small", cwd=data / "t")
    sh(f"find . -type f -exec sha256sum {{}} + >{outside}/sums && sha256sum -c --quiet {outside}/sums", cwd=data)


# ---- Copying -------------------------------------------------------------------------------------


def test_cp_a_in_and_out(mount, source, outside):
    sh(f"cp -a {source} {mount}/default/t")
    assert same(source, mount / "default/t")
    sh(f"cp -a {mount}/default/t {outside}/back")
    for path, value in tree_of(source).items():
        if value is not None:
            one, other = os.stat(source / path), os.stat(outside / "back" / path)
            assert (one.st_mode, one.st_mtime_ns) == (other.st_mode, other.st_mtime_ns)


def test_mv_in_and_out(mount, source, outside):
    expected = tree_of(source)
    sh(f"mv {source} {mount}/default/t")
    assert not source.exists()
    sh(f"mv {mount}/default/t/r1 {outside}/r1 && mv {outside}/r1 {mount}/default/t/again")
    found = tree_of(mount / "default/t")
    assert {k.replace("again", "r1"): v for k, v in found.items() if k != ".schema.toml"} == expected


def test_rm_r(data):
    sh("rm -r t/r1", cwd=data)
    assert not (data / "t/r1").exists() and (data / "t/r2").exists()
    sh("rm -rf t", cwd=data)
    assert not (data / "t").exists()


def test_tar_in_and_out(mount, source, outside):
    sh(f"tar -C {source} -c . | tar -C {mount}/default --one-top-level=t -x")
    assert same(source, mount / "default/t")
    sh(f"tar -C {mount}/default/t -czf {outside}/out.tgz . && mkdir {outside}/back && "
       f"tar -C {outside}/back -xzf {outside}/out.tgz")
    assert tree_of(mount / "default/t") == tree_of(outside / "back")
    assert "differ" not in sh(f"tar -C {mount}/default/t --compare -f {outside}/out.tgz")


def test_zip_and_unzip(mount, source, outside):
    sh(f"zip -qr {outside}/t.zip .", cwd=source)
    sh(f"mkdir {mount}/default/t && unzip -q {outside}/t.zip -d {mount}/default/t")
    assert same(source, mount / "default/t")


def test_dd(mount, family):
    sh("dd if=/dev/urandom of=q bs=64k count=4 conv=fsync status=none && dd if=q of=p bs=1k status=none && "
       "cmp p q", cwd=family)
    sh("printf XX | dd of=q bs=1 seek=10 conv=notrunc status=none", cwd=family)
    assert (family / "q").read_bytes()[10:12] == b"XX" and (family / "q").stat().st_size == 262144
    sh("dd if=q of=r bs=4k iflag=direct oflag=direct status=none && cmp q r", cwd=family)


def test_truncate(family):
    (family / "q").write_text("0123456789")
    sh("truncate -s 4 q; truncate -s +2 q; truncate -s 100 new", cwd=family)
    assert (family / "q").read_bytes() == b"0123\0\0" and (family / "new").read_bytes() == bytes(100)


def test_install(family, source):
    sh(f"install -m 0751 -p {source}/r1/f/a q", cwd=family)
    assert os.stat(family / "q").st_mode & 0o777 == 0o751
    assert os.stat(family / "q").st_mtime_ns == 1600000000123456789
    sh("install -d g", cwd=family.parent)
    assert len(versions(family / "q")) == 1


def test_mktemp(family):
    name = sh("mktemp q.XXXXXX", cwd=family).strip()
    assert os.stat(family / name).st_mode & 0o777 == 0o600 and os.listdir(family) == [name]
    sh("mktemp -d rowXXXX", cwd=family.parent.parent)


def test_tee_a(family):
    sh("echo one | tee -a q >/dev/null; echo two | tee -a q p >/dev/null", cwd=family)
    assert (family / "q").read_text() == "one\ntwo\n" and (family / "p").read_text() == "two\n"


def test_tail_f(family, outside):
    (family / "log").write_text("first\n")
    with open(outside / "seen", "wb") as seen:
        tail = subprocess.Popen(["tail", "-f", "-s", "0.1", family / "log"], stdout=seen)
    try:
        wait_until(lambda: "first" in (outside / "seen").read_text(), "the first line", 20)
        sh("echo second >>log; echo third >>log", cwd=family)
        wait_until(lambda: (outside / "seen").read_text() == "first\nsecond\nthird\n", "all lines", 20)
    finally:
        tail.kill()
        tail.wait()


def test_sort_o(family):
    (family / "q").write_text("b\nc\na\n")
    sh("sort -o q q", cwd=family)
    assert (family / "q").read_text() == "a\nb\nc\n" and len(versions(family / "q")) == 2


def test_sed_i(family):
    for name in ("p", "q"):
        (family / name).write_text("one\n")
    sh("sed -i s/one/two/ p q; sed -i.bak s/two/three/ q", cwd=family)
    assert (family / "q").read_text() == "three\n" and (family / "q.bak").read_text() == "two\n"
    assert (family / "p").read_text() == "two\n"


def test_touch(family):
    sh("touch q; touch -c none; touch -m -d @1000000000 q", cwd=family)
    assert os.listdir(family) == ["q"] and os.stat(family / "q").st_mtime == 10**9
    sh("touch row2 || true", cwd=family.parent)
    assert os.listdir(family.parent) == ["f"]


# ---- Editors -------------------------------------------------------------------------------------


def test_vim(family, outside):
    (family / "q").write_text("one\n")
    sh("vim -es -u NONE -N -c 'set swapfile' -c '%s/$/ two/' -c wq q </dev/null", cwd=family,
       HOME=str(outside))
    assert (family / "q").read_text() == "one two\n" and os.listdir(family) == ["q"]


def wait_for(terminal, text):
    seen = b""
    while text not in seen:
        assert select.select([terminal], [], [], 30)[0], f"{text} does not come after {seen}"
        seen += os.read(terminal, 4096)


def test_nano(family, outside):
    (family / "q").write_text("one\n")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(family)
        os.execvpe("nano", ["nano", "-I", "q"], {**os.environ, "TERM": "xterm", "HOME": str(outside)})
    try:
        for shown, keys in ((b"one", b"new "), (b"new", b"\x0f"), (b"Name", b"\r"), (b"Wrote", b"\x18")):
            wait_for(terminal, shown)
            os.write(terminal, keys)
        assert os.waitpid(pid, 0)[1] == 0
    finally:
        os.close(terminal)
    assert (family / "q").read_text() == "new one\n"
    assert os.listdir(family) == ["q"] and len(versions(family / "q")) == 2


# ---- rsync ---------------------------------------------------------------------------------------


def transferred(command, **where):
    return re.findall(r"^[<>ch.*].*", sh(command + " --itemize-changes", **where), re.M)


@pytest.mark.parametrize("options", ["-a", "-ac", "-a --inplace", "-aW", "-a --no-whole-file", "-aH"])
def test_rsync(mount, source, outside, options):
    target = mount / "default/t"
    sh(f"rsync {options} {source}/ {target}/")
    assert same(source, target)
    assert transferred(f"rsync {options} {source}/ {target}/") == []
    (source / "r1/f/a").write_text("changed\n" * 50)
    os.utime(source / "r1/f", ns=(0, 1600000001123456789))
    assert len(transferred(f"rsync {options} {source}/ {target}/")) == 1
    sh(f"rsync {options} {target}/ {outside}/back/")
    assert tree_of(outside / "back") == tree_of(target)
    assert transferred(f"rsync {options} {target}/ {outside}/back/") == []


def test_rsync_delete(mount, source):
    target = mount / "default/t"
    sh(f"rsync -a {source}/ {target}/")
    (source / "r1/f/a").unlink()
    shutil.rmtree(source / "r2")
    sh(f"rsync -a --delete --exclude=.schema.toml {source}/ {target}/")
    assert same(source, target) and (target / ".schema.toml").exists()


def test_rsync_link_dest(data, outside):
    sh(f"rsync -a {data}/ {outside}/monday/ && rsync -a --link-dest={outside}/monday {data}/ {outside}/tuesday/")
    assert os.stat(outside / "tuesday/t/r1/f/small").st_nlink == 2
    assert tree_of(data) == tree_of(outside / "tuesday")


def test_rsync_X(make_mount, source, outside):
    for options in ("", "xattr"):
        target = make_mount(options) / "default/t"
        sh(f"rsync -aX {source}/ {target}/")
        assert same(source, target)
        sh(f"rsync -aX {target}/ {outside}/back{options}/")
        assert transferred(f"rsync -aX {source}/ {target}/") == []


# ---- Backup programs -----------------------------------------------------------------------------


def test_restic(data, outside):
    keys = {"RESTIC_PASSWORD": "x", "RESTIC_REPOSITORY": f"{outside}/repository",
            "RESTIC_CACHE_DIR": f"{outside}/cache"}
    sh("restic init -q && restic backup -q . && restic backup --json . | tail -1 >" + f"{outside}/second", cwd=data,
       **keys)
    assert '"files_changed":0' in (outside / "second").read_text()
    assert '"files_new":0' in (outside / "second").read_text()
    sh(f"restic restore -q latest --target {outside}/back", cwd=data, **keys)
    assert tree_of(data) == tree_of(str(outside / "back") + str(data)) or (
        tree_of(data) == tree_of(outside / "back"))
    again = data.parent / "again"
    again.mkdir()
    sh(f"restic restore -q latest --target {again} && restic check -q", cwd=outside, **keys)
    assert tree_of(again) == tree_of(data)


def test_borg(data, outside):
    keys = {"BORG_REPO": f"{outside}/repository", "BORG_BASE_DIR": f"{outside}/borg",
            "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes"}
    time.sleep(0.1)
    (data / "t/r3/g/last").write_text("borg does not trust what was changed last")
    sh("borg init -e none && borg create ::one . && borg create --list --filter=AM ::two . 2>" + f"{outside}/second",
       cwd=data, **keys)
    assert (outside / "second").read_text() in ("", "A t/r3/g/last\n")
    (outside / "back").mkdir()
    (data.parent / "again").mkdir()
    for target in (outside / "back", data.parent / "again"):
        sh("borg extract ::two", cwd=target, **keys)
        assert tree_of(data) == tree_of(target)


# ---- Others --------------------------------------------------------------------------------------


def test_git_status_in_a_tree_that_contains_a_mount(mount, tmp_path):
    (mount.family() / "q").write_text("x\n")
    git = "git -c user.name=x -c user.email=x@example.com"
    ignored = "\n".join(name for name in os.listdir(tmp_path) if name != mount.path.name)
    sh("git init -q .", cwd=tmp_path)
    (tmp_path / ".git/info/exclude").write_text(ignored)
    assert sh("git status --porcelain", cwd=tmp_path) == f"?? {mount.path.name}/\n"
    sh(f"git add {mount.path.name}/default/t && {git} commit -qm one", cwd=tmp_path)
    assert sh("git status --porcelain -uno", cwd=tmp_path) == ""
    (mount / "default/t/r/f/q").write_text("y\n")
    assert sh("git status --porcelain -uno", cwd=tmp_path) == f" M {mount.path.name}/default/t/r/f/q\n"
    sh(f"git checkout -q {mount.path.name}/default/t/r/f/q", cwd=tmp_path)
    assert (mount / "default/t/r/f/q").read_text() == "x\n"


def test_inotifywait(family, outside):
    (family / "q").write_text("x")
    with open(outside / "events", "wb") as out, open(outside / "state", "wb") as err:
        watcher = subprocess.Popen(["inotifywait", "-m", "-e", "close_write,delete,create", "--format",
                                    "%e %f", family], stdout=out, stderr=err)
    try:
        wait_until(lambda: "established" in (outside / "state").read_text(), "the watch", 20)
        sh("echo y >q; echo z >p; rm q", cwd=family)
        expected = ["CLOSE_WRITE,CLOSE q", "CREATE p", "CLOSE_WRITE,CLOSE p", "DELETE q"]
        wait_until(lambda: (outside / "events").read_text().splitlines() == expected, "the events", 20)
    finally:
        watcher.kill()
        watcher.wait()


def test_flock(family):
    (family / "lock").write_text("")
    holder = subprocess.Popen(["flock", family / "lock", "-c", "echo held; read wait"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    holder.stdout.readline()
    assert sh("flock -n lock true", cwd=family, check=False)[0] == 1
    holder.communicate(b"\n", timeout=60)
    sh("flock -n lock true", cwd=family)


def test_python_open_and_sqlite(family):
    with open(family / "q", "w+") as file:
        file.write("text")
        file.seek(0)
        assert file.read() == "text"
    assert sh("sqlite3 db 'CREATE TABLE t(x); INSERT INTO t VALUES(1); SELECT * FROM t'", cwd=family) == "1\n"


def test_bash_noclobber(family):
    sh("set -C; echo one >q", cwd=family)
    code, _, error = sh("set -C; echo two >q", cwd=family, check=False)
    assert code != 0 and "cannot overwrite" in error
    sh("set -C; echo three >|q", cwd=family)
    assert (family / "q").read_text() == "three\n" and len(versions(family / "q")) == 2


def test_here_documents_and_pipelines(family):
    sh("cat >q <<END\nline\nEND\nwhile read -r l; do echo got $l; done <q >p; wc -l <p >n; paste p q >>n", cwd=family)
    assert (family / "n").read_text() == "1\ngot line\tline\n"


def test_split(family):
    (family / "q").write_text("one\ntwo\n")
    sh("split -l 1 q part. && cat part.* | cmp - q", cwd=family)
    assert os.listdir(family) == ["part.aa", "part.ab", "q"]


def test_what_does_not_work(make_mount, source, outside):
    """But without loss, and with a message: docs/tools.md says what to do instead."""
    target = make_mount("controls=visible") / "default/t"
    sh(f"rsync -a {source}/ {target}/")
    (source / "r1/f/a").write_text("new")
    _, _, said = sh(f"rsync -a --delay-updates {source}/ {target}/", check=False)
    assert "partial-dir" in said and (target / "r1/f/a").read_text() == "r1 a\n" * 100
    _, _, said = sh(f"rsync -a --preallocate {source}/ {target}/", check=False)
    assert "not supported" in said and (target / "r1/f/a").read_text() == "new"
    assert sh("perl -i -pe s/10/7/ .schema.toml; grep -c 'VERSIONS = 10' .schema.toml", cwd=target) == "1\n"
    code, _, said = sh(f"cp -a {target} {target}2", check=False)
    assert code != 0 and ".versions" in said and (target.parent / "t2/r2/f/b c").read_text() == "r2 b c\n" * 100
    assert sh("git init -q .", cwd=target, check=False)[0] != 0
    sh(f"tar -C {source} --acls -cf {outside}/t.tar . && tar -C {target} --acls -xpf {outside}/t.tar")
    assert sh(f"tar -C {target} -df {outside}/t.tar") == ""
    # A tar that has a row before the schema of its table.
    copy = outside / "t"
    (copy / "r/f").mkdir(parents=True)
    (copy / "r/f/q").write_text("x")
    (copy / ".schema.toml").write_text('splits = ["m"]\n[families.f]\n')
    sh(f"tar -C {outside} -cf {outside}/rows.tar t/r t/.schema.toml")
    code, _, said = sh(f"mkdir u && tar -C u --strip-components=1 -xf {outside}/rows.tar", cwd=target.parent, check=False)
    assert code != 0 and "Invalid argument" in said and (target.parent / "u/r/f/q").read_text() == "x"
