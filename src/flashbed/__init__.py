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
    """The results of a study that are in the store: a row a repetition; columns as docs/studies.md tells. `study` is a
    file, the name of one in the present folder, or of a shipped study.

    Raises FlashbedError for a study that cannot be read, or a store that cannot be opened.
    """
    from importlib import import_module

    frame: pandas.DataFrame = import_module("flashbed.execution.frames").results(study)
    return frame


def requests(key: str) -> "pandas.DataFrame":
    """The requests that the block device of a repetition got, in order of arrival; `key` is its key, or the first
    digits. Columns: operation, begun_ns and done_ns since the measurement began, offset_bytes (NA of a flush),
    length_bytes.

    Raises FlashbedError for a repetition that is not in the store, or one that a [[trace]] did not make keep its log.
    """
    from importlib import import_module

    frame: pandas.DataFrame = import_module("flashbed.execution.frames").requests(key)
    return frame
