# SPDX-License-Identifier: Apache-2.0
"""The emulator's notes of system calls, and what is kept of them."""

from __future__ import annotations

import pytest

from flashbed.guest_output import processes, system_calls
from flashbed.guest_output.system_calls import Flag, Note, Number
from tests.support.made_up_calls import NOTE, MadeUpCalls


def numbers(data: bytes) -> list[int]:
    return [note.number for note in system_calls.notes(data)]


def test_a_note_has_the_format_of_the_emulator() -> None:
    data = NOTE.pack(*range(1, 6), *range(11, 17), -2, 56, Flag.ELSEWHERE, 3, 2) + b"a\0"
    (note,) = system_calls.notes(data)
    assert note == Note(1, 2, 3, 4, 5, 11, 12, 13, 14, 15, 16, -2, 56, 1, 3, b"a\0")
    assert NOTE.size == 104


@pytest.mark.parametrize("cut", [1, 50, 103, 105])
def test_a_damaged_file_is_told_once(cut: int) -> None:
    data = NOTE.pack(*range(1, 6), *range(11, 17), -2, 56, 0, 3, 2) + b"a\0"
    with pytest.raises(ValueError, match=r"^calls\.bin: "):
        system_calls.notes(data[:cut])


def test_a_note_that_ends_before_it_begins_is_none() -> None:
    data = NOTE.pack(9, 8, *[0] * 9, 0, 56, 0, 0, 0)
    with pytest.raises(ValueError, match=r"calls\.raw: the note at byte 0 is damaged"):
        system_calls.trimmed(data)


def test_of_the_time_before_the_measurement_what_says_who_is_there_stays() -> None:
    guest = MadeUpCalls()
    gone = guest.fork(guest.runner)
    guest.open(gone, "/etc/x", 3)
    guest.exit(gone)
    stays = guest.fork(guest.runner)
    guest.open(stays, "/mnt/log", 3)
    guest.write(stays, 3, b"before")
    guest.call(stays, Number.FAULT)
    measured = guest.measure()
    guest.write(stays, 3, b"in it")
    guest.sync(measured)
    guest.write(guest.runner, 1, b"flashbed: space\n")
    assert numbers(system_calls.trimmed(guest.data())) == [
        *(Number.BORN, Number.CLONE, Number.BORN, Number.EXIT_GROUP, Number.CLONE, Number.BORN, Number.OPENAT),
        *(Number.WRITE, Number.CLONE, Number.BORN, Number.WRITE, Number.EXIT_GROUP, Number.WAIT4, Number.WRITE),
    ]


def test_a_call_of_the_measurement_that_ended_later_stays() -> None:
    guest = MadeUpCalls()
    measured = guest.measure()
    other = guest.fork(measured)
    begun = guest.begin(other, Number.WRITE, 3)
    guest.sync(measured)
    guest.call(other, Number.GETCWD)
    guest.end(begun, 5)
    kept = system_calls.notes(system_calls.trimmed(guest.data()))
    assert [note.number for note in kept[-2:]] == [Number.WRITE, Number.WRITE]
    assert kept[-1].result == 5


def test_only_the_runners_lines_begin_and_end_the_measurement() -> None:
    """Programs may write the same words."""
    guest = MadeUpCalls()
    other = guest.fork(guest.runner)
    guest.write(other, 1, b"flashbed: measure\n")
    measured = guest.measure()
    began_ns = guest.now_ns
    guest.write(measured, 1, b"flashbed: sync\n")
    guest.write(measured, 3, b"x")
    guest.sync(measured)
    data = system_calls.trimmed(guest.data())
    assert [note.text for note in system_calls.notes(data) if note.number == Number.WRITE] == [
        *(b"flashbed: measure\n", b"flashbed: sync\n", b"x", b"flashbed: sync\n")
    ]
    window = system_calls.window(system_calls.notes(data))
    assert window.begin_ns < began_ns < window.end_ns == guest.now_ns
    assert window.runner == guest.runner.stack


def test_a_guest_that_did_not_get_to_its_measurement_has_no_notes_of_it() -> None:
    assert system_calls.trimmed(MadeUpCalls().data()) == b""
    with pytest.raises(ValueError, match="has no beginning of the measurement"):
        system_calls.window(system_calls.notes(MadeUpCalls().data()))


def test_notes_of_a_guest_that_ended_in_its_measurement_go_to_its_end() -> None:
    guest = MadeUpCalls()
    measured = guest.measure()
    guest.write(measured, 1, b"x", took_ns=50)
    window = system_calls.window(system_calls.notes(system_calls.trimmed(guest.data())))
    assert window.end_ns == guest.now_ns


def test_trimmed_notes_say_the_same_of_the_measurement_as_all() -> None:
    guest = MadeUpCalls()
    guest.open(guest.runner, "/mnt/inherited", 5)
    measured = guest.measure()
    guest.write(measured, 5, b"x")
    guest.sync(measured)
    everything, kept = (system_calls.notes(data) for data in (guest.data(), system_calls.trimmed(guest.data())))
    from_ns = system_calls.window(kept).begin_ns
    files = [[(call.note, call.files) for call in processes.follow(of, from_ns).calls] for of in (everything, kept)]
    assert files[0] == files[1]
    assert files[0][1][1][0].path == "/mnt/inherited"
