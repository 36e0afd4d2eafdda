# SPDX-License-Identifier: Apache-2.0
"""What a guest after a power cut shows, and the moments of cuts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flashbed.execution.cut_campaign import CampaignError, Span, judged
from flashbed.guest_output import power_cuts
from flashbed.guest_output.assessment import Status
from flashbed.guest_output.power_cuts import CHECK_LOG, CHECK_STATUS, MOUNT_LOG, MOUNTED_AS, CutOutcome
from flashbed.guest_output.system_calls import CALL_NOTES, trimmed
from flashbed.machine.outcomes import Outcome
from tests.support.made_up_calls import MadeUpCalls, Task

MOUNTED, REPAIRED = {MOUNTED_AS: power_cuts.AS_IT_WAS}, {MOUNTED_AS: power_cuts.REPAIRED}


@pytest.mark.parametrize(
    ("after", "outcome", "note"),
    [
        (Outcome(Status.MEASURED, files={**MOUNTED, CHECK_STATUS: b"0\n"}), CutOutcome.SURVIVED, ""),
        (
            Outcome(Status.MEASURED, files={**REPAIRED, CHECK_STATUS: b"0\n"}),
            CutOutcome.REPAIRED,
            "",
        ),
        (
            Outcome(
                Status.MEASURED,
                files={**MOUNTED, CHECK_STATUS: b"1\n", CHECK_LOG: b"a\nrow 3 lost\n"},
            ),
            CutOutcome.LOST,
            "row 3 lost",
        ),
        (
            Outcome(Status.MEASURED, files={**REPAIRED, CHECK_STATUS: b"2\n"}),
            CutOutcome.UNREADABLE,
            "",
        ),
        (
            Outcome(
                Status.MEASURED,
                files={**MOUNTED, CHECK_STATUS: b"127\n", CHECK_LOG: b"not found"},
            ),
            CutOutcome.UNDECIDED,
            "exit status 127: not found",
        ),
        (Outcome(Status.MEASURED, files=MOUNTED), CutOutcome.UNDECIDED, "exit status : "),
        (
            Outcome(Status.MEASURED, files={MOUNT_LOG: b"mount: I/O error\n"}),
            CutOutcome.REFUSED,
            "mount: I/O error",
        ),
        (
            Outcome(Status.FAILED, "step module: no", files={"failed": b"module: 1"}),
            CutOutcome.REFUSED,
            "step module: no",
        ),
        (Outcome(Status.FAILED, "kernel panic", files=MOUNTED), CutOutcome.CRASHED, "kernel panic"),
    ],
)
def test_judged(after: Outcome, outcome: CutOutcome, note: str) -> None:
    assert judged(after) == (outcome, note)


def uncut(arming_ns: int, armed_ns: int, measured_ns: int) -> Outcome:
    clocks = {"arming": arming_ns, "armed": armed_ns, "measured": measured_ns}
    return Outcome(Status.MEASURED, files={f"clock.{mark}": f"{ns} {ns}\n".encode() for mark, ns in clocks.items()})


def test_moments_are_spread_over_the_command_and_follow_from_the_seed() -> None:
    span = Span.of(uncut(1000, 1100, 11_200))
    moments = [span.moment(1, number) for number in range(1000)]
    # From the earliest arming on: then no cut comes before the command begins, nor after it ended
    assert {moment.after_ns // 1000 for moment in moments} == set(range(11))
    assert min(moment.after_ns for moment in moments) >= 100
    assert max(moment.after_ns for moment in moments) < 11_200 - 1100
    assert moments[:10] == [span.moment(1, number) for number in range(10)]
    assert moments[0] != span.moment(2, 0)
    assert all(0 <= moment.seed < 2**64 for moment in moments)


def acknowledging() -> tuple[MadeUpCalls, Task, int]:
    """Return a guest whose command has acknowledged a line and changed nothing, its process, and when the cut was
    armed, ns.
    """
    guest = MadeUpCalls()
    program = guest.measure()
    armed_ns = guest.now_ns
    guest.open(program, "/out/acknowledged", 3)
    guest.write(program, 3, b"x")
    return guest, program, armed_ns


def ended(guest: MadeUpCalls, armed_ns: int) -> Outcome:
    outcome = uncut(armed_ns - 100, armed_ns, guest.now_ns)
    return replace(outcome, files={**outcome.files, CALL_NOTES: trimmed(guest.data())})


def test_no_moment_comes_before_the_command_has_changed_anything() -> None:
    guest, program, armed_ns = acknowledging()
    guest.open(program, "/mnt/rows", 4)
    guest.now_ns += 5000
    guest.write(program, 4, b"x")
    changed_ns = guest.now_ns
    guest.now_ns += 1000
    guest.sync(program)
    span = Span.of(ended(guest, armed_ns))
    moments = [span.moment(1, number) for number in range(200)]
    assert span.changed_ns == changed_ns
    assert min(moment.after_ns for moment in moments) >= changed_ns - span.arming_ns
    assert max(moment.after_ns for moment in moments) < span.measured_ns - span.armed_ns


def test_a_command_without_time_is_refused() -> None:
    with pytest.raises(CampaignError, match="its command took 50 ns, too short for a power cut"):
        Span.of(uncut(1000, 1100, 1150))


def test_a_command_that_changes_nothing_is_refused() -> None:
    """It would survive every cut."""
    guest, program, armed_ns = acknowledging()
    guest.now_ns += 5000
    guest.sync(program)
    with pytest.raises(CampaignError, match="changes no file on the medium"):
        Span.of(ended(guest, armed_ns))
