# SPDX-License-Identifier: Apache-2.0
"""`import flashbed` in scripts: frames of results, and one sentence for an argument that is no study or no key."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

import flashbed
from flashbed.common.errors import InputError
from flashbed.execution import frames
from flashbed.guest_output import request_log
from flashbed.report import request_figures
from tests.support.tabled import row_of


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (None, "requests(None): wants the key of a repetition as a text; the column key of results() has it"),
        (123, "requests(123): wants the key"),
        (b"ab", "requests(b'ab'): wants the key"),
        (["ab"] * 1000, "requests(['ab', 'ab', "),
        ("", '"" is not the start of a key'),
        ("quick", '"quick" is not the start of a key: a key has the digits 0-9 and a-f'),
        ("ab\0", "is not the start of a key"),
        ("abc", 'no result with a key that starts with "abc"'),
    ],
)
def test_an_argument_that_is_no_key_is_refused(key: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        flashbed.requests(key)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("study", "message"),
    [
        (None, 'results(None): wants the name of a study or its file, such as results("quick")'),
        (7, "results(7): wants"),
        (b"quick", "results(b'quick'): wants"),
        ("", "results(''): wants"),
        (["quick"], "results(['quick']): wants"),
        ("quik", "quik: no such file, and no shipped study of that name"),
        (Path("none/there.toml"), "none/there.toml: no such file"),
        ("a\0b", "no such file"),
    ],
)
def test_an_argument_that_is_no_study_is_refused(study: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        flashbed.results(study)
    assert message in str(caught.value)


def test_a_study_without_results_gives_an_empty_frame() -> None:
    assert flashbed.results("quick").empty


def test_an_empty_frame_has_all_columns() -> None:
    frame = flashbed.results("logger")
    assert frame.empty
    assert {"medium", "filesystem", "night", "seed", "outcome", "key", "steady", "bandwidth"} <= set(frame.columns)
    assert frame[frame.bandwidth > 1].empty
    assert frame[frame.steady.str.startswith("not")].empty


ROWS = [
    {"seconds": seconds, "share": share, "allocate": allocate, "request": "4k", "seed": 1, "outcome": "measured"}
    for seconds, share, allocate in (("20", "0.5", "true"), ("120", "2", "false"))
]


def test_axes_of_numbers_are_numbers() -> None:
    axes = {"seconds": ("20", "120"), "share": ("0.5", "2"), "allocate": ("true", "false"), "request": ("4k", "64k")}
    frame = frames._frame([row_of(row, axes) for row in ROWS], axes)
    assert len(frame[frame.seconds == 20]) == 1
    assert frame["share"].tolist() == [0.5, 2.0]
    assert len(frame[frame.allocate]) == 1
    assert frame["request"].tolist() == ["4k", "4k"]
    assert frame["seconds"].dtype == "int64"
    assert frames._frame([], axes).dtypes[list(axes)].astype(str).tolist() == ["int64", "float64", "bool", "object"]


def test_a_flush_has_no_address(tmp_path: Path) -> None:
    for name, now in (("idle.before", 100), ("idle.measured", 900)):
        (tmp_path / name).write_text(f"now at {now} nsecs\n .idle_sleeptime: 1 nsecs\n .iowait_sleeptime: 0 nsecs\n")
    entry = struct.Struct("<4Q2I")
    log = entry.pack(150, 250, 4096, 512, 1, 0) + entry.pack(260, 300, 2**64 - 512, 0, 3, 0)
    (tmp_path / request_log.REQUEST_LOG).write_bytes(log)
    write, flush = request_log.read(tmp_path).requests
    assert (write.offset_bytes, flush.offset_bytes) == (4096, None)
    assert request_figures._statistics([flush, flush])[2:] == ["–", "–"]
