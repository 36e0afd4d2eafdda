# SPDX-License-Identifier: Apache-2.0
"""Media that are kept or brought into a condition on this host, and the parameters of their profiles."""
