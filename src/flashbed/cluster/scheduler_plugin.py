# SPDX-License-Identifier: Apache-2.0
"""What the scheduler of a cluster does for the lab: it keeps the files of orders, where client and workers both reach
it. A worker that is lost takes none of them along.
"""

from __future__ import annotations

import asyncio
from typing import Any

from distributed import SchedulerPlugin
from distributed.scheduler import Scheduler

from flashbed.cluster import lab
from flashbed.cluster.file_store import FileId, FileStore, Incoming, Piece, file_store
from flashbed.common.errors import FlashbedError

LACKS, KEEP, GIVE = "flashbed_lacks", "flashbed_keep", "flashbed_give"
"""What it is asked: the names of its handlers."""


class Keeper(SchedulerPlugin):
    """Registered by each client; the first one that is of this lab stays."""

    def __init__(self) -> None:
        self.lab = lab.identity()
        self.name = f"flashbed {self.lab}"
        self.idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        self._file_store: FileStore = file_store()
        self._file_store.sweep()
        self._incoming: dict[tuple[str, str], Incoming] = {}
        scheduler.handlers |= {LACKS: self.lacks, KEEP: self.keep, GIVE: self.give}

    async def lacks(self, file_ids: list[list[Any]]) -> list[str]:
        """The digests of those files that are to be brought."""
        wanted = [FileId(*fields) for fields in file_ids]
        return [one.digest for one in wanted if not await asyncio.to_thread(self._file_store.has, one)]

    async def keep(self, file_id: list[Any], who: str, piece: Piece) -> str:
        """The next piece of a file, of whoever brings it; what is wrong, if anything is."""
        wanted = FileId(*file_id)
        incoming = self._incoming.setdefault((wanted.digest, who), Incoming(self._file_store, wanted))
        try:
            incoming.add(piece)
            if incoming.is_whole:
                await asyncio.to_thread(incoming.finish)  # to hash gigabytes would keep all workers waiting
        except FlashbedError as error:
            del self._incoming[wanted.digest, who]
            return error.message
        if incoming.is_whole:
            del self._incoming[wanted.digest, who]
        return ""

    async def give(self, file_id: list[Any], offset: int) -> Piece | None:
        """A piece of a file; None if it is not here."""
        try:
            return self._file_store.piece(FileId(*file_id), offset)
        except OSError:
            return None
