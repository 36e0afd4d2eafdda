# SPDX-License-Identifier: Apache-2.0
"""The preload module of a Dask worker that makes the attempts of made_up_cells."""

from typing import Any

from tests.unit.cluster import made_up_cells


def dask_setup(_: Any) -> None:
    made_up_cells.install()
