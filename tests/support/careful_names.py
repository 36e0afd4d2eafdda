# SPDX-License-Identifier: Apache-2.0
"""A client of the appliance that makes, renames and removes files and directories, and records the answers: a change of
a directory is on the disk before the call is answered (RFC 1813, 4.8).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.nfs_calls import NO_ENTRY, OK, Server

NAMES = [b"name %d" % number for number in range(12)]
"""Few names, so that many renames meet an existing name."""


@dataclass(frozen=True)
class Entry:
    is_folder: bool
    handle: bytes | None
    """None as long as the server has not returned it."""


State = dict[bytes, Entry]
"""Entries by name."""


@dataclass
class Names:
    """The names in one directory of a server."""

    server: Server
    dice: random.Random
    folder: bytes
    sure: State = field(default_factory=dict)
    maybe: State | None = None
    """The entries if the unanswered call was carried out."""

    answered: int = 0

    def change(self) -> None:
        """Make one call. If it raises, it is unknown whether the server carried it out."""
        name, other = self.dice.sample(NAMES, 2)
        entry, over = self.sure.get(name), self.sure.get(other)
        if not entry:
            self._make(name)
        elif self.dice.random() < 0.4:
            self._call(self._without(name), lambda: self.server.remove(self.folder, name, is_folder=entry.is_folder))
        elif not over or over.is_folder == entry.is_folder:
            after = self._without(name) | {other: entry}
            self._call(after, lambda: self.server.rename(self.folder, name, other))

    def look(self) -> None:
        """Check that all answered changes are there, with their handles, and the unanswered one wholly or not at
        all.
        """
        answers = {name: self.server.look_up(self.folder, name) for name in NAMES}
        assert {status for status, _ in answers.values()} <= {OK, NO_ENTRY}
        present = {name: handle for name, (status, handle) in answers.items() if status == OK}
        states = [state for state in (self.sure, self.maybe) if state is not None and _agrees(state, present)]
        assert states, f"there is {present}, there should be {self.sure} or {self.maybe}"
        self.sure = {name: Entry(entry.is_folder, present[name]) for name, entry in states[0].items()}
        self.maybe = None

    def _make(self, name: bytes) -> None:
        is_folder = self.dice.random() < 0.3
        make = self.server.make_folder if is_folder else self.server.create

        def called() -> int:
            status, handle = make(self.folder, name)
            self.maybe = self.sure | {name: Entry(is_folder, handle)}
            return status

        self._call(self.sure | {name: Entry(is_folder, None)}, called)

    def _call(self, after: State, call: Callable[[], int]) -> None:
        self.maybe = after
        assert call() == OK
        self.sure, self.maybe = self.maybe, None
        self.answered += 1

    def _without(self, name: bytes) -> State:
        return {other: entry for other, entry in self.sure.items() if other != name}


def _agrees(state: State, present: dict[bytes, bytes]) -> bool:
    return state.keys() == present.keys() and all(
        entry.handle in (None, present[name]) for name, entry in state.items()
    )
