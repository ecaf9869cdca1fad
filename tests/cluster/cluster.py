# SPDX-License-Identifier: MIT
"""What tests on a real cluster share: the cluster that on_hbase started, and the program.

That is the first argument."""

import contextlib
import os
import signal
import socket
import subprocess
import sys

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
def silence():
    """All of the cluster stands still: connections stay, and nothing answers."""
    process = int(os.environ["CELLFS_TEST_CLUSTER_PROCESS"])
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)
