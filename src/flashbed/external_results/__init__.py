# SPDX-License-Identifier: Apache-2.0
"""Taking a study's fio jobs to another computer, and bringing home what fio measured there, in real time.

What comes home stands beside the lab's results and is never mixed with them: its clock is another one.
"""
