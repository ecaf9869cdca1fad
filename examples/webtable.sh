#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The table of the Bigtable paper, as HBase's book tells it: pages with their history and the texts of
# the links to them.
. "$(dirname "$0")/common.sh"

say "A table is a directory. Its families, and how many versions they keep, stand in a file."
run 'mkdir default/webtable'
schema='[families.contents]
VERSIONS = 10
KEEP_DELETED_CELLS = "TRUE"

[families.anchor]
VERSIONS = 10

[families.people]'
printf '$ cat >default/webtable/.schema.toml <<END\n%s\nEND\n' "$schema"
printf '%s\n' "$schema" >default/webtable/.schema.toml
cd default/webtable
echo '$ cd default/webtable'

say "Rows are directories, families are directories in them, columns are files. name@9 is the version 9."
run 'mkdir -p com.cnn.www/{contents,anchor} com.example.www/{contents,people}'
run 'echo "<html>first"  >com.cnn.www/contents/html@3'
run 'echo "<html>second" >com.cnn.www/contents/html@5'
run 'echo "<html>third"  >com.cnn.www/contents/html@6'
run 'echo CNN     >com.cnn.www/anchor/cnnsi.com@9'
run 'echo CNN.com >com.cnn.www/anchor/my.look.ca@8'
run 'echo "<html>example" >com.example.www/contents/html@5'
run 'echo "John Doe" >com.example.www/people/author@5'

say "The latest values: a Get of each column."
run 'ls' $'com.cnn.www\ncom.example.www'
run 'ls com.cnn.www' $'anchor\ncontents'
run 'grep -r . com.cnn.www | sort' \
  $'com.cnn.www/anchor/cnnsi.com:CNN\ncom.cnn.www/anchor/my.look.ca:CNN.com\ncom.cnn.www/contents/html:<html>third'
run 'cat com.example.www/people/author' 'John Doe'

say "A value at exactly one timestamp. There is none at 8."
run 'cat com.cnn.www/contents/html@5' '<html>second'
refused 'cat com.cnn.www/contents/html@8' 'No such file or directory'

say "The history, newest first."
run 'ls -U com.cnn.www/contents/.versions/html' $'6\n5\n3'
run 'cat com.cnn.www/contents/.versions/html/3' '<html>first'

say "Removing a column hides its versions: a tombstone lies over them. (In a database they are gone.)"
run 'rm com.cnn.www/contents/html'
refused 'cat com.cnn.www/contents/html' 'No such file or directory'
run 'ls com.cnn.www/contents' ''

if [[ ${STORE:-} == obkv* ]]; then
  refused 'ls com.cnn.www/contents/.versions/html' 'No such file or directory'
else
  say "This family keeps what was deleted, so the history is still there, and the last value comes back."
  run 'ls -U com.cnn.www/contents/.versions/html' $'6\n5\n3'
  run 'cp com.cnn.www/contents/.deleted/html com.cnn.www/contents/html'
  run 'cat com.cnn.www/contents/html' '<html>third'
  run 'ls -U com.cnn.www/contents/.versions/html | wc -l' '4'
fi

printf '\nThe webtable example has run to its end.\n'
