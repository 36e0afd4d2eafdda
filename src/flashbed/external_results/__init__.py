# SPDX-License-Identifier: Apache-2.0
"""Export a study's fio jobs to another computer, and import fio's results from there.

Imported results are shown beside the lab's and never mixed with them: they are in real time, the lab's in virtual time.
"""
