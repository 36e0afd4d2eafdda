# SPDX-License-Identifier: Apache-2.0
"""A small NFS server in memory that can delay, drop and answer wrongly by order, and counts what it is asked."""
