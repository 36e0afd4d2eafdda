# SPDX-License-Identifier: Apache-2.0
"""Sizes and durations: valid and invalid texts, and exact round trips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from flashbed.common.tomlfile import Size
from flashbed.common.units import (
    describe_size,
    format_size,
    parse_duration_ns,
    parse_size,
    rough_size,
)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("0", 0),
        ("512", 512),
        ("1k", 1024),
        ("4K", 4096),
        ("16k", 16384),
        ("10M", 10 << 20),
        ("2G", 2 << 30),
        ("2GiB", 2 << 30),
        ("2 GiB", 2 << 30),
        ("2gb", 2 << 30),
        ("1T", 1 << 40),
        ("100B", 100),
        (" 8m ", 8 << 20),
    ],
)
def test_sizes(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize("text", ["", "k", "-1", "1.5G", "4q", "4kk", "0x10", "1e3", "٤k", "4 k 2"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size; write a whole number"):
        parse_size(text)


@given(st.integers(min_value=0, max_value=1 << 50))
def test_sizes_survive_being_written(size_bytes: int) -> None:
    assert parse_size(format_size(size_bytes)) == size_bytes


@given(st.integers(min_value=0, max_value=1 << 20), st.sampled_from("kMGT"))
def test_the_shortest_text_is_chosen(number: int, prefix: str) -> None:
    assert len(format_size(parse_size(f"{number}{prefix}"))) <= len(f"{number}{prefix}")


@pytest.mark.parametrize(
    ("text", "ns"), [("0ns", 0), ("120ns", 120), ("20us", 20_000), ("5ms", 5_000_000), ("2s", 2_000_000_000)]
)
def test_durations(text: str, ns: int) -> None:
    assert parse_duration_ns(text) == ns


@pytest.mark.parametrize("text", ["", "5", "us", "1.5ms", "-1s", "5 minutes"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration_ns(text)


def test_no_size_is_negative() -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        format_size(-1)


def test_sizes_in_messages() -> None:
    assert describe_size(52 << 20) == "52M"
    assert describe_size(133_857_280) == "133857280 bytes (127.7 MiB)"


def test_a_field_takes_numbers_and_texts_and_nothing_else() -> None:
    size = TypeAdapter(Size)
    assert size.validate_python("2k", strict=True) == size.validate_python(2048, strict=True) == 2048
    for wrong in (1.5, True, None, "many"):
        with pytest.raises(ValidationError):
            size.validate_python(wrong, strict=True)


def test_a_size_that_nobody_chose() -> None:
    assert rough_size(1023) == "1023 bytes"
    assert rough_size(1536) == "1.50 KiB"
    assert rough_size(9.996 * 2**20) == "10.0 MiB"
    assert rough_size(80 * 2**30) == "80.0 GiB"
