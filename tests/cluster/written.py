#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real cluster, written through its mount: by hand, by copies and commands, by two mounts at once.

Also while its regions move, and while it stands still.

Run by on_hbase: written.py CELLFS
"""

import contextlib
import errno
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from cluster import NAME, cellfs, control, run, silence


class Written(unittest.TestCase):
    def setUp(self):
        self.mounts = contextlib.ExitStack()
        self.addCleanup(self.mounts.close)
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.mounts.callback(shutil.rmtree, self.directory)
        self.name = self._testMethodName[len("test_"):][:30]
        self.store_path = f"{NAME}default/{self.name}"
        cellfs("create", self.store_path, "f", "g")
        self.table = self.mount("m") / "default" / self.name
        self.family = self.table / "r/f"
        self.family.mkdir(parents=True)

    def mount(self, name, options=()):
        root = self.directory / name
        root.mkdir()
        cellfs("mount", *options, NAME, str(root))
        self.mounts.callback(cellfs, "umount", str(root))
        return root

    def raw(self):
        """What is stored: (column, type or value)."""
        lines = cellfs("scan", self.store_path, "--raw").splitlines()
        return [(line.split("\t")[1], line.split("\t")[3]) for line in lines]

    def versions(self, qualifier):
        history = self.family / ".versions" / qualifier
        return [(history / version).read_text() for version in sorted(os.listdir(history))]

    def test_a_removed_row_comes_back_from_another_mount(self):
        (self.family / "q").write_text("value")
        (self.family / "shown").write_text("x")
        shutil.rmtree(self.table / "r")
        table = self.mount("other") / "default" / self.name
        self.assertEqual(os.listdir(table / ".deleted"), ["r"])
        self.assertEqual(os.listdir(table / ".deleted/r"), ["f"])
        run("mv", str(table / ".deleted/r"), str(table))
        self.assertEqual((table / "r/f/q").read_text(), "value")
        self.assertEqual(os.listdir(table / ".deleted"), [])

    def test_a_save_by_tools_is_one_put(self):
        note = self.family / "note"
        note.write_text("one\n")
        source = self.directory / "source"
        (source / "f").mkdir(parents=True)
        (source / "f/note").write_text("from rsync\n")
        os.utime(source / "f/note", ns=(0, 4_000_000_000_500_000_000))
        run("rsync", "-a", f"{source}/", f"{self.table}/r/")
        self.assertEqual(note.read_text(), "from rsync\n")
        self.assertEqual(note.stat().st_mtime_ns, 4_000_000_000_500_000_000)
        run("sed", "-i", "s/from/by/", str(note))
        self.assertEqual(note.read_text(), "by rsync\n")
        self.assertEqual(self.versions("note"), ["by rsync\n"])  # VERSIONS is 1
        self.assertEqual([kind for _, kind in self.raw() if kind.startswith("Delete")], [])
        self.assertEqual(os.listdir(self.family), ["note"])

    def test_files_are_files(self):
        note = self.family / "note"
        note.write_text("one\n")
        with note.open("a") as appended:
            appended.write("two\n")
        with note.open("r+") as edited:
            edited.seek(4)
            edited.write("TWO")
        self.assertEqual(note.read_text(), "one\nTWO\n")
        note.rename(self.family / "renamed")
        self.assertEqual(os.listdir(self.family), ["renamed"])
        (self.family / "renamed").unlink()
        self.assertEqual(os.listdir(self.family), [])
        (self.family / ".deleted/renamed").rename(note)
        self.assertEqual(note.read_text(), "one\nTWO\n")
        (self.family / "old@1000").write_text("then")
        self.assertEqual((self.family / "old").stat().st_mtime, 1)
        with self.assertRaises(OSError) as refused:
            (self.family / ".deleted/renamed").unlink()
        self.assertEqual(refused.exception.errno, errno.EOPNOTSUPP)
        run("rm", "-r", str(self.table / "r"))
        self.assertEqual(os.listdir(self.table), [".schema.toml"])

    def test_a_tree_goes_in_and_out(self):
        source = self.directory / "source"
        for number in range(300):
            column = source / f"row{number:03}/{'fg'[number % 2]}"
            column.mkdir(parents=True)
            (column / "value").write_bytes(os.urandom(number * 50))
            os.utime(column / "value", (number, 1_600_000_000 + number))
        for words in (("rsync", "-rt"), ("cp", "-r", "--preserve=timestamps")):
            run("rm", "-rf", *map(str, self.table.glob("*")), timeout=120)
            run(*words, *map(str, sorted(source.iterdir())), f"{self.table}/", timeout=120)
            back = self.directory / words[0]
            run("rsync", "-rt", "--exclude=/.schema.toml", f"{self.table}/", f"{back}/", timeout=120)
            run("diff", "-r", str(source), str(back))
            for file in source.rglob("value"):
                self.assertEqual((back / file.relative_to(source)).stat().st_mtime,
                                 file.stat().st_mtime)
        self.assertNotIn("f+", run("rsync", "-rtin", f"{source}/", f"{self.table}/"))

    def test_schemas_are_written(self):
        schema = self.table / ".schema.toml"
        run("sed", "-i", "s/^VERSIONS = .*/VERSIONS = 7/", str(schema))
        self.assertEqual(cellfs("describe", self.store_path).count("VERSIONS=7"), 2)
        namespace = self.directory / "m/written"
        namespace.mkdir()
        cellfs("create", f"{NAME}written/t", "f")
        time.sleep(1.5)
        (namespace / "t/r/f").mkdir(parents=True)
        (namespace / "t/r/f/q").write_text("x")
        run("rm", "-r", str(namespace / "t"))
        namespace.rmdir()
        self.assertNotIn("written", os.listdir(self.directory / "m"))

    def test_a_readonly_table_says_so_before_a_shell_writes(self):
        schema = self.table / ".schema.toml"
        run("sed", "-i", "s/^READONLY = .*/READONLY = true/", str(schema))
        try:
            with self.assertRaises(OSError) as refused:
                os.open(self.family / "note", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            self.assertEqual(refused.exception.errno, errno.EROFS)
        finally:
            run("sed", "-i", "s/^READONLY = .*/READONLY = false/", str(schema))
        (self.family / "note").write_text("x")

    def mode(self, path):
        return path.stat().st_mode & 0o777

    def test_owners_belong_to_a_table(self):
        note, table = self.family / "note", f"default:{self.name}"

        def give_modes():
            self.family.mkdir(parents=True, exist_ok=True)
            note.write_text("x")
            note.chmod(0o600)
            self.table.chmod(0o700)

        give_modes()
        for change in (f"split {table} k", f"disable {table}", f"enable {table}",
                       f"split {table} r"):
            control(change)
            time.sleep(1.5)
            self.assertEqual(self.mode(self.table), 0o700, change)
        self.assertEqual(self.mode(note), 0o600)
        for change in ("remake", "truncate"):
            control(f"{change} {table}")
            time.sleep(1.5)
            self.assertEqual(self.mode(self.table), 0o755, change)
            self.family.mkdir(parents=True, exist_ok=True)
            note.write_text("x")
            self.assertEqual(self.mode(note), 0o644, change)
            give_modes()
            self.assertEqual(self.mode(note), 0o600)
        self.table.chmod(0o711)
        cellfs("truncate", self.store_path)
        time.sleep(1.5)
        self.assertEqual(self.mode(self.table), 0o711)

    def test_a_table_that_others_made_anew_is_empty(self):
        (self.family / "q").write_text("x")
        (self.family / "q").unlink()
        (self.table / "made/g").mkdir(parents=True)
        self.assertEqual(sorted(os.listdir(self.table)), [".schema.toml", "made", "r"])
        control(f"remake default:{self.name}")
        time.sleep(1.5)
        self.assertEqual(os.listdir(self.table), [".schema.toml"])
        run("rm", "-r", str(self.table))
        self.assertFalse(self.table.exists())

    def test_who_writes_on_when_others_make_its_table_anew(self):
        (self.family / "edited").write_text("before")
        (self.table / "made/g").mkdir(parents=True)
        edited = os.open(self.family / "edited", os.O_RDWR)
        with (self.family / "log").open("a") as log:
            log.write("before\n")
            log.flush()
            time.sleep(1.5)
            control(f"remake default:{self.name}")
            time.sleep(1.5)
            log.write("after\n")
            log.flush()
            os.fsync(log.fileno())
        os.pwrite(edited, b"after", 6)
        for end in (os.fsync, os.close):
            with self.assertRaises(OSError) as failed:
                end(edited)
            self.assertEqual(failed.exception.errno, errno.ESTALE)
        self.assertEqual(sorted(os.listdir(self.table)), [".schema.toml", "r"])
        self.assertEqual(os.listdir(self.family), ["log"])
        self.assertEqual((self.family / "log").read_text(), "after\n")

    def test_two_mounts_change_owners_at_once(self):
        other = self.mount("other") / "default" / self.name
        for name in ("a", "b"):
            (self.family / name).write_text("x")
        time.sleep(1.5)

        def change(files, act):
            for number in range(50):
                for file in files:
                    act(file, number)

        def owners(file, number):
            os.chown(file, 1000 + number, 2000 + number)

        paths = [self.table / "r", self.family, self.family / "a", self.family / "b"]
        others = [other / path.relative_to(self.table) for path in paths]
        threads = [
            threading.Thread(target=change, args=(paths, lambda file, n: file.chmod(0o700 + n))),
            threading.Thread(target=change, args=(others, owners))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(1.5)
        for path in paths + others:
            status = path.stat()
            self.assertEqual((status.st_mode & 0o777, status.st_uid, status.st_gid),
                             (0o700 + 49, 1049, 2049), path)

    def test_owners_are_kept_elsewhere_or_nowhere(self):
        (self.family / "q").write_text("x")
        off = self.mount("off", ("-o", "hbase_attributes=off")) / "default" / self.name / "r/f/q"
        off.chmod(0o644)
        with self.assertRaises(PermissionError):
            off.chmod(0o600)
        run("rsync", "-rt", str(off), str(off.with_name("copy")))
        run("cp", "-a", str(off), str(off.with_name("another")))
        name = f"default:{self.name}_owners"
        elsewhere = self.mount("elsewhere", ("-o", f"hbase_attributes={name}"))
        note = elsewhere / "default" / self.name / "r/f/q"
        note.chmod(0o600)
        self.assertEqual(self.mode(note), 0o600)
        self.assertEqual(self.mode(off), 0o644)
        self.assertNotIn(f"{self.name}_owners", os.listdir(elsewhere / "default"))
        configuration = self.directory / "config.toml"
        configuration.write_text(f'[hbase]\nattributes = "{name}"\n')
        words = ("list", f"{NAME}default")
        self.assertIn(f"{self.name}_owners", cellfs(*words))
        self.assertNotIn(f"{self.name}_owners", cellfs(*words, "--config", str(configuration)))

    def test_the_clusters_name_stands_for_its_only_mount(self):
        first, second = self.directory / "m", self.mount("second")
        status = cellfs("status", NAME)
        for root in (first, second):
            self.assertRegex(status, f"(?m)^mounted on {root} by process [0-9]+$")
        for words in (("set", NAME, "log_level=info"), ("errors", NAME)):
            self.assertIn(f"{first}, {second}; name a mount point", cellfs(*words, code=2))
        report = cellfs("report", NAME)
        self.assertIn("== store\non servers\n", report)
        self.assertIn("a mount point is to be named", report)
        refused = cellfs("umount", NAME, code=2)
        self.assertEqual(len(refused.splitlines()), 1)
        self.assertIn(f"{first}, {second}; name one of these, or --all", refused)
        self.assertTrue(first.is_mount() and second.is_mount())
        cellfs("umount", "--all", NAME)
        self.assertFalse(first.is_mount() or second.is_mount())
        self.assertIn("not mounted", cellfs("status", NAME))
        for root in (first, second):  # the test ends them
            cellfs("mount", NAME, str(root))

    def test_a_table_is_made_by_its_first_family(self):
        other = self.mount("other")
        namespace = self.directory / "m/made"
        table = namespace / "t"
        namespace.mkdir()
        table.mkdir(mode=0o700)
        self.assertEqual(table.stat().st_mode & 0o777, 0o700)
        self.assertEqual(os.listdir(namespace), [".namespace.toml", "t"])
        self.assertEqual(os.listdir(other / "made"), [".namespace.toml"])
        table.rmdir()
        self.assertFalse(table.exists())
        table.mkdir()
        table.chmod(0o750)
        (table / "r/f").mkdir(parents=True)
        (table / "r/f/q").write_text("x")
        time.sleep(1.5)
        self.assertEqual((other / "made/t/r/f/q").read_text(), "x")
        self.assertEqual((other / "made/t").stat().st_mode & 0o777, 0o750)
        run("rm", "-r", str(namespace))
        self.assertFalse(namespace.exists())

    def test_a_namespace_is_copied_into_it(self):
        store, source = self.directory / "store", self.directory / "source"
        source.mkdir()
        cellfs("mount", str(store), str(source))
        self.mounts.callback(cellfs, "umount", str(source))
        (source / "copied/two").mkdir(parents=True)
        (source / "copied/two/.schema.toml").write_text(
            'splits = ["b"]\n[families.f]\nVERSIONS = 7\n')
        for table in ("one", "two"):
            for row in ("a", "b"):
                (source / "copied" / table / row / "f").mkdir(parents=True)
                (source / "copied" / table / row / "f/q").write_text(f"{table} {row}\n")
        root = self.directory / "m"
        for words in (("rsync", "-a"), ("cp", "-a")):
            run(*words, str(source / "copied"), f"{root}/", timeout=120)
            differences = run("rsync", "-ainc", "--exclude=.schema.toml",  # HBase says more there
                              f"{source}/copied", f"{root}/")
            self.assertEqual(differences, "")
            self.assertIn("VERSIONS=7", cellfs("describe", f"{NAME}copied/two"))
            run("rm", "-r", str(root / "copied"))

    def test_commands_write(self):
        cellfs("put", self.store_path, "r", "f:q", "value")
        cellfs("append", self.store_path, "r", "f:q", "+")
        self.assertEqual(cellfs("incr", self.store_path, "r", "f:n", "5").strip(), "5")
        self.assertIn("value+", cellfs("get", self.store_path, "r", "f:q"))
        cellfs("check_and_put", self.store_path, "r", "f:q", "next", "--if", "f:q=value+")
        cellfs("delete", self.store_path, "r", "f:q")
        cellfs("flush", self.store_path)

    def test_two_mounts_lose_nothing(self):
        other = self.mount("other") / "default" / self.name / "r/f"
        (self.family / "log").write_text("")
        time.sleep(1.5)

        def work(family, who):
            for number in range(100):
                with (family / "log").open("a") as log:
                    log.write(f"{who} {number}\n")
                (family / ".counters/sum").write_text("+1")

        threads = [threading.Thread(target=work, args=(family, who))
                   for family, who in ((self.family, "a"), (self.family, "b"), (other, "c"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(1.5)
        lines = (other / "log").read_text().splitlines()
        self.assertEqual(sorted(lines), sorted(f"{who} {n}" for who in "abc" for n in range(100)))
        self.assertEqual((other / ".counters/sum").read_text(), "300\n")

    def test_regions_move_meanwhile(self):
        source = self.directory / "source"
        for number in range(1000):
            (source / f"row{number:04}/f").mkdir(parents=True)
            (source / f"row{number:04}/f/value").write_text(f"{number}\n")
        table = f"default:{self.name}"
        moves = threading.Thread(target=lambda: [control(command) for command in (
            "add_server", f"move {table}", f"split {table} row0500", "restart_server")])
        moves.start()
        try:
            run("rsync", "-rt", f"{source}/", f"{self.table}/", timeout=300)
        finally:
            moves.join()
        for number in range(1000):
            value = self.table / f"row{number:04}/f/value"
            self.assertEqual(value.read_text(), f"{number}\n")
        self.assertEqual({column for column, _ in self.raw()}, {"f:value"})

    def test_silence_ends_at_the_deadline(self):
        hasty = self.mount("hasty", ("-o", "hbase.client.operation.timeout=2000"))
        note = hasty / "default" / self.name / "r/f/note"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text("before\n")
        with silence(), self.assertRaises(OSError) as failed:
            with note.open("a") as file:
                file.write("after\n")
        self.assertIn(failed.exception.errno, (errno.EIO, errno.ETIMEDOUT))
        time.sleep(1.5)
        self.assertIn(note.read_text(), ("before\n", "before\nafter\n"))

    def test_a_signal_ends_the_wait_of_who_writes(self):
        self.mount("second")
        names = ("overwritten", "appended", "edited", "removed", "renamed")
        for name in names:
            (self.family / name).write_text("before\n")
        time.sleep(1.5)
        acts = ("exec 3>overwritten; ready; echo after >&3; exec 3>&-",
                "exec 3>>appended; ready; echo after >&3; exec 3>&-",
                "exec 3<>edited; ready; printf AFTER >&3; exec 3>&-",
                "ready; echo after > made", "ready; exec rm removed",
                "ready; exec mv -T renamed target", "ready; exec mkdir ../../row",
                "ready; exec chmod 600 edited")
        waiting = [subprocess.Popen(
            ["sh", "-c", f"ready() {{ echo; read go; }}; cd {self.family}; {act}"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            for act in acts]
        for process in waiting:
            self.mounts.callback(process.kill)
            process.stdout.readline()
        with silence():
            for process in waiting:
                process.stdin.write("go\n")
                process.stdin.flush()
            time.sleep(1)
            for process in waiting:
                self.assertIsNone(process.poll(), process.args)
                process.send_signal(signal.SIGINT)
            for process in waiting:
                self.assertEqual(process.wait(timeout=10), -signal.SIGINT, process.args)
        time.sleep(1.5)
        old, new = "before\n", "after\n"
        for root in ("m", "second"):
            family = self.directory / root / self.family.relative_to(self.directory / "m")
            texts = {path.name: path.read_text() for path in family.iterdir()}
            self.assertIn(texts["overwritten"], (old, new))
            self.assertIn(texts["appended"], (old, old + new))
            self.assertIn(texts["edited"], (old, "AFTER" + old[5:]))
            self.assertIn(texts.get("removed", old), (old,))
            self.assertEqual([texts[name] for name in ("renamed", "target") if name in texts], [old])
            self.assertIn(texts.get("made", new), (new,))
        for name in (*names, "target", "made"):
            (self.family / name).write_text("again\n")
            self.assertEqual((self.family / name).read_text(), "again\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
