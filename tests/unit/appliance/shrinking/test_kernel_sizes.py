# SPDX-License-Identifier: Apache-2.0
"""The origin of a kernel's bytes: made-up trees, linked by the host's tools as a kernel is."""

import random
import subprocess
from pathlib import Path

import pytest

from flashbed_appliance.shrinking import sizes
from flashbed_appliance.shrinking.sizes import BETWEEN, ELSEWHERE, InputSection, Share
from flashbed_appliance.shrinking.tables import subsystem_table

KIB = 1024


def _linked(folder: Path, sources: dict[str, str]) -> tuple[str, Path]:
    """Link a program of these sources as vmlinux is linked: objects by the path of their directory, in one thin
    archive.
    """
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


def _raw(vmlinux: Path, *options: str) -> Path:
    """Make the file that is packed: as for x86_64, or with -O binary as for arm64."""
    made = vmlinux.with_name("raw")
    subprocess.run(["objcopy", "-R", ".comment", "-S", *options, vmlinux, made], check=True)
    return made


def _bytes(count: int, seed: int) -> str:
    numbers = random.Random(seed).randbytes(count)
    return f"const unsigned char table_{seed}[{count}] = {{{','.join(map(str, numbers))}}};\n"


@pytest.fixture(scope="module")
def share_of(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Share]:
    sources = {
        "init/main.c": "void start(void) { for (;;); }\n",
        "net/sunrpc/svc.c": _bytes(6 * KIB, 1),
        "net/sunrpc/deep/xprt.c": _bytes(2 * KIB, 2),
        "fs/nfsd/vfs.c": _bytes(5 * KIB, 3) + f"char cache[{64 * KIB}];\n",
        "mm/flat.c": f"char filled[{32 * KIB}] = {{1}};\n",
    }
    linker_map, vmlinux = _linked(tmp_path_factory.mktemp("tree"), sources)
    shares = sizes.shares(linker_map, vmlinux, _raw(vmlinux))
    assert [share.image for share in shares] == sorted((share.image for share in shares), reverse=True)
    return {share.subsystem: share for share in shares}


def test_each_byte_is_of_the_folder_that_its_object_is_in(share_of: dict[str, Share]) -> None:
    assert share_of["net/sunrpc"].image == pytest.approx(8 * KIB, abs=200)  # code's unwind tables come on top
    assert share_of["fs/nfsd"].image == pytest.approx(5 * KIB, abs=200)
    assert share_of["mm"].image == pytest.approx(32 * KIB, abs=200)
    assert 0 < share_of["init"].image < 200


def test_what_begins_as_zeroes_takes_no_byte_of_the_image(share_of: dict[str, Share]) -> None:
    assert share_of["fs/nfsd"].zeroes == 64 * KIB
    assert share_of["net/sunrpc"].zeroes == 0


def test_what_cannot_be_packed_stays_large_and_what_can_gets_small(share_of: dict[str, Share]) -> None:
    assert share_of["net/sunrpc"].packed_alone > 8 * KIB
    assert share_of["mm"].packed_alone < KIB


@pytest.mark.parametrize("options", [(), ("-O", "binary")], ids=["an ELF file", "memory as it is to be"])
def test_the_rows_add_up_to_what_is_packed(tmp_path: Path, options: tuple[str, ...]) -> None:
    text = 'const char *{name}(void) {{ return "a text that two objects have"; }}\n'  # the map counts it twice
    sources = {
        "init/main.c": "void start(void) { for (;;); }\n" + text.format(name="one") + _bytes(KIB, 4),
        "mm/flat.c": f"char filled[{9 * KIB}] = {{1}};\nchar cache[{64 * KIB}];\n" + text.format(name="two"),
    }
    linker_map, vmlinux = _linked(tmp_path, sources)
    raw = _raw(vmlinux, *options)
    shares = sizes.shares(linker_map, vmlinux, raw)
    assert sum(share.image for share in shares) == raw.stat().st_size
    between = next(share for share in shares if share.subsystem == BETWEEN)
    assert between.image > 4 * KIB  # the linker begins each segment with a page of its own
    assert between.packed_alone < KIB
    *_, last = subsystem_table(shares).rows
    assert last[:2] == ("all", f"{raw.stat().st_size:,}")


def test_a_byte_that_two_objects_are_said_to_have_is_the_first_ones(tmp_path: Path) -> None:
    sources = {"init/main.c": "void start(void) { for (;;); }\n", "fs/a.c": _bytes(KIB, 5)}
    linker_map, vmlinux = _linked(tmp_path, sources)
    table = next(
        piece for piece in sizes.pieces(linker_map) if sizes.subsystem(piece.object) == "fs" and piece.size == KIB
    )
    before = f" .rodata       {table.address:#x} 0x100 mm/early.o\n"
    twice = linker_map.replace(f"{sizes.BEGIN}\n", f"{sizes.BEGIN}\n\n.rodata\n{before}")
    raw = _raw(vmlinux)
    shares = {share.subsystem: share.image for share in sizes.shares(twice, vmlinux, raw)}
    assert shares["mm"] == 0x100
    assert sum(shares.values()) == raw.stat().st_size


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
        InputSection(".text", base, 0x20, "net/ipv4/tcp.o"),
        InputSection(".text.a_name_that_is_too_long_for_its_column", base + 0x30, 8, "net/ipv4/udp.o"),
        InputSection(".text", base + 0x40, 4, "lib/lib.a(memcpy.o)"),
    ]


@pytest.mark.parametrize(
    ("path", "subsystem"),
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
def test_the_folder_of_an_object(path: str, subsystem: str) -> None:
    assert sizes.subsystem(path) == subsystem
