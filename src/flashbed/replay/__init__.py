# SPDX-License-Identifier: Apache-2.0
"""Run a pack again, on any host with bare Python: this room goes into the pack (TRAVELS in packs/making.py).

A contract in pyproject.toml restricts its imports to Python's standard library and to the modules that go into a pack.
"""
