# SPDX-License-Identifier: Apache-2.0
"""Run a recipe on this host. The pack's files are in a directory; its programs start from there with their own
libraries, whatever this host has. Must not know the recipe's results elsewhere.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from flashbed.common.errors import HostResourceError, host_refusal
from flashbed.execution import cut_campaign
from flashbed.execution.beginnings import Beginnings, Begun, Guest
from flashbed.execution.cut_campaign import Campaign, CampaignError, cut_guests
from flashbed.execution.memory import Memory
from flashbed.guest_output.assessment import Status
from flashbed.guest_output.power_cuts import acknowledged
from flashbed.machine import checker, outcomes, qemu
from flashbed.machine.beginning import Beginning
from flashbed.machine.outcomes import Outcome
from flashbed.replay import pack_file
from flashbed.replay.pack_file import Pack, Program
from flashbed.replay.recipe import JOB, QEMU_PROGRAM, Check, Cuts, Recipe

STATE, DATA = "state.bin", "data.img"
"""The files of a guest's medium, in its directory: the names of profiles/stored_medium.py, which no pack contains. The
checker's output, which is compared, names them.
"""

_STARTS = """#!/bin/sh
unset LD_PRELOAD LD_AUDIT
exec {loader} --inhibit-cache --library-path {libraries} --argv0 "$0" {program} "$@"
"""
"""Libraries that this host preloads into its own programs may not fit the pack's."""


class Unpacked:
    """The files that were unpacked from a pack so far."""

    def __init__(self, pack: Pack, folder: Path) -> None:
        """Make the places of files and programs in `folder`, an empty directory that only this object uses."""
        self._pack = pack
        self._files, self.programs = folder / "files", folder / "programs"
        """`programs` has a start script for each program, by its name; it serves as a PATH."""
        self._files.mkdir()
        self.programs.mkdir()

    def take(self, digests: Iterable[str], programs: Iterable[str]) -> None:
        """Unpack files and programs. Raises InputError for an unreadable member, and HostResourceError."""
        chosen = {name: self._pack.program(name) for name in programs}
        digests_needed = dict.fromkeys([*digests, *(digest for program in chosen.values() for digest in program.files)])
        try:
            for digest in digests_needed:
                self._pack.unpack(digest, self.file(digest))
            for name, program in chosen.items():
                self._start_script(name, program)
        except OSError as error:
            raise host_refusal(self._files, error) from None

    def file(self, digest: str) -> Path:
        """Return the path of the file with this digest."""
        return self._files / digest

    def program(self, name: str) -> Path:
        """Return the path at which a program is started."""
        return self.programs / name

    def _start_script(self, name: str, program: Program) -> None:
        script = self.program(name)
        self.file(program.program).chmod(0o755)
        if program.loader is None:
            script.symlink_to(self.file(program.program))
            return
        self.file(program.loader).chmod(0o755)
        libraries = self.programs / f".{name}"
        libraries.mkdir()
        for library, digest in program.libraries.items():
            (libraries / library).symlink_to(self.file(digest))
        words = {"loader": self.file(program.loader), "libraries": libraries, "program": self.file(program.program)}
        script.write_text(_STARTS.format(**{name: shlex.quote(str(path)) for name, path in words.items()}))
        script.chmod(0o755)


def play(
    recipe: Recipe,
    files: Unpacked,
    work: Path,
    limit_s: float,
    stop: threading.Event,
    host: Memory,
    beginnings: Beginnings,
) -> Outcome:
    """Run a recipe within `limit_s` host seconds and return its outcome. Its files are in the directory `work` or in
    the host's memory. If its beginning fails, or if it is killed after that, it is run from power-on. Raises
    HostResourceError, InterruptedByUser.
    """
    begin = partial(_begin, recipe, _observers(recipe), files)
    guest = Guest(recipe.key, recipe.beginning, recipe.content_bytes, recipe.ram_bytes, begin)
    guests = cut_campaign.GUESTS if recipe.cuts else 1

    def once(begun: Beginning | None) -> Outcome:
        played = partial(_played, recipe, files, limit_s, stop, begun)
        with tempfile.TemporaryDirectory(dir=work) as folder:
            content_bytes, ram_bytes = guests * recipe.content_bytes, guests * recipe.ram_bytes
            return host.carried(content_bytes, ram_bytes, played, _is_lost) or played(Path(folder))

    def run(begun: Begun) -> Outcome:
        if isinstance(begun, Beginning) and not _is_lost(outcome := once(begun)):
            return outcome
        return once(None)

    try:
        return beginnings.carry(guest, host, limit_s, stop, run)
    except OSError as error:
        raise host_refusal(work, error) from None


def _is_lost(outcome: Outcome) -> bool:
    return outcome.status == Status.KILLED


def _begin(
    recipe: Recipe, noted: qemu.Observers, files: Unpacked, folder: Path, limit_s: float, stop: threading.Event
) -> Beginning | Outcome:
    (folder / qemu.LOAD_ARCHIVE).touch()
    written = _written(recipe, files, folder, folder / qemu.LOAD_ARCHIVE)
    begun = Beginning(recipe.machine, written, folder, observers=noted)
    return begun.reach(limit_s, stop) or begun


def _played(
    recipe: Recipe, files: Unpacked, limit_s: float, stop: threading.Event, begun: Beginning | None, folder: Path
) -> Outcome:
    run = _uncut if recipe.cuts is None else partial(_cut, recipe.cuts)
    outcome = run(recipe, files, limit_s, stop, begun, folder)
    outcome = outcomes.with_functions(outcome, files.file(recipe.symbols) if recipe.symbols else None)
    if outcome.status == Status.MEASURED and recipe.check is not None:
        data = folder / DATA
        outcome = checker.checked(outcome, _command(recipe.check, data), data, files.programs)
    return outcome


def _uncut(
    recipe: Recipe, files: Unpacked, limit_s: float, stop: threading.Event, begun: Beginning | None, folder: Path
) -> Outcome:
    load = files.file(recipe.load) if recipe.load else None
    if begun is not None and load is not None:
        return begun.run(load.read_bytes(), folder, limit_s, stop)
    started = _written(recipe, files, folder, load)
    return qemu.run(recipe.machine, started, folder, limit_s, stop, observers=_observers(recipe))


def _cut(
    cuts: Cuts,
    recipe: Recipe,
    files: Unpacked,
    limit_s: float,
    stop: threading.Event,
    begun: Beginning | None,
    folder: Path,
) -> Outcome:
    """Run the guest, and those whose power is cut, and return the outcome."""
    assert recipe.load is not None  # recipe.check_contents
    archives = tuple((name, cuts.job if name == JOB else digest) for name, digest in recipe.archives)
    checks = {name: files.file(digest).read_bytes() for name, digest in cuts.checks}
    load = files.file(recipe.load).read_bytes()

    def begin(place: Path) -> Beginning | Outcome:
        return _begin(recipe, _observers(recipe), files, place, limit_s, stop)

    def begin_again(place: Path) -> Beginning | Outcome:
        return _begin(replace(recipe, archives=archives), qemu.NO_OBSERVERS, files, place, limit_s, stop)

    try:
        with cut_guests(begin, begin_again, begun, load, checks, folder, limit_s, stop) as guests:
            uncut = _uncut(recipe, files, limit_s, stop, guests.begun, folder)
            if uncut.status != Status.MEASURED:
                return uncut
            return Campaign(guests, uncut, cuts.seed, cuts.number, acknowledged, folder).run()
    except CampaignError as error:
        return error.outcome


def _observers(recipe: Recipe) -> qemu.Observers:
    return qemu.Observers(samples=recipe.symbols is not None, calls=recipe.calls)


def _written(recipe: Recipe, files: Unpacked, folder: Path, load: Path | None) -> qemu.Files:
    """Write the files that a guest starts from into `folder`, with a medium of its own."""
    initramfs, state, data = (folder / name for name in ("initramfs", STATE, DATA))
    with initramfs.open("wb") as out:
        for _, digest in recipe.archives:
            with files.file(digest).open("rb") as part:
                shutil.copyfileobj(part, out)
    shutil.copyfile(files.file(recipe.state), state)
    _write_content(recipe.content, files, data)
    kernel, program = files.file(recipe.kernel), files.program(QEMU_PROGRAM)
    root = files.file(recipe.root) if recipe.root else None
    return qemu.Files(kernel, initramfs, state, data, program, load=load, root=root)


def _write_content(content: str | int, files: Unpacked, to: Path) -> None:
    if isinstance(content, str):
        with files.file(content).open("rb") as source, to.open("wb") as out:
            pack_file.copy_with_holes(source, out)
        return
    if shutil.disk_usage(to.parent).free < content:
        raise HostResourceError(f"{to.parent}: no room for a medium of {content} bytes; give a --folder with more room")
    with to.open("wb") as file:
        file.truncate(content)


def _command(check: Check, data: Path) -> list[str]:
    return [check.program, *(str(data) if word == Check.DATA else word for word in check.arguments)]
