# SPDX-License-Identifier: Apache-2.0
"""The appliance: a small NFS server, its commands, its settings and its machine."""
