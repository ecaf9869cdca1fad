# SPDX-License-Identifier: MIT
"""Shells ignore what close(2) answers, so what can be known before is told by open(2) and write(2): a script
under `set -e` stops at the first file that is not stored."""

import pytest

from mounts import sh


@pytest.fixture(params=["bash", "dash"])
def stops(request):
    """stops(script, cwd): the script ends with an error, and says so; under `set -e`."""
    def run(script, cwd):
        code, _, error = sh(f"{request.param} -ec '{script}'", cwd=cwd, check=False)
        assert code != 0 and error, f"{script}\nexit code {code}\n{error}"
        return error
    return run


def test_what_is_no_counter(family, stops):
    (family / "q").write_text("text")
    stops("echo +1 >.counters/q", family)
    stops("echo one >.counters/n", family)
    assert (family / "q").read_text() == "text" and not (family / "n").exists()
    sh("for i in 1 2 3; do echo +$i >.counters/n; done", cwd=family)
    assert (family / ".counters/n").read_text() == "6\n"
