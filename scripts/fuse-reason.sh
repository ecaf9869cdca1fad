#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Says on one line why nothing can be mounted here, and says nothing where it can.
if [ ! -e /dev/fuse ]; then
  echo "/dev/fuse is missing: load the kernel's fuse module, or give this container the device"
elif [ "$(id -u)" -ne 0 ]; then
  echo "this is not root, which the mounted tests need"
elif ! : 2>/dev/null <>/dev/fuse; then
  echo "/dev/fuse cannot be opened: let this container use the device"
elif ! command -v fusermount3 >/dev/null; then
  echo "fusermount3 is missing: apt-get install fuse3"
fi
