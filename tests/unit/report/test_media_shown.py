# SPDX-License-Identifier: Apache-2.0
"""A report's statements on the media: visible capacity, what was written before, what mkfs discarded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flashbed.profiles.profile import Medium
from flashbed.profiles.stored_medium import StoredMedium
from flashbed.report import conditions
from tests.support.made_up_limits import limited, report
from tests.support.made_up_results import Titles, made_up_study, rows_of
from tests.support.tabled import report_of

GB = 10**9


def made_up(kind: str, capacity_bytes: int = 64 * GB, **more: Any) -> Medium:
    return Medium.model_validate({"title": "M", "kind": kind, "capacity_bytes": capacity_bytes, **more})


def flash(**more: Any) -> Medium:
    return made_up("flash", **more)


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
        (
            flash().moved_to(StoredMedium(Path("kept"))),
            "shown; it starts as a medium that was kept; it takes",
        ),
        (
            flash(dies=2, blocks_per_die=11008, pages_per_block=384, page_bytes=4096, capacity_bytes=29 << 30),
            "it takes discards. It has 32.2 GiB of flash, over-provisioning of 11.2 %.",
        ),
        (
            flash(dies=2, blocks_per_die=11008, pages_per_block=384, page_bytes=4096, capacity_bytes=8 << 30),
            "It has 32.2 GiB of flash: over-provisioning of 303 %, where devices have 2 to 30 %: it hardly ever",
        ),
        (made_up("disk", 320 * GB), "All of its 298.0 GiB are shown."),
    ],
)
def test_the_part_of_a_medium_that_is_shown(medium: Medium, text: str) -> None:
    class Media(Titles):
        def medium(self, selector: str) -> Medium:
            return medium

    [(name, condition)] = conditions.media(report(library=Media()))
    assert name == "usb-stick-2g"
    assert text in condition


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
        def medium(self, selector: str) -> Medium:
            return flash(condition=condition)

    library: Any = Media()
    study = replace(made_up_study(), library=library)
    frame = limited(study)
    if discarded:
        frame["discarded_before_bytes"] = [discarded.get(name.partition(":")[0], 0) for name in frame["filesystem"]]
    [(_, text)] = conditions.media(report_of(study, rows_of(frame)))
    if expected is None:
        assert "discarded" not in text
    else:
        assert expected in text
