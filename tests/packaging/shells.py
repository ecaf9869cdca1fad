# SPDX-License-Identifier: MIT
"""What bash, zsh and fish complete: the shells themselves, bash and zsh on a terminal of their own."""

import contextlib
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import time

PATIENCE = 30  # seconds for what takes milliseconds
SHOWN = re.compile(rb"<<(.*?)>>", re.DOTALL)
INSERT_ALL = "\x18a"  # C-x a: every completion into the line
SHOW = "\x18s"        # C-x s: prints the line

BASH_SETUP = """
PS1='ready'; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'
show() { printf '<<%s>>' "$READLINE_LINE"; }
bind -x '"\\C-xs": show'
bind '"\\C-xa": insert-completions'
. /usr/share/bash-completion/bash_completion
. {script}
"""
ZSH_SETUP = """
PS1=ready; unsetopt zle_bracketed_paste; setopt no_beep
fpath=({folder} $fpath)
autoload -Uz compinit; compinit -u -d {folder}/.zcompdump
show() { printf '<<%s>>' $BUFFER }
zle -N show; bindkey '^Xs' show
zle -C all-matches complete-word _generic; bindkey '^Xa' all-matches
zstyle ':completion:all-matches:*' insert yes
zstyle ':completion:all-matches::::' completer _all_matches _complete
"""


class Terminal:
    """A shell on a pseudo terminal."""

    def __init__(self, command, directory):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.environ.update({"TERM": "dumb", "LC_ALL": "C.UTF-8", "HISTFILE": "", "COLUMNS": "2000"})
            os.execvp(command[0], command)
        self.output = b""

    def send(self, text):
        os.write(self.fd, text.encode())

    def read_until(self, found):
        deadline = time.monotonic() + PATIENCE
        while not (match := found(self.output)):
            assert time.monotonic() < deadline, f"waited in vain: {self.output!r}"
            if select.select([self.fd], [], [], 0.1)[0]:
                self.output += os.read(self.fd, 65536)
        return match

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class Shell:
    """complete(LINE): the completions of the word at the end of the line."""

    def __init__(self, command, setup, directory):
        self.terminal = Terminal(command, directory)
        self.terminal.send(setup + "\nprintf 'set%s' up\n")
        self.terminal.read_until(lambda output: b"setup" in output)

    def line_after(self, keys):
        """What stands in the line after these keys; it is empty again then."""
        self.terminal.output = b""
        self.terminal.send(keys + SHOW)
        line = self.terminal.read_until(SHOWN.search)[1].decode()
        self.terminal.send("\x15")  # C-u
        return line

    def complete(self, line):
        before = line[:line.rindex(" ") + 1]
        after = self.line_after(line + INSERT_ALL)
        if after == line:
            return []
        assert after.startswith(before), after
        return shlex.split(after[len(before):])


class Fish:
    def __init__(self, script, directory):
        self.script, self.directory = script, directory

    def complete(self, line):
        call = f"source {self.script}; complete -C {shlex.quote(line)}"
        done = subprocess.run(["fish", "--no-config", "-c", call], cwd=self.directory, check=True,
                              capture_output=True, timeout=PATIENCE,
                              env={**os.environ, "HOME": os.fspath(self.directory), "LC_ALL": "C.UTF-8"})
        assert not done.stderr, done.stderr.decode()
        return [candidate.split("\t")[0] for candidate in done.stdout.decode().splitlines()]


@contextlib.contextmanager
def shell(name, scripts, directory):
    """`scripts`: the folder in which cellfs, _cellfs and cellfs.fish lie."""
    if name == "fish":
        yield Fish(scripts / "cellfs.fish", directory)
        return
    command = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[name]
    setup = {"bash": BASH_SETUP, "zsh": ZSH_SETUP}[name]
    setup = setup.replace("{script}", f"{scripts}/cellfs").replace("{folder}", f"{scripts}")
    opened = Shell(command, setup, directory)
    try:
        yield opened
    finally:
        opened.terminal.close()
