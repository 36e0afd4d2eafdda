# SPDX-License-Identifier: Apache-2.0
"""The lab's plugin of the Dask scheduler. It stores the files of orders where client and workers both reach them, so a
lost worker loses none of them.
"""

from __future__ import annotations

import asyncio
from typing import Any

from distributed import SchedulerPlugin
from distributed.scheduler import Scheduler

from flashbed.cluster.file_store import FileId, FileStore, Incoming, Piece, file_store
from flashbed.common.digest import identity
from flashbed.common.errors import FlashbedError

LACKS, KEEP, GIVE = "flashbed_lacks", "flashbed_keep", "flashbed_give"
"""The names of its handlers."""


class Keeper(SchedulerPlugin):
    """The plugin. Each client registers it; the first registration of a lab stays."""

    def __init__(self) -> None:
        self.lab = identity()
        self.name = f"flashbed {self.lab}"
        self.idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        self._file_store: FileStore = file_store()
        self._file_store.sweep()
        self._incoming: dict[tuple[str, str], Incoming] = {}
        scheduler.handlers |= {LACKS: self.lacks, KEEP: self.keep, GIVE: self.give}

    async def lacks(self, file_ids: list[list[Any]]) -> list[str]:
        """Return the digests of the files that are missing here."""
        wanted = [FileId(*fields) for fields in file_ids]
        return [file_id.digest for file_id in wanted if not await asyncio.to_thread(self._file_store.has, file_id)]

    async def keep(self, file_id: list[Any], who: str, piece: Piece) -> str:
        """Add the next piece of a file that the client `who` sends. Return an error message, or ""."""
        wanted = FileId(*file_id)
        incoming = self._incoming.setdefault((wanted.digest, who), Incoming(self._file_store, wanted))
        try:
            incoming.add(piece)
            if incoming.is_whole:
                await asyncio.to_thread(incoming.finish)  # hashing gigabytes here would block all workers
        except FlashbedError as error:
            del self._incoming[wanted.digest, who]
            return error.message
        if incoming.is_whole:
            del self._incoming[wanted.digest, who]
        return ""

    async def give(self, file_id: list[Any], offset: int) -> Piece | None:
        """Return a piece of a file; None if the file is missing here."""
        try:
            return self._file_store.piece(FileId(*file_id), offset)
        except OSError:
            return None
