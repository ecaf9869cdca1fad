#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Readings of sensors: a row for each sensor and day, readings that go by themselves after their time, counters that many
# processes add to, and a scan of a range.
. "$(dirname "$0")/common.sh"

say "Readings stay for 30 days (TTL, in seconds), counters for ever."
run 'mkdir default/sensors'
schema='[families.celsius]
VERSIONS = 1
TTL = 2592000

[families.count]'
printf '$ cat >default/sensors/.schema.toml <<END\n%s\nEND\n' "$schema"
printf '%s\n' "$schema" >default/sensors/.schema.toml
cd default/sensors
echo '$ cd default/sensors'

say "A row is a sensor and a day, a file a reading, its name the time of day. All of a sensor lies together, in order."
for sensor in attic cellar kitchen; do
  for day in 2026-11-26 2026-11-27 2026-11-28; do
    mkdir -p "$sensor.$day/celsius"
    for hour in 06 12 18; do
      echo "$((10#$hour + ${#sensor}))" >"$sensor.$day/celsius/$hour:00"
    done
  done
done
run 'ls | head -n 3' $'attic.2026-11-26\nattic.2026-11-27\nattic.2026-11-28'
run 'cat kitchen.2026-11-28/celsius/12:00' '19'

say "A range: one sensor from a day on. Nothing else is read."
run "'$CELLFS' scan --start cellar.2026-11-27 --stop cellar.9 . | wc -l" '6'
run 'ls -d cellar.* | wc -l' '3'
say "A question over all: the warmest."
run 'grep -r . --include="*:00" . | sort -t: -k3 -n | tail -n 1 | cut -d: -f3' '25'

say "Counters are numbers of 8 bytes. Ten processes add at once, and none of it is lost."
run 'mkdir -p total/count'
run 'for i in 1 2 3 4 5 6 7 8 9 10; do (for n in 1 2 3; do echo +1 >total/count/.counters/readings; done) & done; wait'
run 'cat total/count/.counters/readings' '30'
run "'$CELLFS' incr total/count/readings 12 >/dev/null; '$CELLFS' get_counter total/count/readings" '42'

say "A reading may have a shorter time of its own. When it is over nobody sees it, and the next compaction frees its room."
run "'$CELLFS' put --ttl 1000 . attic.2026-11-28 celsius:19:00 21"
while [ -e attic.2026-11-28/celsius/19:00 ]; do sleep 0.1; done
run 'ls attic.2026-11-28/celsius' $'06:00\n12:00\n18:00'
run "'$CELLFS' compact ."

printf '\nThe sensors example has run to its end.\n'
