# SPDX-License-Identifier: Apache-2.0
"""What a pack does when Python starts it: the same as `flashbed verify`, with nothing installed."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from flashbed.common.errors import FlashbedError, InterruptedByUser
from flashbed.packs.verifying import How, verify


def main(pack: Path) -> int:
    """Exit status, as that of `flashbed verify`."""
    parser = argparse.ArgumentParser(
        prog=f"python3 {pack.name}", description="Runs the measurements in this pack again and compares each byte."
    )
    parser.add_argument("--cells", type=int, metavar="N", help="only so many, spread over the study")
    parser.add_argument("--jobs", type=int, metavar="N", help="guests at a time; default: one for each core")
    parser.add_argument("--limit", type=float, default=900.0, metavar="SECONDS", help="of this host's time, a guest")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where files may lie meanwhile")
    said = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    jobs = max(1, said.jobs or len(os.sched_getaffinity(0)))
    cells = None if said.cells is None else max(1, said.cells)
    try:
        verify(pack, How(cells, jobs, said.limit, said.folder), _say)
    except FlashbedError as error:
        print(error.message, file=sys.stderr)
        return error.exit_code
    return 0


def _say(text: str) -> None:
    print(text, flush=True)


def _interrupt(*_: object) -> NoReturn:
    raise InterruptedByUser("interrupted")
