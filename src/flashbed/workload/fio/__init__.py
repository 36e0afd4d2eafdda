# SPDX-License-Identifier: Apache-2.0
"""fio as a workload: its parameters, its jobs, and what it leaves behind."""
