# SPDX-License-Identifier: Apache-2.0
"""The files of a pack in a folder of this host, and its programs so that they start there, whatever this host has."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from flashbed.common.errors import host_refusal
from flashbed.packs.pack_file import Pack, Program

_STARTS = """#!/bin/sh
unset LD_PRELOAD LD_AUDIT
exec {loader} --inhibit-cache --library-path {libraries} --argv0 "$0" {program} "$@"
"""
"""What this host has loaded into its own programs need not fit to these."""


class Unpacked:
    """What was taken out of a pack so far."""

    def __init__(self, pack: Pack, folder: Path) -> None:
        """`folder` is empty, and is this object's alone."""
        self._pack = pack
        self._files, self.programs = folder / "files", folder / "programs"
        """`programs` has a start script for each program, by its name: a folder to look for them in."""
        self._files.mkdir()
        self.programs.mkdir()

    def take(self, digests: Iterable[str], programs: Iterable[str]) -> None:
        """Raises InputError for what cannot be read, HostResourceError for a host that refuses it."""
        chosen = {name: self._pack.program(name) for name in programs}
        wanted = dict.fromkeys([*digests, *(digest for program in chosen.values() for digest in program.files)])
        try:
            for digest in wanted:
                self._pack.unpack(digest, self.file(digest))
            for name, program in chosen.items():
                self._start_script(name, program)
        except OSError as error:
            raise host_refusal(self._files, error) from None

    def file(self, digest: str) -> Path:
        return self._files / digest

    def program(self, name: str) -> Path:
        return self.programs / name

    def _start_script(self, name: str, program: Program) -> None:
        its = self.program(name)
        self.file(program.program).chmod(0o755)
        if program.loader is None:
            its.symlink_to(self.file(program.program))
            return
        self.file(program.loader).chmod(0o755)
        libraries = self.programs / f".{name}"
        libraries.mkdir()
        for library, digest in program.libraries.items():
            (libraries / library).symlink_to(self.file(digest))
        words = {"loader": self.file(program.loader), "libraries": libraries, "program": self.file(program.program)}
        its.write_text(_STARTS.format(**{name: shlex.quote(str(path)) for name, path in words.items()}))
        its.chmod(0o755)
