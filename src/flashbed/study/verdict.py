# SPDX-License-Identifier: Apache-2.0
"""What may become of a claim."""

from enum import StrEnum


class Verdict(StrEnum):
    """What may become of a claim. The values are keys of a claim's `why`; claim_words.py has the words for people."""

    HOLDS = "holds"
    REFUTED = "does not hold"
    WITHIN_ERROR = "within the model's error"
    """Real devices that differ from the models by no more than the models' stated error decide it either way."""
    UNDECIDED = "undecided"
    """The seeds disagree."""
    UNKNOWN = "cannot be decided"
    """Something was not measured."""
