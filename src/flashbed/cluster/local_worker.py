# SPDX-License-Identifier: Apache-2.0
"""What a worker of `--workers local:N` loads first (Dask's preload): a key press is for the run, which ends its workers
itself, and tells of what becomes of them.
"""

from __future__ import annotations

import logging
import signal
from typing import Any


def dask_setup(_: Any) -> None:
    """Called by Dask in the worker's main thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
