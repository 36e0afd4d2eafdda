# SPDX-License-Identifier: Apache-2.0
"""Where the bytes of a kernel come from: made-up trees, linked by the host's tools as a kernel is."""

import random
import subprocess
from pathlib import Path

import pytest

from flashbed.shrinking import sizes
from flashbed.shrinking.sizes import ELSEWHERE, Piece, Share

KIB = 1024


def _linked(folder: Path, sources: dict[str, str]) -> tuple[str, Path]:
    """A program of these sources, as vmlinux is linked: objects by the path of their folder, in one thin archive."""
    objects = []
    for name, text in sources.items():
        source = folder / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        objects.append(name.replace(".c", ".o"))
        subprocess.run(["cc", "-c", "-Os", "-fno-pie", "-o", objects[-1], name], cwd=folder, check=True)
    subprocess.run(["ar", "cDPrST", "all.a", *objects], cwd=folder, check=True)
    command = ["ld", "-Map=map", "-e", "start", "-o", "vmlinux", "--whole-archive", "all.a"]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "map").read_text(), folder / "vmlinux"


def _bytes(count: int, seed: int) -> str:
    numbers = random.Random(seed).randbytes(count)
    return f"const unsigned char table_{seed}[{count}] = {{{','.join(map(str, numbers))}}};\n"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Share]:
    sources = {
        "init/main.c": "void start(void) { for (;;); }\n",
        "net/sunrpc/svc.c": _bytes(6 * KIB, 1),
        "net/sunrpc/deep/xprt.c": _bytes(2 * KIB, 2),
        "fs/nfsd/vfs.c": _bytes(5 * KIB, 3) + f"char cache[{64 * KIB}];\n",
        "mm/flat.c": f"char filled[{32 * KIB}] = {{1}};\n",
    }
    shares = sizes.shares(*_linked(tmp_path_factory.mktemp("tree"), sources))
    assert [share.image for share in shares] == sorted((share.image for share in shares), reverse=True)
    return {share.subsystem: share for share in shares}


def test_each_byte_is_of_the_folder_that_its_object_is_in(found: dict[str, Share]) -> None:
    assert found["net/sunrpc"].image == pytest.approx(8 * KIB, abs=200)  # code's unwind tables come on top
    assert found["fs/nfsd"].image == pytest.approx(5 * KIB, abs=200)
    assert found["mm"].image == pytest.approx(32 * KIB, abs=200)
    assert 0 < found["init"].image < 200


def test_what_begins_as_zeroes_takes_no_byte_of_the_image(found: dict[str, Share]) -> None:
    assert found["fs/nfsd"].zeroes == 64 * KIB
    assert found["net/sunrpc"].zeroes == 0


def test_what_cannot_be_packed_stays_large_and_what_can_gets_small(found: dict[str, Share]) -> None:
    assert found["net/sunrpc"].packed_alone > 8 * KIB
    assert found["mm"].packed_alone < KIB


def test_all_bytes_of_the_program_are_somebodys(tmp_path: Path) -> None:
    linker_map, vmlinux = _linked(tmp_path, {"init/main.c": "void start(void) { for (;;); }\n" + _bytes(KIB, 4)})
    loaded = sum(
        section["sh_size"]
        for section in sizes.ELFFile(vmlinux.open("rb")).iter_sections()
        if section["sh_flags"] & 2 and section["sh_type"] != "SHT_NOBITS"
    )
    assert sum(share.image for share in sizes.shares(linker_map, vmlinux)) == loaded


def test_long_names_fillings_and_what_was_thrown_away() -> None:
    text = """\
Discarded input sections

 .modinfo       0x0000000000000000       0x40 fs/nfsd/nfsctl.o

Linker script and memory map

LOAD vmlinux.a
                0xffffffff81000000                . = 0x81000000

.text           0xffffffff81000000     0x1000
                0xffffffff81000000                _text = .
 *(.text .text.fixup)
 .text          0xffffffff81000000       0x20 net/ipv4/tcp.o
                0xffffffff81000000                tcp_init
 *fill*         0xffffffff81000020       0x10 cc
 .text.a_name_that_is_too_long_for_its_column
                0xffffffff81000030        0x8 net/ipv4/udp.o
 .text          0xffffffff81000038        0x0 net/ipv4/empty.o
 .text          0xffffffff81000040        0x4 lib/lib.a(memcpy.o)

.comment        0x0000000000000000       0x2e
 .comment       0x0000000000000000       0x2e net/ipv4/tcp.o
"""
    base = 0xFFFFFFFF81000000
    assert list(sizes.pieces(text)) == [
        Piece(".text", base, 0x20, "net/ipv4/tcp.o"),
        Piece(".text.a_name_that_is_too_long_for_its_column", base + 0x30, 8, "net/ipv4/udp.o"),
        Piece(".text", base + 0x40, 4, "lib/lib.a(memcpy.o)"),
    ]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("net/sunrpc/svc.o", "net/sunrpc"),
        ("drivers/net/ethernet/intel/e1000/e1000_main.o", "drivers/net"),
        ("mm/slub.o", "mm"),
        ("lib/lib.a(memcpy.o)", "lib"),
        ("arch/x86/lib/lib.a(usercopy.o)", "arch/x86"),
        ("vmlinux.a(fs/nfsd/vfs.o)", "fs/nfsd"),
        (".vmlinux.export.o", ELSEWHERE),
    ],
)
def test_the_folder_of_an_object(path: str, told: str) -> None:
    assert sizes.subsystem(path) == told
