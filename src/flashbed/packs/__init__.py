# SPDX-License-Identifier: Apache-2.0
"""A study's results with all that they depend on, in one file. What runs that file again is the room replay."""
