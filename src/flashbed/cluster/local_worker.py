# SPDX-License-Identifier: Apache-2.0
"""The preload module of a worker of `--workers local:N`. The worker ignores Ctrl-C: the run ends its workers itself,
and reports on them.
"""

from __future__ import annotations

import logging
import signal
from typing import Any


def dask_setup(_: Any) -> None:
    """Ignore SIGINT, and keep Dask's messages off the terminal. Dask calls this in the worker's main thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
