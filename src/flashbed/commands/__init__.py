# SPDX-License-Identifier: Apache-2.0
"""The commands: parse, call, print; and what they show, where that is more than a line."""
