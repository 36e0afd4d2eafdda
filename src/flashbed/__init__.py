# SPDX-License-Identifier: Apache-2.0
"""flashbed: a test bed for embedded-Linux storage stacks, in virtual time, on modelled media.

The one function here is for notebooks and scripts; it loads nothing until it is called.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

__all__ = ["results"]


def results(study: str | Path) -> "pandas.DataFrame":
    """The results of a study that are in the store: a row a repetition; columns as docs/studies.md tells.

    Raises FlashbedError for a study that cannot be read, or a store that cannot be opened.
    """
    from importlib import import_module

    frame: pandas.DataFrame = import_module("flashbed.run").results(Path(study))
    return frame
