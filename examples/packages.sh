#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every installed Debian package of this machine as a row, from dpkg's database; then real questions,
# answered with ordinary commands, and a backup.
. "$(dirname "$0")/common.sh"

if ! command -v dpkg-query >/dev/null || ! command -v rsync >/dev/null; then
  echo "this example needs dpkg and rsync" >&2
  exit 1
fi

say "A row for each package: families meta, files and copyright."
run 'mkdir default/packages && cd default/packages'
cd default/packages

fields=(Version Architecture Section Priority Maintainer Installed-Size Depends Description)
# load PACKAGE VALUE...: a package's row; the values are those of the fields
load() {
  local package=$1 value info field=0
  shift
  mkdir -p "$package/meta" "$package/files"
  for value; do
    [ -z "$value" ] || printf '%s\n' "$value" >"$package/meta/${fields[field]}"
    field=$((field + 1))
  done
  for info in "/var/lib/dpkg/info/$package".*; do
    value=${info#"/var/lib/dpkg/info/$package."}
    [[ ! -f $info || $value == *.* ]] || cat "$info" >"$package/files/$value"  # python3.11 is another
  done
  if [ -f "/usr/share/doc/${package%:*}/copyright" ]; then
    mkdir -p "$package/copyright"
    cat "/usr/share/doc/${package%:*}/copyright" >"$package/copyright/text"
  fi
}

# Fields end with the byte 1f and packages with 1d, since a description has several lines.
format='${binary:Package}'
for field in "${fields[@]}"; do format+=$'\x1f'"\${$field}"; done
started=$SECONDS
while IFS=$'\x1f' read -r -d $'\x1d' -a record; do
  load "${record[@]}"
done < <(dpkg-query --show --showformat="$format"$'\x1d')
packages=$(dpkg-query --show --showformat='${binary:Package}\n' | wc -l)
echo "loaded $packages packages in $((SECONDS - started)) seconds"

say "How many are there, and what do we know of one?"
run 'ls | wc -l' "$packages"
run 'ls bash bash/*'
run 'cat bash/meta/Version' "$(dpkg-query --show --showformat='${Version}' bash)"
run 'cmp bash/copyright/text /usr/share/doc/bash/copyright'

say "Which packages belong to whom, and which licences are about?"
run 'cat */meta/Section | sort | uniq -c | sort -rn | head -n 5'
run 'grep -rl --include=text "GPL" . | wc -l'
run 'grep -l -w libc6 */meta/Depends | cut -d/ -f1 | head -n 5'

say "What is large?"
run 'find . -type f -size +100k -printf "%s %P\n" | sort -rn | head -n 5'
run 'du -sh --apparent-size . | cut -f1'
run 'sort -n */meta/Installed-Size | tail -n 1'

say "A backup. Its second run has nothing to do."
run "rsync -a ./ $directory/backup/"
run "rsync -a --itemize-changes ./ $directory/backup/" ''
run "diff -r . $directory/backup"
run "cp bash/meta/Version $directory/version && echo 0.0 >bash/meta/Version"
run "rsync -a --itemize-changes ./ $directory/backup/ | grep -c '^>f.*bash/meta/Version'" '1'

printf '\nThe packages example has run to its end.\n'
