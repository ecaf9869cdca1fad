# SPDX-License-Identifier: MIT
"""FUSE over io_uring, which most kernels that have it have switched off: on for as long as a test needs it."""

import contextlib
import pathlib

SWITCH = pathlib.Path("/sys/module/fuse/parameters/enable_uring")


def reason_without_uring():
    """Why it cannot be had here; None: it can."""
    if not SWITCH.exists():
        return "this kernel has no FUSE over io_uring"
    try:
        SWITCH.write_text(SWITCH.read_text().strip() + "\n")
    except OSError as error:
        return f"{SWITCH} cannot be written: {error}"
    return None


@contextlib.contextmanager
def switched(state):
    """The kernel's switch is "Y" or "N" meanwhile; a mount keeps what it has."""
    before = SWITCH.read_text().strip()
    SWITCH.write_text(state + "\n")
    try:
        yield
    finally:
        SWITCH.write_text(before + "\n")
