# SPDX-License-Identifier: Apache-2.0
"""Traces of system calls: the lab's own format, and what is imported into it."""
