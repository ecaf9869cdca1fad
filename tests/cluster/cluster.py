# SPDX-License-Identifier: MIT
"""What tests on a real cluster share: the cluster that on_hbase started, and the program.

That is the first argument."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

CELLFS = sys.argv[1]
# A runner that loses patience ends us so; what was mounted is unmounted all the same.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

NAME = f"hbase://{os.environ['CELLFS_TEST_CLUSTER']}/"


def run(*words, code=0, timeout=60):
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == code, (words, done.returncode, done.stdout[-500:], done.stderr)
    return done.stdout + done.stderr


def cellfs(*words, **how):
    return run(CELLFS, *words, **how)


def control(command):
    port = int(os.environ["CELLFS_TEST_CLUSTER_CONTROL"])
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        connection.sendall(command.encode() + b"\n")
        answer = connection.makefile().readline()
    assert answer.startswith("ok"), (command, answer)
    return answer[2:].strip()


@contextlib.contextmanager
def java(source, *arguments):
    """A program of ours over HBase's own client, which reads and writes lines; "ready" is its first."""
    jars = f"{os.environ['CELLFS_TEST_CLUSTER_JARS']}/*"
    with tempfile.TemporaryDirectory() as classes:
        run("javac", "-nowarn", "-cp", jars, "-d", classes, str(source), timeout=120)
        program = pathlib.Path(source).stem
        with subprocess.Popen(
                ["java", "-Xmx256m", "-cp", f"{classes}:{jars}", program, *arguments], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            try:
                while (line := process.stdout.readline()) != "ready\n":
                    assert line, f"{program} does not start"
                yield process
            finally:
                process.kill()


def has_stopped(thread):
    try:
        return (thread / "stat").read_text().rpartition(")")[2].split()[0] == "T"
    except (FileNotFoundError, ProcessLookupError):
        return True  # it has ended


@contextlib.contextmanager
def silence():
    """All of the cluster stands still: connections stay, and nothing answers."""
    process = int(os.environ["CELLFS_TEST_CLUSTER_PROCESS"])
    os.kill(process, signal.SIGSTOP)
    try:
        while not all(has_stopped(thread) for thread in pathlib.Path(f"/proc/{process}/task").iterdir()):
            time.sleep(0.01)  # on a busy machine its threads go on for a while
        yield
    finally:
        os.kill(process, signal.SIGCONT)
