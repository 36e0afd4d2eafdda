# SPDX-License-Identifier: Apache-2.0
"""The commands: parse, call, print; and what they show, where that is more than a line.

A command imports a heavy room in its function, so that `flashbed --help` and a cached run answer at once.
"""
