# SPDX-License-Identifier: Apache-2.0
"""The condition of a medium: valid values, their part of the key, and that the whole device is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from flashbed.common import paths
from flashbed.common.errors import InputError
from flashbed.execution import repetition
from flashbed.image import hosttools
from flashbed.image.cache import Cache
from flashbed.medium import conditioning, kept_media
from flashbed.profiles.condition import STEPS, Condition
from flashbed.profiles.library import Library, LookupProblem
from flashbed.study.loading import load_study
from flashbed.study.plan import cell_inputs, plan
from tests.support.samples import write_study

CAPACITY_BYTES = 8 << 20
SMALL: dict[str, int | str] = {
    "kind": "flash",
    "capacity_bytes": CAPACITY_BYTES,
    "used_bytes": 2 << 20,
    "queue_depth": 1,
    "command_ns": 1000,
    "link_ps_per_byte": 1000,
    "page_bytes": 4096,
    "pages_per_block": 64,
    "blocks_per_die": 48,
    "dies": 1,
    "channels": 1,
    "read_ns": 25000,
    "program_ns": 200000,
    "erase_ns": 1500000,
    "bus_ps_per_byte": 25000,
}
"""Four times the visible size: 2,048 pages, 3,072 in the flash."""


def shipped() -> Library:
    return Library((paths.profiles(),))


@pytest.mark.parametrize(("condition", "times"), [("fresh", 0), ("full", 1), ("worn", 2)])
def test_the_whole_device_is_written_not_what_it_shows(condition: Condition, times: int, fresh_cache: Path) -> None:
    tool = hosttools.build(Cache(paths.cache_root() / "image"))
    inspection = tool.inspect(conditioning.state(tool, SMALL, condition), SMALL)
    counters = inspection.counters
    assert counters["host_written_bytes"] == times * CAPACITY_BYTES
    assert counters["host_writes"] == {"fresh": 0, "full": 64, "worn": 64 + 128}[condition]
    assert (counters["flash_erased_blocks"] > 0) == (
        condition == "worn"
    )  # written in order, it fits into the erased blocks
    assert inspection.fault is None


def test_a_state_is_looked_at_once_in_a_process(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state may have 128 MiB, and each cell that starts from it needs it."""
    tool = hosttools.build(Cache(paths.cache_root() / "image"))
    first = conditioning.state(tool, SMALL, "full")
    monkeypatch.setattr(Cache, "entry", Mock(side_effect=AssertionError("asked again")))
    assert conditioning.state(tool, dict(reversed(SMALL.items())), "full") == first


def test_a_medium_that_dies_of_it_is_told(fresh_cache: Path) -> None:
    tool = hosttools.build(Cache(paths.cache_root() / "image"))
    mortal = {"endurance_erases": 1, "spare_blocks": 1, "program_fail_ppb": 10**9, "erase_fail_ppb": 10**9}
    with pytest.raises(InputError, match='"worn": the medium is worn out'):
        conditioning.state(tool, {**SMALL, "blocks_per_die": 60, **mortal}, "worn")


def test_it_is_made_once(fresh_cache: Path) -> None:
    tool = hosttools.build(Cache(paths.cache_root() / "image"))
    first = conditioning.state(tool, SMALL, "worn")
    made = first.stat().st_mtime_ns
    assert conditioning.state(tool, SMALL, "worn") == first
    assert first.stat().st_mtime_ns == made
    assert conditioning.state(tool, {**SMALL, "seed": 2}, "worn") != first


@pytest.mark.parametrize(("whole", "written"), [(False, 64 << 20), (True, 1920 << 20)])
def test_a_kept_medium_is_written_whole_if_asked(whole: bool, written: int, fresh_cache: Path) -> None:
    kept = kept_media.create("kept", "usb-stick-2g:used_bytes=64M")
    kept_media.precondition("kept", fill_request=1 << 17, overwrites=0, overwrite_request=4096, seed=1, whole=whole)
    tool = hosttools.build(Cache(paths.cache_root() / "image"))
    assert tool.inspect(kept.state).counters["host_written_bytes"] == written
    assert kept.origin().made[1].startswith("the whole device: ") is whole


def test_a_key_has_what_was_written(tmp_path: Path) -> None:
    def inputs(medium: str) -> dict[str, Any]:
        cell = plan(load_study(write_study(tmp_path, ('"stick"', f'"{medium}"'))))[0]
        return dict(cell_inputs(cell)["medium"])

    assert "condition" not in inputs("stick:condition=fresh")
    assert inputs("stick:condition=fresh") == inputs("stick")
    assert inputs("stick:condition=full")["written_before"] == [list(words) for words in STEPS["full"]]
    assert inputs("stick:condition=full") != inputs("stick:condition=worn")


def test_a_key_has_what_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = Mock(digest=Mock(return_value={}))
    image.media_tool.digest.return_value = "0"

    def keys(condition: str, writer: str) -> str:
        monkeypatch.setattr(conditioning, "writer_digest", lambda: writer)
        study = load_study(write_study(tmp_path, ('"stick"', f'"stick:condition={condition}"')))
        return repetition.prepare(plan(study)[0], image).key

    assert keys("full", "one") != keys("full", "other")
    assert keys("fresh", "one") == keys("fresh", "other")


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    for text, words in (
        ("usb-stick-2g:condition=old", 'must be "fresh", "full", "worn", "used" or "aged", not "old"'),
        ("hdd-35-7200-320g:condition=worn", 'is of kind = "flash" only'),
        ("usb-stick-2g:from=./kept,condition=worn", ": from names a kept medium"),
        ("slc-nand-64m:from=./kept,condition=aged", ": from names a kept medium"),
        ("slc-nand-64m:condition=used", 'a medium of kind "nand" is "fresh" or "aged"'),
        ("usb-stick-2g:aged_passes=3", 'aged_passes means nothing without condition = "aged"; set that, or'),
        ("usb-stick-2g:condition=used,aged_fill_percent=50", "aged_fill_percent means nothing without condition"),
        ("usb-stick-2g:condition=aged,aged_fill_percent=96", "aged_fill_percent must be at most 95, not 96"),
        ("usb-stick-2g:condition=aged,aged_passes=often", 'aged_passes must be a whole number, not "often"'),
    ):
        with pytest.raises(LookupProblem, match=words.split(",")[0]):
            shipped().medium(text)
