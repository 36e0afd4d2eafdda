# SPDX-License-Identifier: Apache-2.0
"""A slice of the fault campaign: nothing that a run is disturbed by loses anything."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.make_target import make

SLICE = "--faults 9 --seed 256"
"""A seed that draws a kill, a SIGTERM, QEMU killed, two runs, a full and a read-only disk, and damaged files."""


def test_a_slice_of_the_campaign(tmp_path: Path) -> None:
    if subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("this host gives no name spaces to users")
    done = make("faults", OPTIONS=f"{SLICE} --log {tmp_path / 'log'}")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    faults = [line for line in lines if "fault" in line]
    assert len(faults) == 9
    assert {line["verdict"] for line in faults} == {"well"}
    assert {line["group"] for line in faults} == {"processes", "company", "host", "damage"}
