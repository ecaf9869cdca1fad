# SPDX-License-Identifier: MIT
"""The same lines of shell in a plain directory and in a family print the same and end the same way.

Each runs in an empty family of a row of its own; $TABLE is the table's directory, $OUT one outside.
"""

import shutil

import pytest

from mounts import sh

SCRIPTS = {
    "ed": "echo a >q; printf 'a\\nnew\\n.\\nw\\nq\\n' | ed -s q; cat q; ls -A",
    "vim with its defaults": "echo a >q; vim -Nu NONE -es -c '%s/a/b/' -c wq q; cat q; ls -A",
    "vim with backup and undo files": """echo a >q
        vim -Nu NONE -es -c 'set backup undofile' -c '%s/a/b/' -c wq q; cat q; ls -A""",
    "perl -i": "echo a >q; perl -i.orig -pe 's/a/b/' q; perl -i -pe 's/b/c/' q; cat q q.orig; ls -A",
    "sort and shuf in place": """printf 'b\\na\\nb\\n' >q; sort -u -o q q; cat q; shuf -o q q; sort q
        x=$(sort -r q); echo "$x" >q; cat q; ls -A""",
    "backups of cp, mv and install": """echo a >q; echo b >p; mv -b p q; echo c >p; mv --backup=t p q
        cp -b q p; cp -b q p; install -b -m 600 q p; ls -A; cat q* p*; stat -c %a p p~""",
    "options of cp": """echo a >q; cp --reflink=auto q p; cp --sparse=always q s; cp --remove-destination q s
        cp --attributes-only q at; cp -n p s; cp -u q s; cp -T q t; cp --preserve=all q u; stat -c '%n %s' *""",
    "sparse copies": """dd if=/dev/zero of=q bs=1M count=3 status=none
        printf x | dd of=q bs=1 seek=2000000 conv=notrunc status=none; cp --sparse=always q p
        dd if=q of=r bs=64k conv=sparse status=none; cmp q p; cmp q r; cp --sparse=always p $OUT/q; cmp q $OUT/q
        stat -c %s p r""",
    "dd": """printf 0123456789 >q; printf ab | dd of=q bs=1 seek=4 conv=notrunc status=none; cat q; echo
        printf xy | dd of=q oflag=append conv=notrunc status=none; cat q; echo
        dd if=q bs=3 skip=1 count=2 status=none; echo; dd if=q of=p bs=4k iflag=direct oflag=direct status=none
        printf z | dd of=q bs=1 seek=3 status=none; cat q; printf z | dd of=none conv=nocreat; ls -A""",
    "truncate": """echo hello >q; truncate -s 3 q; cat q; truncate -s 5 q; od -c q; truncate -s 1M q; stat -c %s q
        truncate -s '<10' q; truncate -s %8 q; stat -c %s q; truncate -c -s 5 none; truncate -r q z; stat -c %s z""",
    "modes": """echo a >q; chmod 000 q; chmod u=rw,g=r,o= q; stat -c %a q; chmod +s q; stat -c %a q; chmod 1644 q
        stat -c %a q; chown 1000:1001 q; stat -c '%u:%g %a' q; chgrp 5 q; chmod 4755 q; chown 0 q; stat -c %a q
        umask 077; echo b >p; stat -c %a p; umask 0; echo b >r; mkdir ../g ; mkdir -m 1777 ../h; stat -c %a r ../[gh]""",
    "times": """echo a >q; for t in 1969-01-01 1970-01-01 '2038-01-20 00:00:00.123456789' '2001-02-03 04:05:06.7'; do
        touch -d "$t" q; stat -c '%y %Y' q; done; touch -t 202001010101.01 q; stat -c %Y q; touch -r /etc/hostname q
        [ $(stat -c %Y q) = $(stat -c %Y /etc/hostname) ] && echo same; touch -a q; touch -h q; touch -c none; ls -A""",
    "names": """for f in 'a b' $'new\\nline' '%41' 'x%2Fy' '@' 'a@' 'a@b' '@5x' 'é' '#x' '~' '-dash' '*' '?' 'a@-5' \\
            'a@05x' 'a@+5' ' ' $'\\xff\\xfe' $'\\t' '%' '%%' '.dot' '..x' '...' '%2E' 'a@5%40' '%00'; do
          echo "$f" >"./$f"; [ "$(cat "./$f"; echo x)" = "$f"$'\\n'x ] || echo bad "$f"; done
        ls -A | sort | md5sum; find . -type f -print0 | sort -z | md5sum; find . -type f -delete; ls -A""",
    "long names": """n=$(printf 'x%.0s' {1..255}); echo a >$n; cat $n; echo a >x$n; mv $n q; mv q x$n; ls -A""",
    "find": """for i in 1 2 3; do echo $i >f$i; touch -d "200$i-01-01" f$i; done; : >e; find . -type f -newer f2 | sort
        find . -empty; find . -type f -size -3c | sort; find . -name 'f?' -delete; find . -maxdepth 1 -printf '%f %y\\n' | sort""",
    "xargs -P": """seq 60 | xargs -P 8 -I{} sh -c 'echo {} >>log; echo {} >f{}'; sort -n log | md5sum; cat f* | sort -n | md5sum
        ls f* | xargs -P 4 -n 7 rm; ls""",
    "redirections": """set -C; echo a >q; echo b >q || echo no; echo c >|q; cat <>q; cat <>new; exec 5<>q; read -u 5 l
        echo "got $l" >&5; exec 5>&-; cat q; exec 3>>q; echo d >&3; echo e >>q; echo f >&3; exec 3>&-; cat q
        diff <(cat q) q && echo same; tee p q2 <q >/dev/null; cat p q2; { echo 1; echo 2 >&2; } >|q 2>&1; cat q; ls -A""",
    "unlinked while open": """echo 1 >q; exec 4<q; rm q; cat <&4; exec 4>q; rm q; echo z >&4; ls -A; echo a >q; exec 4<q
        echo bbbbbbbb >p; mv p q; cat <&4; cat q""",
    "moves": """echo a >q; touch -d 2001-01-01 q; cp -p q p; mv -n q p; ls -A; mv -u q p; ls -A; echo b >q; mv -v q s
        mv -t . s; mv s s; mv s q; ls -A; stat -c %Y p""",
    "links": """echo a >q; ln -s q l || rm -f l; ln q l || rm -f l; cp -s q l; cp -l q l; mkfifo l; rm -f l; ls -A""",
    "compressors": """seq 1000 >q; gzip -k q; zcat q.gz | cmp - q; rm q; gunzip q.gz; xz q; xz -d q.xz; bzip2 q; bunzip2 q.bz2
        tar czf q.tgz q; tar tzf q.tgz; tar rf q.tar q; tar uf q.tar q; tar tf q.tar; zip -q q.zip q; zip -qd q.zip q; ls -A""",
    "split and others": """seq 9 >q; split -l 4 q part.; cat part.* | cmp - q; csplit -s q 5; ls -A; cat xx01; shred -u q; ls -A""",
    "locks": """echo >lock; flock -n lock -c 'flock -n lock echo both || echo excluded'; exec 8<lock; flock -s 8
        flock -sn lock echo shared; flock -xn lock echo never || echo no""",
    "rsync in many ways": """S=$OUT/s; mkdir -p $S/{r1,r2}/f; seq 20000 >$S/r1/f/big; echo a >$S/r2/f/q; T=$TABLE
        rsync -a $S/ $T/; seq 10 20010 >$S/r1/f/big; rsync -a --inplace --no-whole-file $S/ $T/; cmp $S/r1/f/big $T/r1/f/big
        seq 9999 >>$S/r1/f/big; rsync -a --append $S/ $T/; cmp $S/r1/f/big $T/r1/f/big; echo x >>$S/r1/f/big
        rsync -a --append-verify $S/ $T/; cmp $S/r1/f/big $T/r1/f/big; echo y >>$S/r1/f/big; rsync -aS --partial $S/ $T/
        seq 5 >$S/r1/f/big; rsync -a --backup --suffix=.old $S/ $T/; ls -A $T/r1/f; mv $S/r1/f/big $S/r1/f/big2
        rsync -a --fuzzy --delete-after --exclude .schema.toml --exclude '*.old' $S/ $T/; ls -A $T/r1/f; rsync -aR $S/./r1/f $T/
        printf 'r1/f/big2\\nr2/f/q\\n' | rsync -ai --files-from=- $S/ $T/; rsync -a --temp-dir=$OUT --chmod=F600 $S/ $T/
        stat -c %a $T/r2/f/q; rsync -a --compare-dest=$T/ $S/ $OUT/c/; find $OUT/c -type f | wc -l
        rsync -aHAX --numeric-ids $T/ $OUT/d/; rsync -aHAXci $T/ $OUT/d/; rsync -a --remove-source-files $T/r1/f/ $OUT/e/
        ls -A $T/r1/f $OUT/e""",
    "tar with all": """S=$OUT/s; mkdir -p $S/{r1,r2}/f; echo a >$S/r1/f/q; echo b >$S/r2/f/q; chmod 4711 $S/r1/f/q
        chown 33:34 $S/r2 $S/r2/f/q; chmod 1777 $S/r1; touch -d 2011-11-11 $S/*/f/* $S/*/f $S/*; cd $OUT
        tar -C $S -c --xattrs --sort=name -f t.tar r1 r2; tar -C $TABLE -xp --xattrs --numeric-owner -f t.tar
        tar -C $TABLE -df t.tar; tar -C $TABLE -c --sort=name r1 r2 | tar -tv >1; tar -tvf t.tar | diff - 1; cd $TABLE
        tar -c -g $OUT/snar -f $OUT/0.tar r1 r2; echo c >r1/f/new; tar -c -g $OUT/snar r1 r2 | tar -t | grep -v '/$'
        rm r1/f/q; tar -c -g $OUT/snar -f $OUT/1.tar r1 r2; mkdir $OUT/x; cd $OUT/x
        tar -g /dev/null -xf ../0.tar; tar -g /dev/null -xf ../1.tar; find . -type f | sort""",
    "zip": """S=$OUT/s; mkdir -p $S/r1/f; echo a >$S/r1/f/q; (cd $S; zip -qr $OUT/a.zip .); cd $TABLE; unzip -q $OUT/a.zip
        unzip -qo $OUT/a.zip; cat r1/f/q; (cd r1/f; zip -qm b.zip q; unzip -qp b.zip; ls -A)""",
    "rm in any order": """cd $TABLE; mkdir -p x/f y/f z/f; touch x/f/q y/f/q z/f/.q; rmdir x; rmdir --ignore-fail-on-non-empty y
        rm -r x; rm -d y; rm -rf z/f z; rmdir y/f; rm y/f/q; rmdir -p y/f; mv r r9; ls; cp -r r9 r8; ls; cd ..; rm -r $TABLE; ls""",
    "databases of files": """python3 - <<'P'
import dbm.dumb, shelve, sqlite3, zipfile
with dbm.dumb.open("db", "c") as db:
    db["a"] = "b"
with shelve.open("sh") as db:
    db["x"] = [1, 2]
for mode in ("DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL"):
    db = sqlite3.connect("s.db")
    print(db.execute(f"PRAGMA journal_mode={mode}").fetchone())
    db.execute("CREATE TABLE IF NOT EXISTS t(a, b)")
    db.executemany("INSERT INTO t VALUES(?, ?)", [(i, "x" * 100) for i in range(99)])
    db.commit()
    print(db.execute("SELECT COUNT(*) FROM t").fetchone(), db.execute("PRAGMA integrity_check").fetchone())
    db.close()
for mode in ("w", "a"):
    with zipfile.ZipFile("z.zip", mode) as archive:
        archive.writestr(mode, "text")
print(zipfile.ZipFile("z.zip").namelist())
P
        ls -A | grep -v '^s.db-'""",
    "python's files": """python3 - <<'P'
import mmap, os, shutil, tempfile
open("q", "w").write("text")
for copy in (shutil.copy, shutil.copy2, shutil.copyfile, shutil.move):
    print(copy("q", "p" + copy.__name__))
    shutil.copyfile("pcopy", "q")
with tempfile.NamedTemporaryFile(dir=".") as file:
    file.write(b"x")
with tempfile.TemporaryFile(dir=".") as file:
    file.write(b"abc")
    file.seek(0)
    print(file.read())
os.replace("pcopy2", "q")
with open("m", "w+b") as file:
    file.truncate(10000)
    mapping = mmap.mmap(file.fileno(), 0)
    mapping[5000:5003] = b"abc"
    mapping.flush()
    mapping.resize(20000)
    mapping[19999:] = b"z"
    mapping.close()
print(open("m", "rb").read().strip(b"\\0")[:3], os.stat("m").st_size)
here = os.open(".", os.O_RDONLY)
os.close(os.open("d", os.O_CREAT | os.O_WRONLY, dir_fd=here))
os.rename("d", "e", src_dir_fd=here, dst_dir_fd=here)
print(sorted(os.listdir(here)), os.statvfs(".").f_namemax)
target = os.open("c", os.O_RDWR | os.O_CREAT)
print(os.copy_file_range(os.open("q", os.O_RDONLY), target, 100, 0, 3), os.pread(target, 9, 0))
print(os.sendfile(target, os.open("q", os.O_RDONLY), 0, 100), os.pread(target, 9, 0))
P""",
}



@pytest.mark.parametrize("name", SCRIPTS)
def test_shell(mount, tmp_path, name):
    printed = []
    for table in (tmp_path / "plain/t", mount / "default/t"):
        family, out = table / "r/f", tmp_path / "out"
        family.mkdir(parents=True)
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        code, text, errors = sh(SCRIPTS[name], cwd=family, check=False, TABLE=str(table), OUT=str(out),
                                HOME=str(out))
        shown = (code, text.replace(str(table), "$TABLE"), errors.replace(str(table), "$TABLE"))
        # Links are refused here; a plain directory makes them, and the script takes them away again.
        printed.append(shown[:2] if name == "links" else shown)
    assert printed[1] == printed[0]
