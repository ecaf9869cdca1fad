#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A backup of a mount that is written to meanwhile. A copy of the live tree has files of different moments; one from below
# .asof/TIME has one moment's, however long it takes. With rsync, and with restic where it is installed.
. "$(dirname "$0")/common.sh"

if ! command -v rsync >/dev/null; then
  echo "this example needs rsync" >&2
  exit 1
fi

say "An account that money is moved within: the sum of both files is always 1000, or one step off for a moment."
run 'mkdir -p default/bank/{alice,bob}/money'
echo 500 >default/bank/alice/money/eur
echo 500 >default/bank/bob/money/eur

# The program that goes on writing.
transfer() {
  local i
  for ((i = 1; ; ++i)); do
    echo $((500 - i % 7)) >default/bank/alice/money/eur
    echo $((500 + i % 7)) >default/bank/bob/money/eur
    echo "$i" >"default/bank/alice/money/note$((i % 50))"
  done
}
transfer 2>/dev/null &
writer=$!
end_example() {
  kill "$writer" 2>/dev/null || true
  wait "$writer" 2>/dev/null || true
}
while [ ! -e default/bank/alice/money/note20 ]; do sleep 0.01; done

say "Take a moment once, and use it for the whole backup. (cron: T=\$(readlink /mnt/notes/.asof/now))"
moment=$(readlink .asof/now)
run "ls .asof/$moment/default/bank" $'alice\nbob'

say "Monday's backup, while the program goes on writing: the copy is what the moment was."
run "rsync -a .asof/$moment/default/ $directory/backup/"
run "diff -r .asof/$moment/default $directory/backup"
run "grep -q . $directory/backup/bank/alice/money/eur"

say "Tuesday's takes what has changed, and links the rest to Monday's. (rsync goes by size and time, and by whole seconds unless
# --modify-window=-1 says otherwise: here files of one size change many times a second.)"
next=$(readlink .asof/now)
run "rsync -a --modify-window=-1 --link-dest=$directory/backup .asof/$next/default/ $directory/backup2/"
run "diff -r .asof/$next/default $directory/backup2"

if command -v restic >/dev/null; then
  say "The same with restic, which keeps all backups in one place without saying anything twice."
  export RESTIC_PASSWORD=example RESTIC_REPOSITORY=$directory/restic RESTIC_CACHE_DIR=$directory/cache
  run 'restic init --quiet'
  run "cd .asof/$moment && restic backup --quiet --tag monday default"
  run "cd .asof/$next && restic backup --quiet --tag tuesday default"
  run "restic snapshots --json | tr ',' '\n' | grep -c '\"short_id\"'" '2'
  run "restic restore --quiet latest --tag monday --target $directory/restored"
  run "diff -r .asof/$moment/default $directory/restored/default"
fi

end_example

say "The day after: everything is lost, and comes back from Monday's backup."
run 'rm -r default/bank/alice default/bank/bob'
run "rsync -a --exclude=.schema.toml $directory/backup/bank/ default/bank/"
run "cmp default/bank/bob/money/eur $directory/backup/bank/bob/money/eur"

printf '\nThe backup example has run to its end.\n'
