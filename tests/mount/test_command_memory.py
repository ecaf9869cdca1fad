# SPDX-License-Identifier: MIT
"""What the daemon keeps in memory for a command does not grow with what the command is about."""

import json
import os
import pathlib
import subprocess

from mounts import CELLFS

MEBIBYTE = 1 << 20
MOST = 128 * MEBIBYTE  # some values of 20 MiB, as the heap keeps them; all together are 400 MiB


def memory_of(mount, name):
    for line in pathlib.Path(f"/proc/{mount.pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise AssertionError(name)


class Growth:
    """By how much the daemon's memory grows at most while the body runs."""

    def __init__(self, mount):
        self.mount = mount

    def __enter__(self):
        pathlib.Path(f"/proc/{self.mount.pid}/clear_refs").write_text("5")  # the peak begins anew
        self.before = memory_of(self.mount, "VmRSS")
        return self

    def __exit__(self, *failure):
        self.bytes = memory_of(self.mount, "VmHWM") - self.before


def lines_of(mount, *arguments):
    """How many lines and bytes the command prints; nobody holds them."""
    with subprocess.Popen([CELLFS, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as command:
        lines = size = 0
        while piece := command.stdout.read(MEBIBYTE):
            lines += piece.count(b"\n")
            size += len(piece)
    assert command.returncode in (0, 1), arguments
    return lines, size


def put_lines(mount, lines):
    with subprocess.Popen([CELLFS, "mutate", str(mount)], stdin=subprocess.PIPE) as command:
        for line in lines:
            command.stdin.write(json.dumps(line).encode() + b"\n")
        command.stdin.close()
        assert command.wait() == 0


def make(make_mount, tmp_path):
    config = tmp_path / "cellfs.toml"
    config.write_text('[site]\n"hbase.client.keyvalue.maxsize" = 104857600\n'
                      '"hbase.server.keyvalue.maxsize" = 104857600\n')
    mount = make_mount(config=config)
    (mount / "default/t/r/f").mkdir(parents=True)
    return mount


def test_a_row_of_many_cells(make_mount, tmp_path):
    mount = make(make_mount, tmp_path)
    cells, value = 50_000, "v" * 4096
    for begin in range(0, cells, 2_500):  # a step of a row has a bound
        put_lines(mount, ({"table": "t", "row": "r", "column": f"f:{number:06}", "value": value}
                          for number in range(begin, begin + 2_500)))
    mount.command("flush")
    for command in ("get", "scan", "log"):
        where = mount / "default/t/r" if command != "scan" else mount / "default/t"
        options = ["-n", "0"] if command == "log" else []
        with Growth(mount) as growth:
            lines, _ = lines_of(mount, command, *options, where)
        assert lines >= cells, command
        assert growth.bytes < MOST, (command, growth.bytes)
    with Growth(mount) as growth:
        lines_of(mount, "stats", mount / "default/t")
    assert growth.bytes < MOST, growth.bytes


def test_a_row_of_long_cells(make_mount, tmp_path):
    mount = make(make_mount, tmp_path)
    cells, size = 20, 20 * MEBIBYTE
    for number in range(cells):
        with open(tmp_path / "value", "wb") as value:
            value.write(os.urandom(size // 2) + b"x" * (size // 2))
        with open(tmp_path / "value", "rb") as value:
            subprocess.run([CELLFS, "put", mount / "default/t/r", f"f:{number:02}=-"], stdin=value, check=True)
    mount.command("flush")
    for command in ("get", "scan", "show"):
        options = ["--bytes"] if command == "get" else []
        where = mount / "default/t/r" if command != "scan" else mount / "default/t"
        with Growth(mount) as growth:
            _, printed = lines_of(mount, command, *options, where)
        assert printed >= cells * size, command
        assert growth.bytes < MOST, (command, growth.bytes)


def test_a_value_of_any_size_goes_through(make_mount, tmp_path):
    mount = make(make_mount, tmp_path)
    file = mount / "default/t/r/f/q"
    for size in (32 * MEBIBYTE, 90 * MEBIBYTE):
        value = os.urandom(MEBIBYTE) * (size // MEBIBYTE)
        subprocess.run([CELLFS, "put", file, "-"], input=value, check=True)
        assert file.read_bytes() == value
        for command in (["get", "--bytes"], ["show"]):
            done = subprocess.run([CELLFS, *command, file], stdout=subprocess.PIPE, check=True)
            if command == ["get", "--bytes"]:
                assert done.stdout == value
            else:
                assert len(done.stdout) >= size
    os.unlink(file)
    subprocess.run([CELLFS, "undelete", file], check=True, stdout=subprocess.DEVNULL)
    assert file.read_bytes() == value
