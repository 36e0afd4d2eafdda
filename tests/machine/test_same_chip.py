# SPDX-License-Identifier: Apache-2.0
"""A raw chip behaves the same in the guest and on the host: what the controller did on its bus, put to the same chip
on the host, makes it busy until the same nanosecond each time, and leaves the same state behind.
"""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.execution import repetition, run
from flashbed.execution.repetition import Repetition
from flashbed.machine import qemu
from flashbed.study.loading import load_study

CYCLES = 1 << 21
"""Room in the guest's log, 24 bytes each."""

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
    """The host's program, built from the sources of the core."""
    program = tmp_path_factory.mktemp("media") / "bus_replay"
    subprocess.run(["make", "-s", "-C", paths.media(), f"BUILD={program.parent}", program], check=True)
    return program


def leave_cycles(wanted: Repetition, folder: Path) -> None:
    """Runs a cell whose controller keeps its cycles; fresh.bin is the chip before, state.bin behind."""
    cell, image = wanted.cell, wanted.image
    job = repetition.job(cell, image)
    job["cell.env"] += f'MEDIUM_OPTIONS="$MEDIUM_OPTIONS record={CYCLES}"\n'.encode()
    files = qemu.Files(image.kernel.image, folder / "initramfs", folder / "state.bin", folder / "data.img")
    image.write_initramfs(repetition.program_set(cell), job, files.initramfs)
    image.media_tool.create(files.state, cell.medium.core_parameters)
    image.media_tool.create_content(files.state, files.data)
    (folder / "fresh.bin").write_bytes(files.state.read_bytes())
    setup = qemu.Setup(cell.board.instruction_ns, cell.board.ram, cell.board.cpu, cell.seed)
    outcome = qemu.run(setup, files, folder, 600, threading.Event())
    assert outcome.status == "measured", outcome.reason
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
def test_host_and_guest_agree(chip: str, board: str, study_file, tmp_path: Path, bus_replay: Path) -> None:
    body = STUDY.format(board=board)
    (wanted,) = run.prepare(load_study(study_file(body, board=None, medium=chip, **STACKS[chip])))
    leave_cycles(wanted, tmp_path)
    saved = tmp_path / "saved.bin"
    command = [bus_replay, tmp_path / "fresh.bin", tmp_path / "cycles.bin", saved]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 10_000 < int(done.stdout.split()[0]) < CYCLES
    assert saved.read_bytes() == (tmp_path / "state.bin").read_bytes()
