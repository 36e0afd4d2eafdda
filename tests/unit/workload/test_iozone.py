# SPDX-License-Identifier: Apache-2.0
"""How the lab carries out IOzone's sequence, and what it computes from the output of the two possible tools."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from flashbed.common.errors import InputError
from flashbed.execution.repetition import program_set
from flashbed.guest_output import cpu_load, limit
from flashbed.study.loading import load_study
from flashbed.study.plan import plan
from flashbed.workload.base import WorkloadOutputError
from flashbed.workload.iozone import Iozone, IozoneParameters
from tests.support.samples import write_study

MARK, REMOUNT = "/lib/flashbed/mark", "/lib/flashbed/remount"

# The layout of IOzone 3's output with -i 0 and with -i 1: columns of numbers; those of other tests are blank.
WRITTEN = b"""\
        Record Size 32 kB
        Output is in kBytes/sec
                                                              random    random     bkwd    record    stride
              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read
            4096      32     2048     4096

iozone test complete.
"""
READ = WRITTEN.replace(b"    2048     4096", b"                      8192   409600")


def parameters(**values: object) -> dict[str, object]:
    return IozoneParameters.model_validate({"file": "4M", "record": "32k", **values}).canonical()


def script(**values: object) -> list[str]:
    return Iozone().files(parameters(**values), 3)["measure"].decode().splitlines()


def fio_output(direction: str, milliseconds: int, usr: float = 0.0, system: float = 0.0) -> bytes:
    busy = {"total_ios": 128, "io_bytes": 4 << 20, "runtime": milliseconds, "lat_ns": {"mean": 1.0, "max": 2, "N": 1}}
    idle = {"total_ios": 0, "io_bytes": 0, "runtime": 0, "lat_ns": {"mean": 0.0, "max": 0, "N": 1}}
    load = {"usr_cpu": usr, "sys_cpu": system, "job_runtime": milliseconds}
    job = {"jobname": "x", "error": 0, "read": idle, "write": idle, direction: busy, **load}
    return json.dumps({"jobs": [job]}).encode()


def test_the_sequence() -> None:
    lines = [line.split()[:2] for line in script()]
    expected = ["write", "rewrite", "", "read", "reread"]
    fio = ["/bin/fio", "--output-format=json+"]
    assert lines == [step for test in expected for step in ([[MARK, test], fio] if test else [[REMOUNT]])]
    assert [REMOUNT] not in [line.split() for line in script(remount="false")]
    assert REMOUNT not in script(tests="write")


def test_only_what_is_asked_for() -> None:
    files = Iozone().files(parameters(tests="read, write", include_flush=True), 3)
    assert files.keys() == {"prepare", "measure", "write.fio", "read.fio"}
    assert b"end_fsync=1" in files["write.fio"]
    assert b"end_fsync=0" in files["read.fio"]
    assert b"invalidate=0" in files["read.fio"]
    assert [p.name for p in Iozone().phases(parameters(tests="write,read", processes=2))] == ["write", "read"]
    assert [p.requested_bytes for p in Iozone().phases(parameters(processes=2))] == [8 << 20] * 4


def test_content_is_constant_unless_random_is_asked_for() -> None:
    # A compressing file system stores constant content in almost no space. IOzone has constant, fio random content.
    constant = Iozone().files(parameters(), 3)["write.fio"]
    assert b"buffer_pattern=0xdeadbeef\nscramble_buffers=0" in constant
    assert b"buffer_pattern" not in Iozone().files(parameters(content="random"), 3)["write.fio"]


def test_an_aged_volume_has_written_so_much_and_kept_half() -> None:
    assert Iozone().files(parameters(), 3)["prepare"] == b"true\n"
    files = Iozone().files(parameters(aged="16M"), 3)
    assert "size=4194304\n" in files["aged.fio"].decode()  # of two files together, in each of four rounds
    assert "for round in 0 1 2 3;" in files["prepare"].decode()
    # Half of 16 stays beside the file. Before the last round 6 are left, and it writes 4
    assert IozoneParameters(file=4 << 20, aged=16 << 20).bytes_on_medium() == (4 + 8) << 20
    assert IozoneParameters(file=1 << 20, aged=16 << 20).bytes_on_medium() == (6 + 4) << 20
    (problem,) = IozoneParameters(file=4 << 20, aged=100_000).problems()
    assert problem.keys == ("aged",)


def test_the_call_of_iozone() -> None:
    lines = script(program="digest", include_flush=True, include_close=True, direct=True, tests="write,read")
    calls = [line for line in lines if line.startswith("/job/program")]
    assert calls == [
        "/job/program -i 0 -w -s 4096k -r 32k -f /mnt/iozone.0 -e -c -I >/out/write.txt",
        "/job/program -i 1 -w -s 4096k -r 32k -f /mnt/iozone.0 -e -c -I >/out/read.txt",
    ]
    assert lines.index(REMOUNT) < lines.index(f"{MARK} read")
    phases = Iozone().phases(parameters(program="digest"))
    assert [(phase.name, phase.requested_bytes) for phase in phases] == [("write", 8 << 20), ("read", 8 << 20)]


def test_seconds_and_rates_of_fio() -> None:
    # CPU: 0.5 of 2 s, and 0.4 of 0.5 s
    out = {"write.json": fio_output("write", 2000, 5.0, 20.0), "read.json": fio_output("read", 500, 10.0, 70.0)}
    assert Iozone().metrics(out) == {
        "write_s": 2,
        "write_bandwidth": 2,
        "read_s": 0.5,
        "read_bandwidth": 8,
        "runtime_s": 2.5,
        "process_cpu_percent": pytest.approx(36),
    }


def test_the_start_of_fio_is_no_part_of_the_run() -> None:
    """The CPU is busy for 250 of 400 ms; fio's starts and the mount take 200 ms. So of the run's 200 ms the CPU is busy
    for at least 50 ms, and fio reports 60 %. Of a run of 400 ms it would be 62.5 %.
    """
    idle = "now at {} nsecs\n  .idle_sleeptime : {} nsecs\n  .iowait_sleeptime: 0 nsecs\n"
    out = {
        "write.json": fio_output("write", 150, 10.0, 20.0),
        "read.json": fio_output("read", 50, 10.0, 20.0),
        cpu_load.IDLE_BEFORE: idle.format(0, 0).encode(),
        cpu_load.IDLE_MEASURED: idle.format(400_000_000, 150_000_000).encode(),
    }
    time = limit.time_of(out, Iozone().metrics(out))
    assert time.run_ns == pytest.approx(200e6)
    assert time.cpu_percent() == pytest.approx(30)


def test_the_busiest_of_several_cpus_is_what_a_run_may_wait_for() -> None:
    """One CPU works for 250 of 400 ms, and the other not at all. The processes used 60 % of a CPU, 30 % of each."""
    idle = "now at {} nsecs\n" + "  .idle_sleeptime : {} nsecs\n  .iowait_sleeptime: 0 nsecs\n" * 2
    out = {
        "write.json": fio_output("write", 150, 20.0, 40.0),
        "read.json": fio_output("read", 50, 20.0, 40.0),
        cpu_load.IDLE_BEFORE: idle.format(0, 0, 0).encode(),
        cpu_load.IDLE_MEASURED: idle.format(400_000_000, 400_000_000, 150_000_000).encode(),
    }
    time = limit.time_of(out, Iozone().metrics(out))
    assert time.cpu_ns == 250_000_000
    assert time.process_cpu_percent == pytest.approx(30)


def test_seconds_and_rates_of_iozone() -> None:
    out = {"write.txt": WRITTEN, "read.txt": READ, "tests": b"write rewrite read reread\n"}
    assert Iozone().metrics(out) == {
        "write_s": 2,
        "write_bandwidth": 2,
        "rewrite_s": 1,
        "rewrite_bandwidth": 4,
        "read_s": 0.5,
        "read_bandwidth": 8,
        "reread_s": 0.01,
        "reread_bandwidth": 400,
        "runtime_s": pytest.approx(3.51),
    }
    assert Iozone().metrics({**out, "tests": b"write read\n"}).keys() & {"rewrite_s", "reread_s"} == set()


@pytest.mark.parametrize("out", [{}, {"write.txt": b"Can not open temp file"}, {"write.json": b"{}"}])
def test_output_that_cannot_be_read_is_told(out: dict[str, bytes]) -> None:
    with pytest.raises(WorkloadOutputError, match=r"write\."):
        Iozone().metrics(out)


def test_it_says_who_did_it() -> None:
    assert Iozone().title({"program": b"ELF"}) == "IOzone"
    assert Iozone().title({"program": None}) == "IOzone's sequence, carried out by fio"


ARM64, X86, NEEDS_LIBRARIES, RUNS_ALONE = 183, 62, 3, 1


def elf(machine: int, segment: int) -> bytes:
    """Return the headers of a 64-bit program with one segment: PT_INTERP (3) or PT_LOAD (1)."""
    head = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    )
    return head + struct.pack("<IIQQQQQQ", segment, 4, 0, 0, 0, 0, 0, 1)


AXES = ('pattern    = ["read", "write"]\nrequest    = ["4k", "64k"]', 'record = ["4k", "32k"]')
TOOL = 'tool  = "fio"\nfile  = "8M"\nflush = "fsync"'


def study(folder: Path, workload: str) -> Path:
    path = write_study(folder, AXES, (TOOL, f'tool = "iozone"\n{workload}'))
    path.write_text(path.read_text().partition("[answer]")[0])
    return path


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        ('file = "8M"\ninclude_close = true', "13: workload.include_close: true needs IOzone itself"),
        ('file = "8M"\ntests = "write, reread"', "13: workload.tests: reread needs read before it"),
        ('file = "8M"\ntests = "write, backwards"', '13: workload.tests: must be some of "write, rewrite, read'),
        ('file = "8k"', "record[1]: 32k is larger than file = 8k: no record would fit"),
        ('file = "8M"\nprogram = "iozone"\nprocesses = 2', "workload.processes: 2 cannot stand beside program"),
        ('file = "8M"\nprogram = "none"', "workload.program: "),
        ('file = "8M"\nprogram = "text"', "is no statically linked program for arm64"),
        ('file = "8M"\nprogram = "x86"', "is no statically linked program for arm64"),
        ('file = "8M"\nprogram = "dynamic"', "is no statically linked program for arm64"),
    ],
)
def test_contradictions(tmp_path: Path, workload: str, expected: str) -> None:
    (tmp_path / "iozone").write_bytes(elf(ARM64, RUNS_ALONE))
    (tmp_path / "x86").write_bytes(elf(X86, RUNS_ALONE))
    (tmp_path / "dynamic").write_bytes(elf(ARM64, NEEDS_LIBRARIES))
    (tmp_path / "text").write_text("#!/bin/sh\n")
    with pytest.raises(InputError) as error:
        load_study(study(tmp_path, workload))
    assert expected in str(error.value)


def test_a_program_of_the_users(tmp_path: Path) -> None:
    program = elf(ARM64, RUNS_ALONE)
    (tmp_path / "iozone").write_bytes(program)
    path = study(tmp_path, 'file = "8M"\nprogram = "iozone"')
    cell = plan(load_study(path))[0]
    assert cell.workload.files == {"program": program}
    (tmp_path / "iozone").write_bytes(program + b"another build")
    assert plan(load_study(path))[0].workload.parameters["program"] != cell.workload.parameters["program"]
    assert program_set(cell).built == ("fio",)
