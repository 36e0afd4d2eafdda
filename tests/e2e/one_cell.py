# SPDX-License-Identifier: Apache-2.0
"""The body of a study of one small cell, for the fixture `study_file`."""

WRITE = """
    [axes]
    filesystem = ["ext2"]
    [workload]
    tool = "fio"
    pattern = "write"
    request = "64k"
    file = "256k"
"""
