# SPDX-License-Identifier: MIT
#
# What the examples share; to be sourced. Mounts a new store on a new directory, goes there, and takes
# all of that away again when the example ends, however it ends.
#
# With STORE=hbase://HOST:PORT/ it mounts that cluster, with STORE=obkv://USER@HOST:PORT/ that database, where what it
# makes stays.
#
# The program is $CELLFS, or `cellfs` of the PATH, or the one built in build/.
set -euo pipefail

CELLFS=${CELLFS:-$(command -v cellfs || echo "$(dirname "$0")/../build/src/cellfs")}
CELLFS=$(realpath "$CELLFS")
if [ ! -x "$CELLFS" ]; then
  echo "$CELLFS is not there: build it with ./quickstart, or say where it is with CELLFS=" >&2
  exit 1
fi

directory=$(mktemp -d "${TMPDIR:-/tmp}/cellfs-example-XXXXXX")
mountpoint=$directory/mount
mkdir "$mountpoint"

# What an example has to end before that.
end_example() { :; }

clean_up() {
  local code=$?
  trap - EXIT
  end_example
  cd /
  if mountpoint -q "$mountpoint" 2>/dev/null; then
    "$CELLFS" umount "$mountpoint" || "$CELLFS" umount --lazy "$mountpoint" || code=1
  fi
  if mountpoint -q "$mountpoint" 2>/dev/null; then
    echo "$mountpoint is still mounted" >&2
  else
    rm -rf "$directory"
  fi
  exit "$code"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# say TEXT: what comes next
say() { printf '\n\033[1m# %s\033[0m\n' "$1" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[01]*m//g'; fi; }

# run COMMAND [EXPECTED]: shows a command and what it says. Where that is not what was expected, or
# the command fails, the example has failed.
run() {
  local output code=0
  printf '$ %s\n' "$1"
  output=$(set +o pipefail; eval "$1" 2>&1) || code=$?
  [ -z "$output" ] || printf '%s\n' "$output"
  if [ "$code" -ne 0 ]; then
    echo "that failed with exit code $code" >&2
    exit 1
  fi
  if [ $# -gt 1 ] && [ "$output" != "$2" ]; then
    printf 'expected was: %s\n' "$2" >&2
    exit 1
  fi
}

# refused COMMAND WORDS: a command that shall fail, saying these words
refused() {
  local output
  printf '$ %s\n' "$1"
  if output=$(eval "$1" 2>&1) || [[ $output != *"$2"* ]]; then
    printf '%s\nexpected was an error: %s\n' "$output" "$2" >&2
    exit 1
  fi
  printf '%s\n' "$output"
}

echo "\$ cellfs mount ${STORE:-store} mount"
"$CELLFS" mount "${STORE:-$directory/store}" "$mountpoint"
cd "$mountpoint"
