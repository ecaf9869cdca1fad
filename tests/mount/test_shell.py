# SPDX-License-Identifier: MIT
"""HBase's shell, as people type it, feed it and leave it."""

import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import time

from mounts import CELLFS, sh

HERE = pathlib.Path(__file__).parent / "shell"


def shell(target, text, *options):
    """Exit code, output, errors."""
    done = subprocess.run([CELLFS, "shell", *options, str(target)], input=text, capture_output=True, timeout=120,
                          check=False, text=True)
    return done.returncode, done.stdout, done.stderr


def without_times(text):
    text = re.sub(r"Took [0-9.]+ seconds", "Took N seconds", text)
    return re.sub(r"timestamp=20[0-9T:.-]+", "timestamp=NOW", text)


# CELLFS_RECORD=1 writes what is printed to the file: to be looked at beside what HBase prints.
def test_the_commands_of_hbases_book(mount):
    done = subprocess.run([CELLFS, "shell", str(mount)], stdin=open(HERE / "book.txt"), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120, check=False, text=True,
                          env={**os.environ, "TZ": "UTC"})
    printed = without_times(done.stdout)
    if "CELLFS_RECORD" in os.environ:
        (HERE / "book.expected").write_text(printed)
    assert printed == (HERE / "book.expected").read_text()
    assert done.returncode == 1, "some failed on purpose"


def test_a_script_ends_at_its_first_error_where_that_is_asked_for(mount, tmp_path):
    text = "create 't1', 'f'\nput 't1', 'r', 'f:q', 'v'\nput 'no', 'r', 'f:q', 'v'\nput 't1', 'r', 'f:after', 'v'\n"
    code, out, error = shell(mount, text, "-n")
    assert code == 1 and error == "ERROR: Unknown table no!\n" and out.startswith("Created table t1\n")
    assert os.listdir(mount / "default/t1/r/f") == ["q"]
    code, _, error = shell(mount, text)
    assert code == 1 and "Table already exists: t1!" in error
    assert sorted(os.listdir(mount / "default/t1/r/f")) == ["after", "q"]
    assert shell(mount, "exit 7\nlist\n")[0] == 7
    assert shell(mount, "list\nexit\n")[0] == 0
    script = tmp_path / "script"
    script.write_text("list\n")
    assert "t1" in sh(f"{CELLFS} shell {mount} {script}")
    code, _, error = sh(f"{CELLFS} shell {mount} {tmp_path}/none", check=False)
    assert code == 2 and "cannot be read" in error
    assert shell(mount, "create 't2', {NAME => 'f'")[0] == 1, "the end is missing"


def test_a_script_that_relies_on_a_snapshot_ends_before_it_drops_the_table(mount):
    text = ("create 't1', 'f'\nput 't1', 'r', 'f:q', 'v'\nbalancer\nsnapshot 't1', 's'\ndisable 't1'\ndrop 't1'\n"
            "clone_snapshot 's', 't1'\n")
    code, out, error = shell(mount, text, "-n")
    assert code == 1 and error.startswith("ERROR: snapshot: nothing was done: there are no snapshots"), error
    assert "balancer: one machine has no servers" in out
    assert (mount / "default/t1/r/f/q").read_text() == "v"


def test_what_it_makes_is_as_open_as_what_other_commands_make(make_mount):
    mount = make_mount("allow_other")
    assert shell(mount, "create 't1', 'f'\nput 't1', 'r', 'f:q', 'v'\n", "-n")[0] == 0
    sh(f"{CELLFS} create {mount} t2 f && {CELLFS} put {mount} t2 r f:q=v")
    for below in ("", "r", "r/f", "r/f/q"):
        modes = [os.stat(mount / "default" / table / below).st_mode & 0o777 for table in ("t1", "t2")]
        assert modes[0] == modes[1] and modes[0] & 0o44 == 0o44, (below, modes)


def test_it_reads_a_store_that_is_not_mounted(mount):
    shell(mount, "create 't1', 'f'\nput 't1', 'r', 'f:q', \"\\x00\"\n")
    mount.stop()
    code, out, _ = shell(mount.store, "get 't1', 'r'\ncount 't1'\n")
    assert code == 0 and "value=\\x00" in out and "1 row(s)" in out


def test_who_may_not_read_a_table_does_not_in_the_shell(make_mount):
    mount = make_mount("allow_other")
    shell(mount, "create 't1', 'f'\nput 't1', 'r', 'f:q', 'secret'\n")
    os.chmod(mount / "default/t1", 0o700)
    done = subprocess.run(["setpriv", "--reuid=1234", "--regid=1234", "--clear-groups", CELLFS, "shell", str(mount)],
                          input="scan 't1'\nput 't1', 'r', 'f:q', 'x'\ndisable 't1'\n", capture_output=True,
                          timeout=60, check=False, text=True)
    assert done.returncode == 1 and "secret" not in done.stdout and done.stderr.count("ERROR: ") == 3
    assert (mount / "default/t1/r/f/q").read_text() == "secret"


class Typed:
    """A shell on a terminal."""

    def __init__(self, target, home):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(CELLFS, [CELLFS, "shell", str(target)],
                      {"HOME": str(home), "TERM": "xterm", "PATH": os.environ["PATH"]})
        self.shown = b""

    def until(self, text):
        """What is shown up to the text, without what moves the cursor."""
        end = time.monotonic() + 30
        while text.encode() not in self.shown:
            assert time.monotonic() < end, self.shown
            if select.select([self.terminal], [], [], 1)[0]:
                self.shown += os.read(self.terminal, 4096)
        at = self.shown.index(text.encode()) + len(text)
        before, self.shown = self.shown[:at], self.shown[at:]
        return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]|\r", b"", before).decode()

    def type(self, text):
        os.write(self.terminal, text.encode())

    def end(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.close(self.terminal)
        return os.waitpid(self.pid, 0)[1]


def test_people_are_prompted_answered_and_helped_along(mount, tmp_path):
    typed = Typed(mount, tmp_path)
    try:
        typed.until("cellfs:001:0> ")
        typed.type("create 't1', {NAME => 'f',\n")
        typed.until("cellfs:001:1* ")
        typed.type("VERSIONS => 3}\n")
        assert "=> Hbase::Table - t1" in typed.until("cellfs:002:0> ")
        typed.type("put 't1', 'r', 'f:q', 'v'\n")
        typed.until("cellfs:003:0> ")
        typed.type("scan 'nowhere'\n")
        shown = typed.until("cellfs:004:0> ")
        assert "ERROR: Unknown table nowhere!" in shown and "For usage try 'help \"scan\"'" in shown
        typed.type("get_cou\t't1', 'r', 'f:q'\n")
        assert "ERROR: f:q is no counter" in typed.until("cellfs:005:0> ")
        typed.type("list 't1\t'\n")
        assert '=> ["t1"]' in typed.until("cellfs:006:0> ")
        typed.type("exit\n")
        _, status = os.waitpid(typed.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0
    finally:
        os.close(typed.terminal)
    history = tmp_path / ".local/state/cellfs/shell_history"
    assert "VERSIONS" in history.read_text() and history.stat().st_mode & 0o077 == 0


def test_a_long_scan_is_ended_by_an_interrupt_and_the_shell_goes_on(mount, tmp_path):
    shell(mount, "create 't1', 'f'\n" + "".join(f"put 't1', 'r{number}', 'f:q', '{'v' * 900}'\n"
                                               for number in range(3000)))
    typed = Typed(mount, tmp_path)
    try:
        typed.until("cellfs:001:0> ")
        typed.type("scan 't1'\n")
        typed.until("column=f:q")
        os.kill(typed.pid, signal.SIGINT)
        typed.until("cellfs:002:0> ")
        typed.type("count 't1'\n")
        assert "3000 row(s)" in typed.until("cellfs:003:0> ")
        for _ in range(3):  # of what is typed it drops the line
            typed.type("scan 'nothing")
            typed.until("scan 'nothing")
            typed.type("\x03")  # the terminal drops with it what nobody has read
            typed.until("cellfs:003:0> ")
        typed.type("count 't1'\n")
        assert "3000 row(s)" in typed.until("cellfs:004:0> ")
    finally:
        typed.end()


def test_what_is_wrong_is_said_exactly_and_in_the_shells_own_words(mount):
    made = "create 't', {NAME => 'f', VERSIONS => 3}\nput 't', 'r', 'f:q', '5'\ncreate 'u', 'f', SPLITS => ['m']\ndisable 'u'\n"
    assert shell(mount, made, "-n")[0] == 0
    for typed, said in (
            ("get 't', 'r', {COLUMN => 'f:q:toInt'}", "toInt"),
            ("scan 't', {COLUMNS => ['f:q:toLong']}", "toLong"),
            ("delete 't', 'r', 'f'", "delete 't', 'r', 'f', TIMESTAMP; deleteall"),
            ("grant 'bob', 'RW', '@nowhere'", "Unknown namespace nowhere!"),
            ("grant 'bob', 'RW', 'nowhere'", "Unknown table nowhere!"),
            ("create 'ns1:t', 'f'", "Unknown namespace ns1:t!"),
            ("get 't', 'r', {COLUMN => 'f:q', VERSIONS => 0}", "VERSIONS is 1 or more, not 0"),
            ("scan 't', {TIMERANGE => [9, 5]}", "TIMERANGE is [FROM, UNTIL] with 0 <= FROM <= UNTIL, not [9, 5]"),
            ("get 't', 'r', {COLUMN => 'f:q', TIMESTAMP => -1}", "TIMESTAMP is 0 or more, not -1"),
            ("create 'v', ''", "family name '' has 0 bytes"),
            ("create 'v', 'f:VERSIONS=2'", "family name 'f:VERSIONS=2' has"),
            ("create 'v', {NAME => 'f:q'}", "family name 'f:q' has"),
            ("for i in 'a'..'c' do put 't', i, 'f:q', 'v' end", "'for' is no command; of Ruby this shell reads"),
            ("put 't', \"r#{i}\", 'f:q', 'v'", 'line 1: "#{...}" is Ruby'),
            ("put 't', \"\\u12\", 'f:q', 'v'", "behind \\u are four hexadecimal digits"),
            ("put 't', \"\\xg\", 'f:q', 'v'", "behind \\x one or two hexadecimal digits"),
            ("set_quota TYPE => SPACE, TABLE => 'nowhere', LIMIT => '1G', POLICY => NO_INSERTS", "Unknown table nowhere!"),
            ("puts 'x'", "'puts' is no command; of Ruby this shell reads"),
            ("put 't', 'r', 'f:q', 'its", "the command that begins in line 1 is not complete")):
        code, _, error = shell(mount, typed + "\n")
        assert code == 1 and error.startswith("ERROR: ") and said in error and "interrupted" not in error, (typed, error)
        assert " --" not in error or typed.startswith(("for", "puts")), "in no command line's words"
    code, out, error = shell(mount, "get 't', 'r', {COLUMN => 'f:q', TIMESTAMP => 9223372036854775807}\nlist\n\nget 't', 'r', {\n")
    assert code == 1 and "0 row(s)" in out and "begins in line 4 is not complete" in error


def test_tables_in_and_out_of_service_and_regions_are_told(mount):
    shell(mount, "create 't', 'f'\ncreate 'u', 'f', SPLITS => ['g', \"m\\x00\"]\ndisable 'u'\n", "-n")
    code, out, error = shell(mount, "list_enabled_tables\nlist_disabled_tables\n")
    assert (code, error) == (0, "") and re.findall(r"^[tu]$", out, re.M) == ["t", "u"] and out.count("1 row(s)") == 2
    code, out, _ = shell(mount, "locate_region 'u', 'a'\nlocate_region 'u', 'g'\nlocate_region 'u', 'z'\nlocate_region 't', 'x'\n")
    regions = re.findall(r"STARTKEY => '(.*)', ENDKEY => '(.*)'", out)
    assert code == 0 and regions == [("", "g"), ("g", "m\\x00"), ("m\\x00", ""), ("", "")]


def test_characters_and_filters_as_people_paste_them(mount):
    text = """import org.apache.hadoop.hbase.filter.SingleColumnValueFilter
import org.apache.hadoop.hbase.filter.CompareFilter
create 't', 'f'
put 't', "\\u00e9\\u{1F600}\\u{e9}", 'f:q', 'one'
put 't', 'two', 'f:q', 'two'
put 't', 'two', 'f:n', "\\#{x}"
"""
    assert shell(mount, text, "-n")[0] == 0
    assert sorted(os.listdir(mount / "default/t")) == [".schema.toml", "two", "\u00e9\U0001F600\u00e9"]
    assert (mount / "default/t/two/f/n").read_text() == "#{x}"
    equals = "CompareFilter::CompareOp.valueOf('EQUAL')"
    for filters in (f"SingleColumnValueFilter.new(Bytes.toBytes('f'), Bytes.toBytes('q'), {equals}, BinaryComparator.new(Bytes.toBytes('two')))",
                    f"SingleColumnValueFilter.new(Bytes.toBytes('f'), Bytes.toBytes('q'), {equals}, Bytes.toBytes('two'))",
                    f"SingleColumnValueFilter.new(Bytes.toBytes('f'), Bytes.toBytes('q'), {equals}, SubstringComparator.new('wo'))",
                    "org.apache.hadoop.hbase.filter.RowFilter.new(CompareOperator::LESS_OR_EQUAL, BinaryComparator.new(Bytes.toBytes('two')))",
                    "RowFilter.new(CompareOperator.valueOf('NOT_EQUAL'), RegexStringComparator.new('^[^t]'))",
                    "ValueFilter.new(CompareOperator::EQUAL, BinaryPrefixComparator.new('tw'))",
                    "PrefixFilter.new(Bytes.toBytes('tw'))"):
        code, out, error = shell(mount, f"scan 't', {{FILTER => {filters}}}\n")
        rows = [line.split(" column=")[0] for line in out.splitlines() if " column=" in line]
        assert (code, error) == (0, "") and set(rows) == {" two"}, (filters, out, error)


def test_status_tells_as_much_as_is_asked_for(mount):
    shell(mount, "create 't', 'f', SPLITS => ['m']\ncreate 'u', 'f'\nput 't', 'r', 'f:q', 'v'\nflush 't'\n", "-n")
    code, out, _ = shell(mount, "status\nstatus 'summary'\n")
    assert code == 0 and out.count("1 servers, 0 dead, 3.0000 average load") == 2
    code, out, _ = shell(mount, "status 'simple'\n")
    assert code == 0 and "numberOfOnlineRegions=3, memstoreSize=" in out and "regions: 3" in out and '"t"' not in out
    code, out, _ = shell(mount, "status 'detailed'\n")
    assert code == 0 and re.search(r'"t"\n +numberOfOnlineRegions=2, .*, flushes=1, compactions=0\n', out) and '"cellfs' not in out
    code, _, error = shell(mount, "status 'nope'\n")
    assert code == 1 and "no 'nope'" in error
