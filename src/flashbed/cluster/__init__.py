# SPDX-License-Identifier: Apache-2.0
"""Run a study's cells on a Dask cluster. Knows how attempts are made; must not know studies or the store."""
