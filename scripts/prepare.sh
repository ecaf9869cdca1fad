#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Installs from Debian's packages what is needed to build, also what the tests use, what a package is
# built and tried with, or what clang-tidy needs:
#
#     scripts/prepare.sh build|tests|package|tidy
#
# Does nothing where all of it is there already.
set -euo pipefail

build_packages=(
  g++ meson ninja-build pkg-config
  libfuse3-dev fuse3 libsqlite3-dev libpcre2-dev libxxhash-dev
  libzstd-dev liblz4-dev libsnappy-dev libprotobuf-dev protobuf-compiler libmariadb-dev libedit-dev liburing-dev
  libcli11-dev libpugixml-dev libsimdjson-dev libspdlog-dev libtomlplusplus-dev nlohmann-json3-dev
)
test_packages=(
  libgtest-dev libgmock-dev python3 python3-pytest sqlite3
  acl attr bash-completion borgbackup file fish git groff-base inotify-tools mariadb-client-core mariadb-server-core nano procps psmisc
  restic rsync strace tree unzip vim zip zsh
)

package_packages=(
  debhelper dpkg-dev git lintian mmdebstrap systemd xz-utils
)

case "${1:-}" in
  build) wanted=("${build_packages[@]}") ;;
  tests) wanted=("${build_packages[@]}" "${test_packages[@]}") ;;
  package) wanted=("${build_packages[@]}" "${package_packages[@]}") ;;
  tidy) wanted=("${build_packages[@]}" "${test_packages[@]}" clang-tidy) ;;
  *)
    echo "usage: scripts/prepare.sh build|tests|package|tidy" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "$0: this is not a Debian system. Install by other means: ${wanted[*]}" >&2
  echo "$0: going on without." >&2
  exit 0
fi

installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${wanted[@]}" \
  2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qx "installed $package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "$0: these packages are missing, and only root can install them:" >&2
    echo "    apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "== installing ${missing[*]}"
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet --quiet --yes "$@" </dev/null
}
apt update
apt install --no-install-recommends "${missing[@]}" >/dev/null
