# SPDX-License-Identifier: Apache-2.0
"""Choose the interface between a medium and a board. Must not know what an interface consists of."""

from flashbed.profiles.profile import Board, Medium

PLAIN = "plain"
"""The interface of a medium without a modelled one: the emulator's own disk and its driver."""


def interface(board: Board, medium: Medium) -> str:
    """Return the interface of a block medium.

    If the CPU moves the data itself, use the lab's own driver: with a real one, each word moved would leave the
    emulated CPU and return.
    """
    return PLAIN if board.transfer == "pio" else medium.interface
