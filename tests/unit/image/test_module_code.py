# SPDX-License-Identifier: Apache-2.0
"""The address of a module in a guest, derived from code that ran."""

import random
import subprocess
from pathlib import Path

from flashbed.image.module_code import ModuleSection, sections_of

CODE = random.Random(1).randbytes(4096)
SECTION = ModuleSection(".text", 1 << 40, CODE, frozenset(range(0, 4096, 40)))
PLACE = 0xFFFFFFC000123000


def loaded(code: bytes) -> bytes:
    """Return the code as the kernel leaves it: instructions with a relocation are changed."""
    words = [code[at : at + 4] for at in range(0, len(code), 4)]
    return b"".join(b"\0\0\0\0" if 4 * place in SECTION.changed else word for place, word in enumerate(words))


def piece(begin: int, end: int) -> tuple[int, bytes]:
    return PLACE + begin, loaded(CODE)[begin:end]


def test_what_ran_is_told_by_addresses_of_the_modules_own() -> None:
    elsewhere = (PLACE - 0x10000, random.Random(2).randbytes(400))
    ran = list(SECTION.ran([elsewhere, piece(400, 600), piece(1200, 1300), piece(2000, 2004)]))
    assert ran == [((1 << 40) + begin, (1 << 40) + end) for begin, end in ((400, 600), (1200, 1300), (2000, 2004))]


def test_a_module_that_is_not_there_ran_nowhere() -> None:
    assert not list(SECTION.ran([(PLACE, random.Random(3).randbytes(4000))]))
    assert not list(SECTION.ran([piece(400, 432)])), "too little to tell its place"
    assert not list(SECTION.ran([]))


def test_a_section_is_kept_as_it_was() -> None:
    assert ModuleSection.from_json(SECTION.as_json()) == SECTION


def test_no_two_modules_have_the_same_addresses(tmp_path: Path) -> None:
    """Modules of one build may have more sections than others."""
    bases = []
    for number, functions in enumerate((30, 1)):
        (tmp_path / "one.c").write_text("".join(f"int f{name}(int a) {{ return a; }}\n" for name in range(functions)))
        command = ["cc", "-c", "-ffunction-sections", "-o", "one.o", "one.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
        sections = sections_of(tmp_path / "one.o", number)
        assert len(sections) >= functions
        bases += [section.base for section in sections]
    assert len(set(bases)) == len(bases)
