# SPDX-License-Identifier: MIT
"""What a document shows is what happens: its blocks of commands run in their order, and print what stands below each, if anything does."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from mounts import CELLFS

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMESTAMP = re.compile(r"\d{13}")


def steps(text):
    """Commands of indented blocks, and what each prints."""
    found = []
    for line in text.splitlines():
        if not line.startswith("    "):
            found.append(None)  # the block ends
        elif line.startswith("    $ "):
            found.append((line[6:], []))
        elif found and found[-1] is not None:
            found[-1][1].append(line.strip())
    return [step for step in found if step is not None]


class Shell:
    def __init__(self, home):
        (home / "bin").mkdir(parents=True)
        (home / "bin/cellfs").symlink_to(shutil.which(CELLFS))
        environment = {**os.environ, "HOME": str(home), "PATH": f"{home}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, cwd=home, env=environment)

    def run(self, command):
        self.process.stdin.write(f"{command}\nprintf '\\n=%s=\\n' $?\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if ended := re.fullmatch(r"=(\d+)=\n", line):
                return "".join(lines).split(), int(ended[1])
            lines.append(line)
        raise AssertionError(f"the shell has ended in {command}: {lines}")

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def check_document(text, home):
    shell = Shell(home)
    real = {}  # timestamps by those in the document
    try:
        for command, shown in steps(text):
            command = TIMESTAMP.sub(lambda found: real.get(found[0], found[0]), command)
            words, code = shell.run(command)
            expected = " ".join(shown).split()
            assert code == 0 and len(words) == len(expected or words), (command, words)
            for word, other in zip(words, expected, strict=False):
                if TIMESTAMP.fullmatch(other) and TIMESTAMP.fullmatch(word):
                    real[other] = word
                else:
                    assert word == other, (command, words)
    finally:
        shell.end()
        for name in ("m", "n", "h"):
            subprocess.run([CELLFS, "umount", "--lazy", home / name], check=False, capture_output=True, timeout=60)


@pytest.mark.parametrize("name", ["README.md", "docs/guide.md", "docs/hbase.md"])
def test_a_document_shows_what_happens(name, tmp_path):
    check_document((ROOT / name).read_text(), tmp_path / "home")


COLUMNS = {1: "path", 2: "command", 3: "shell"}
# What stands in the column of paths and is no command, but a name of one.
NAMES = {"rsync", "tar x", "wc -l", "t/.schema.toml"}


@pytest.mark.parametrize("column", COLUMNS, ids=COLUMNS.get)
def test_the_table_of_hbase_runs_in_each_column(column, tmp_path):
    lines = [line for line in (ROOT / "docs/hbase.md").read_text().splitlines() if line.startswith("| ")]
    cells = [re.split(r" *\| *", line)[column + 1] for line in lines[2:]]
    commands = [span for cell in cells for span in re.findall(r"`([^`]+)`", cell) if span not in NAMES]
    assert len(commands) > 18
    home = tmp_path / "home"
    shell = Shell(home)
    try:
        assert shell.run("mkdir ~/m && cellfs mount ~/store ~/m && cd ~/m/default")[1] == 0
        if column == 3:
            (home / "lines").write_text("\n".join(commands))
            commands = ["cellfs shell -n ~/m ~/lines"]
        for command in commands:
            words, code = shell.run(command)
            assert code == 0, (command, words)
    finally:
        shell.end()
        subprocess.run([CELLFS, "umount", "--lazy", home / "m"], check=False, capture_output=True, timeout=60)


def calls(text):
    """The words of each call of cellfs in the text, as far as its options."""
    spans = re.findall(r"`([^`\n]+)`", text) + [line.strip() for line in text.splitlines() if line.startswith("    ")]
    for span in spans:
        for part in re.split(r"\$\(|&&|\|\||[|;]|\s{2,}", span.removeprefix("$ ")):
            words = part.split("#")[0].split()
            if len(words) > 1 and words[0] == "cellfs" and re.fullmatch("[a-z_]+", words[1]):
                yield words


@pytest.mark.parametrize("name", sorted(["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]))
def test_a_document_calls_what_there_is(name):
    known = {"help": ""}
    for words in calls((ROOT / name).read_text()):
        command = words[1]
        if command not in known:
            done = subprocess.run([CELLFS, "help", command], capture_output=True, text=True, check=False, timeout=60)
            known[command] = done.stdout if done.returncode == 0 else None
        assert known[command] is not None, f"there is no command {command}: {words}"
        for word in words[2:]:
            if option := re.fullmatch(r"(--[a-z][a-z-]*)(=.*)?", word.rstrip(",.)")):
                assert re.search(rf"{option[1]}\b", known[command]), f"{command} has no {option[1]}: {words}"


# A store in which the calls of the manual and of the program's own help find what they name.
STORE_OF_CALLS = r"""
cellfs mount ~/other ~/n && cellfs umount ~/n && cellfs mount ~/store ~/m
mkdir -p ~/m/{archive,log,work} && cellfs create ~/m log:events e && cellfs create ~/m copy text && cellfs create ~/m work:todo f
mkdir -p ~/m/default/notes/monday/{text,old} && cd ~/m/default/notes/monday/text && for word in milk bread; do echo $word >list; done
cellfs scan --json ~/m notes >~/changes.jsonl; cellfs export ~/m notes | tee ~/log.jsonl ~/monday.jsonl ~/store.jsonl >/dev/null
printf 'tuesday\tmilk\ttitle\t17\n' | tee ~/notes.tsv >~/more.txt; echo x >~/list.txt; echo "list" | tee ~/commands.txt >~/commands
cd ~
"""
# They need a server, a right, or another place, and have tests of their own; or they go on until they are ended.
ELSEWHERE = re.compile(r"hbase://|obkv|/mnt|/srv|cellfs (mount|umount|top|set) |errors -f|cellfs log -p \./list|wal/0")


def calls_of_help():
    commands = subprocess.run([CELLFS, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    for command in re.findall(r"^  ([a-z_]+) ", commands, re.M):
        text = subprocess.run([CELLFS, "help", command], capture_output=True, text=True, check=True, timeout=60).stdout
        yield from re.findall(r"^  (cellfs .*)$", text.partition("Example:")[2], re.M)


def calls_of_the_manual():
    for line in (ROOT / "docs/manual.md").read_text().splitlines():
        if line.startswith("    cellfs "):
            yield from (call for call in re.split(r"\s{3,}", line.strip()) if call.startswith("cellfs "))


@pytest.mark.parametrize("found", [calls_of_help, calls_of_the_manual])
def test_a_call_does_what_it_says(found, tmp_path):
    called = [call for call in dict.fromkeys(found()) if not ELSEWHERE.search(call)]
    assert len(called) > (60 if found is calls_of_help else 8)
    home = tmp_path / "home"
    shell = Shell(home)
    try:
        for call in called:
            words, code = shell.run(f"mkdir ~/m ~/n && {STORE_OF_CALLS}")
            assert code == 0, words
            words, code = shell.run(f"set -o pipefail; {{ {call}\n}} </dev/null")
            # 1 is an answer: nothing is there, there are differences; 3: a table that is enabled, a store that is mounted.
            assert code in (0, 1) or (code == 3 and re.match("cellfs (drop|check --repair)", call)), (call, words, code)
            assert not (code == 1 and "No such file" in " ".join(words)), (call, words)
            assert shell.run("set +o pipefail; cellfs umount --lazy ~/m; while ! rm -rf ~/m ~/n ~/store ~/other 2>/dev/null; do sleep 0.05; done")[1] == 0
    finally:
        shell.end()
        subprocess.run([CELLFS, "umount", "--lazy", home / "m"], check=False, capture_output=True, timeout=60)


@pytest.mark.parametrize("name", sorted(["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]))
def test_links_of_a_document_lead_somewhere(name):
    path = ROOT / name
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", path.read_text())):
        if link.startswith("http"):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), f"{link} of {name}"
        if anchor and target.suffix == ".md":
            heads = re.findall(r"^#+ (.*)$", target.read_text(), re.M)
            anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
            assert anchor in anchors, f"{link} of {name}"


def test_the_recorded_session_is_what_happens():
    recorded = subprocess.run([ROOT / "scripts/record-session", CELLFS], check=True, capture_output=True, text=True, timeout=60)
    shown = (ROOT / "docs/session.svg").read_text()
    assert TIMESTAMP.sub("T", recorded.stdout) == TIMESTAMP.sub("T", shown), "scripts/record-session makes it anew"
