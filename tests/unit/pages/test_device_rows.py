# SPDX-License-Identifier: Apache-2.0
"""Rows of other devices in pages/devices.toml: which are held out, which of them are kept back, and what each must
have.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from pages.device_rows import PROFILES, DeviceRow, load

ROW = """
[[replay]]
medium = "sd-good"
what = "reads"
op = "read"
order = "sequential"
request = "1M"
measured = 20
unit = "MB/s"
source = "somebody.example/cards, table 3"
device = "Acme 64 GB"
site = "somebody.example"
"""


def rows_of(folder: Path, text: str, profile: str = "") -> list[DeviceRow]:
    profiles = folder / "media"
    profiles.mkdir()
    (profiles / "sd-good.toml").write_text(profile)
    (folder / "devices.toml").write_text(text)
    return load(folder / "devices.toml", profiles)


@pytest.mark.parametrize(
    ("profile", "is_held_out"),
    [
        ("# nothing of the kind", True),
        ('read_ns = "somebody.example: 60 us"', False),
        ("# As fast as an ACME 64 GB", False),
    ],
)
def test_a_row_is_held_out_while_no_profile_names_its_device_or_source(
    tmp_path: Path, profile: str, is_held_out: bool
) -> None:
    (row,) = rows_of(tmp_path, ROW, profile)
    assert row.held_out == is_held_out
    assert row.name == "sd-good: Acme 64 GB: reads"


def test_a_row_of_no_other_device_is_never_held_out(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, ROW.replace('device = "Acme 64 GB"\nsite = "somebody.example"\n', ""))
    assert not row.held_out
    assert not row.kept_back


@pytest.mark.parametrize(
    "wrong",
    [
        ROW.replace('site = "somebody.example"\n', ""),
        ROW.replace('device = "Acme 64 GB"\n', ""),
        ROW.replace('site = "somebody.example"', 'site = "another.example"'),
        ROW.replace('device = "Acme 64 GB"\nsite = "somebody.example"\n', 'class = "SD-NAND"\n'),
    ],
)
def test_a_device_needs_a_site_that_its_source_names(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(ValueError, match="a device has a site"):
        rows_of(tmp_path, wrong)


def test_another_device_may_be_off_by_any_factor_but_owes_a_reason(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, ROW, "somebody.example")
    assert not row.faults(25.0)
    assert row.faults(200.0)
    assert not replace(row, why="it is a better card").faults(200.0)
    assert replace(row, why="it is a better card", device="").faults(200.0)


def test_what_is_kept_back_is_chosen_by_a_hash_and_complained_of_by_nothing(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, ROW)
    names = [replace(row, what=f"reads {number}") for number in range(100)]
    kept = [published for published in names if published.kept_back]
    assert kept == [
        published for published in names if int(hashlib.sha256(published.name.encode()).hexdigest(), 16) >> 255
    ]
    assert 35 < len(kept) < 65
    assert not any(published.faults(1e9) for published in kept)
    assert not any(replace(published, held_out=False).kept_back for published in kept)


def test_no_profile_names_the_source_of_a_held_out_row() -> None:
    """The file has rows of both halves, too."""
    cited = " ".join(path.read_text().lower() for path in PROFILES.glob("*.toml"))
    rows = [row for row in load() if row.held_out]
    assert [row.name for row in rows if row.device.lower() in cited] == []
    assert all(site not in cited for site in ("thomaskaiser", "ricsanfre", "unvme", "pl35x"))
    assert {row.kept_back for row in rows} == {True, False}
    assert len(rows) > 30
