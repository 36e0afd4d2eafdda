# SPDX-License-Identifier: Apache-2.0
"""A report's statements on the media: visible capacity, what was written before, what mkfs discarded."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from flashbed.report import conditions
from tests.support.made_up_limits import limited, report
from tests.support.made_up_results import Titles, made_up_study, rows_of
from tests.support.tabled import report_of

GB = 10**9


def flash(**more: Any) -> Any:
    core = ("discard", "dies", "blocks_per_die", "pages_per_block", "page_bytes")
    parameters = {name: more.pop(name) for name in core if name in more}
    known = {"kind": "flash", "capacity_bytes": 64 * GB, "parameters": parameters, "numbers": lambda: parameters}
    return SimpleNamespace(**{**known, **more})


@pytest.mark.parametrize(
    ("medium", "text"),
    [
        (
            flash(),
            "All of its 59.6 GiB are shown; the whole device was never written; it takes discards.",
        ),
        (flash(discard=0, condition="full"), "; the whole device was written in order once; it takes no discards."),
        (
            flash(used_bytes=17 << 30),
            "17.0 GiB of 59.6 GiB are shown; the whole device was never written, and the rest is room to "
            "collect into; it takes discards.",
        ),
        (flash(used_bytes=17 << 30, condition="full"), "written in order once, and the rest stays full;"),
        (flash(used_bytes=17 << 30, condition="worn"), "at random in 64 KiB, and the rest stays full;"),
        (flash(condition="used"), "at random in 64 KiB, and mkfs could discard none of it; it takes discards."),
        (flash(start="kept"), "are shown; it starts as a medium that was kept; it takes discards."),
        (
            flash(dies=2, blocks_per_die=11008, pages_per_block=384, page_bytes=4096, capacity_bytes=29 << 30),
            "it takes discards. It has 32.2 GiB of flash, over-provisioning of 11.2 %.",
        ),
        (
            flash(dies=2, blocks_per_die=11008, pages_per_block=384, page_bytes=4096, capacity_bytes=8 << 30),
            "It has 32.2 GiB of flash: over-provisioning of 303 %, where devices have 2 to 30 %: it hardly ever",
        ),
        (SimpleNamespace(kind="disk", capacity_bytes=320 * GB), "All of its 298.0 GiB are shown."),
        (SimpleNamespace(title="known by name only"), None),
    ],
)
def test_the_part_of_a_medium_that_is_shown(medium: Any, text: str | None) -> None:
    class Media(Titles):
        def medium(self, selector: str) -> Any:
            return medium

    by_name = conditions.media(report(library=Media()))
    assert by_name == [] if text is None else (by_name[0][0] == "usb-stick-2g" and text in by_name[0][1])


@pytest.mark.parametrize(
    ("condition", "discarded", "expected"),
    [
        ("fresh", {"ext2": 1 << 30, "f2fs": 1 << 30}, None),
        (
            "worn",
            {"ext2": 1 << 30, "f2fs": 0},
            "discarded nothing with FAT16, 1.00 GiB with ext2 and nothing with F2FS; what is discarded is room",
        ),
        ("worn", {"ext2": 0, "f2fs": 0}, "Nothing of it was discarded before the measurement."),
        ("worn", {}, None),
    ],
)
def test_what_mkfs_discarded_of_a_used_device(condition: str, discarded: dict[str, int], expected: str | None) -> None:
    class Media(Titles):
        def medium(self, selector: str) -> Any:
            return flash(condition=condition)

    library: Any = Media()
    study = replace(made_up_study(), library=library)
    frame = limited(study)
    if discarded:
        frame["discarded_before_bytes"] = [discarded.get(name.partition(":")[0], 0) for name in frame["filesystem"]]
    [(_, text)] = conditions.media(report_of(study, rows_of(frame), {}))
    if expected is None:
        assert "discarded" not in text
    else:
        assert expected in text
