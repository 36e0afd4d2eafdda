# SPDX-License-Identifier: Apache-2.0
"""What a repetition measured, as a type: how it is kept, worked out of what a guest left, and its columns in tables."""
