#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The history of a machine's /etc: each night its files are copied in, and only what has changed becomes a version. Then: who
# changed what, and when? How was it before? Bring it back.
. "$(dirname "$0")/common.sh"

if ! command -v rsync >/dev/null; then
  echo "this example needs rsync" >&2
  exit 1
fi

# The machine's files. Here they are a copy, since the example changes them.
etc=$directory/etc
mkdir "$etc"
cp /etc/passwd /etc/group "$etc/"
printf '127.0.0.1 localhost\n10.0.0.7 db\n' >"$etc/hosts"
printf 'PermitRootLogin no\nPort 22\n' >"$etc/sshd_config"

say "A row for each machine: its files in one family, a word on why they changed in another."
run 'mkdir -p default/machines/web1/{etc,why} && cd default/machines/web1'
cd default/machines/web1

# What cron does each night. Files that are as they were are not written, so they get no version.
night() { rsync -r --checksum --delete "$etc/" etc/; }
# The time between two nights; each version has its millisecond.
pause() { sleep 0.05; }
# changed WHO WHAT WHY: what somebody does who changes a file
changed() { printf '%s: %s\n' "$1" "$3" >"why/$2"; }

say "The first night: rsync copies what there is."
run "rsync -r --checksum --delete $etc/ etc/ && ls etc" $'group\nhosts\npasswd\nsshd_config'
pause

say "Ann moves the database, and says so. Ben opens the machine for root."
run "sed -i s/10.0.0.7/10.0.0.9/ $etc/hosts"
changed ann hosts 'the database has moved'
night
pause
monday=$(date +%s%3N)
pause
run "sed -i 's/PermitRootLogin no/PermitRootLogin yes/' $etc/sshd_config && rm $etc/group"
changed ben sshd_config 'only for the weekend'
night

say "What has changed in sshd_config, and when? (log has the time and the text of each change.)"
run "'$CELLFS' log -n 1 -p etc/sshd_config | grep '^[-+]Permit'" $'-PermitRootLogin no\n+PermitRootLogin yes'
say "Who was it?"
run 'cat why/sshd_config' 'ben: only for the weekend'
say "All files of the machine that differ from Monday's."
run "'$CELLFS' diff --at $monday . | grep '^---' | sed -n 's/.* etc:\([a-z_]*\).*/\1/p' | sort" $'group\nsshd_config'
say "A night in which nothing changed has made no version."
run 'ls etc/.versions/passwd | wc -l' '1'

say "How was it on Monday? Every program can look: the state is a directory."
run "cat ../.asof/$monday/web1/etc/sshd_config | head -n 1" 'PermitRootLogin no'
run "diff -rq ../.asof/$monday/web1/etc etc | wc -l" '2'

say "Bring one file back, then one that was deleted, then the whole machine."
run "cp ../.asof/$monday/web1/etc/sshd_config etc/sshd_config && head -n 1 etc/sshd_config" 'PermitRootLogin no'
run 'ls etc/.deleted' 'group'
run "'$CELLFS' undelete etc/group >/dev/null && cmp etc/group /etc/group"
run "'$CELLFS' restore --at $monday etc >/dev/null && diff -r ../.asof/$monday/web1/etc etc"
run "rsync -r --checksum etc/ $etc/ && cat $etc/hosts" $'127.0.0.1 localhost\n10.0.0.9 db'

printf '\nThe example of /etc has run to its end.\n'
