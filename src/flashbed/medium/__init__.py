# SPDX-License-Identifier: Apache-2.0
"""Keep media on this host, bring them into a condition, and check the parameters of their profiles."""
