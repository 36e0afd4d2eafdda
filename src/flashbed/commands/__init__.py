# SPDX-License-Identifier: Apache-2.0
"""The commands: parse, call, print. This room also has their output if it is more than a line.

A command imports a heavy room inside its function, so that `flashbed --help` and a cached run answer at once.
"""
