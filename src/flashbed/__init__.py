# SPDX-License-Identifier: Apache-2.0
"""flashbed: a test bed for embedded-Linux storage stacks, in virtual time, on modelled media.

The functions here are for notebooks and scripts; they load nothing until they are called.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

__all__ = ["requests", "results"]


def results(study: str | Path) -> "pandas.DataFrame":
    """Return the stored results of a study, with a row for each repetition. docs/studies.md lists the columns. `study`
    is a file, the name of a file in the current directory, or the name of a shipped study.

    Raises FlashbedError for a study that cannot be read, or a store that cannot be opened.
    """
    from importlib import import_module

    frame: pandas.DataFrame = import_module("flashbed.execution.frames").results(study)
    return frame


def requests(key: str) -> "pandas.DataFrame":
    """Return the requests to the block device of a repetition, in order of arrival. `key` is its key, or the first
    digits of it. Columns: operation, begun_ns and done_ns since the measurement began, offset_bytes (NA for a flush),
    length_bytes.

    Raises FlashbedError if the repetition is not in the store, or has no log because its study had no [[trace]].
    """
    from importlib import import_module

    frame: pandas.DataFrame = import_module("flashbed.execution.frames").requests(key)
    return frame
