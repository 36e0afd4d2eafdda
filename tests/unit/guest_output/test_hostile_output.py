# SPDX-License-Identifier: Apache-2.0
"""Whatever a job leaves in place of its tool's output gives a measurement or a sentence, never a Python error."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashbed.guest_output import cpu_load, medium_counters, wear
from flashbed.result import evaluation
from flashbed.result.result import Measurement
from flashbed.workload.fio.pattern import FioParameters
from tests.support.generated_inputs import fio_document
from tests.support.made_up_result import made_up_result
from tests.support.mutated_inputs import values
from tests.unit.guest_output.test_upkeep import MEDIUM_BYTES
from tests.unit.guest_output.test_upkeep import OUT as UPKEEP

IDLE = b"now at %d nsecs\n idle_sleeptime : %d nsecs\n iowait_sleeptime : 0 nsecs\n"
NAMES = ("host_reads", "host_writes", "host_read_bytes", "host_written_bytes", "busy_ns", "link_ns")
LATER = ("flash_programmed_pages", "flash_erased_blocks")


def counters(value: int) -> bytes:
    return "".join(f"/sys/block/mblk0/medium/{name}:{value}\n" for name in (*NAMES, *LATER)).encode()


MOMENTS = (medium_counters.BEFORE, medium_counters.MEASURED, medium_counters.SYNCED, medium_counters.FINISHED)
WEAR = b"/w/erase_count_max:1\n/w/erase_count_sum:1\n/w/blocks:1\n/w/factory_bad_blocks:0\n/w/grown_bad_blocks:0\n"
OUT: dict[str, bytes] = {
    **UPKEEP,
    **{name: counters(100 * at) for at, name in enumerate(MOMENTS)},
    cpu_load.IDLE_BEFORE: IDLE % (10**9, 10**8),
    cpu_load.IDLE_MEASURED: IDLE % (2 * 10**9, 2 * 10**8),
    "fio.json": json.dumps(fio_document("a")).encode(),
    wear.WEAR_SYNCED: WEAR,
    wear.WEAR_FINISHED: WEAR,
    wear.ERASES_BEFORE: bytes(4),
    wear.ERASES_SYNCED: b"\1\0\0\0",
    "mounted.txt": b"/dev/mblk0 /mnt ext2 rw,relatime 0 0\n",
    "progress": b"1.5 0 10\n",
    medium_counters.BLOCK_BEFORE: b"1 2 3 4 5 6 7\n",
    medium_counters.BLOCK_MEASURED: b"1 2 3 4 5 6 9\n",
    medium_counters.BLOCK_SYNCED: b"1 2 3 4 5 6 9\n",
}
CELL: dict[str, Any] = {
    "medium": {
        **{"kind": "flash", "capacity_bytes": 1 << 30, "page_bytes": 4096, "pages_per_block": 64},
        "endurance_erases": 1000,
    },
    "board": {"pio_sector_ns": 0, "nand_cycle_ps": 0},
}


WRITES = {"pattern": "randwrite", "request": 4096, "file": 1 << 20}
LOADS: dict[str, tuple[str, dict[str, Any]]] = {
    "cached": ("fio", FioParameters.model_validate(WRITES).canonical()),
    "direct": ("fio", FioParameters.model_validate({**WRITES, "direct": True}).canonical()),
    "own job": ("fio", {"job": "a.fio"}),
}


def read(out: dict[str, bytes], load: str = "cached") -> str:
    """Return why the output cannot be read. If it can, return "" and check that it is all finite numbers and printable
    text.
    """
    message, measurement = "", Measurement()
    tool, parameters = LOADS[load]
    try:
        cell = {**CELL, "workload": {"tool": tool, "parameters": parameters}}
        measurement = evaluation.evaluate(replace(made_up_result("k", {}), cell=cell, medium_bytes=MEDIUM_BYTES), out)
    except evaluation.UnreadableError as error:
        message = str(error)
    assert message.isprintable()
    assert all(math.isfinite(value) for value in measurement.metrics.values())
    assert measurement.mounted.isprintable()
    return message


@pytest.mark.parametrize("load", list(LOADS))
def test_sound_output_is_read(load: str) -> None:
    assert read(OUT, load) == ""


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for key, part in inner for place in places(part, (*way, key)))]


DOCUMENT = fio_document("a")
PLACES = places(DOCUMENT)


CHANGES = st.sampled_from([-1, 0, 0.5, 1e308, 10**400, "\ud800", {"N": 1}])


@pytest.mark.parametrize("load", list(LOADS))
@settings(max_examples=100, deadline=None)
@given(way=st.sampled_from(PLACES), value=values | CHANGES)
def test_numbers_that_fio_does_not_write(load: str, way: tuple[Any, ...], value: Any) -> None:
    document: Any = [json.loads(json.dumps(DOCUMENT))]
    place = document
    for key in (0, *way)[:-1]:
        place = place[key]
    place[(0, *way)[-1]] = value
    try:
        text = json.dumps(document[0]).encode()
    except ValueError:  # more digits than Python writes
        text = b'{"jobs": [{"jobname": "a", "error": 0, "usr_cpu": ' + b"9" * 5000 + b"}]}"
    read({**OUT, "fio.json": text}, load)


CONTENT = (
    st.binary(max_size=60)
    | st.text(st.characters(), max_size=40).map(lambda text: text.encode(errors="replace"))
    | st.sampled_from([b"", b"\xff", b"a", b"1:2\n", b"x:1e9\n", b"a:-1\n", b"[" * 10_000, b"9" * 5000, b"nan 0 0\n"])
    | st.sampled_from([IDLE % (10**9, 1), b"idle_sleeptime : 1 nsecs", b"\0" * 13, b"inf inf inf\n", b"1 2 3 4 5 6\n"])
)


FILES = st.sampled_from(sorted(OUT)) | st.sampled_from(["calls.0.log", "rate_bw.1.log"])


@pytest.mark.parametrize("load", list(LOADS))
@settings(max_examples=100, deadline=None)
@given(changed=st.dictionaries(FILES, CONTENT))
def test_files_with_anything_in_them(load: str, changed: dict[str, bytes]) -> None:
    read({**OUT, **changed}, load)


@pytest.mark.parametrize("tool", ["bonnie", "bonnie++", "iozone", "fxmark", "nfs", "trace"])
@settings(max_examples=40, deadline=None)
@given(content=CONTENT)
def test_other_tools(tool: str, content: bytes) -> None:
    LOADS[tool] = (tool, {})
    texts = ("bonnie.txt", "bonnie.csv", "write.txt", "write.json", "tests", "fxmark.txt", "sfsload.json", "dmesg.txt")
    names = (*texts, "replay.bin")
    out = {name: data for name, data in OUT.items() if name != "fio.json"}
    assert read({**out, **dict.fromkeys(names, content)}, tool)
