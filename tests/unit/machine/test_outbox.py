# SPDX-License-Identifier: Apache-2.0
"""One reader reads the results of guests, and trusts nothing in them."""

from __future__ import annotations

import io
import resource
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashbed.common import foreign
from flashbed.machine import outbox


def archive(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.GNU_FORMAT) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as made:
        for member, data in members:
            member.size = member.size or len(data)
            made.addfile(member, io.BytesIO(data.ljust(member.size, b"\0")))
    return stream.getvalue()


def file(name: str, data: bytes = b"x") -> tuple[tarfile.TarInfo, bytes]:
    return tarfile.TarInfo(name), data


def other(name: str, kind: bytes, **more: object) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type = kind
    for key, value in more.items():
        setattr(member, key, value)
    return member, b""


def with_header(change: Callable[[bytearray], None]) -> bytes:
    """Return an archive of one file whose header is changed, with a matching checksum."""
    made = bytearray(archive(file("a", b"12345")))
    change(made)
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made[:512])
    return bytes(made)


def box(tmp_path: Path, content: bytes, length: int | None = None) -> Path:
    path = tmp_path / "outbox.bin"
    path.write_bytes(outbox.HEADER.pack(outbox.MAGIC, len(content) if length is None else length) + content)
    return path


def test_plain_files_come_through(tmp_path: Path) -> None:
    sent = archive(other(".", tarfile.DIRTYPE), file("./fio.json", b"{}"), file("./a/b c", b""), file("x", b"1" * 513))
    assert outbox.read(box(tmp_path, sent)) == {"a/b c": b"", "fio.json": b"{}", "x": b"1" * 513}


def test_a_guest_that_did_not_get_so_far(tmp_path: Path) -> None:
    (tmp_path / "outbox.bin").write_bytes(bytes(1024))
    assert outbox.read(tmp_path / "outbox.bin") is None


PAX = {"GNU.sparse.map": "abc", "GNU.sparse.size": "3221225472"}


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (archive(file("../../../x")), 'a file whose name leads out of its folder: "../../../x"'),
        (archive(file("a/../../x")), "leads out of its folder"),
        (archive(file("/etc/passwd")), "is absolute"),
        (archive(file(".//etc/passwd")), "is absolute"),
        (archive(file("a\nb")), 'a file whose name has characters that cannot be printed: "a b"'),
        (archive(file("a\x1b]0;x\x07")), r'cannot be printed: "a\x1b]0;x\x07"'),
        (archive(file("a\u202eb")), "cannot be printed"),
        (archive(file("././a")), "is not the name of a file"),
        (archive(file("a/")), "is not the name of a file"),
        (archive(file("")), "is not the name of a file"),
        (archive(file("a/b/c/d/e/f/g/h/i")), "is more than 8 folders deep"),
        (archive(file("\udcff")), "a file whose name is not UTF-8"),
        (archive(file("n" * 120)), "a name of more than 100 bytes"),
        (archive(file("a"), file("a")), 'two files named "a"'),
        (archive(file("a"), file("./a")), 'two files named "a"'),
        (archive(file("a"), file("a/b")), '"a/b" as a file and as a folder'),
        (archive(file("a/b"), file("a")), '"a" as a file and as a folder'),
        (archive(file("profile.raw")), "profile.raw, which the host writes"),
        (archive(file("profile.txt")), "profile.txt, which the host writes"),
        (archive(file("profile.raw/a")), "profile.raw, which the host writes"),
        (archive(file("./profile.txt/a/b")), "profile.txt, which the host writes"),
        (archive(other("a", tarfile.SYMTYPE, linkname="/etc/passwd")), 'a symbolic link: "a"'),
        (archive(file("b"), other("a", tarfile.LNKTYPE, linkname="b")), 'a hard link: "a"'),
        (archive(other("a", tarfile.FIFOTYPE)), 'a FIFO: "a"'),
        (archive(other("a", tarfile.CHRTYPE, devmajor=1, devminor=5)), 'a device: "a"'),
        (archive(other("a", b"Z")), 'a file of an unknown kind: "a"'),
        (archive(other("a", tarfile.GNUTYPE_SPARSE)), 'a sparse file: "a"'),
        (archive((file("a")[0], b"x"), form=tarfile.PAX_FORMAT), None),
        (archive(other("a", tarfile.REGTYPE, pax_headers=PAX), form=tarfile.PAX_FORMAT), "an extended header"),
        (archive(*(file(f"{n}", b"") for n in range(4097))), "more than 4096 files"),
        (with_header(lambda made: made.__setitem__(slice(124, 136), b"77777777777\0")), "longer than the archive"),
        (with_header(lambda made: made.__setitem__(slice(124, 136), b"\xff" * 12)), "longer than the archive"),
        (with_header(lambda made: made.__setitem__(slice(124, 136), b"-0000000512\0")), "longer than the archive"),
        (with_header(lambda made: made.__setitem__(156, ord("5"))), "a folder with content"),
        (archive(file("a"))[:512], "longer than the archive"),
        (archive(file("a"))[:1024], "an archive without an end"),
        (b"\x1f\x8b" + b"z" * 2000, "something else than a tar archive"),
        (b"", "an archive without an end"),
    ],
)
def test_hostile_archives(tmp_path: Path, sent: bytes, why: str | None) -> None:
    if why is None:
        assert outbox.read(box(tmp_path, sent)) == {"a": b"x"}
        return
    with pytest.raises(outbox.RefusedError) as refused:
        outbox.read(box(tmp_path, sent))
    assert why in str(refused.value)
    assert str(refused.value).isprintable()


def test_a_length_beyond_the_box(tmp_path: Path) -> None:
    with pytest.raises(outbox.RefusedError, match="longer than its box"):
        outbox.read(box(tmp_path, b"", 2**64 - 1))


MEMBERS = st.tuples(
    st.text(st.characters(), max_size=12) | st.sampled_from(["..", "../x", "a", "a/b", "/x", "./a", "profile.raw"]),
    st.sampled_from([*tarfile.SUPPORTED_TYPES, b"g", b"Z"]),
    st.binary(max_size=700),
)


@settings(max_examples=200, deadline=None)
@given(members=st.lists(MEMBERS, max_size=6), cuts=st.lists(st.tuples(st.integers(0, 4000), st.binary(max_size=12))))
def test_whatever_is_sent_ends_in_plain_files_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, members: list[tuple[str, bytes, bytes]], cuts: list[tuple[int, bytes]]
) -> None:
    """The archives have any names and kinds, and some changed bytes."""
    sent = io.BytesIO()
    with tarfile.open(fileobj=sent, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as made:
        for name, kind, data in members:
            member = tarfile.TarInfo(name.encode(errors="replace").decode())
            member.type, member.size = kind, len(data)
            made.addfile(member, io.BytesIO(data))
    changed = bytearray(sent.getvalue())
    for at, data in cuts:
        changed[at : at + len(data)] = data
    path = box(tmp_path_factory.getbasetemp(), bytes(changed))
    message = ""
    accepted: dict[str, bytes] | None = {}
    try:
        accepted = outbox.read(path)
    except outbox.RefusedError as refused:
        message = str(refused)
    assert message.isprintable()
    assert len(message) < 400
    assert accepted is not None
    assert sum(map(len, accepted.values())) <= len(changed)
    inside = Path("/inside")
    for name in accepted:
        assert inside in Path(foreign.path_below(inside, name)).resolve().parents


def test_memory_stays_within_a_few_boxes(tmp_path: Path) -> None:
    """A map of holes in 512 bytes took 3 GiB of memory."""
    full = box(tmp_path, archive(file("a", bytes(15 << 20))))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outbox.read(full)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
