# SPDX-License-Identifier: Apache-2.0
"""For --preload of a Dask worker: its attempts are those of made_up_cells."""

from typing import Any

from tests.unit.cluster import made_up_cells


def dask_setup(_: Any) -> None:
    made_up_cells.put_on()
