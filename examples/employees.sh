#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The small table of HBase's tutorials, made, read, changed and deleted with ordinary commands.
. "$(dirname "$0")/common.sh"

say "Make the table. mkdir of a family in a row declares it: no schema is needed."
run 'mkdir default/employees && cd default/employees'
cd default/employees
run 'mkdir -p {1,2,3}/{personal,professional}'

hire() {
  printf '%s\n' "$2" >"$1/personal/name"
  printf '%s\n' "$3" >"$1/personal/city"
  printf '%s\n' "$4" >"$1/professional/designation"
  printf '%s\n' "$5" >"$1/professional/salary"
}
echo '$ echo raju >1/personal/name; echo hyderabad >1/personal/city; ...'
hire 1 raju hyderabad manager 50000
hire 2 ravi chennai "senior engineer" 30000
hire 3 rajesh delhi "junior engineer" 25000

say "Read: one cell, one row, one column of all rows, a search."
run 'cat 1/personal/city' 'hyderabad'
run 'head -n 100 2/*/*' $'==> 2/personal/city <==\nchennai\n\n==> 2/personal/name <==\nravi\n
==> 2/professional/designation <==\nsenior engineer\n\n==> 2/professional/salary <==\n30000'
run 'grep . */personal/name' $'1/personal/name:raju\n2/personal/name:ravi\n3/personal/name:rajesh'
run 'grep -rl engineer . | sort' $'./2/professional/designation\n./3/professional/designation'

say "Change: a new version over the old one."
run 'echo Delhi >1/personal/city'
run 'cat 1/personal/city' 'Delhi'
run 'ls 1/personal/.versions/city | wc -l' '2'
run 'cat "1/personal/.versions/city/$(ls 1/personal/.versions/city | head -n 1)"' 'hyderabad'

say "Delete: a column, then a whole row."
run 'rm 2/professional/designation'
run 'ls 2/professional' 'salary'
run 'rm -r 3'
run 'ls' $'1\n2'

say "The schema that came of it."
run 'grep -A 3 families .schema.toml'

printf '\nThe employees example has run to its end.\n'
