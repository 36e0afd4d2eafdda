# SPDX-License-Identifier: Apache-2.0
"""Packs: a study's results with everything that they depend on, in one file. The room replay runs a pack again."""
