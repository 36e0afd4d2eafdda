# SPDX-License-Identifier: Apache-2.0
"""A study's results with all that they depend on, in one file; and that file run again elsewhere, on bare Python.

What runs again goes into the file itself, so it needs nothing but Python's own library: TRAVELS in making.py names it.
"""
