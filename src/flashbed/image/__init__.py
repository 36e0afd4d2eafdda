# SPDX-License-Identifier: Apache-2.0
"""Fetch, build and cache what runs a cell: kernel, modules, programs, the emulator.

This room must not know cells. No product depends on when or where it was built.
"""

from flashbed.image.stores import open_cache

__all__ = ["open_cache"]
