# SPDX-License-Identifier: MIT
"""Stands between a mount and its server of MySQL's protocol, on Unix sockets; ends sessions at a COMMIT, or changes
what is asked.
"""

import contextlib
import socket
import threading

BEGIN = b"\x03START TRANSACTION"  # of who writes; a reader's goes on
COMMIT = b"\x03COMMIT"


def packet(file):
    head = file.read(4)
    return head + file.read(int.from_bytes(head[:3], "little")) if len(head) == 4 else b""


class Proxy:
    """`rewrite` makes of a request what the server gets, both without the protocol's head."""

    def __init__(self, path, server, rewrite=lambda request: request):
        self.path, self.server, self.rewrite = str(path), server, rewrite
        self.lock = threading.Lock()
        self.part, self.spared, self.is_last, self.cuts = None, 0, True, 0
        self.sessions = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    @contextlib.contextmanager
    def cutting(self, part, spared=0, is_last=True):
        """Of writers' COMMITs, after `spared` ones, the `request` does not arrive, or the `answer`; or it is `held`:
        the client's side ends, and the server goes on waiting for it."""
        with self.lock:
            self.part, self.spared, self.is_last, self.cuts = part, spared, is_last, 0
        try:
            yield
        finally:
            with self.lock:
                self.part = None

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.end_all()

    def end_all(self):
        with self.lock:
            for session in self.sessions:
                self.end(*session)
            self.sessions.clear()

    @staticmethod
    def end(*sockets):
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server)
            with self.lock:
                self.sessions.append((client, server))
            threading.Thread(target=self.session, args=(client, server), daemon=True).start()

    def session(self, client, server):
        cut = threading.Event()
        with client, server:
            answers = threading.Thread(target=self.answers, args=(client, server, cut), daemon=True)
            answers.start()
            self.requests(client, server, cut)
            answers.join()

    def part_to_cut(self):
        with self.lock:
            if self.part is None:
                return None
            self.spared -= 1
            if self.spared >= 0:
                return None
            part, self.cuts = self.part, self.cuts + 1
            if self.is_last:
                self.part = None
            return part

    def requests(self, client, server, cut):
        is_writing = False
        with contextlib.suppress(OSError), client.makefile("rb") as file:
            while request := packet(file):
                if request[4:].startswith(BEGIN):
                    is_writing = request[4:] == BEGIN
                part = self.part_to_cut() if is_writing and request[4:] == COMMIT else None
                if part == "held":
                    return self.end(client)
                if part == "request":
                    break
                if part == "answer":
                    cut.set()
                changed = self.rewrite(request[4:])
                server.sendall(len(changed).to_bytes(3, "little") + request[3:4] + changed)
        self.end(client, server)

    def answers(self, client, server, cut):
        with contextlib.suppress(OSError):
            while data := server.recv(1 << 16):
                if cut.is_set():
                    break
                client.sendall(data)
        self.end(client, server)
