# SPDX-License-Identifier: MIT
"""Stands between a mount and its cluster, and cuts connections at a chosen byte of a chosen call, or holds a call.

    with Proxy(control("servers").split()[1::2]) as proxy:
        cellfs("mount", proxy.name, "m")
        cut = proxy.cut_next(b"table,", "answer", 3)
        with proxy.hold_next(b"ModifyTable") as held:
            ...
            held.wait()

What servers tell of each other's addresses is replaced, so that a client never leaves it. Nothing
else is known of the protocol but where a call begins and ends, and its number and method.
"""

import contextlib
import socket
import struct
import threading

WRITES = (b"Mutate", b"Multi")


def varint(number):
    text = b""
    while number >= 0x80:
        text += bytes([number & 0x7f | 0x80])
        number >>= 7
    return text + bytes([number])


def read_varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def call_id(frame):
    """Of a call or an answer: the first field of its header."""
    _, at = read_varint(frame, 4)
    assert frame[at] == 0x08, frame[:20]
    return read_varint(frame, at + 1)[0]


class Cut:
    """One that is to come, or came."""

    def __init__(self, mark, part, at, is_last=True):
        self.mark, self.part, self.at = mark, part, at
        self.is_last = is_last
        self.call = None     # (connection, number) of the call that it is about
        self.length = None   # of what it cut, once it did; it does nothing where `at` is not within

    def takes(self, frame):
        return self.mark in frame and any(name in frame[:60] for name in WRITES)


class Hold:
    """A call that waits here until its holder is through."""

    def __init__(self, methods):
        self.methods = methods
        self.has_come, self.may_go = threading.Event(), threading.Event()

    def wait(self):
        assert self.has_come.wait(60), "no such call has come"


class Proxy:
    def __init__(self, servers):
        self.lock = threading.Lock()
        self.cut = None
        self.hold = None
        self.sockets = []
        self.listeners = {}
        for server in servers:
            listener = socket.create_server(("127.0.0.1", 0))
            self.listeners[int(server.rpartition(":")[2])] = listener
        ports = [(real, listener.getsockname()[1]) for real, listener in self.listeners.items()]
        self.name = f"hbase://localhost:{ports[0][1]}/"
        self.replaced = []
        for real, ours in ports:
            assert len(str(real)) == len(str(ours)) and len(varint(real)) == len(varint(ours))
            self.replaced += [(b"localhost:%d" % real, b"localhost:%d" % ours),
                              (b"localhost\x10" + varint(real), b"localhost\x10" + varint(ours))]

    def __enter__(self):
        for real, listener in self.listeners.items():
            threading.Thread(target=self.accept, args=(real, listener), daemon=True).start()
        return self

    def __exit__(self, *_):
        for listener in self.listeners.values():
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        with self.lock:
            self.end(*self.sockets)

    def cut_next(self, mark, part, at):
        """The next write with these bytes in it: `at` bytes of its "request" or "answer" get through."""
        with self.lock:
            self.cut = Cut(mark, part, at)
            return self.cut

    @contextlib.contextmanager
    def cut_each(self, mark, part, at):
        """As cut_next, but each such write."""
        with self.lock:
            self.cut = Cut(mark, part, at, is_last=False)
        try:
            yield
        finally:
            with self.lock:
                self.cut = None

    @contextlib.contextmanager
    def hold_next(self, *methods):
        """The next call of one of these methods, until the end of the block."""
        hold = Hold(methods)
        with self.lock:
            self.hold = hold
        try:
            yield hold
        finally:
            with self.lock:
                self.hold = None
            hold.may_go.set()

    def wait_for_holder(self, frame):
        with self.lock:
            hold = self.hold
            if hold is None or not any(name in frame[:60] for name in hold.methods):
                return
            self.hold = None
        hold.has_come.set()
        hold.may_go.wait()

    @staticmethod
    def end(*sockets):
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def accept(self, real, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", real))
            except OSError:
                client.close()
                continue
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.sockets += [client, server]
            for part, here, there in (("request", client, server), ("answer", server, client)):
                threading.Thread(target=self.relay, args=(part, here, there, client), daemon=True).start()

    def relay(self, part, here, there, connection):
        try:
            file = here.makefile("rb")
            if part == "request":
                there.sendall(file.read(6))
                there.sendall(self.frame(file))
            while frame := self.frame(file):
                if part == "request":
                    self.wait_for_holder(frame)
                passing = self.passing(part, frame, connection)
                there.sendall(passing)
                if len(passing) < len(frame):
                    return
        except OSError:
            pass
        finally:
            self.end(here, there)

    @staticmethod
    def frame(file):
        head = file.read(4)
        return head + file.read(struct.unpack(">I", head)[0]) if len(head) == 4 else b""

    def passing(self, part, frame, connection):
        """What of it goes on, all but for a cut; after that the connection ends."""
        if part == "answer":
            for real, ours in self.replaced:
                frame = frame.replace(real, ours)
        with self.lock:
            cut = self.cut
            if cut is None:
                return frame
            if part == "request" and cut.call is None and cut.takes(frame):
                cut.call = (connection, call_id(frame))
            if cut.part != part or cut.call != (connection, call_id(frame)):
                return frame
            cut.call = None
            cut.length = len(frame)
            if cut.is_last:
                self.cut = None
        return frame[:cut.at]
