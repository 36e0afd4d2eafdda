# SPDX-License-Identifier: Apache-2.0
"""A pack run again, here or elsewhere: on bare Python, for all of this goes into the pack (TRAVELS in packs/making.py).

A contract in pyproject.toml holds it to Python's own library, and to those modules of other rooms that go along.
"""
