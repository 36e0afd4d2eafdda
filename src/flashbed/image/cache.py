# SPDX-License-Identifier: Apache-2.0
"""A folder of built things, each under the hash of its recipe. An entry is complete and whole, or it is built again.

Knows no kernel and no package: a recipe is any JSON value that names everything the build depends on, and the builder
fills a folder.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashbed.digest import digest_bytes, digest_file
from flashbed.errors import HostResourceError

MANIFEST = "MANIFEST.json"


def digest_tree(*roots: Path) -> str:
    """One SHA-256 over the names and contents of all files below `roots`, in a fixed order."""
    total = hashlib.sha256()
    for root in roots:
        files = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())
        for file in files:
            name = file.name if file == root else file.relative_to(root).as_posix()
            total.update(f"{root.name}/{name}\0{digest_file(file)}\n".encode())
    return total.hexdigest()


@dataclass(frozen=True)
class Entry:
    """A finished build: its folder and the SHA-256 of each file that the builder vouched for."""

    folder: Path
    digests: dict[str, str]

    def path(self, name: str) -> Path:
        return self.folder / name


class Cache:
    """Builds under `root`, one folder an entry, named `NAME-HASH`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def entry(
        self,
        name: str,
        recipe: Any,
        build: Callable[[Path], None],
        *,
        products: Sequence[str] | None = None,
    ) -> Entry:
        """The entry for `recipe`, built by `build(folder)` if it is absent or any of its `products` is not what was
        built.

        Products are all files of the entry, unless it says which matter: checking a kernel tree file by file would
        cost seconds. Two processes that want the same entry wait for each other. Raises HostResourceError when the
        disk is full.
        """
        text = json.dumps(recipe, sort_keys=True)
        final = self.root / f"{name}-{digest_bytes(text.encode())[:16]}"
        if (entry := self._whole(final)) is not None:
            return entry
        with self._locked(final):
            if (entry := self._whole(final)) is not None:
                return entry
            self._build(final, text, build, products)
            built = self._whole(final)
        if built is None:
            raise HostResourceError(f"{final}: changed while it was being written; is the disk sound?")
        return built

    def _build(self, final: Path, recipe: str, build: Callable[[Path], None], products: Sequence[str] | None) -> None:
        shutil.rmtree(final, ignore_errors=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=self.root))
        try:
            build(scratch)
            if products is None:
                products = sorted(p.relative_to(scratch).as_posix() for p in scratch.rglob("*") if p.is_file())
            digests = {product: digest_file(scratch / product) for product in products}
            manifest = {"recipe": json.loads(recipe), "products": digests}
            (scratch / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True))
            scratch.chmod(0o755)
            scratch.rename(final)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            free = shutil.disk_usage(self.root).free >> 20
            raise HostResourceError(
                f"{self.root}: the disk is full ({free} MiB free). Make room, or set FLASHBED_CACHE to a folder "
                "on another disk."
            ) from None
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    @staticmethod
    def _whole(folder: Path) -> Entry | None:
        """The entry in `folder` if its manifest is there and every product has the digest noted when it was built."""
        try:
            digests = json.loads((folder / MANIFEST).read_text())["products"]
            if all(digest_file(folder / product) == digest for product, digest in digests.items()):
                return Entry(folder, digests)
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            pass
        return None

    @contextmanager
    def _locked(self, final: Path) -> Iterator[None]:
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / f".{final.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
