# SPDX-License-Identifier: MIT
"""export and import: what is there goes out and comes in, whole; what is wrong is told and costs nothing else."""

import json
import os
import signal
import subprocess
import time

from mounts import CELLFS, sh


def run(*arguments, text=None):
    """Exit code, output, errors."""
    done = subprocess.run([CELLFS, *map(str, arguments)], input=text, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def fill(mount):
    commands = """create_namespace 'log', {'team' => 'x'}
create 'log:t', {NAME => 'f', VERSIONS => 3, NEW_VERSION_BEHAVIOR => true}, {NAME => 'g', KEEP_DELETED_CELLS => true}, SPLITS => ["m\\x00"]
put 'log:t', 'r', 'f:q', 'a', 5
put 'log:t', 'r', 'f:q', 'b', 5
delete 'log:t', 'r', 'f:q', 5
put 'log:t', 'r', 'f:q', 'c', 5
put 'log:t', "r\\x00\\xff", 'g:q', "bin\\x01\\xfe", 7, {TTL => 100000000000}
deleteall 'log:t', "r\\x00\\xff", 'g', 8
create 'plain', 'f', READONLY => false
"""
    code, _, error = run("shell", "-n", mount, text=commands.encode())
    assert code == 0, error
    lines = "".join(json.dumps({"row": f"r{n}", "column": "f:q", "value": f"v{n}", "timestamp": n + 1}) + "\n" for n in range(500))
    assert run("mutate", mount, "plain", text=lines.encode())[0] == 0


def export(mount, *more):
    code, out, error = run("export", mount, *more)
    assert code == 0, error
    return out


def without_sequences(text):
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        line.pop("sequence", None)
    return lines


def test_a_store_comes_out_and_in_again_with_schemas_tombstones_and_their_order(mount, make_mount, tmp_path):
    fill(mount)
    text = export(mount)
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines[0] == {"cellfs_export": 1} and lines[-1] == {"end": {"tables": 2, "cells": 504}}
    other = make_mount()
    file = tmp_path / "export.jsonl"
    file.write_text(text)
    for _ in range(2):  # twice is as once
        code, out, error = run("import", other, file)
        assert (code, out, error) == (0, "504 cells\n", "")
        assert "value=c" in run("shell", other, text=b"get 'log:t', 'r'\n")[1], "the put is later than the tombstone"
    imported = without_sequences(export(other, "plain"))
    assert imported == without_sequences(export(mount, "plain"))
    for command in ("describe_namespace", "log"), ("describe", "log:t"):
        assert run(command[0], "--json", other, command[1])[1] == run(command[0], "--json", mount, command[1])[1]
    assert (other / "default/plain/r7/f/q").read_text() == "v7"
    code, out, error = run("import", "--table", "copy", other, text=export(mount, "plain").encode())
    assert code == 0 and (other / "default/copy/r7/f/q").read_text() == "v7", error


def test_verify_tells_what_differs_between_stores_and_exports(mount, make_mount, tmp_path):
    fill(mount)
    file = tmp_path / "export.jsonl"
    file.write_text(export(mount))
    other = make_mount()
    assert run("import", other, file)[0] == 0
    for call in ([mount, other], [mount, file], [file, mount], ["--raw", mount, other], ["--table", "plain", mount, other],
                 [mount / "log", other / "log"]):
        assert run("verify", *call) == (0, "", ""), call
    run("put", other, "plain", "r7", "f:q", "other", "8")
    run("put", other, "plain", "r70", "f:q", "newer", "9999")
    run("deleteall", other, "plain", "r71")
    run("create", other, "zz", "f")
    code, out, error = run("verify", mount, other)
    assert (code, error) == (1, "")
    assert out.splitlines() == ["other value\tplain\tr7\tf:q\t8", "only in the second\tplain\tr70\tf:q\t9999",
                                "only in the first\tplain\tr70\tf:q\t71", "only in the first\tplain\tr71\tf:q\t72",
                                "only in the second\tzz"]
    code, out, _ = run("verify", "--json", file, other)
    assert code == 1 and {json.loads(line)["difference"] for line in out.splitlines()} >= {"other value", "only in the second"}
    file.write_text("".join(file.read_text().splitlines(True)[:-1]))
    code, _, error = run("verify", mount, file)
    assert code == 3 and "cut short" in error
    assert run("verify", mount, tmp_path / "none")[0] == 2


def test_refused_lines_are_named_and_the_rest_is_there(mount):
    lines = ['{"table":"t","families":{"f":{}}}', '{"table":"t","row":"a","column":"zz:q","value":"x"}', "nonsense",
             '{"table":"t","row":"a","column":"f:q"}', '{"table":"none","row":"a","column":"f:q","value":"x"}',
             '{"table":"t","row":"a","column":"f:q","value":"good"}', '{"what":"is this"}',
             '{"table":"t","families":{"f":{"VERSIONS":"many"}}}', '{"table":"t","row":"b","column":"f:q","value":"good"}']
    code, out, error = run("import", mount, text="\n".join(lines).encode())
    assert (code, out) == (1, "2 cells; refused: 6 lines\n")
    for number in (2, 3, 4, 5, 7, 8):
        assert f"cellfs: line {number}: " in error
    for number in (1, 6, 9):
        assert f"cellfs: line {number}: " not in error
    assert [(mount / f"default/t/{row}/f/q").read_text() for row in "ab"] == ["good", "good"]


def test_many_refused_lines_do_not_keep_others_back(mount):
    run("create", mount, "t", "f")
    lines = [json.dumps({"table": "none" if n % 3 else "t", "row": f"r{n}", "column": "f:q" if n % 2 else "no:q", "value": "x"})
             for n in range(3000)]
    code, out, error = run("import", mount, text="\n".join(lines).encode())
    assert (code, out) == (1, "500 cells; refused: 2500 lines\n") and error.count("cellfs: line ") == 2500
    assert run("count", mount, "t")[1] == "500\n"


def test_an_export_that_was_cut_short_or_is_of_another_version_is_told(mount, make_mount):
    fill(mount)
    text = export(mount)
    other = make_mount()
    code, _, error = run("import", other, text=text[: len(text) // 2].rsplit("\n", 1)[0].encode())
    assert code == 3 and "cut short" in error
    code, _, error = run("import", other, text=b'{"cellfs_export": 2}\n')
    assert code == 2 and "format 2" in error


def test_an_import_that_was_killed_goes_on_where_it_was(mount, make_mount, tmp_path):
    run("create", mount, "t", "f")
    lines = [{"cellfs_export": 1}, {"table": "t", "families": {"f": {}}}]
    lines += [{"table": "t", "row": f"r{n:06}", "family": "f", "qualifier": "q", "timestamp": 5, "value": "v" * 200} for n in range(60000)]
    lines.append({"end": {"tables": 1, "cells": 60000}})
    file, state = tmp_path / "export.jsonl", tmp_path / "state"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    process = subprocess.Popen([CELLFS, "import", "--state", state, str(mount), file], stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not state.exists():
        assert time.monotonic() < end
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = int(state.read_text().split()[0])
    assert 2 < done
    code, out, error = run("import", "--state", state, mount, file)
    assert code == 0 and error == "" and int(out.split()[0]) <= 60002 - done, (out, done)
    assert run("count", mount, "t")[1] == "60000\n"
    code, out, _ = run("import", "--state", state, mount, file)
    assert code == 0 and out == "0 cells\n"


def test_tsv_and_csv_come_in_as_importtsv_takes_them(mount):
    run("create", mount, "t", "f")
    code, _, error = run("import", "--tsv", "--columns", "HBASE_ROW_KEY,f:a,,f:b", "--table", "t", mount,
                         text=b"k1\tv1\tleft out\tw1\nk2\tv2\n\nk3\tv3\t\tw3\n")
    assert code == 1 and error == "cellfs: line 2: it has 2 fields, and --columns 4\n"
    assert sorted(os.listdir(mount / "default/t")) == [".schema.toml", "k1", "k3"]
    assert (mount / "default/t/k3/f/b").read_text() == "w3"
    code, _, error = run("import", "--csv", "--columns", "HBASE_ROW_KEY,f:a,HBASE_TS_KEY", "--table", "t", mount,
                         text=b'k4,"a,""b""\nc",5\r\n"k,5",plain,6\n')
    assert (code, error) == (0, "")
    assert (mount / "default/t/k4/f/a").read_bytes() == b'a,"b"\nc' and os.stat(mount / "default/t/k4/f/a").st_mtime == 0.005
    assert (mount / "default/t/k,5/f/a").read_text() == "plain"
    for wrong in (["--tsv", "--columns", "f:a"], ["--tsv", "--columns", "HBASE_ROW_KEY,a"], ["--tsv"], ["--columns", "HBASE_ROW_KEY"],
                  ["--tsv", "--csv", "--columns", "HBASE_ROW_KEY,f:a"], ["--tsv", "--columns", "HBASE_ROW_KEY,f:a", "--separator", "xx"]):
        assert run("import", *wrong, "--table", "t", mount, text=b"")[0] == 2, wrong


def test_fields_for_a_table_or_family_that_is_not_there_are_refused_at_once(mount):
    run("create", mount, "t", "f")
    text = b"".join(b"k%d\tv\n" % i for i in range(100))
    for table, column in (("nosuch", "f:a"), ("t", "nosuch:a")):
        code, out, error = run("import", "--tsv", "--columns", f"HBASE_ROW_KEY,{column}", "--table", table, mount, text=text)
        assert code == 1 and "nosuch" in error and error.count("\n") == 1, error
        assert out in ("", "0 cells\n")
    assert os.listdir(mount / "default/t") == [".schema.toml"]


def test_who_may_not_read_a_table_does_not_export_it(make_mount):
    mount = make_mount("allow_other")
    fill(mount)
    os.chmod(mount / "default/plain", 0o700)
    out = sh(f"setpriv --reuid=1234 --regid=1234 --clear-groups {CELLFS} export {mount} plain", check=False)
    assert out[0] != 0 and "v7" not in out[1]


def test_tsv_and_csv_go_out_and_come_in_again(mount, tmp_path):
    run("create", mount, "t", "f", "g")
    lines = [{"row": f"r{n}", "column": column, "value": value, "timestamp": 100 + n}
             for n in range(3) for column, value in (("f:a", f'say "{n}"'), ("g:b", f"{n},\n"))]
    lines.append({"row": "r2", "column": "g:b", "value": "later", "timestamp": 500})
    lines.append({"row": "other", "column": "f:z", "value": "not asked for"})
    lines.append({"row": "ttl", "column": "f:a", "value": "v", "ttl": 10**13, "timestamp": 7})
    assert run("mutate", mount, "t", text="\n".join(json.dumps(line) for line in lines).encode())[0] == 0
    columns = "HBASE_ROW_KEY,f:a,,g:b"
    out = 'r0,"say ""0""",,"0,\n"\nr1,"say ""1""",,"1,\n"\nr2,"say ""2""",,later\nttl,v,,\n'
    assert run("export", "--csv", "--columns", columns, mount, "t") == (0, out, "")
    assert run("export", "--tsv", "--separator", "|", "--columns", "HBASE_ROW_KEY,HBASE_TS_KEY,f:a,HBASE_CELL_TTL", mount, "t")[1] == (
        'r0|100|say "0"|\nr1|101|say "1"|\nr2|102|say "2"|\nttl|7|v|10000000000000\n')
    code, text, error = run("export", "--tsv", "--columns", columns, mount, "t")
    assert (code, text) == (1, 'r2\tsay "2"\t\tlater\nttl\tv\t\t\n') and error.count("cellfs: row r") == 2
    run("create", mount, "copy", "f", "g")
    both = "HBASE_ROW_KEY,HBASE_TS_KEY,HBASE_CELL_TTL,f:a,g:b"
    csv = run("export", "--csv", "--columns", both, mount, "t")[1].encode()
    assert run("import", "--csv", "--skip-empty", "--columns", both, "--table", "copy", mount, text=csv) == (0, "7 cells\n", "")
    for row, column, value in (("r0", "f/a", 'say "0"'), ("r1", "g/b", "1,\n"), ("r2", "g/b", "later"), ("ttl", "f/a", "v")):
        assert (mount / "default/copy" / row / column).read_text() == value
    assert not (mount / "default/copy/ttl/g/b").exists()
    assert run("get", "--json", mount, "copy", "r2", "g:b")[1] == run("get", "--json", mount, "t", "r2", "g:b")[1]
    for wrong in (["--tsv", mount, "t"], ["--csv", "--tsv", "--columns", columns, mount, "t"], ["--columns", columns, mount, "t"],
                  ["--csv", "--columns", columns, mount], ["--csv", "--columns", "HBASE_ROW_KEY,zz:q,nope", mount, "t"]):
        code, text, error = run("export", *wrong)
        assert (code, text) == (2, "") and error.startswith("cellfs: ") and error.count("\n") == 1, wrong


def test_long_rows_and_long_lines_come_in_whatever_the_pieces_are(mount, tmp_path):
    run("create", mount, "t", "f:VERSIONS=3,NEW_VERSION_BEHAVIOR=true")
    # A row of 20 MB, of which the order of writing is another than that of its lines.
    row = [{"row": "long", "family": "f", "qualifier": f"q{n:05}", "timestamp": 5, "value": "v" * 2000, "sequence": 20000 - n} for n in range(10000)]
    row += [{"row": "next", "family": "f", "qualifier": "q", "timestamp": 5, "value": "put", "sequence": 9},
            {"row": "next", "family": "f", "qualifier": "q", "timestamp": 5, "type": "Delete", "sequence": 8}]
    row.append({"row": "wide", "family": "f", "qualifier": "q", "timestamp": 5, "value": "x" * 6_000_000})
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in row).rstrip("\n"))
    assert run("import", "--table", "t", mount, file) == (0, "10003 cells\n", "")
    assert len(os.listdir(mount / "default/t/long/f")) == 10000
    assert (mount / "default/t/next/f/q").read_text() == "put"
    assert (mount / "default/t/wide/f/q").stat().st_size == 6_000_000
    csv = "".join(f'r{n},"{"line" * 300}\n""{n}"""\n' for n in range(5000))
    assert run("import", "--csv", "--columns", "HBASE_ROW_KEY,f:q", "--table", "t", mount, text=csv.encode()) == (0, "5000 cells\n", "")
    assert (mount / "default/t/r4999/f/q").read_text() == "line" * 300 + '\n"4999"'
    code, out, error = run("import", "--csv", "--columns", "HBASE_ROW_KEY,f:q", "--table", "t", mount, text=b'a,b\nc,"open\nd,e\n')
    assert (code, out) == (1, "1 cells; refused: 1 lines\n") and error == "cellfs: line 2: a quote is open at its end\n"


def test_who_looks_on_sees_what_is_imported(mount):
    run("create", mount, "t", "f")
    (mount / "default/t/known/f").mkdir(parents=True)
    (mount / "default/t/known/f/q").write_text("old")
    (mount / "default/t/known/f/gone").write_text("kept")
    assert sorted(os.listdir(mount / "default/t")) == [".schema.toml", "known"]
    with open(mount / "default/t/known/f/gone", encoding="ascii") as held:
        lines = [{"row": "known", "column": "f:q", "value": "longer"}, {"row": "known", "column": "f:gone", "type": "DeleteColumn"},
                 {"row": "new", "column": "f:q", "value": "new"}]
        assert run("import", "--table", "t", mount, text="\n".join(json.dumps(line) for line in lines).encode()) == (0, "3 cells\n", "")
        assert held.read() == "kept"
    assert sorted(os.listdir(mount / "default/t")) == [".schema.toml", "known", "new"]
    assert (mount / "default/t/known/f/q").read_text() == "longer" and os.listdir(mount / "default/t/known/f") == ["q"]
    assert (mount / "default/t/new/f/q").read_text() == "new"
