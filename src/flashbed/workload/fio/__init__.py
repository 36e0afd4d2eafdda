# SPDX-License-Identifier: Apache-2.0
"""The workload fio: its parameters, its jobs, and its output."""
