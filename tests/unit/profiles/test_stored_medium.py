# SPDX-License-Identifier: Apache-2.0
"""Kept media as files: digests ignore holes, copies keep them, and a study starts from them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashbed.common.errors import InputError
from flashbed.common.sparse import PIECE_BYTES
from flashbed.profiles import stored_medium
from flashbed.profiles.library import Library, LookupProblem
from flashbed.profiles.stored_medium import Origin, StoredMedium, locate
from flashbed.study.loading import load_study
from flashbed.study.plan import plan
from tests.support.samples import write_study


def sparse(path: Path, size: int, pieces: dict[int, bytes]) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
        for offset, data in pieces.items():
            os.pwrite(file.fileno(), data, offset)
    return path


def keep(folder: Path, state: bytes = b"state", data: bytes = b"data") -> StoredMedium:
    folder.mkdir(parents=True, exist_ok=True)
    stored = StoredMedium(folder)
    stored.state.write_bytes(state)
    stored.data.write_bytes(data)
    stored.set_origin(Origin("card", ("created",)))
    return stored


@settings(max_examples=60)
@given(
    st.dictionaries(st.integers(0, 40 * PIECE_BYTES), st.binary(min_size=1, max_size=200), max_size=6),
    st.integers(41 * PIECE_BYTES, 60 * PIECE_BYTES),
)
def test_a_digest_does_not_see_holes(
    tmp_path_factory: pytest.TempPathFactory, pieces: dict[int, bytes], size: int
) -> None:
    folder = tmp_path_factory.mktemp("medium")
    holey = sparse(folder / "holey", size, pieces)
    full = folder / "full"
    full.write_bytes(holey.read_bytes())
    copied = folder / "copied"
    stored_medium.copy(full, copied)
    assert copied.read_bytes() == full.read_bytes()
    assert stored_medium.digest(holey) == stored_medium.digest(full) == stored_medium.digest(copied)
    assert copied.stat().st_blocks * 512 <= (len(pieces) * 2 + 1) * PIECE_BYTES


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"\0", lambda data: b"\1" + data[1:]])
def test_every_change_changes_the_digest(change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    data = bytes(3 * PIECE_BYTES)
    first, second = tmp_path / "one", tmp_path / "other"
    first.write_bytes(data)
    second.write_bytes(change(data))
    assert stored_medium.digest(first) != stored_medium.digest(second)


def test_where_a_medium_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHBED_CACHE", str(tmp_path / "cache"))
    assert locate("worn", tmp_path).folder == tmp_path / "cache/media/worn"
    assert locate("./worn", tmp_path).folder == tmp_path / "worn"
    assert locate("/a/worn", tmp_path).folder == Path("/a/worn")


def test_what_is_no_medium(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no medium here; `flashbed medium create` makes one"):
        StoredMedium(tmp_path).origin()
    with pytest.raises(InputError, match=r"state\.bin: cannot be read"):
        StoredMedium(tmp_path).digest()


def test_a_study_starts_from_a_medium(tmp_path: Path) -> None:
    fresh, worn = ('medium     = "stick"', 'medium     = "stick:from=./worn"')
    new = plan(load_study(write_study(tmp_path)))[0]
    stored = keep(tmp_path / "worn")
    path = write_study(tmp_path, (fresh, worn))
    first = plan(load_study(path))[0]
    assert first.medium.start == stored
    stored.state.write_bytes(b"older")
    second = plan(load_study(path))[0]
    digests = [cell.medium.start_digest for cell in (new, first, second)]
    assert digests[0] is None
    assert len(set(digests)) == 3
    assert new.medium.parameters == first.medium.parameters


def test_the_digest_is_in_the_key(tmp_path: Path) -> None:
    from flashbed.study.plan import cell_inputs, key

    stored = keep(tmp_path / "worn")
    path = write_study(tmp_path, ('medium     = "stick"', 'medium     = "stick:from=./worn"'))
    first = plan(load_study(path))[0]
    assert cell_inputs(first)["medium"]["start"] == stored.digest()
    stored.data.write_bytes(b"other")
    assert key(plan(load_study(path))[0], {}) != key(first, {})


def test_a_missing_medium_is_told(tmp_path: Path) -> None:
    write_study(tmp_path)
    library = Library.beside(tmp_path / "sample.toml")
    with pytest.raises(LookupProblem, match=r'"stick": from: .*/nowhere/state\.bin: cannot be read'):
        library.medium("stick:from=./nowhere")


def test_a_copy_is_the_same_medium_and_leaves_the_first_alone(tmp_path: Path) -> None:
    first = keep(tmp_path / "first", state=b"s" * 70_000, data=bytes(1 << 20) + b"d")
    second = StoredMedium(tmp_path / "second")
    first.copy_to(second)
    assert second.digest() == first.digest()
    assert second.origin() == first.origin()
    second.state.write_bytes(b"other")
    assert first.state.read_bytes() == b"s" * 70_000


def test_what_is_no_medium_is_not_copied(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no medium here"):
        StoredMedium(tmp_path / "nothing").copy_to(StoredMedium(tmp_path / "second"))
    assert not (tmp_path / "second").exists()
