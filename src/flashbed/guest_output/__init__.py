# SPDX-License-Identifier: Apache-2.0
"""What a guest writes beside its tool's output, by name, and the metrics made of it."""
