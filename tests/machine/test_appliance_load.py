# SPDX-License-Identifier: Apache-2.0
"""The project's own load (sfsload/) on the appliance under QEMU: every call is answered well, the mix is met, and a
file set that some load processes made is used by others; and the load goes on over power cuts. No time is judged: the
appliance runs in this host's time.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from flashbed_appliance.nas import building, disks, qemu, shipped
from tests.support import power_log
from tests.support.appliance_machines import client_of, go_down, some_ports
from tests.support.appliance_rig import Appliance, running
from tests.support.careful_client import started
from tests.support.make_target import make
from tests.support.nfs_calls import Server

# It builds a kernel of its own first.
pytestmark = pytest.mark.long

LOAD, SECONDS = 50, 10
"""Operations a second, and seconds that are measured."""

CUTS, UNDER_LOAD_S, CUT_LOAD_S = 3, 6, 60
"""How often the power goes, and seconds: from a start to a cut, and of the whole load, with all starts in it."""

LOAD_NOT_MET = 5
"""sfsload's exit status: while the machine starts nobody answers."""

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
    with running(tmp_path_factory.mktemp("appliance"), None, "-a", architecture, "--size", "64M") as appliance_run:
        yield appliance_run


def words_of(server: Server, folder: str, version: int, transport: str) -> list[str]:
    where = ["--server", server.address, "--port", str(server.nfs), "--mount-port", str(server.mount)]
    where += ["--export", "/data", "--folder", folder, "--uid", NOBODY, "--gid", NOBODY]
    return [*where, "--version", str(version), "--transport", transport, "--load", str(LOAD), "--scale", SMALLEST]


@pytest.mark.parametrize(("version", "transport"), [(3, "tcp"), (3, "udp"), (2, "udp")])
def test_the_load_is_answered_well(
    appliance: Appliance, sfsload: Path, version: int, transport: str, tmp_path: Path
) -> None:
    how = words_of(appliance.server, f"v{version}-{transport}", version, transport)

    def asked(step: str, processes: int) -> dict[str, Any]:
        output = tmp_path / f"{step}-{processes}.json"
        times = ["--warmup", "1", "--time", str(SECONDS), "--processes", str(processes), "--output", str(output)]
        done = subprocess.run([sfsload, *how, *times, "--only", step], capture_output=True, text=True, timeout=300)
        text = output.read_text() if output.exists() else ""
        assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stderr, text)
        result: dict[str, Any] = json.loads(text)
        return result

    prepared = asked("prepare", 3)
    for processes in (1, 4):
        result = asked("load", processes)
        assert result["settings"]["processes"] == processes
        assert result["file_set"]["digest"] == prepared["file_set"]["digest"]
        is_whole(result)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_load_goes_on_when_the_power_has_gone(
    architecture: str, sfsload: Path, transport: str, tmp_path: Path
) -> None:
    """The machine is killed under load, with a disk that forgets what was not flushed, and started again at the same
    ports: what was not answered is sent again, the file system is whole, and writers are told that the server is new.
    """
    settings_, ports, dice = shipped.settings(None), some_ports(), random.Random(1)
    built = building.build(settings_, architecture, tmp_path / "nas")
    (image,) = disks.images(settings_.disks, tmp_path, 64 << 20)
    command = qemu.command(built, [image], ports.forwarded(settings_), "127.0.0.1", ["-serial", "stdio"])
    how: list[str | Path] = [sfsload, *words_of(client_of(ports, dice).server, "load", 3, transport), "--warmup", "1"]
    disk, output = power_log.Disk(image, tmp_path, dice), tmp_path / "load.json"
    with started(command, []) as machine:
        subprocess.run([*how, "--time", "1", "--only", "prepare"], check=True, capture_output=True, timeout=300)
        go_down(machine)
    with ExitStack() as held:
        load: subprocess.Popen[str] | None = None
        for number in range(CUTS + 1):
            with started(disk.logged(command), []) as machine:
                if load is None:
                    words = [*how, "--time", str(CUT_LOAD_S), "--only", "load", "--output", str(output)]
                    load = held.enter_context(subprocess.Popen(words, stderr=subprocess.PIPE, text=True))
                if number == CUTS:
                    _, stderr = load.communicate(timeout=3 * CUT_LOAD_S)
                    break
                time.sleep(UNDER_LOAD_S)
                assert load.poll() is None, "the load was over before the power went"
            disk.cut()
    result = json.loads(output.read_text())
    assert load is not None
    assert load.returncode in (0, LOAD_NOT_MET), (stderr, result)
    assert result["errors"] == []
    assert not result["server_fell_silent"]
    assert result["retransmissions" if transport == "udp" else "reconnects"] > 0
    assert result["verifier_changes"] > 0


def is_whole(result: dict[str, Any]) -> None:
    """Check that no call failed or was left, and that the answered calls have the mix that was asked for."""
    assert result["errors"] == []
    assert result["unanswered"] == result["unsent"] == 0
    assert result["verifier_changes"] == 0
    assert result["mix_test"]["tested"]
    assert result["mix_test"]["holds"], result["mix_test"]
    assert result["good"] >= 0.95 * result["scheduled"] > 0.8 * LOAD * SECONDS
    assert not [name for name, of in result["operations"].items() if of["errors"]]
