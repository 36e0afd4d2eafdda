# SPDX-License-Identifier: Apache-2.0
"""The parts that a study puts together: boards, media, file systems, translation layers, schedulers; found and read."""
