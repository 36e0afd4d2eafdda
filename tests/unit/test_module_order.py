# SPDX-License-Identifier: Apache-2.0
"""Modules load behind what they need, as they say it themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.image import module_order

SAID = {
    "nfsd": [("depends", "lockd,sunrpc")],
    "lockd": [("depends", "sunrpc,grace")],
    "sunrpc": [("depends", "")],
    "ext4": [("depends", "jbd2"), ("softdep", "pre: crc32c post: later")],
    "jbd2": [("depends", "")],
    "crc32c_generic": [("depends", ""), ("alias", "crc32c")],
    "later": [],
    "md_mod": [("depends", "")],
}


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Such as lie in files; grace is in the kernel."""
    monkeypatch.setattr(module_order, "_said", lambda file: SAID[file.name])
    return {name: Path(name) for name in SAID}


def test_what_a_module_needs_is_loaded_before_it(modules: dict[str, Path]) -> None:
    assert module_order.in_order(modules, ["nfsd"]) == ["sunrpc", "lockd", "nfsd"]


def test_what_it_asks_for_softly_comes_before_it_too_and_by_another_name(modules: dict[str, Path]) -> None:
    assert module_order.in_order(modules, ["ext4"]) == ["jbd2", "crc32c_generic", "ext4"]


def test_no_module_comes_twice_and_what_is_no_file_is_left_out(modules: dict[str, Path]) -> None:
    wanted = ["lockd", "md-mod", "nfsd", "grace"]
    assert module_order.in_order(modules, wanted) == ["sunrpc", "lockd", "md_mod", "nfsd"]
