# SPDX-License-Identifier: Apache-2.0
"""The models' error by class of medium and kind of load: its computation, and how the package reads it."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from flashbed.analysis import model_error
from pages import model_error as page
from pages.device_rows import LOADS, DeviceRow, load


def tables() -> dict[str, Any]:
    """Return the package's table of the model's error, by class and by load."""
    return tomllib.loads(model_error.MODEL_ERROR_FILE.read_text())


def row(label: str, published: tuple[float, ...], **changed: object) -> DeviceRow:
    values: dict[str, Any] = {
        "kind": "replay",
        "medium": "sd-good:used_bytes=1G",
        "what": label,
        "low": min(published),
        "high": max(published),
        "published": published,
        "unit": "IOPS",
        "source": "somebody",
        "fitted": False,
        "why": "",
        "run": {"order": "random", "op": "write"},
    }
    return DeviceRow(**{**values, **changed})


def test_the_error_is_over_all_figures_of_a_class_and_a_load() -> None:
    """100 / 50, 100 / 400; 20 ms where 10 were published is half the rate. A fitted row is no evidence, and a device
    without a profile of its class is only named.
    """
    rows = [
        row("a", (50.0, 400.0)),
        row("b", (10.0,), unit="ms"),
        row("fitted", (1.0,), fitted=True),
        row("a limit", (1.0,), unit="ms at most"),
        row("reads", (100.0,), run={"order": "random", "op": "read"}),
        row("c", (1.0,), device="Acme 64 GB", device_class="SD-NAND"),
    ]
    measured = {"a": 100.0, "b": 20.0, "fitted": 100.0, "a limit": 100.0, "reads": 100.0, "Acme 64 GB: c": 100.0}
    text = page.text(rows, {f"sd-good:used_bytes=1G: {label}": figure for label, figure in measured.items()})
    writes = '[sd-card."random write"]\nfactor = 4.0\nlowest = 0.25\nhighest = 2.0\nfigures = 3\n'
    assert writes in text
    assert "#   Acme 64 GB (SD-NAND)\n" in text
    assert '[sd-card."random read"]\nfactor = 1.0\n' in text
    assert '[sd-card."flush"]' not in text


def test_the_stated_error_holds_for_nine_of_ten_figures() -> None:
    """Of nine figures all count; of ten the farthest may lie outside."""
    assert page.stated([1.0] * 8 + [0.1]) == pytest.approx(10)
    assert page.stated([1.0] * 8 + [3.0, 0.1]) == 3.0


def test_a_shipped_medium_has_the_error_of_its_class() -> None:
    error = model_error.model_error("emmc-64g:used_bytes=2G", "random read")
    assert error is not None
    assert error == model_error.ModelError(**tables()["emmc"]["random read"])
    assert error.lowest <= 1 <= error.factor
    assert error.factor <= max(error.highest, 1 / error.lowest) * 1.01
    assert model_error.class_of("somebodys-own") is None
    assert model_error.model_error("somebodys-own", "random read") is None


def test_every_class_and_load_of_the_file_is_one_that_the_rows_have() -> None:
    """`make accuracy` writes the file that the package reads."""
    assert page.FILE == model_error.MODEL_ERROR_FILE
    in_file = {(name, kind) for name, kinds in tables().items() for kind in kinds if kind != "media"}
    media = {medium: name for name, of_class in page.CLASSES.items() for medium in of_class}
    assert in_file == {(media[row_.profile], row_.load) for row_ in load() if row_.load and not row_.fitted}
    assert {kind for _, kind in in_file} <= set(LOADS)


def test_only_ratios_may_differ_a_little() -> None:
    before = f"{page.HEAD}\n[emmc]\nmedia = []\n[emmc.flush]\nfactor = 3.5\nfigures = 3\n"
    assert page.differences(before, before.replace("3.5", "3.6"), 0.04) == []
    assert page.differences(before, before.replace("3.5", "4.5"), 0.04) == [
        "emmc, flush, factor is 3.5 and would be 4.5"
    ]
    assert page.differences(before, before.replace("figures = 3", "figures = 4"), 0.04)
    assert page.differences(before, before.replace("flush", "read"), 0.04)
