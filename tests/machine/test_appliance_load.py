# SPDX-License-Identifier: Apache-2.0
"""The project's own load (sfsload/) on the appliance under QEMU: every call is answered well, the mix is met, and a
file set that some load processes made is used by others. No time is judged: the appliance runs in this host's time.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from appliance_rig import Appliance, running
from make_target import make

# It builds a kernel of its own first.
pytestmark = pytest.mark.long

LOAD, SECONDS = 50, 10
"""Operations a second, and seconds that are measured."""

SMALLEST = "0.000001"
"""The scale of the smallest file set that there is: 100 files of 2.6 MB."""

NOBODY = "65534"
"""Whose the disk's root folder is."""


@pytest.fixture(scope="module")
def sfsload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sfsload")
    done = make("-C", "sfsload", "all", BUILD=str(folder))
    assert done.returncode == 0, done.stderr
    return folder / "sfsload"


@pytest.fixture(scope="module")
def appliance(architecture: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Appliance]:
    with running(tmp_path_factory.mktemp("appliance"), None, "-a", architecture, "--size", "64M") as found:
        yield found


@pytest.mark.parametrize(("version", "transport"), [(3, "tcp"), (3, "udp"), (2, "udp")])
def test_the_load_is_answered_well(
    appliance: Appliance, sfsload: Path, version: int, transport: str, tmp_path: Path
) -> None:
    server = appliance.server
    where = ["--server", server.address, "--port", str(server.nfs), "--mount-port", str(server.mount)]
    where += ["--export", "/data", "--folder", f"v{version}-{transport}", "--uid", NOBODY, "--gid", NOBODY]
    how = ["--version", str(version), "--transport", transport, "--load", str(LOAD), "--scale", SMALLEST]

    def asked(step: str, processes: int) -> dict[str, Any]:
        output = tmp_path / f"{step}-{processes}.json"
        times = ["--warmup", "1", "--time", str(SECONDS), "--processes", str(processes), "--output", str(output)]
        words = [sfsload, *where, *how, *times, "--only", step]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        said = output.read_text() if output.exists() else ""
        assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stderr, said)
        result: dict[str, Any] = json.loads(said)
        return result

    made = asked("prepare", 3)
    for processes in (1, 4):
        result = asked("load", processes)
        assert result["settings"]["processes"] == processes
        assert result["file_set"]["digest"] == made["file_set"]["digest"]
        is_whole(result)


def is_whole(result: dict[str, Any]) -> None:
    """No call failed or was left, and what was answered has the mix that was asked."""
    assert result["errors"] == []
    assert result["unanswered"] == result["unsent"] == 0
    assert result["verifier_changes"] == 0
    assert result["mix_test"]["tested"]
    assert result["mix_test"]["holds"], result["mix_test"]
    assert result["good"] >= 0.95 * result["scheduled"] > 0.8 * LOAD * SECONDS
    assert not [name for name, of in result["operations"].items() if of["errors"]]
