# SPDX-License-Identifier: Apache-2.0
"""Modules load after those that they need, by their own .modinfo."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.image import module_order

MODINFO = {
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
    """Return modules with their files. The module grace is built into the kernel."""
    monkeypatch.setattr(module_order, "_modinfo", lambda file: MODINFO[file.name])
    return {name: Path(name) for name in MODINFO}


def test_what_a_module_needs_is_loaded_before_it(modules: dict[str, Path]) -> None:
    assert module_order.in_order(modules, ["nfsd"]) == ["sunrpc", "lockd", "nfsd"]


def test_what_it_asks_for_softly_comes_before_it_too_and_by_another_name(modules: dict[str, Path]) -> None:
    assert module_order.in_order(modules, ["ext4"]) == ["jbd2", "crc32c_generic", "ext4"]


def test_no_module_comes_twice_and_what_is_no_file_is_left_out(modules: dict[str, Path]) -> None:
    requested = ["lockd", "md-mod", "nfsd", "grace"]
    assert module_order.in_order(modules, requested) == ["sunrpc", "lockd", "md_mod", "nfsd"]


def test_a_package_says_what_its_kernel_answers_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    modinfo = {
        "bfq": [("alias", "bfq-iosched")],
        "usb-storage": [("alias", "usb:v03F0p4002d*"), ("depends", "usbcore")],
    }
    monkeypatch.setattr(module_order, "_modinfo", lambda file: modinfo[file.stem])
    for name in modinfo:
        (tmp_path / f"{name}.ko").touch()
    (tmp_path / "modules.builtin.modinfo").write_bytes(b"mq_deadline.alias=mq-deadline-iosched\0usbcore.license=GPL\0")
    names = module_order.names_of(tmp_path)
    assert names == {
        "bfq": "bfq",
        "bfq_iosched": "bfq",
        "usb_storage": "usb_storage",
        "mq_deadline": module_order.BUILT_IN,
        "mq_deadline_iosched": module_order.BUILT_IN,
        "usbcore": module_order.BUILT_IN,
    }
    kernel = module_order.ModuleFiles(module_order.found_in(tmp_path), names)
    assert kernel.in_order(["usb-storage", "mq-deadline-iosched", "bfq-iosched"]) == ["usb_storage", "bfq"]
    with pytest.raises(LookupError, match="cfq-iosched"):
        kernel.in_order(["bfq-iosched", "cfq-iosched"])
