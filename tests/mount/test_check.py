# SPDX-License-Identifier: MIT
"""`cellfs check`, and what a damaged store answers through the mount."""

import errno
import json
import os
import shutil

import pytest

from mounts import CELLFS, Mount, fails_with, sh


def flip(file, marker):
    """Damages the bytes of a file where `marker` lies."""
    data = bytearray(file.read_bytes())
    data[data.index(marker)] ^= 1
    file.write_bytes(data)


def content_of(manifest):
    """But for how long the log was then: nobody can tell that anew."""
    content = json.loads(manifest.read_bytes()[8:-8])
    content.pop("logged", None)
    return content


def test_a_whole_store_has_no_damage_mounted_or_not(mount):
    (mount.family() / "q").write_text("x")
    assert "no damage" in mount.command("check")
    mount.stop()
    assert json.loads(sh(f"{CELLFS} check --json {mount.store}"))["damage"] == []
    mount.start()


def test_damage_is_named_and_eio_and_the_rest_is_readable(mount):
    family = mount.family()
    for i in range(100):
        (family / f"q{i:03}").write_bytes(b"<%03d>" % i * 1500)
    (mount.family("other") / "q").write_text("whole")
    mount.stop()
    flip(next(f for f in sorted(mount.store.glob("tables/*/*.db")) if b"<070>" * 100 in f.read_bytes()),
         b"<070>" * 100)
    code, out, _ = sh(f"{CELLFS} check --json {mount.store}", check=False)
    assert code == 1
    cells = {d["qualifier"] for d in json.loads(out)["damage"] if "qualifier" in d}
    assert "q070" in cells and len(cells) < 5
    mount.start()
    code, out, _ = sh(f"{CELLFS} check {mount.path}", check=False)
    assert code == 1 and "default/t/r/f/q070@" in out
    with fails_with(errno.EIO):
        (family / "q070").read_bytes()
    assert len(os.listdir(family)) == 100
    for i in set(range(100)) - {int(name[1:]) for name in cells}:
        assert (family / f"q{i:03}").read_bytes() == b"<%03d>" % i * 1500
    assert (mount / "default/other/r/f/q").read_text() == "whole"


def test_hostile_names_are_printed_harmless(mount):
    (mount.family(row="r\n\x1b[31m") / "q").write_bytes(b"abc" * 1000)
    mount.stop()
    for file in mount.store.glob("tables/*/*.db"):
        if b"abc" * 100 in file.read_bytes():
            flip(file, b"abc" * 100)
    _, out, _ = sh(f"{CELLFS} check {mount.store}", check=False)
    assert "r%0A%1B[31m" in out and "\x1b" not in out
    mount.start()


def test_a_table_that_is_not_whole_is_named_wherever_one_looks(mount):
    (mount.family() / "q").write_text("x")
    (mount.family("other") / "q").write_text("y")
    mount.stop()
    tables = {t["table"]: t for t in json.loads(sh(f"{CELLFS} status --json {mount.store}"))["tables"]}
    assert [t["damage"] for t in tables.values()] == ["", ""]
    catalog = {name: (mount.store / name).read_bytes() for name in ("CATALOG", "EDITS")}
    mount.start()
    (mount.family("newer") / "q").write_text("z")
    mount.stop()
    for name, saved in catalog.items():
        (mount.store / name).write_bytes(saved)
    next(f for f in sorted(mount.store.glob("tables/*/MANIFEST"))
         if b'"family":"f"' in f.read_bytes()).unlink()
    mount.start()
    name = next(t["table"] for t in mount.status()["tables"] if t["damage"])
    assert "MANIFEST' is missing" in str(mount.status()["tables"])
    assert "CATALOG is older than table" in mount.status()["lost_tables"][0]
    status = (mount / ".cellfs/status").read_text()
    assert "MANIFEST' is missing" in status and "[[lost_table]]" in status
    metrics = (mount / ".cellfs/metrics").read_text()
    assert f'cellfs_table_damaged{{table="{name}"}} 1' in metrics and "cellfs_lost_tables 1" in metrics
    errors = (mount / ".cellfs/errors").read_text()
    for text in errors, mount.log_text():
        assert "MANIFEST' is missing" in text and "check --repair" in text
        assert "CATALOG is older than table" in text
    code, out, _ = sh(f"{CELLFS} check {mount}", check=False)
    assert code == 1 and "CATALOG is older than table" in out and "MANIFEST: " in out


DAMAGES = {
    "short": lambda data, at: data[: len(data) // 2],
    "empty": lambda data, at: b"",
    "zeroed": lambda data, at: bytes(len(data)),
    "its first bytes": lambda data, at: b"damage" + data[6:],
    "a byte": lambda data, at: data[:at] + bytes([data[at] ^ 1]) + data[at + 1:],
    "missing": None,
}
# Of the log an end that is cut off is no damage: power loss leaves that. LOCK and RESERVE are made anew.
FILES = {"FORMAT": b"format", "CATALOG": b"C", "EDITS": b"edits", "wal/*.log": b"<later>", "tables/1/MANIFEST": b"files",
         "tables/1/1.db": b"<value>", "tables/2/1.db": b"facts", "tables/2/MANIFEST": b"files"}
IS_NO_DAMAGE = {("wal/*.log", "short")}
# What is found by who reads it.
IS_FOUND_LATER = {("tables/1/1.db", "a byte"), ("tables/2/1.db", "a byte")}


@pytest.fixture(scope="module")
def damaged_store(tmp_path_factory):
    """A copy of a store at a time, with a table, and its part of the log, and owners."""
    directory = tmp_path_factory.mktemp("damaged")
    whole = Mount(directory / "store", directory / "m")
    try:
        for i in range(30):
            (whole.family() / f"q{i:02}").write_bytes(b"<value>" * 300)
        (whole.family() / "q00").chmod(0o640)
        whole.command("flush")
        (whole.family() / "later").write_bytes(b"<later>" * 100)
        whole.kill9()
        yield directory, whole.store
    finally:
        assert whole.clean_up() == []


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", FILES)
def test_whatever_is_damaged_is_said_with_what_helps_in_one_line(damaged_store, file, damage):
    directory, whole = damaged_store
    store = directory / "copy"
    shutil.rmtree(store, ignore_errors=True)
    shutil.copytree(whole, store)
    path = next(store.glob(file))
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(DAMAGES[damage](data, data.find(FILES[file], 16) if file != "FORMAT" else 3))

    def says(text, *words):
        lines = [line for line in text.splitlines() if path.name in line or "/wal" in line]
        assert lines, text
        for line in lines:
            assert all(word in line for word in ("backup", *words)), line
            assert "malformed" not in line or "not what was written" in line, line

    code, out, error = sh(f"{CELLFS} check {store}", check=False)
    assert error == ""
    if (file, damage) in IS_NO_DAMAGE:
        assert code == 0, out
        return
    assert code == 1
    table = {"tables/1": "default/t", "tables/2": "cellfs/attributes"}.get(file[:8], "")
    if file.endswith(".db") and damage != "a byte":
        table += ", family "
    says(out if "wal" not in file or damage != "missing" else out.replace("wal:", "/wal:"), table)
    code, out, error = sh(f"{CELLFS} status {store}", check=False)
    if (file, damage) not in IS_FOUND_LATER:
        says(out + error, *(["attributes"] if "tables/2" in file else []))
    if "tables/2" in file:
        if (file, damage) not in IS_FOUND_LATER:
            assert "--forget-owners" in out
        return
    code, _, error = sh(f"{CELLFS} scan {store} t", check=False)
    assert code == 3
    says(error, *(["t, family f"] if file.endswith(".db") and damage != "missing" else []))


def give_up_log(store):
    shutil.rmtree(store / "wal")
    (store / "wal").mkdir(mode=0o700)
    (store / "wal/0000000000000001.log").touch(mode=0o600)


def table_of(store, value):
    return next(f.parent for f in sorted(store.glob("tables/*/*.db")) if value in f.read_bytes())


@pytest.mark.parametrize("log", ["with its log", "without its log"])
def test_a_lost_manifest_is_made_anew_from_the_store_files(mount, log):
    family = mount.family()
    for name, value in (("gone", b"<gone>"), ("stays", b"<stays>")):
        (family / name).write_bytes(value * 100)
        mount.command("flush")
    table = table_of(mount.store, b"<gone>" * 100)
    inputs = {file: file.read_bytes() for file in table.glob("*.db")}
    (family / "gone").unlink()
    (family / ".deleted/gone").unlink()
    mount.command("flush")
    mount.command("compact", "t")
    (family / "newer").write_bytes(b"<newer>" * 100)
    mount.stop()
    content_of_old = content_of(table / "MANIFEST")
    if log == "without its log":
        give_up_log(mount.store)
    for file, data in inputs.items():  # as if they had not been removed yet
        file.write_bytes(data)
        file.chmod(0o600)
    (table / "MANIFEST").unlink()

    before = sorted(os.listdir(table))
    code, out, _ = sh(f"{CELLFS} check --repair {mount.store}", check=False)
    assert code == 1 and "MANIFEST' is missing" in out and "would be made of" in out
    why = "it was replaced" if log == "with its log" else "its cells are in"
    for file in inputs:
        assert f"{file.name} is left out: {why}" in out
    assert sorted(os.listdir(table)) == before, "it only says what it would do"
    assert "was made of" in sh(f"{CELLFS} check --repair --yes {mount.store}")
    assert "every table has its manifest" in sh(f"{CELLFS} check --repair {mount.store}")
    if log == "with its log":
        assert content_of(table / "MANIFEST") == content_of_old
    mount.start()
    assert sorted(os.listdir(family)) == ["newer", "stays"] and os.listdir(family / ".deleted") == []
    assert (family / "newer").read_bytes() == b"<newer>" * 100
    assert "no damage" in mount.command("check")
    code, _, error = sh(f"{CELLFS} check --repair {mount}", check=False)
    assert code == 3 and "in use" in error


@pytest.mark.parametrize("file", ["FORMAT", "CATALOG", "EDITS"])
def test_damage_is_a_no_wherever_it_lies(mount, file):
    mount.stop()
    path = mount.store / file
    whole = path.read_bytes()
    path.write_bytes(b"damage" + whole[6:])
    for option in "", "--json", "--repair":
        code, out, error = sh(f"{CELLFS} check {option} {mount.store}", check=False)
        assert code == 1 and file in out + error, (option, code, out, error)
    path.write_bytes(whole)
    mount.start()


@pytest.mark.parametrize("file", ["FORMAT", "CATALOG", "EDITS", "wal", "tables"])
def test_what_is_missing_is_damage_too(mount, tmp_path, file):
    (mount.family() / "q").write_text("x")
    mount.stop()
    path = mount.store / file
    path.rename(tmp_path / "aside")
    for option in "", "--json", "--repair":
        code, out, error = sh(f"{CELLFS} check {option} {mount.store}", check=False)
        assert code == 1 and f"{file}' is missing" in out + error, (option, code, out, error)
    code, _, error = sh(f"{CELLFS} get {mount.store} t r", check=False)
    assert code == 3 and f"{file}' is missing" in error
    (tmp_path / "aside").rename(path)
    mount.start()


def test_a_damaged_page_is_one_finding_in_our_own_words(mount):
    family = mount.family()
    for i in range(100):
        (family / f"q{i:03}").write_bytes(b"<%03d>" % i * 500)
    mount.stop()
    flip(next(f for f in sorted(mount.store.glob("tables/*/*.db")) if b"<070>" * 100 in f.read_bytes()),
         b"<070>" * 100)
    code, out, error = sh(f"{CELLFS} check {mount.store}", check=False)
    assert code == 1 and error == ""
    lines = out.splitlines()
    assert len(lines) == 2 and "q070@" in lines[0] and "1 finding of damage" in lines[1], out
    mount.start()


def test_the_damage_of_a_table_goes_with_its_files(mount):
    family = mount.family()
    (family / "q").write_bytes(b"<q>" * 1000)
    mount.stop()
    file = next(f for f in sorted(mount.store.glob("tables/*/*.db")) if b"<q>" * 100 in f.read_bytes())
    file.write_bytes(b"damage" + file.read_bytes()[6:])
    mount.start()
    assert mount.status()["tables"][0]["damage"] != ""
    mount.command("truncate", "t")
    assert mount.status()["tables"][0]["damage"] == ""
    (mount.family() / "q").write_text("x")
    mount.command("flush")
    assert (family / "q").read_text() == "x" and "no damage" in mount.command("check")


def test_an_older_log_beside_newer_tables_is_refused_until_it_is_taken_as_it_is(mount, tmp_path):
    family = mount.family()
    (family / "older").write_text("x")
    mount.stop()
    shutil.copytree(mount.store / "wal", tmp_path / "wal")
    mount.start()
    (family / "flushed").write_text("x")
    mount.command("flush")
    (family / "logged").write_text("x")
    mount.kill9()
    shutil.rmtree(mount.store / "wal")
    shutil.copytree(tmp_path / "wal", mount.store / "wal")
    place = tmp_path / "place"
    place.mkdir()
    for command in f"mount {mount.store} {place}", f"get {mount.store}/default/t/r/f/older", f"check {mount.store}":
        code, out, error = sh(f"{CELLFS} {command}", check=False)
        assert code in (1, 3) and "it is an older copy" in out + error and "check --repair" in out + error
    code, out, _ = sh(f"{CELLFS} check --repair {mount.store}", check=False)
    assert code == 1 and "it would be taken as it is" in out and "--yes does it" in out
    assert "it was taken as it is" in sh(f"{CELLFS} check --repair --yes {mount.store}")
    mount.start()
    assert sorted(os.listdir(family)) == ["flushed", "older"]
    (family / "newer").write_text("x")
    mount.kill9()
    mount.start()
    assert sorted(os.listdir(family)) == ["flushed", "newer", "older"] and "no damage" in mount.command("check")


def test_a_repair_as_json_is_an_object_a_line(mount):
    for table in "t", "u":
        (mount.family(table) / "q").write_bytes(table.encode() * 1000)
    mount.stop()
    assert sh(f"{CELLFS} check --repair --json {mount.store}") == ""
    for table in "t", "u":
        (table_of(mount.store, table.encode() * 1000) / "MANIFEST").unlink()
    code, out, _ = sh(f"{CELLFS} check --repair --json {mount.store}", check=False)
    assert code == 1 and [json.loads(line)["table"] for line in out.splitlines()] == ["t", "u"]
    sh(f"{CELLFS} check --repair --yes {mount.store}")
    mount.start()


@pytest.mark.parametrize("damaged", ["MANIFEST", "*.db"])
def test_a_store_whose_owners_cannot_be_read_can_be_mounted_again(mount, damaged):
    family = mount.family()
    (family / "q").write_text("<value>" * 100)
    (family / "q").chmod(0o600)
    (mount / "default/t").chmod(0o711)
    mount.command("flush")
    table = next(path for path in (mount.store / "tables").iterdir() if path != table_of(mount.store, b"<value>" * 100))
    mount.stop()
    for file in table.glob(damaged):
        file.write_bytes(b"damage" + file.read_bytes()[6:])
    code, _, error = sh(f"{CELLFS} mount {mount.store} {mount.path}", check=False)
    assert code == 3 and "owner and mode cannot be read" in error
    remedy = "--repair" if damaged == "MANIFEST" else "--repair --forget-owners"
    assert f"'cellfs check {remedy}" in error
    assert "no mount       cellfs:attributes: " in sh(f"{CELLFS} status {mount.store}")
    code, out, _ = sh(f"{CELLFS} check {remedy} {mount.store}", check=False)
    assert code == 1 and "nothing was changed; --yes does it" in out
    sh(f"{CELLFS} check {remedy} --yes {mount.store}")
    mount.start()
    assert (family / "q").read_text() == "<value>" * 100
    is_kept = damaged == "MANIFEST"
    assert (family / "q").stat().st_mode & 0o777 == (0o600 if is_kept else 0o644)
    (family / "q").chmod(0o640)
    mount.remount()
    assert (family / "q").stat().st_mode & 0o777 == 0o640
    assert "no damage" in mount.command("check")


def test_a_store_file_of_another_length_is_said_by_all(mount):
    """SQLite passes over what lies behind its pages."""
    (mount.family() / "q").write_bytes(b"<q>" * 1000)
    mount.command("flush")
    file = next(table_of(mount.store, b"<q>" * 1000).glob("*.db"))
    mount.stop()
    whole = file.read_bytes()
    for damaged in whole + b"x", whole[:-4096]:
        file.write_bytes(damaged)
        said = f"it has {len(damaged)} bytes, and should have {len(whole)}"
        code, out, _ = sh(f"{CELLFS} check {mount.store}", check=False)
        assert code == 1 and said in out and "1 finding of damage" in out, out
        assert said in sh(f"{CELLFS} status {mount.store}")
    file.write_bytes(whole)
    mount.start()


def test_a_repair_that_finds_nothing_to_make_says_what_else_is_damaged(mount):
    sh(f"mkdir -p {mount}/default/t/r/f; echo v >{mount}/default/t/r/f/q")
    mount.stop()
    (mount.store / "RESERVE").unlink()
    (mount.store / "RESERVE").mkdir()
    for option in "", "--yes", "--json":
        code, out, error = sh(f"{CELLFS} check --repair {option} {mount.store}", check=False)
        assert code == 1 and "RESERVE" in out, (out, error)
    for manifest in (mount.store / "tables").glob("*/MANIFEST"):
        manifest.unlink()
    code, out, _ = sh(f"{CELLFS} check --repair --yes {mount.store}", check=False)
    assert code == 1 and "was made of" in out and "RESERVE" in out, out
    mount.start()
    assert "RESERVE keeps 0 of" in mount.log_text()


@pytest.mark.parametrize("damage", ["in a record", "of the header", "no log"])
def test_a_damaged_log_is_mended_by_a_repair_and_what_it_cuts_off_is_kept(mount, damage):
    family = mount.family()
    (family / "flushed").write_text("f")
    mount.command("flush")
    for name in "before", "lost", "behind":
        (family / name).write_text(f"<{name}>" * 100)
    mount.kill9()
    log = max((mount.store / "wal").iterdir())
    if damage == "in a record":
        flip(log, b"<lost>" * 50)
    elif damage == "of the header":
        flip(log, b"CELLWAL")
    else:
        log.unlink()
    code, _, error = sh(f"{CELLFS} get {mount.store} t r", check=False)
    assert code == 3 and "check --repair" in error, error
    assert damage != "of the header" or "whole records stand behind it" in error
    files = {f: f.read_bytes() for f in mount.store.rglob("*") if f.is_file()}
    code, out, _ = sh(f"{CELLFS} check --repair {mount.store}", check=False)
    is_cut = damage != "of the header"
    does = "would be cut" if is_cut else "would be made anew"
    assert code == 1 and does in out and "--yes does it" in out, out
    assert files == {f: f.read_bytes() for f in mount.store.rglob("*") if f.is_file()}
    code, out, _ = sh(f"{CELLFS} check --repair --json {mount.store}", check=False)
    plan = json.loads(out)
    assert code == 1 and plan["log"] == "wal" and plan["is_cut"] == is_cut and len(plan["kept"]) == (damage == "in a record"), out
    out = sh(f"{CELLFS} check --repair --yes {mount.store}")
    assert does.replace("would be", "was") in out, out
    assert [f"wal/{name}" for name in plan["kept"]] == [
        str(f.relative_to(mount.store)) for f in mount.store.glob("wal/*.damaged-*")]
    mount.start()
    there = {"in a record": ["before", "flushed"], "no log": ["flushed"],
             "of the header": ["before", "behind", "flushed", "lost"]}[damage]
    assert sorted(os.listdir(family)) == there
    if damage == "in a record":
        assert (family / "before").read_text() == "<before>" * 100
        assert plan["records"] >= 1 and plan["bytes"] > 1200, plan
        status = mount.command("status")
        assert "the log was damaged, and a repair has cut it" in status and "power" not in status
        assert f"({plan['bytes']} bytes)" in status
        kept = mount.store / "wal" / plan["kept"][0]
        code, out, error = sh(f"{CELLFS} wal {kept}", check=False)
        assert (code, error) == (1, "") and "damaged" in out, "where it was cut"
        assert "\tf:behind\t" in out and "\tf:before\t" not in out, out
    elif damage == "of the header":
        assert plan["saved"] == 3 and plan["headers"] == [log.name] and "cut off" not in mount.command("status")
    (family / "new").write_text("n")
    mount.remount()
    assert sorted(os.listdir(family)) == sorted([*there, "new"])


def test_the_remedies_of_a_missing_store_file_work(mount):
    for name in "stays", "lost":
        (mount.family(row=name) / "q").write_bytes(name.encode() * 1000)
        mount.command("flush")
    table = table_of(mount.store, b"lost" * 1000)
    mount.stop()
    file = max(table.glob("*.db"), key=lambda path: int(path.stem))
    file.unlink()
    _, out, _ = sh(f"{CELLFS} check {mount.store}", check=False)
    assert f"{file.name}: default/t, family f: it is missing" in out and "put an empty file there, mode 0600" in out
    file.touch(mode=0o600)
    mount.start()
    assert (mount / "default/t/stays/f/q").read_bytes() == b"stays" * 1000
    with fails_with(errno.EIO):
        (mount / "default/t/lost/f/q").read_bytes()
    mount.command("disable", "t")
    mount.command("drop", "t")
    assert "damaged" in mount.command("status")
    sh(f"rm -r {mount}/default/.deleted/t")
    assert "no damage" in mount.command("check") and "damaged" not in mount.command("status")


def test_a_table_that_lacks_a_store_file_is_left_as_it_is(mount):
    family = mount.family()
    (family / "q").write_bytes(b"<q>" * 1000)
    mount.command("flush")
    table = table_of(mount.store, b"<q>" * 1000)
    mount.stop()
    file = next(table.glob("*.db"))
    data = file.read_bytes()
    file.unlink()
    for option in "", "--yes":
        code, out, _ = sh(f"{CELLFS} check --repair {option} {mount.store}", check=False)
        assert code == 1 and "it is left as it is" in out and file.name in out
        assert "'cellfs drop' give the table up, and 'rm -r'" in out
    file.write_bytes(data)
    file.chmod(0o600)
    mount.start()
    assert (family / "q").read_bytes() == b"<q>" * 1000
