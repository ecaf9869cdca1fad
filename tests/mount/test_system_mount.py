# SPDX-License-Identifier: MIT
"""The store as the system mounts it: by mount(8) and fstab, by a service manager."""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import time

import pytest

from mounts import CELLFS, PATIENCE, is_mounted, sh, wait_until
from test_mounting import daemon_of, taken_down

HELPER = pathlib.Path("/sbin/mount.cellfs")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def run(*arguments, before=(), **environment):
    """Exit code, standard output and standard error."""
    done = subprocess.run([*before, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=PATIENCE, check=False,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@contextlib.contextmanager
def installed(path, program):
    """What was there before is there again afterwards."""
    before = path.with_name(path.name + ".before-test")
    if os.path.lexists(path):
        os.rename(path, before)
    os.symlink(program, path)
    try:
        yield
    finally:
        os.unlink(path)
        if os.path.lexists(before):
            os.rename(before, path)


@pytest.fixture
def helper():
    """mount(8) looks for helpers in /sbin alone, and mount.fuse3(8) for programs in the system's PATH."""
    program = os.path.realpath(CELLFS if "/" in CELLFS else sh(f"command -v {CELLFS}").strip())
    with installed(HELPER, program), installed(HELPER.with_name("cellfs"), program):
        yield HELPER


@pytest.fixture
def place(tmp_path):
    """(store, mount point), the first of which is not there yet."""
    for directory in (tmp_path, *tmp_path.parents[:2]):
        os.chmod(directory, 0o711)
    (tmp_path / "mnt").mkdir()
    with taken_down(tmp_path / "mnt"):
        yield tmp_path / "store", tmp_path / "mnt"


@pytest.fixture
def fstab(tmp_path):
    """Writes lines into a file of its own, which mount(8) takes for /etc/fstab."""
    file = tmp_path / "fstab"

    def write(*lines):
        file.write_text("".join(f"{line}\n" for line in lines))
        return {"LIBMOUNT_FSTAB": str(file)}
    return write


def ended(pid):
    return not os.path.exists(f"/proc/{pid}")


# ---- mount(8) --------------------------------------------------------------------------------------


def make_store(store, mountpoint):
    sh(f"{CELLFS} mount '{store}' '{mountpoint}' && {CELLFS} umount '{mountpoint}'")


@pytest.mark.parametrize("kind", ["cellfs", "fuse.cellfs"])
def test_mount_mounts_and_umount_ends_the_daemon(helper, place, kind):
    store, mountpoint = place
    assert run("mount", "-t", kind, store, mountpoint, "-o", "names=printable,suid,dev") == (0, "", "")
    (mountpoint / "default/t/r/f").mkdir(parents=True)
    (mountpoint / "default/t/r/f/q").write_text("x")
    pid = daemon_of(mountpoint)
    line = next(line for line in sh("cat /proc/self/mountinfo").splitlines() if f" {mountpoint} " in line)
    assert f" - fuse.cellfs {store} " in line and "nosuid,nodev" in line
    assert run("umount", mountpoint) == (0, "", "")
    wait_until(lambda: ended(pid), "the daemon's end")
    assert run(CELLFS, "get", f"{store}/default/t/r/f/q")[1].strip().endswith("x")


def test_a_line_of_fstab_may_say_what_mount_and_systemd_understand(helper, place, fstab, tmp_path):
    store, mountpoint = place
    make_store(store, mountpoint)
    config = tmp_path / "its.toml"
    config.write_text("[store]\ncache_size = 8388608\n")
    environment = fstab(
        f"{store} {mountpoint} cellfs nofail,_netdev,x-systemd.automount,x-systemd.requires=network.target,"
        f"auto,nouser,comment=here,ro,nosuid,nodev,noatime,relatime,config={config},names=printable 0 0")
    for _ in range(2):  # mounted already: nothing to do
        assert run("mount", "-a", **environment) == (0, "", "")
    assert sh("cat /proc/self/mountinfo").count(f" {mountpoint} ") == 1
    assert os.statvfs(mountpoint).f_flag & (os.ST_RDONLY | os.ST_NOSUID) == os.ST_RDONLY | os.ST_NOSUID
    assert "cache_size = 8388608" in (mountpoint / ".cellfs/config").read_text()
    assert run("umount", mountpoint, **environment) == (0, "", "")


def test_a_line_with_noauto_waits_to_be_asked_for(helper, place, fstab):
    store, mountpoint = place
    environment = fstab(f"{store} {mountpoint} cellfs noauto,user,exec 0 0")
    assert run("mount", "-a", **environment) == (0, "", "")
    assert not is_mounted(mountpoint)
    assert run("mount", mountpoint, **environment) == (0, "", "")
    assert run("umount", mountpoint, **environment) == (0, "", "")


def test_paths_with_spaces_in_fstab(helper, fstab, tmp_path):
    store, mountpoint = tmp_path / "a store", tmp_path / "a mount"
    mountpoint.mkdir()
    environment = fstab(f"{store} {mountpoint} cellfs defaults 0 0".replace("a ", "a\\040"))
    with taken_down(mountpoint):
        assert run("mount", mountpoint, **environment) == (0, "", "")
        assert run("umount", mountpoint, **environment) == (0, "", "")


def test_several_stores_side_by_side(helper, fstab, tmp_path):
    lines, places = [], [tmp_path / f"m{i}" for i in range(3)]
    for place in places:
        place.mkdir()
        lines.append(f"{place}.store {place} cellfs nofail 0 0")
    environment = fstab(*lines)
    with taken_down(*places):
        assert run("mount", "-a", **environment) == (0, "", "")
        assert len({daemon_of(place) for place in places}) == 3
        assert run("umount", places[1], **environment) == (0, "", "")
        assert is_mounted(places[0]) and not is_mounted(places[1]) and is_mounted(places[2])
        assert run("mount", "-a", **environment) == (0, "", "")
        assert is_mounted(places[1])


@pytest.fixture
def users(tmp_path):
    """Runs a script in a mount namespace where /dev/fuse is for everybody; $D is a directory of nobody's,
    $D/m a mount point in it, $CELLFS a program that he may run, and $N runs a command as him."""
    for directory in (tmp_path, *tmp_path.parents[:2]):
        os.chmod(directory, 0o711)
    home, device, program = tmp_path / "home", tmp_path / "fuse", tmp_path / "cellfs"
    (home / "m").mkdir(parents=True)
    for path in (home, home / "m"):
        os.chown(path, 65534, 65534)
    os.mknod(device, stat.S_IFCHR | 0o666, os.stat("/dev/fuse").st_rdev)
    os.chmod(device, 0o666)
    shutil.copy(os.path.realpath(shutil.which(CELLFS)), program)

    def script(text):
        return sh(f"""unshare -m bash -e <<'END'
mount --bind {device} /dev/fuse
D={home} CELLFS={program} N="{" ".join(NOBODY)}"
trap 'umount -l {home}/m 2>/dev/null || true' EXIT
{text}
END""")
    yield script
    wait_until(lambda: run(program, "status", home / "s", before=NOBODY)[0] in (0, 2), "the daemon's end")


def test_a_user_of_his_own_store_by_setuid(helper, users):
    """As mount.fuse3(8) has it."""
    users("""mount -t cellfs $D/s $D/m -o setuid=nobody,nofail
test "$(stat -c %U $D/s)" = nobody
$N ls $D/m | grep -qx default
umount $D/m
! mount -t cellfs $D/s $D/m -o setuid=nosuchuser 2>$D/error
grep -q nosuchuser $D/error""")


def test_a_user_mounts_and_unmounts_what_fstab_lets_him(helper, users, tmp_path):
    file = tmp_path / "lines"
    file.write_text(f"{tmp_path}/home/s {tmp_path}/home/m cellfs noauto,user,nofail 0 0\n")
    with installed(HELPER, tmp_path / "cellfs"):
        users(f"""mount --bind {file} /etc/fstab
$N mount $D/m
grep -q "nosuid,nodev,noexec.* - fuse.cellfs $D/s .*user_id=65534" /proc/self/mountinfo
$N ls $D/m | grep -qx default
$N umount $D/m
! grep -q " $D/m " /proc/self/mountinfo""")


def test_what_a_user_lacks_is_named(users, tmp_path):
    users("""mkdir $D/roots
! $N $CELLFS mount $D/s $D/roots 2>$D/error
grep -q "^cellfs: cannot mount.*write to the mount point" $D/error
! $N $CELLFS mount -o allow_other $D/s $D/m 2>$D/error
grep -q "^cellfs: cannot mount.*user_allow_other" $D/error
mkdir -m 700 $D/roots.store
! $N $CELLFS mount $D/roots.store $D/m 2>$D/error
grep -q "somebody else's" $D/error
mount --bind $D /dev
! $N $CELLFS mount $D/s $D/m 2>$D/error
grep -q "modprobe fuse" $D/error""")


def test_of_anothers_directory_it_is_said_that_it_is_anothers(users, tmp_path):
    users("""mkdir $D/roots
for options in rw ro; do
  ! $N $CELLFS mount -o $options $D/roots $D/m 2>$D/error
  grep -q "$D/roots, which is somebody else's" $D/error
done
! $N $CELLFS mount $D/roots/store $D/m 2>$D/error
grep -q "$D/roots, which is somebody else's" $D/error
code=0
$N $CELLFS $D/roots/store $D/m 2>$D/error || code=$?
test $code = 1
$N mkdir -m 555 $D/own
! $N $CELLFS mount $D/own $D/m 2>$D/error
grep -q "chmod" $D/error""")


def test_why_fusermount3_has_no_rights_is_named(users, tmp_path):
    users("""! $N --no-new-privs $CELLFS mount $D/s $D/m 2>$D/error
grep -q "no_new_privs" $D/error
cp $(command -v fusermount3) $D/fusermount3
mount --bind $D/fusermount3 $(command -v fusermount3)
! $N $CELLFS mount $D/s $D/m 2>$D/error
grep -q "set-user-ID" $D/error""")


# ---- fstab -----------------------------------------------------------------------------------------


def test_update_fstab_writes_a_line_that_mounts_the_same(helper, fstab, tmp_path):
    store, mountpoint, config = tmp_path / "a store", tmp_path / "a mount", tmp_path / "its own.toml"
    mountpoint.mkdir()
    config.write_text("[store]\ncache_size = 8388608\n")
    make_store(store, mountpoint)
    environment = fstab("# nothing yet", "/dev/sdz1 /mnt/other ext4 noauto 0 0")
    call = [CELLFS, "mount", "--update-fstab", "--config", config, "-o", "ro", "-o", "nofail,nosuid",
            store, mountpoint]
    file = tmp_path / "fstab"
    with taken_down(mountpoint):
        for _ in range(2):
            assert run(*call, **environment) == (0, "", "")
            lines = file.read_text().splitlines()
            assert lines[:2] == ["# nothing yet", "/dev/sdz1 /mnt/other ext4 noauto 0 0"] and len(lines) == 3
        assert lines[2] == (f"{store} {mountpoint} cellfs config={config},ro,nofail,nosuid 0 0"
                            .replace("a ", "a\\040").replace("its own", "its\\040own"))
        assert run("umount", mountpoint, **environment) == (0, "", "")
        assert run("mount", "-a", **environment) == (0, "", "")
        assert os.statvfs(mountpoint).f_flag & os.ST_RDONLY
        assert "cache_size = 8388608" in (mountpoint / ".cellfs/config").read_text()
        assert run("umount", mountpoint, **environment) == (0, "", "")


def test_update_fstab_leaves_the_mount_points_of_others_alone(place, fstab, tmp_path):
    store, mountpoint = place
    environment = fstab(f"/dev/sdz1 {mountpoint} ext4 noauto 0 0")
    before = (tmp_path / "fstab").read_text()
    code, _, error = run(CELLFS, "mount", "--update-fstab", store, mountpoint, **environment)
    assert code == 2 and "/dev/sdz1" in error and not is_mounted(mountpoint) and not store.exists()
    assert (tmp_path / "fstab").read_text() == before


# ---- The helper's exit codes -----------------------------------------------------------------------


def test_exit_codes_are_those_of_mount(helper, place, tmp_path):
    store, mountpoint = place
    (tmp_path / "other").mkdir()
    for arguments, code, word in [
        ([store], 1, "usage"),
        ([store, mountpoint, "-x"], 1, "usage"),
        ([store, mountpoint, "-o", "nosuchoption"], 1, "nosuchoption"),
        ([store, mountpoint, "-o", "names=raw"], 1, "names=raw"),
        ([store, mountpoint, "-s", "-o", "names=raw"], 1, "names=raw"),
        ([store, mountpoint, "-o", "remount,ro"], 1, "remount"),
        ([store, mountpoint, "-o", "config=/nosuch.toml"], 1, "/nosuch.toml"),
        ([store, tmp_path / "missing"], 32, "mkdir"),
        ([tmp_path, mountpoint], 32, "lies in the store"),
        ([store, mountpoint, "-o", "ro"], 32, "no store"),
        ([store, mountpoint, "-f", "-n"], 0, ""),
        ([store, mountpoint, "-n", "-s", "-v", "-o", "rw,nosuchoption"], 0, ""),
        ([tmp_path / "another", mountpoint], 32, "is mounted on"),
        ([store, tmp_path / "other", "-f"], 32, f"mounted on {mountpoint}"),
    ]:
        got, out, error = run(helper, *arguments)
        assert got == code and error.count("\n") == (code != 0) and word in error, (arguments, got, error)
        if "-v" in arguments:
            assert str(mountpoint) in out
    assert run("mount", "-t", "cellfs", tmp_path / "another", mountpoint)[0] == 32


def test_where_no_store_can_be_made_the_helper_says_why(helper, place, tmp_path):
    store, mountpoint = place
    code, _, error = run(helper, tmp_path / "no/store", mountpoint)
    assert code == 32 and "mkdir -p" in error and f"{tmp_path}/no;" in error, error
    read_only = tmp_path / "read-only"
    read_only.mkdir()
    make_store(read_only / "store", mountpoint)
    sh(f"mount --bind {read_only} {read_only} && mount -o remount,bind,ro {read_only}")
    try:
        code, _, error = run(helper, read_only / "store", mountpoint)
        assert code == 32 and "-o ro" in error, error
        assert run(helper, read_only / "store", mountpoint, "-o", "ro") == (0, "", "")
        assert run("umount", mountpoint)[0] == 0
        code, _, error = run(helper, read_only / "other", mountpoint)
        assert code == 32 and "read-only" in error and "-o ro" not in error, error
        code, _, error = run(helper, store, mountpoint, "-o", f"log_target={read_only}/log")
        assert code == 1 and f"{read_only}/log" in error, error
    finally:
        sh(f"umount {read_only}")
    assert not store.exists()


@pytest.mark.parametrize("options", [[], ["-o", "names=raw"]])
def test_a_store_and_a_directory_without_a_command(place, options):
    """As mount.fuse3(8) calls."""
    store, mountpoint = place
    code, _, error = run(CELLFS, store, mountpoint, *options)
    assert (code, is_mounted(mountpoint)) == ((1, False) if options else (0, True)), error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("call, code", [([str(HELPER)], 8), ([CELLFS, "mount"], 3)])
def test_an_interrupt_while_the_store_opens_leaves_nothing(helper, place, call, code, number):
    store, mountpoint = place
    assert run(helper, store, mountpoint)[0] == 0
    pid = daemon_of(mountpoint)
    sh(f"kill -STOP {pid}; umount -l {mountpoint}")
    try:
        waiting = subprocess.Popen([*call, store, mountpoint], stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1)
        waiting.send_signal(number)
        sh(f"kill -CONT {pid}")
        error = waiting.communicate(timeout=PATIENCE)[1]
        assert waiting.returncode == code and b"interrupted" in error
    finally:
        subprocess.run(["kill", "-CONT", str(pid)], stderr=subprocess.DEVNULL, check=False)
    assert not is_mounted(mountpoint)


def test_below_nohup_the_end_of_the_terminal_ends_no_mount(helper, place):
    store, mountpoint = place
    assert run(helper, store, mountpoint)[0] == 0
    pid = daemon_of(mountpoint)
    sh(f"kill -STOP {pid}; umount -l {mountpoint}")
    try:
        waiting = subprocess.Popen(["nohup", helper, store, mountpoint], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1)
        waiting.send_signal(signal.SIGHUP)
        sh(f"kill -CONT {pid}")
        assert waiting.wait(PATIENCE) == 0 and is_mounted(mountpoint)
    finally:
        subprocess.run(["kill", "-CONT", str(pid)], stderr=subprocess.DEVNULL, check=False)


# ---- Why not ---------------------------------------------------------------------------------------


def test_each_refusal_names_its_cause(helper, place):
    store, mountpoint = place
    assert run(helper, store, mountpoint) == (0, "", "")
    assert run("umount", mountpoint)[0] == 0
    code, _, error = run(helper, store, mountpoint, before=NOBODY)
    assert code == 1 and "somebody else's" in error, error
    powerless = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]
    code, _, error = run(helper, store, mountpoint, before=powerless)
    assert code == 1 and "CAP_SYS_ADMIN" in error, error


# ---- A service manager -----------------------------------------------------------------------------


class Manager:
    """What a service manager does: it starts the daemon, and hears what that tells."""

    def __init__(self, address, log):
        self.log = log
        self.process = None
        self._address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + address[1:] if address[0] == "@" else address)
        self._socket.settimeout(PATIENCE)

    def start(self, *arguments, **environment):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [CELLFS, "mount", "-f", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, env={**os.environ, "NOTIFY_SOCKET": self._address, **environment})

    def hear(self):
        return self._socket.recv(4096).decode()

    def hear_until(self, word):
        heard = [self.hear()]
        while word not in heard[-1]:
            heard.append(self.hear())
        return heard

    def hears_nothing_but(self, word, seconds):
        """Whether it heard that word in this time."""
        end, heard = time.monotonic() + seconds, False
        while (left := end - time.monotonic()) > 0:
            self._socket.settimeout(left)
            with contextlib.suppress(TimeoutError):
                said = self.hear()
                assert word in said, said
                heard = True
        self._socket.settimeout(PATIENCE)
        return heard

    def close(self):
        self._socket.close()
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    address = str(tmp_path / "notify") if request.param == "path" else f"@{tmp_path}/notify"
    made = Manager(address, tmp_path / "daemon.log")
    yield made
    made.close()


def test_a_service_manager_is_told_when_the_mount_answers_and_when_it_ends(manager, place):
    store, mountpoint = place
    manager.start(store, mountpoint)
    heard = manager.hear_until("READY=1")
    assert (mountpoint / "default").is_dir()
    assert heard[0] == "STATUS=opening the store" and f"STATUS={store} is mounted on {mountpoint}" in heard[-1]
    sh(f"umount {mountpoint}")
    assert "STOPPING=1" in manager.hear()
    assert manager.process.wait(PATIENCE) == 0


def test_a_service_manager_is_told_why_there_is_no_mount(manager, place):
    store, mountpoint = place
    store.mkdir(0o700)
    (store / "something").touch()
    manager.start(store, mountpoint)
    assert manager.process.wait(PATIENCE) != 0
    assert manager.hear() == "STATUS=opening the store"
    assert str(store) in manager.hear()


def test_the_watchdog_hears_of_a_daemon_that_serves_and_of_no_other(manager, place):
    store, mountpoint = place
    manager.start(store, mountpoint, WATCHDOG_USEC="200000")
    manager.hear_until("READY=1")
    assert manager.hears_nothing_but("WATCHDOG=1", 1)
    manager.process.send_signal(signal.SIGSTOP)
    manager.hears_nothing_but("WATCHDOG=1", 0.2)  # what was under way
    assert not manager.hears_nothing_but("WATCHDOG=1", 1)
    manager.process.send_signal(signal.SIGCONT)
    assert "WATCHDOG=1" in manager.hear()
    manager.process.send_signal(signal.SIGTERM)
    assert "STOPPING=1" in manager.hear_until("STOPPING=1")[-1]
    assert manager.process.wait(PATIENCE) == 0


def test_the_watchdog_hears_nothing_where_the_daemon_lives_and_does_not_serve(manager, place):
    """The thread that receives requests is held; all others run. By io_uring others would take its place."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    seize, interrupt, detach = 0x4206, 0x4207, 17
    store, mountpoint = place
    manager.start(store, mountpoint, "-o", "transport=fuse", WATCHDOG_USEC="200000")
    manager.hear_until("READY=1")

    def receivers():
        return [int(task.name) for task in pathlib.Path(f"/proc/{manager.process.pid}/task").iterdir()
                if (task / "syscall").read_text().startswith("0 ")]  # read(2)
    wait_until(receivers, "a thread that receives")
    held = receivers()
    try:
        for thread in held:
            assert libc.ptrace(seize, thread, None, None) == 0
            assert libc.ptrace(interrupt, thread, None, None) == 0
            os.waitpid(thread, 0x40000000)  # __WALL
        manager.hears_nothing_but("WATCHDOG=1", 0.3)  # what was under way
        assert not manager.hears_nothing_but("WATCHDOG=1", 1)
        assert "pid" in run(CELLFS, "status", "--json", mountpoint)[1]  # by the control socket
    finally:
        released = [libc.ptrace(detach, thread, None, None) for thread in held]
    assert not any(released)
    assert "WATCHDOG=1" in manager.hear()
    assert run("umount", mountpoint)[0] == 0
    assert manager.process.wait(PATIENCE) == 0


def test_a_watchdog_of_another_process_is_not_ours(manager, place):
    manager.start(*place, WATCHDOG_USEC="100000", WATCHDOG_PID="1")
    manager.hear_until("READY=1")
    assert not manager.hears_nothing_but("WATCHDOG=1", 0.5)


def test_sighup_puts_in_force_what_can_be_while_the_mount_lives(manager, place, tmp_path):
    store, mountpoint = place
    config, first, second = tmp_path / "its.toml", tmp_path / "first.log", tmp_path / "second.log"

    def reload(text):
        config.write_text(text)
        manager.process.send_signal(signal.SIGHUP)
        assert "RELOADING=1\nMONOTONIC_USEC=" in manager.hear()
        assert "READY=1" in manager.hear()

    text = f'[log]\ntarget = "{first}"\nlevel = "info"\n'
    config.write_text(text)
    manager.start("--config", config, store, mountpoint)
    manager.hear_until("READY=1")
    run(CELLFS, "set", mountpoint, "log_level=debug")
    reload(text)
    assert json.loads(run(CELLFS, "status", "--json", mountpoint)[1])["log_level"] == "debug"  # as it was set
    reload(text.replace("first", "second").replace("info", "error") + "[store]\ncache_size = 1048576\n")
    status = json.loads(run(CELLFS, "status", "--json", mountpoint)[1])
    assert status["log_level"] == "error"
    reload(text.replace("first", "second") + '[mount]\nnames = "printable"\n[store]\ncache_size = 1048576\n')
    assert "[mount] names has changed" in second.read_text() and "names" not in first.read_text()
    size = first.stat().st_size
    reload("[log]\nlevel = 1\n")  # nothing of it
    assert "stays as it was" in second.read_text() and "[log] level" in second.read_text()
    assert first.stat().st_size == size and (mountpoint / "default").is_dir()
    sh(f"umount {mountpoint}")
    assert manager.process.wait(PATIENCE) == 0


def test_the_journal_is_told_levels_and_notes_the_time_itself(manager, place, tmp_path):
    store, mountpoint = place
    store.mkdir(mode=0o755)
    manager.log.touch()
    stream = os.stat(manager.log)
    manager.start(store, mountpoint, JOURNAL_STREAM=f"{stream.st_dev}:{stream.st_ino}")
    manager.hear_until("READY=1")
    assert run("umount", mountpoint)[0] == 0
    assert manager.process.wait(PATIENCE) == 0
    lines = manager.log.read_text().splitlines()
    assert lines[0].startswith(f"<4>{store} had the mode")
    assert f"<6>{store} is mounted on {mountpoint}" in lines


def test_a_log_that_has_left_the_journal_notes_the_time(manager, place):
    store, mountpoint = place
    manager.start(store, mountpoint, JOURNAL_STREAM="1:1")
    manager.hear_until("READY=1")
    assert run("umount", mountpoint)[0] == 0
    assert manager.process.wait(PATIENCE) == 0
    assert re.match(r"20\d\d-.* info ", manager.log.read_text())


# ---- Units -----------------------------------------------------------------------------------------

UNITS = pathlib.Path(__file__).parents[2] / "packaging/systemd"


def test_the_hardening_of_the_unit_lets_it_mount(place):
    """What of it a program without systemd can do: its capabilities, and no new privileges."""
    store, mountpoint = place
    unit = (UNITS / "cellfs@.service.in").read_text()
    kept = re.search(r"^CapabilityBoundingSet=(.*)$", unit, re.M)[1].lower().split()
    assert "\nNoNewPrivileges=yes\n" in unit
    bounding = ",".join(["-all", *("+" + name.removeprefix("cap_") for name in kept)])
    confined = ["setpriv", "--no-new-privs", f"--bounding-set={bounding}", "--inh-caps=-all"]
    assert run(CELLFS, "mount", store, mountpoint, before=confined) == (0, "", "")
    (mountpoint / "default/t/r/f").mkdir(parents=True)
    (mountpoint / "default/t/r/f/q").write_text("x")
    os.chown(mountpoint / "default/t/r/f/q", 65534, 65534)
    assert run(CELLFS, "umount", mountpoint) == (0, "", "")


@pytest.mark.parametrize("source, name, options", [
    ("cellfs@.service.in", "cellfs@notes.service", []),
    ("user-cellfs@.service.in", "cellfs@notes.service", ["--user"]),
    ("mnt-notes.mount", "mnt-notes.mount", []),
])
def test_systemd_understands_the_units(tmp_path, source, name, options):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is missing")
    program = pathlib.Path(shutil.which(CELLFS)).resolve()
    text = (UNITS / source).read_text().replace("@bindir@/cellfs", str(program))
    (tmp_path / name).write_text(text)
    code, out, error = run("systemd-analyze", "verify", "--man=no", *options, tmp_path / name,
                           XDG_RUNTIME_DIR=str(tmp_path))
    assert code == 0 and not out and name not in error, error
