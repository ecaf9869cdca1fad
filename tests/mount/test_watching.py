# SPDX-License-Identifier: MIT
"""What who runs a mount watches: metrics, alerts, the dashboard, scrubs, health."""

import json
import os
import pathlib
import re
import subprocess
from xml.etree import ElementTree

from mounts import CELLFS, PATIENCE, Mount, sh, wait_until

MONITORING = pathlib.Path(__file__).parents[2] / "packaging/monitoring"
SAMPLE = re.compile(r'^([a-z_:][a-z0-9_:]*)(\{([a-z_]+="(?:[^"\\\n]|\\["\\n])*")(,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? (\S+)$')


def read_strictly(text):
    """{metric: type} of Prometheus' text format; each has HELP and TYPE before its samples, once."""
    helps, types, seen, current = {}, {}, set(), None
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, words = line.split(" ", 3)[2:]
            assert name not in helps and words.endswith(".")
            helps[name] = words
            continue
        if line.startswith("# TYPE "):
            name, kind = line.split(" ")[2:]
            assert name in helps and name not in types and kind in ("gauge", "counter", "histogram")
            assert (kind == "counter") == name.endswith("_total"), name
            types[name], current = kind, name
            continue
        sample = SAMPLE.match(line)
        assert sample, line
        name = sample[1]
        if types.get(current) == "histogram":
            assert re.sub("_(bucket|sum|count)$", "", name) == current, line
        else:
            assert name == current, line
        float(sample[5])
        key = line.rsplit(" ", 1)[0]
        assert key not in seen, key
        seen.add(key)
    assert helps.keys() == types.keys()
    return types


def flip(path, known):
    data = bytearray(path.read_bytes())
    data[data.index(known) + 10] ^= 1
    path.write_bytes(data)


def test_metrics_are_as_prometheus_wants_them_and_have_what_is_watched(mount):
    (mount.family() / "q").write_text("x")
    types = read_strictly((mount / ".cellfs/metrics").read_text())
    assert {"cellfs_scrub_damaged", "cellfs_disk_free_bytes", "cellfs_table_file_bytes"} <= types.keys()
    board = json.loads((MONITORING / "dashboard.json").read_text())
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    alerts = (MONITORING / "alerts.yml").read_text()
    expressions += re.findall(r"^ *expr: (.*)$", alerts, re.M)
    assert len(expressions) > 20
    for name in set(re.findall(r"cellfs_\w+", " ".join(expressions))):
        metric = re.sub("_(bucket|sum|count)$", "", name)
        assert metric in types, f"{name} is watched, and no mount tells it"
    assert alerts.count("- alert:") == alerts.count("description:") == alerts.count("severity:")


def test_the_picture_of_the_dashboard_is_drawn_from_a_run(mountable):
    root = MONITORING.parents[1]
    drawn = subprocess.run([root / "scripts/draw-dashboard", "--seconds", "4", CELLFS], check=True, capture_output=True, text=True,
                           timeout=4 * PATIENCE)  # umount may have to wait for another's copy of the mount
    assert drawn.stderr == ""
    panels = {panel["title"] for panel in json.loads((MONITORING / "dashboard.json").read_text())["panels"]}
    for text in (drawn.stdout, (root / "docs/dashboard.svg").read_text()):
        picture = ElementTree.fromstring(text)
        assert panels == {found.text for found in picture.iter() if found.get("class") == "title"}
        lines = [found for found in picture.iter() if found.tag.endswith("polyline")]
        assert len(lines) > 20 and all(" " in line.get("points") for line in lines)


def test_the_textfile_line_of_the_manual_gives_each_metric_its_mount(mount, tmp_path):
    manual = (MONITORING.parents[1] / "docs/manual.md").read_text()
    line = next(line.strip() for line in manual.splitlines() if line.startswith("    cellfs metrics "))
    out = tmp_path / "cellfs.prom"
    line = (line.replace("cellfs-notes", "cellfs").replace("cellfs ", f"{CELLFS} ", 1).replace("/mnt/notes", str(mount))
            .replace("/var/lib/prometheus/node-exporter", str(tmp_path)))
    sh(line)
    assert read_strictly(out.read_text())
    samples = [line for line in out.read_text().splitlines() if line[0] != "#"]
    assert samples and all('{mount="notes"' in line for line in samples)
    mount.stop()
    assert sh(line, check=False)[0] != 0
    assert list(tmp_path.glob("*.prom*")) == [], "what nobody tells any more is not told by the file"


def test_files_for_others_are_as_open_as_who_calls_wants(mount, tmp_path):
    for command in ("metrics", "report"):
        out = tmp_path / command
        for umask, mode in (("022", 0o644), ("027", 0o640)):
            out.unlink(missing_ok=True)
            sh(f"umask {umask}; {CELLFS} {command} -o {out} {mount}")
            assert out.stat().st_mode & 0o777 == mode, command
        out.chmod(0o604)
        sh(f"{CELLFS} {command} -o {out} {mount}")
        assert out.stat().st_mode & 0o777 == 0o604, "as the file that it replaces"


def test_metrics_are_printed_also_where_there_is_no_tree_of_controls(make_mount):
    mount = make_mount("controls=off")
    assert read_strictly(sh(f"{CELLFS} metrics {mount}"))
    labelled = sh(f"{CELLFS} metrics --label 'host=a\"b' {mount}")
    assert read_strictly(labelled) and 'cellfs_inodes{host="a\\"b"} ' in labelled
    for wrong in ("mount", "9=x", "=x", "a-b=c"):
        assert sh(f"{CELLFS} metrics --label {wrong} {mount}", check=False)[0] == 2


def room_of(mount, table):
    """Of a table: (live, old versions, deleted), each as a part of its store files."""
    told = next(told for told in mount.status()["tables"] if told["table"] == table)
    assert told["live_bytes"] + told["old_version_bytes"] + told["deleted_bytes"] == told["file_bytes"]
    return [told[f"{what}_bytes"] / told["file_bytes"] for what in ("live", "old_version", "deleted")]


def test_what_takes_the_room_is_told_by_table(mount):
    family = mount.family()
    table = f"{family.parts[-4]}:{family.parts[-3]}".removeprefix("default:")
    for number in range(40):
        (family / f"q{number:02}").write_bytes(os.urandom(5000))
    mount.command("flush")
    live, old, deleted = room_of(mount, table)
    assert live > 0.99 and old == deleted == 0
    for number in range(20):
        (family / f"q{number:02}").write_bytes(os.urandom(5000))
    for number in range(20, 30):
        (family / f"q{number:02}").unlink()
    mount.command("flush")
    mount.command("compact")
    live, old, deleted = room_of(mount, table)
    assert 0.45 < live < 0.55 and 0.28 < old < 0.38 and 0.12 < deleted < 0.22
    text = (mount / ".cellfs/metrics").read_text()
    assert re.search(rf'^cellfs_table_deleted_bytes{{table="{table}"}} [1-9]', text, re.M)
    assert re.search(r"^room +\d.* live, \d.* old versions, \d.* deleted; .* are free$", sh(f"{CELLFS} status {mount}"), re.M)
    (mount.family(table="dropped") / "q").write_bytes(os.urandom(5000))
    sh(f"rm -r {mount / 'default/dropped'}")
    assert re.search(r"^room .* deleted; \d.* dropped tables, .* log, .* reserve; ", sh(f"{CELLFS} status {mount}"), re.M)
    before = room_of(mount, table)
    mount.stop()
    mount.start()
    assert room_of(mount, table) == before, "the manifest has it"


def test_syncs_are_timed(mount):
    def syncs(kind):
        text = (mount / ".cellfs/metrics").read_text()
        name = f"cellfs_{kind}_sync_duration_seconds"
        total = float(re.search(rf"^{name}_sum (\S+)$", text, re.M)[1])
        count = int(re.search(rf"^{name}_count (\d+)$", text, re.M)[1])
        assert re.search(rf'^{name}_bucket{{le="\+Inf"}} {count}$', text, re.M)
        return count, total

    with open(mount.family() / "q", "w") as file:
        file.write("x")
        count, total = syncs("log")
        file.flush()
        os.fsync(file.fileno())
    assert syncs("log")[0] > count and syncs("log")[1] > total
    count, _ = syncs("file")
    mount.command("flush")
    assert syncs("file")[0] > count


def test_health_is_told_first_and_by_the_exit_code(mount):
    (mount.family() / "q").write_text("x")
    assert sh(f"{CELLFS} status --health {mount}") == "health         ok\n"
    assert json.loads(sh(f"{CELLFS} status --health --json {mount}")) == {"health": []}
    assert sh(f"{CELLFS} status {mount}").startswith("health         ok\n")
    mount.stop()
    next(file for file in mount.store.glob("tables/*/MANIFEST") if b'"family":"f"' in file.read_bytes()).unlink()
    for _ in range(2):  # of a store that is not mounted, and of a mount
        code, out, _ = sh(f"{CELLFS} status --health {mount.store}", check=False)
        assert code == 1 and "MANIFEST' is missing" in out and out.startswith("health ")
        assert sh(f"{CELLFS} status {mount.store}").startswith("health ")
        if not mount.process or mount.process.poll() is not None:
            mount.start()


def test_a_scrub_finds_what_nobody_has_read(tmp_path):
    mount = Mount(tmp_path / "store", tmp_path / "m", "scrub_interval=1,scrub_rate=0")
    try:
        (mount.family() / "q").write_bytes(b"<value>" * 1000)
        mount.command("flush")

        def scrub():
            return mount.status()["scrub"]

        wait_until(lambda: scrub()["ended"] > 0, "the first scrub")
        assert scrub()["damage"] == [] and scrub()["files"] >= 2 and scrub()["bytes"] > 7000
        assert "no damage" in sh(f"{CELLFS} status {mount}")
        for file in mount.store.glob("tables/*/*.db"):
            if b"<value><value>" in file.read_bytes():
                flip(file, b"<value><value>")
        wait_until(lambda: scrub()["damage"], "the damage is found")
        name = file_of = scrub()["damage"][0].split(":")[0]
        assert (mount.store / file_of).exists()
        metrics = (mount / ".cellfs/metrics").read_text()
        assert "cellfs_scrub_damaged 1\n" in metrics and read_strictly(metrics)
        assert "scrub: " + name in (mount / ".cellfs/errors").read_text()
        assert "[[scrub_damage]]" in (mount / ".cellfs/status").read_text()
        assert 'cellfs_table_damaged{table="' in metrics
        code, out, _ = sh(f"{CELLFS} status --health {mount}", check=False)
        assert code == 1 and "scrub: " + name in out
        assert all(line.count(".db") == 1 for line in out.splitlines()), "each file is named once"
        wait_until(lambda: "scrub: ended; 1 thing is damaged" in mount.log_text(), "the log tells of the scrub")
        assert mount.log_text().count("scrub: " + name) == 1, "once"
        mount.stop()
        assert scrub_of(mount)["damage"], "it is kept in the store"
        mount.start()
        assert scrub()["damage"]
    finally:
        assert mount.clean_up() == []


def scrub_of(mount):
    return json.loads(sh(f"{CELLFS} status --json {mount.store}"))["scrub"]
