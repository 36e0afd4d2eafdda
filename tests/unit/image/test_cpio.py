# SPDX-License-Identifier: Apache-2.0
"""Archives, byte by byte, by hand from the format's description. Keys of cells contain their digests."""

from __future__ import annotations

from flashbed.image import cpio


def header(inode: int, mode: str, links: int, length: int, device: str, name: bytes, holder: str = "3,1") -> bytes:
    """Return the thirteen numbers of an entry and its name, padded to four bytes."""
    numbers = [
        inode,
        int(mode, 8),
        0,
        0,
        links,
        0,
        length,
        *map(int, f"{holder},{device}".split(",")),
        len(name) + 1,
        0,
    ]
    head = b"070701" + "".join(f"{number:08X}" for number in numbers).encode() + name + b"\0"
    return head + bytes(-len(head) % 4)


def test_an_archive_is_what_the_format_says() -> None:
    nodes = [
        cpio.folder("/a"),
        cpio.link("/a/l", "to"),
        cpio.character_device("/a/c", 5, 1),
        cpio.program("/a/p", b"12345"),
    ]
    expected = [
        header(721, "40755", 2, 0, "0,0", b"a"),
        header(722, "120777", 1, 3, "0,0", b"a/l") + b"to\0\0",
        header(723, "20600", 1, 0, "5,1", b"a/c"),
        header(724, "100755", 1, 5, "0,0", b"a/p") + b"12345\0\0\0",
        header(0, "0", 1, 0, "0,0", b"TRAILER!!!", holder="0,0"),
    ]
    whole = b"".join(expected)
    assert cpio.archive(nodes) == whole + bytes(-len(whole) % 512)


def test_a_tree_has_the_folders_and_the_last_of_two_with_one_path() -> None:
    nodes = [cpio.file("/b/x", b"1"), cpio.file("/a", b""), cpio.file("/b/x", b"2")]
    assert cpio.tree(nodes) == [cpio.file("/a", b""), cpio.folder("/b"), cpio.file("/b/x", b"2")]
