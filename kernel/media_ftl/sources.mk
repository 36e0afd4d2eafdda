# SPDX-License-Identifier: GPL-2.0-only
# The layer's objects, without their ending: read by the module's Kbuild and by tests/Makefile.
SFTL := block_pool copy torn layer merge restart scan soft_nand tag transfer
