# SPDX-License-Identifier: Apache-2.0
"""Split the time of sequential writes and reads on YAFFS2 into chip, bus, MTD, the module, and the rest.

There are three independent clocks: the medium's counters (the chip), the module's sums in debugfs (its lock, MTD), and
the kernel's idle times. The remainders for MTD, for the CPU elsewhere and for idle time cannot be negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashbed.guest_output import cpu_load, medium_counters
from flashbed.study.plan import Cell
from flashbed.workload.fio import output
from flashbed.workload.fio.jobs import FIO, OUTPUT
from pages.yaffs2_guest import boot, statistics

CHIP = "slc-nand-256m"
BOARDS = ("arm64-1000", "arm64-250-pio")
REQUESTS = ("4k", "64k")
PATTERNS = ("write", "read")
FILE_MIB = 16

COMMAND_CYCLES = {"read": 1 + 5 + 1, "program": 2 + 1 + 5 + 1 + 2}
"""Cycles beside the page's bytes: commands and addresses. Before a program (is the chip protected?) and after it, Linux
asks for the status and reads it.
"""

NOTE = """\
[ $2 = after ] || { cat /sys/kernel/debug/yaffs2/mtd0 >/out/$1.$2.yaffs; medium mark $1.$2; }
grep -E "^now at|sleeptime" /proc/timer_list >/out/$1.$2.idle
[ $2 = before ] || { cat /sys/kernel/debug/yaffs2/mtd0 >/out/$1.$2.yaffs; medium mark $1.$2; }
"""
"""The notes around a measurement, with the clock innermost."""

JOB = """\
[job]
directory=/mnt
filename={request}
rw={pattern}
bs={request}
size={mib}M
ioengine=psync
fallocate=none
end_fsync={flush}
exec_prerun=sh /job/note {pattern}.{request} before
exec_postrun=sh /job/note {pattern}.{request} after
"""


@dataclass(frozen=True)
class Row:
    """A run: its bandwidth by fio and the chip's limit in MiB/s, its length and the parts of that in seconds."""

    board: str
    pattern: str
    request: str
    bandwidth: float
    limit: float
    took: float
    chip: float
    bus: float
    mtd: float
    module: float
    elsewhere: float
    idle: float
    mtd_idle: float
    waited: float
    """The time in calls into MTD: for how long the CPU was idle by the kernel, and could be idle by the chip's
    counters.
    """

    @property
    def parts(self) -> tuple[float, ...]:
        return (self.chip, self.bus, self.mtd, self.module, self.elsewhere, self.idle)


def script(requests: Sequence[str]) -> str:
    """Return the script that writes a file and reads it with cold caches, for each request size."""
    runs = [f"{pattern}.{request}" for request in requests for pattern in PATTERNS]
    turns = (f"sh /lib/flashbed/remount\n{FIO} --output=/out/{run}.json /job/{run}.fio\n" for run in runs)
    return f"set -e\ncd /tmp\n{''.join(turns)}"


def rows(folder: Path) -> Iterator[Row]:
    """Yield all patterns and requests on each board. Each board takes a guest."""
    for board in BOARDS:
        cell, out = measured(folder / board, board, REQUESTS, FILE_MIB)
        for pattern in PATTERNS:
            for request in REQUESTS:
                yield row(cell, board, pattern, request, out)


def measured(folder: Path, board: str, requests: Sequence[str], mib: int) -> tuple[Cell, Mapping[str, bytes]]:
    """Return the notes of a guest on this board of all patterns, each with these requests, on files of so many MiB."""
    jobs = {
        f"{pattern}.{request}.fio": JOB.format(pattern=pattern, request=request, mib=mib, flush=int(pattern == "write"))
        for pattern in PATTERNS
        for request in requests
    }
    beside = {"note": NOTE, **jobs}
    cell, outcome = boot(folder, script(requests), board=board, chip=CHIP, filesystem="yaffs2", beside=beside)
    return cell, outcome.files


def byte_ns(cell: Cell) -> float:
    """Return the time of a byte on the bus: the chip's, or the controller's of the board if that is longer."""
    return max(cell.board.nand_cycle_ps, cell.medium.numbers()["bus_ps_per_byte"]) / 1000


def page_ns(cell: Cell, operation: str) -> tuple[float, float]:
    """Return the time of a page in the array and on the bus, from the profile."""
    p = cell.medium.numbers()
    return p[f"{operation}_ns"], (p["page_bytes"] + p["spare_bytes"] + COMMAND_CYCLES[operation]) * byte_ns(cell)


def idle_times(out: Mapping[str, bytes], run: str) -> dict[str, bytes]:
    """Return the kernel's clock and idle times around a run, under the lab's names."""
    return {cpu_load.IDLE_BEFORE: out[f"{run}.before.idle"], cpu_load.IDLE_MEASURED: out[f"{run}.after.idle"]}


def row(cell: Cell, board: str, pattern: str, request: str, out: Mapping[str, bytes]) -> Row:
    """Return a run and its parts from the guest's notes."""
    run = f"{pattern}.{request}"
    noted = idle_times(out, run)
    took, busy = cpu_load.length_ns(noted), cpu_load.busy_ns(noted)
    chip = _difference(medium_counters.parse, out, "counters.{run}.{moment}", run)
    module = _difference(statistics, out, "{run}.{moment}.yaffs", run)
    array_ns = chip["flash_read_ns"] + chip["flash_program_ns"] + chip["flash_erase_ns"]
    bus_ns = chip["flash_read_pages"] * page_ns(cell, "read")[1]
    bus_ns += chip["flash_programmed_pages"] * page_ns(cell, "program")[1]
    mtd_ns, mtd_idle_ns = module["mtd_ns"], module["mtd_idle_us"] * 1000
    inside_ns = module["inside_ns"] - mtd_ns
    parts = {
        "took": took,
        "chip": array_ns,
        "bus": bus_ns,
        "mtd": mtd_ns - array_ns - bus_ns,
        "module": inside_ns,
        "elsewhere": busy - (mtd_ns - mtd_idle_ns) - inside_ns,
        "idle": took - busy - mtd_idle_ns,
        "mtd_idle": mtd_idle_ns,
        "waited": array_ns + (0 if cell.board.transfer == "pio" else bus_ns),
    }
    limit = cell.medium.numbers()["page_bytes"] / sum(page_ns(cell, "program" if pattern == "write" else "read"))
    fio_result = out[f"{run}.json"]
    # Before the JSON fio says where the output of exec_prerun is
    bandwidth = output.metrics_of({OUTPUT: fio_result[fio_result.index(b"{") :]}, OUTPUT)["bandwidth"]
    seconds = {name: ns / 1e9 for name, ns in parts.items()}
    return Row(board, pattern, request, bandwidth, limit * 1e9 / 2**20, **seconds)


def _difference(
    read: Callable[[bytes], dict[str, int]], out: Mapping[str, bytes], name: str, run: str
) -> dict[str, int]:
    before, after = (read(out[name.format(run=run, moment=moment)]) for moment in ("before", "after"))
    return {name: after[name] - before[name] for name in after}
