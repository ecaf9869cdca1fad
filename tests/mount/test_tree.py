# SPDX-License-Identifier: MIT
"""The tree: namespaces, tables, rows, families, cells, versions; names; what cannot be made."""

import errno
import os
import subprocess
import stat

import pytest

from mounts import fails_with, sh, versions


def test_two_namespaces_exist_and_controls_are_not_listed(mount):
    assert os.listdir(mount.path) == ["default", "hbase"]
    assert (mount / ".cellfs").is_dir() and (mount / ".asof").is_dir()


def test_hbase_shows_the_catalog_and_takes_nothing(mount):
    mount.schema('splits = ["m"]\n[families.f]\n')
    assert {"meta", "namespace", "quota", "acl"} <= set(os.listdir(mount / "hbase"))
    regions = [row for row in os.listdir(mount / "hbase/meta") if row.startswith("t,")]
    assert len(regions) == 2
    assert "default" in os.listdir(mount / "hbase/namespace")
    with fails_with(errno.EROFS):
        (mount / "hbase/mine").mkdir()
    with fails_with(errno.EROFS):
        os.rmdir(mount / "hbase")


def test_mkdir_makes_namespace_table_row_and_family(mount):
    table = mount / "web/pages"
    table.mkdir(parents=True)
    assert os.listdir(table) == []  # its .schema.toml comes with the first thing made in it
    (table / "com.cnn").mkdir()
    assert os.listdir(table) == [".schema.toml", "com.cnn"]
    with fails_with(errno.ENOENT):
        (table / "com.cnn/anchor").stat()
    (table / "com.cnn/anchor").mkdir()
    assert os.listdir(mount / "web") == [".namespace.toml", "pages"]
    assert os.listdir(table / "com.cnn") == ["anchor"]
    with fails_with(errno.EEXIST):
        (table / "com.cnn/anchor").mkdir()
    with fails_with(errno.EEXIST):
        table.mkdir()


def test_a_cell_reads_as_written_and_by_its_timestamp(family):
    cell = family / "q"
    cell.write_bytes(b"one")
    cell.write_bytes(b"second")
    newest, oldest = versions(cell)
    assert newest > oldest
    assert cell.read_bytes() == b"second"
    assert (family / f"q@{oldest}").read_bytes() == b"one"
    assert (family / ".versions/q" / str(oldest)).read_bytes() == b"one"
    assert cell.stat().st_size == 6 and (family / f"q@{oldest}").stat().st_size == 3
    assert cell.stat().st_mtime_ns == newest * 10**6
    assert (family / f"q@{oldest}").stat().st_mtime_ns == oldest * 10**6
    with fails_with(errno.ENOENT):
        (family / f"q@{oldest - 1}").stat()
    assert os.listdir(family) == ["q"]


def test_versions_keep_what_the_family_says(mount):
    mount.schema("[families.f]\nVERSIONS = 2\n")
    family = mount.family()
    for timestamp in (3, 5, 6):
        (family / f"html@{timestamp}").write_text(f"v{timestamp}")
    assert versions(family / "html") == [6, 5]
    assert (family / "html").read_text() == "v6"


def test_a_declared_family_is_found_in_rows_that_have_cells(family):
    (family / "q").write_text("x")
    (family.parent / "g").mkdir()
    (family.parent.parent / "r2/f").mkdir(parents=True)
    (family.parent.parent / "r2/f/q").write_text("x")
    assert os.listdir(family.parent.parent / "r2") == ["f"]
    # Not for the process that made the row: a copy makes the other families after the first one's files.
    assert subprocess.run(["ls", family.parent.parent / "r2/g"]).returncode == 0
    (family.parent.parent / "r2/g").mkdir()
    assert os.listdir(family.parent.parent / "r2/g") == []


def test_rows_and_qualifiers_list_in_byte_order(family):
    names = ["a", "B", "é", "z", "10", "9", "a b"]
    for name in names:
        (family / name).write_text(name)
        (family.parent.parent / name / "f").mkdir(parents=True)
        (family.parent.parent / name / "f/q").write_text(name)
    expected = sorted(names, key=os.fsencode)
    assert os.listdir(family) == expected
    assert os.listdir(family.parent.parent) == [".schema.toml"] + sorted(names + ["r"], key=os.fsencode)


def test_unlink_leaves_an_empty_directory_until_rmdir(family):
    cell = family / "q"
    cell.write_text("x")
    cell.unlink()
    assert os.listdir(family) == [] and os.listdir(family.parent) == ["f"]
    cell.write_text("again")
    assert cell.read_text() == "again"
    with fails_with(errno.ENOTEMPTY):
        family.rmdir()
    with fails_with(errno.ENOTEMPTY):
        family.parent.rmdir()
    cell.unlink()
    family.rmdir()
    family.parent.rmdir()
    assert os.listdir(family.parent.parent) == [".schema.toml"]


def test_what_mkdir_made_without_cells_is_gone_after_a_remount(mount):
    (mount.family(row="full") / "q").write_text("x")
    mount.family(row="empty")
    mount.remount()
    assert os.listdir(mount / "default/t") == [".schema.toml", "full"]


def test_tables_and_namespaces_are_dropped_by_rmdir_when_empty(mount):
    family = mount.family(namespace="ns")
    (family / "q").write_text("x")
    with fails_with(errno.ENOTEMPTY):
        (mount / "ns/t").rmdir()
    with fails_with(errno.ENOTEMPTY):
        (mount / "ns").rmdir()
    (family / "q").unlink()
    family.parent.rmdir()
    (mount / "ns/t").rmdir()
    (mount / "ns").rmdir()
    assert os.listdir(mount.path) == ["default", "hbase"]
    with pytest.raises(OSError):
        (mount / "default").rmdir()


def test_rm_r_of_a_table_and_a_namespace(mount):
    for row in range(5):
        (mount.family(namespace="ns", row=f"r{row}") / "q").write_text("x")
    sh(f"rm -r {mount / 'ns'}")
    assert os.listdir(mount.path) == ["default", "hbase"]


def two_families(mount):
    """A row with a file in g, and f in another."""
    sh("mkdir -p t/other/f t/r/g && echo 1 >t/other/f/a && echo 1 >t/r/g/a", cwd=mount / "default")
    return mount / "default/t"


def test_a_declared_family_that_was_removed_is_gone_until_it_is_made(mount):
    table = two_families(mount)
    os.rmdir(table / "r/f")  # it is found, though nobody made it
    with fails_with(errno.ENOENT):
        os.stat(table / "r/f")
    with fails_with(errno.ENOENT):
        os.rmdir(table / "r/f")
    os.mkdir(table / "r/f", 0o700)
    assert stat.S_IMODE(os.stat(table / "r/f").st_mode) == 0o700
    assert sorted(os.listdir(table / "r")) == ["f", "g"]
    os.rmdir(table / "r/f")
    mount.command("put", "default:t", "r", "f:q", "x")
    assert (table / "r/f/q").read_text() == "x"


def test_a_family_that_was_found_stays_when_another_loses_its_last_file(mount):
    table = two_families(mount)
    sh("mkdir -p r/f && rm r/g/a && echo x >r/f/a", cwd=table)
    sh("rm -r r/f && mkdir -p r/f && rm -rf r/g && echo y >r/f/a", cwd=table)
    assert (table / "r/f/a").read_text() == "y\n"


def test_a_family_that_was_emptied_very_often_can_be_removed(mount):
    family = mount / "default/t/r/f"
    for round in range(1030):
        family.mkdir(parents=True, exist_ok=round % 2 == 1)
        (family / "pid").write_text("x")
        os.unlink(family / "pid")
        if round % 2 == 1:
            os.rmdir(family)
    assert not family.exists()


def test_a_family_that_never_held_a_cell_is_undeclared_by_rmdir(mount):
    family = mount.family()
    (family.parent / "typo").mkdir()
    assert "typo" in (mount / "default/t/.schema.toml").read_text()
    (family.parent / "typo").rmdir()
    assert "typo" not in (mount / "default/t/.schema.toml").read_text()


# ---- What the tree has no place for --------------------------------------------------------------


def test_files_stand_only_in_families(mount):
    family = mount.family()
    for directory in (mount.path, mount / "default", mount / "default/t", family.parent):
        with fails_with(errno.EPERM):
            (directory / "file").write_text("x")
    with fails_with(errno.EPERM):
        (family / "directory").mkdir()


def test_links_and_special_files_are_refused(family):
    (family / "q").write_text("x")
    with fails_with(errno.EPERM):
        os.symlink("q", family / "link")
    with fails_with(errno.EPERM):
        os.link(family / "q", family / "link")
    with fails_with(errno.EPERM):
        os.mkfifo(family / "fifo")
    with fails_with(errno.EPERM):
        os.mknod(family / "device", stat.S_IFCHR | 0o600, os.makedev(1, 3))
    assert os.listdir(family) == ["q"]


def test_a_closed_table_takes_no_family(mount):
    table = mount.schema("[families.f]\n")
    (table / "r").mkdir()
    with fails_with(errno.EPERM):
        (table / "r/g").mkdir()
    (table / "r/f").mkdir()
    with fails_with(errno.ENOENT):
        (table / "r/g/q").write_text("x")


@pytest.mark.parametrize("name", [".dot", "a:b"])
def test_family_names_that_hbase_refuses(mount, name):
    (mount / "default/t/r").mkdir(parents=True)
    with fails_with(errno.EPERM):
        (mount / "default/t/r" / name).mkdir()


@pytest.mark.parametrize("path", ["bad name", "default/bad name", "default/-t", "default/.t", "a:b"])
def test_namespace_and_table_names_that_hbase_refuses(mount, path):
    with fails_with(errno.EINVAL):
        (mount / path).mkdir()


def test_nothing_is_there_before_it_is_made(mount):
    family = mount.family()
    (family / "q").write_text("x")
    for path in ("none", "default/none", "default/t/none", "default/t/r/none", "default/t/r/f/none",
                 "default/t/r/f/q@5", "default/t/r/f/.versions/none", "default/t/r/f/.versions/q/5"):
        with fails_with(errno.ENOENT):
            (mount / path).stat()


# ---- Names ---------------------------------------------------------------------------------------

ODD_NAMES = [b"a b", b"%", b"%%", b"100%", b"a%2Fb", b"a%2fb", b"%00", b"Report%20Final.pdf", b"@", b"a@b",
             b"a@-1", b"a@01", b"mail%4017", b"\xff\xfe", b"new\nline", b"\x01", b"-rf", b"~", "ü".encode(),
             b"..x", b"...", b"%2E", b"%2E%2E", b"%2Eversions", b"*", b"'\"", b"x" * 255, b"%25"]


def test_every_legal_name_is_a_key(family):
    row = os.fsencode(family.parent.parent)
    for name in ODD_NAMES:
        with open(os.path.join(os.fsencode(family), name), "wb") as file:
            file.write(name)
        os.makedirs(os.path.join(row, name, b"f"))
        with open(os.path.join(row, name, b"f", b"q"), "wb") as file:
            file.write(name)
    assert sorted(os.listdir(os.fsencode(family))) == sorted(ODD_NAMES)
    assert sorted(os.listdir(row)) == sorted(ODD_NAMES + [b".schema.toml", b"r"])
    for name in ODD_NAMES:
        with open(os.path.join(os.fsencode(family), name), "rb") as file:
            assert file.read() == name
        with open(os.path.join(row, name, b"f", b"q"), "rb") as file:
            assert file.read() == name


def test_keys_are_what_the_names_spell(mount):
    family = mount.family()
    for name in ("a%2Fb", "%empty", "mail%4017", "a%252Fb", "%2Eversions"):
        (family / name).write_text("x")
    assert [q for _, q, _, _ in mount.raw()] == [b"", b".versions", b"a%2Fb", b"a/b", b"mail@17"]


def test_names_of_more_than_255_bytes(family):
    with fails_with(errno.ENAMETOOLONG):
        (family / ("x" * 256)).write_text("x")
    with fails_with(errno.ENAMETOOLONG):
        (family / ("x" * 200 + "%~" + "0" * 32)).write_text("x")


def test_a_name_that_spells_no_key(make_mount):
    family = make_mount("names=printable").family()
    with fails_with(errno.ENOENT):
        (family / "a\x01b").stat()
    with fails_with(errno.EILSEQ):
        (family / "a\x01b").write_text("x")
    with fails_with(errno.EINVAL):  # it spells one, which HBase refuses for a row
        (family.parent.parent / "%empty").mkdir()


@pytest.mark.parametrize("name", [".deleted", ".snapshots", ".changes", ".changes@0", ".changes@17"])
def test_names_that_are_kept_for_later(mount, name):
    mount.family()
    for directory in ("", "default", "default/t"):
        if name == ".deleted":
            continue  # there is something of that name
        assert not os.path.lexists(mount / directory / name)
        with fails_with(errno.EOPNOTSUPP):
            (mount / directory / name).mkdir()
    # A row of that key has another name.
    spelled = name.replace(".", "%2E")
    (mount.family(row=spelled) / "q").write_text("x")
    assert spelled in os.listdir(mount / "default/t")
    mount.remount("controls=off")
    assert (mount / "default/t" / name / "f/q").read_text() == "x"


def test_printable_names_and_long_names(mount):
    (mount.family() / "bell\x07").write_text("x")
    (mount.family() / ("\x01" * 250)).write_text("long")
    (mount.family(row="\x02" * 200) / "q").write_text("long row")
    mount.remount("names=printable")
    family = mount / "default/t/r/f"
    long_name, bell = os.listdir(family)
    assert bell == "bell%07" and (family / bell).read_text() == "x"
    assert len(long_name) <= 255 and "%~" in long_name
    assert (family / long_name).read_text() == "long"
    assert (mount / ".cellfs/keys" / long_name).read_bytes() == b"\x01" * 250
    (family / long_name).write_text("changed by the name that is listed")
    (stamp, _) = versions(family / long_name)
    assert (family / f"{long_name}@{stamp}").read_text().startswith("changed")
    _, long_row, _ = os.listdir(mount / "default/t")
    assert (mount / "default/t" / long_row / "f/q").read_text() == "long row"


def test_versions_by_name_off(make_mount, tmp_path):
    mount = make_mount("versions_by_name=off")
    family = mount.family()
    source = tmp_path / "source"
    source.mkdir()
    for name in ("mail@17", "mail", "a%4017"):
        (source / name).write_text(f"content of {name}")
    sh(f"rsync -a {source}/ {family}/")
    assert sorted(os.listdir(family)) == sorted(os.listdir(source))
    for name in os.listdir(source):
        assert (family / name).read_text() == f"content of {name}"
    (family / "mail").write_text("newer")
    newer, older = versions(family / "mail")
    assert (family / f".versions/mail/{older}").read_text() == "content of mail"
    assert not (family / f"mail@{older}").exists() and versions(family / "mail@17") != []
    # What a query lists can be read.
    past = mount / "default/t/.scan/versions=5/r/f"
    names = os.listdir(past)
    assert f"mail@{older}" in names and any(name.startswith("mail%4017@") for name in names)
    assert {(past / name).read_text() for name in names} == {"newer"} | {
        f"content of {name}" for name in os.listdir(source)}
    mount.remount("")
    assert sorted(os.listdir(family)) == ["a%254017", "mail", "mail%4017"]


def test_controls_off_and_visible(mount):
    (mount.family() / "q").write_text("x")
    mount.remount("controls=off")
    family = mount / "default/t/r/f"
    for name in (".versions", ".counters", ".deleted"):
        with fails_with(errno.ENOENT):
            (family / name).stat()
    (family / "q@5").write_text("an ordinary name")
    (family / ".versions").write_text("too")
    assert os.listdir(family) == [".versions", "q", "q@5"]
    mount.remount("controls=visible")
    assert ".versions" in os.listdir(family)
    assert {"q", "q%405", "%2Eversions"} <= set(os.listdir(family))


# ---- Attributes of the tree ----------------------------------------------------------------------


def test_statfs_reports_the_stores_file_system(mount):
    ours, below = os.statvfs(mount.path), os.statvfs(mount.store)
    assert ours.f_blocks * ours.f_frsize == below.f_blocks * below.f_frsize
    assert ours.f_namemax == 255


def test_inode_numbers_are_distinct_and_survive_a_remount(mount):
    (mount.family() / "q").write_text("x")
    (mount.family(row="r2") / "q").write_text("x")
    stamp = versions(mount / "default/t/r/f/q")[0]
    paths = ["", "default", "default/t", "default/t/r", "default/t/r/f", "default/t/r/f/q", "default/t/r2",
             "default/t/r2/f/q", f"default/t/r/f/q@{stamp}", "default/t/.schema.toml"]
    before = [(mount / path).stat().st_ino for path in paths]
    assert len(set(before)) == len(paths)
    mount.remount()
    assert [(mount / path).stat().st_ino for path in paths] == before


def test_listings_say_the_type_and_the_inode(family):
    (family / "q").write_text("x")
    for directory, name, is_directory in ((family, "q", False), (family.parent, "f", True)):
        entry = next(iter(os.scandir(directory)))
        assert (entry.name, entry.is_dir()) == (name, is_directory)
        assert entry.inode() == os.stat(entry.path).st_ino
    assert (family / "q").stat().st_nlink == 1
    assert (family / "q").stat().st_blocks * 512 >= 1
