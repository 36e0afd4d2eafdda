# SPDX-License-Identifier: Apache-2.0
"""Which interface joins a medium to a board. Must not know what stands behind the word."""

from flashbed.profiles.profile import Board, Medium

PLAIN = "plain"
"""Of a medium for which no real one is modelled: a disk of the emulator's own, and its driver."""


def interface(board: Board, medium: Medium) -> str:
    """The word of a medium's profile, for block media. A CPU that moves the bytes itself does so by the lab's own
    driver: each word that a real one moves would be a way out of the emulator and back.
    """
    return PLAIN if board.transfer == "pio" else medium.interface
