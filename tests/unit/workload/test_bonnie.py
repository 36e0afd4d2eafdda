# SPDX-License-Identifier: Apache-2.0
"""How the lab calls its program for Bonnie's sequence, and what it computes from its lines."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.result.metrics import METRICS
from flashbed.study.loading import load_study
from flashbed.workload.base import MARK, WorkloadOutputError
from flashbed.workload.bonnie import Bonnie, BonnieParameters
from tests.support.samples import write_study

MIB = 1 << 20


def metrics(*lines: str) -> dict[str, float]:
    return Bonnie().metrics({"bonnie.txt": "".join(f"{line}\n" for line in lines).encode()})


def parameters(**values: object) -> dict[str, object]:
    return BonnieParameters.model_validate({"file": "8M", **values}).canonical()


def script(seed: int = 7, **values: object) -> str:
    return Bonnie().files(parameters(**values), seed)["measure"].decode()


def test_rates_and_loads() -> None:
    computed = metrics(
        f"char_output 1000000000 3000000000 1500000000 {8 * MIB}",
        "random_seeks 5000000000 9000000000 1000000000 400",
    )
    assert computed == {
        "char_output": 4,
        "char_output_cpu_percent": 75,
        "random_seeks": 100,
        "random_seeks_cpu_percent": 25,
    }


def test_processes_count_from_the_first_beginning_to_the_last_end() -> None:
    first, second = (f"block_input {began} {began + 2000000000} 500000000 {8 * MIB}" for began in (10**9, 3 * 10**9))
    assert metrics(first, second) == {"block_input": 4, "block_input_cpu_percent": 25}


@pytest.fixture(scope="session")
def bonnie_here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the lab's program, built for this host."""
    program = tmp_path_factory.mktemp("bonnie") / "bonnie"
    subprocess.run(["cc", "-std=gnu11", "-O2", "-o", program, paths.guest() / "bonnie.c"], check=True)
    return program


@pytest.mark.parametrize("seekers", [1, 3])
def test_the_start_of_the_program_is_no_part_of_a_phase(bonnie_here: Path, tmp_path: Path, seekers: int) -> None:
    """A phase of one block takes less time than a process takes to start. No process has more CPU time than the phase
    lasts; getrusage() counts whole us, twice, at both ends.
    """
    text = script(file="4k", chunk="4k", seeks=1, seek_processes=seekers)
    for in_guest, on_host in (("/bin/bonnie", bonnie_here), ("/mnt", tmp_path), ("/out", tmp_path), (MARK, "true")):
        text = text.replace(in_guest, str(on_host))
    subprocess.run(["sh", "-c", text], check=True)
    lines = [line.split() for line in (tmp_path / "bonnie.txt").read_text().splitlines()]
    assert [name for name, *_ in lines] == [phase.name for phase in Bonnie().phases(parameters())]
    for name, *numbers in lines:
        began, ended, cpu, _ = map(int, numbers)
        processes = 1 + seekers if name == "random_seeks" else 1
        assert 0 <= cpu <= processes * (ended - began + 2000), (name, numbers)


def test_seekers_that_die_before_they_seek_end_the_phase(bonnie_here: Path, tmp_path: Path) -> None:
    call: list[str | Path] = [bonnie_here, "random_seeks", tmp_path / "none", "4096", "4096", "1", "3", "0", "0", "0"]
    ended = subprocess.run(call, timeout=60, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.count("cannot be opened") == 3


@pytest.mark.parametrize("text", ["", "char_output 1 2 3", "char_output 1 2 3 fast", "rewrite 5 5 0 1"])
def test_output_that_cannot_be_read_is_told(text: str) -> None:
    with pytest.raises(WorkloadOutputError, match=r"bonnie\.txt"):
        Bonnie().metrics({"bonnie.txt": text.encode()})


def test_the_order_is_bonnies() -> None:
    order = ["char_output", "rewrite", "block_output", "char_input", "block_input", "random_seeks"]
    assert re.findall(r"^run (\w+)$", script(), re.MULTILINE) == order
    # The old file is removed between two marks: neither the time nor the requests of the removal belong to a phase
    marks = [*order[:2], "rewrite.ended", *order[2:]]
    assert re.findall(r"mark (\S+)$", script(), re.MULTILINE) == marks
    assert "mark rewrite.ended\nrm -f /mnt/bonnie.[0-9]*\n/lib/flashbed/mark block_output\n" in script()
    assert [phase.name for phase in Bonnie().phases(parameters())] == order


def test_the_call() -> None:
    assert "/mnt/bonnie.$k 8388608 16384 4000 3 $((1792 + k)) 0 0 >>" in script()
    text = script(chunk="4k", seeks=50, seek_processes=2, caches="flushed", processes=2)
    assert "[ $k -lt 2 ]" in text
    assert "/mnt/bonnie.$k 8388608 4096 50 2 $((1792 + k)) 1 0 >>" in text


def test_caches_are_dropped_between_phases_where_they_are_to_be_cold() -> None:
    remount = "/lib/flashbed/remount"
    assert remount not in script()
    assert remount not in script(caches="flushed")
    cold = script(caches="cold").splitlines()
    names = [phase.name for phase in Bonnie().phases(parameters())]
    # The reads of the mount belong to no phase: neither to the one before nor to the one after it.
    lines = [
        line
        for name in names
        for line in (f"/lib/flashbed/mark {name}", f"run {name}", f"/lib/flashbed/mark {name}.ended", remount)
    ]
    lines.insert(lines.index("/lib/flashbed/mark rewrite.ended") + 1, "rm -f /mnt/bonnie.[0-9]*")
    assert cold[-len(lines) + 2 :] == lines[:-2]
    # Each writing phase ends with a flush, and a seeker drops what it read from the page cache.
    assert " 1 1 >>/out/bonnie.txt" in script(caches="cold")


def test_phases_and_the_bytes_they_ask_for() -> None:
    phases = [
        (phase.name, phase.direction, phase.requested_bytes) for phase in Bonnie().phases(parameters(processes=2))
    ]
    assert phases == [
        ("char_output", "write", 16 * MIB),
        ("rewrite", "either", 32 * MIB),
        ("block_output", "write", 16 * MIB),
        ("char_input", "read", 16 * MIB),
        ("block_input", "read", 16 * MIB),
        ("random_seeks", "read", 2 * 4000 * 16384),
    ]


def test_each_phase_has_its_metrics() -> None:
    for phase in Bonnie().phases(parameters()):
        for ending in ("", "_cpu_percent", "_reached_percent", "_erases"):
            assert f"{phase.name}{ending}" in METRICS


SAMPLE = ('pattern    = ["read", "write"]\nrequest    = ["4k", "64k"]', 'chunk = ["4k", "8k"]')
TOOL = 'tool  = "fio"\nfile  = "8M"\nflush = "fsync"'


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        ('file = "8M"\nflush = "fsync"', "13: workload.flush: is no parameter of bonnie"),
        (
            'file = "8M"\ncaches = "warm"',
            '13: workload.caches: must be "kept", "flushed" or "cold", not "warm"',
        ),
        ('file = "8190k"', "12: workload.file: 8190k must be a multiple of chunk, 4k"),
    ],
)
def test_contradictions(tmp_path: Path, workload: str, expected: str) -> None:
    path = write_study(tmp_path, SAMPLE, (TOOL, f'tool = "bonnie"\n{workload}'))
    path.write_text(path.read_text().partition("[answer]")[0])
    with pytest.raises(InputError) as error:
        load_study(path)
    assert expected in str(error.value)
