# SPDX-License-Identifier: Apache-2.0
"""A raw chip behaves the same in the guest and on the host: what the controller did on its bus, put to the same chip
on the host, makes it busy until the same nanosecond each time, and leaves the same state behind.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from flashbed.common import paths
from tests.support import guest_rig
from tests.support.fixture_types import StudyWriter

CYCLES = 1 << 21
"""Room in the emulator's log, 24 bytes each."""

STUDY = """
    board = "{board}"
    [workload]
    tool = "fio"
    pattern = "randrw"
    request = "4k"
    file = "1M"
    flush = "fsync-each"
"""

STACKS = {
    "slc-nand-64m": {"filesystem": "jffs2"},
    "slc-nand-256m": {"filesystem": "ubifs"},
    "mlc-nand": {"filesystem": "ext2", "translation": "ftl-page"},
}


@pytest.fixture(scope="session")
def bus_replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the host's program from the sources of the core, and return its path."""
    program = tmp_path_factory.mktemp("media") / "bus_replay"
    subprocess.run(["make", "-s", "-C", paths.media(), f"BUILD={program.parent}", program], check=True)
    return program


def leave_cycles(study: Path, folder: Path) -> None:
    """Run a cell, and record the cycles of its chip. fresh.bin is the chip before the run, state.bin after it."""
    rig = guest_rig.new(study, folder)
    (folder / "fresh.bin").write_bytes(rig.files.state.read_bytes())
    outcome = guest_rig.boot(rig, medium_options=f"record={CYCLES}")
    (folder / "cycles.bin").write_bytes(outcome.files["cycles.bin"])


@pytest.mark.parametrize(
    ("chip", "board"),
    [
        ("slc-nand-256m", "arm64-1000"),
        *(
            pytest.param(chip, board, marks=pytest.mark.long)
            for chip in STACKS
            for board in ("arm64-1000", "arm64-250-pio:ram=256M")
            if (chip, board) != ("slc-nand-256m", "arm64-1000")
        ),
    ],
)
def test_host_and_guest_agree(chip: str, board: str, study_file: StudyWriter, tmp_path: Path, bus_replay: Path) -> None:
    body = STUDY.format(board=board)
    leave_cycles(study_file(body, board=None, medium=chip, **STACKS[chip]), tmp_path)
    saved = tmp_path / "saved.bin"
    command = [bus_replay, tmp_path / "fresh.bin", tmp_path / "cycles.bin", saved]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 10_000 < int(done.stdout.split()[0]) < CYCLES
    assert saved.read_bytes() == (tmp_path / "state.bin").read_bytes()
