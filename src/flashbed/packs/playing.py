# SPDX-License-Identifier: Apache-2.0
"""A recipe run on this host, with the files of a pack. Must not know what came of it elsewhere."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

from flashbed.common.errors import HostResourceError, host_refusal
from flashbed.execution.memory import Memory
from flashbed.machine import checker, qemu, sampled
from flashbed.machine.base import Outcome
from flashbed.packs import members
from flashbed.packs.recipe import EMULATOR, Check, Recipe
from flashbed.packs.unpacked import Unpacked


def play(recipe: Recipe, files: Unpacked, folder: Path, limit_s: float, stop: threading.Event, host: Memory) -> Outcome:
    """What came of it, in the empty folder `folder` or in the host's memory, within `limit_s` seconds of the host's
    time. Raises HostResourceError, InterruptedByUser.
    """
    run = partial(_played, recipe, files, limit_s, stop)
    try:
        return host.carried(recipe.content_bytes, recipe.ram_bytes, run, _is_lost) or run(folder)
    except OSError as error:
        raise host_refusal(folder, error) from None


def _is_lost(outcome: Outcome) -> bool:
    return outcome.status == "killed"


def _played(recipe: Recipe, files: Unpacked, limit_s: float, stop: threading.Event, folder: Path) -> Outcome:
    initramfs, state, data = (folder / name for name in ("initramfs", "state.bin", "data.img"))
    with initramfs.open("wb") as out:
        for _, digest in recipe.archives:
            with files.file(digest).open("rb") as part:
                shutil.copyfileobj(part, out)
    shutil.copyfile(files.file(recipe.state), state)
    _write_content(recipe.content, files, data)
    load = files.file(recipe.load) if recipe.load else None
    started = qemu.Files(files.file(recipe.kernel), initramfs, state, data, files.program(EMULATOR), load=load)
    outcome = qemu.run(recipe.machine, started, folder, limit_s, stop, samples=recipe.symbols is not None)
    outcome = sampled.named(outcome, files.file(recipe.symbols) if recipe.symbols else None)
    if outcome.status == "measured" and recipe.check is not None:
        try:
            outcome = replace(outcome, medium_check=checker.verdict(_command(recipe.check, data), data, files.programs))
        except checker.NoVerdict as error:
            return replace(outcome, status="failed", reason=f"measured, and not checked: {error}")
        except checker.Killed as error:
            return replace(outcome, status="killed", reason=str(error))
    return outcome


def _write_content(content: str | int, files: Unpacked, to: Path) -> None:
    if isinstance(content, str):
        with files.file(content).open("rb") as source, to.open("wb") as out:
            members.copy(source, out)
        return
    if shutil.disk_usage(to.parent).free < content:
        raise HostResourceError(f"{to.parent}: this disk has no room for a medium of {content} bytes; see --folder")
    with to.open("wb") as file:
        file.truncate(content)


def _command(check: Check, data: Path) -> list[str]:
    return [check.program, *(str(data) if word == Check.DATA else word for word in check.arguments)]
