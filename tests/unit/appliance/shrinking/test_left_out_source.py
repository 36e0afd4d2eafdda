# SPDX-License-Identifier: Apache-2.0
"""A kernel whose options need source that is never unpacked: the message says so, and does not blame the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashbed.common.errors import InputError, SetupError
from flashbed_appliance.shrinking import architecture, kernel_build

TARGET = architecture.named("x86_64")


def _says(output: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> None:
        raise SetupError(f"`make` failed with exit status 2:\n{output}\n")

    monkeypatch.setattr(kernel_build, "run", run)
    (folder / ".config").write_text("")
    kernel_build.compile_kernel(TARGET, folder, folder, lambda: None)


@pytest.mark.parametrize("name", ["sound/core/sound", "drivers/gpu/drm/amd/main", "drivers/staging/greybus/spi"])
def test_it_names_the_source(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = f"make[3]: *** No rule to make target '{name}.o', needed by 'built-in.a'.  Stop."
    with pytest.raises(InputError, match=rf"compiles {name}\.c, which is not in the part of Linux that"):
        _says(output, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "output",
    ["No rule to make target 'fs/inode.o', needed by 'fs/built-in.a'.", "No rule to make target 'x'.", "cc1: error"],
)
def test_all_else_is_told_as_it_was(output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SetupError, match="failed with exit status 2"):
        _says(output, tmp_path, monkeypatch)
