# SPDX-License-Identifier: Apache-2.0
"""Read what a guest writes beside its tool's output, and compute metrics from it."""
