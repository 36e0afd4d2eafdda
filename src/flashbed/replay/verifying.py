# SPDX-License-Identifier: Apache-2.0
"""Run a pack again, and report whether the results have the same bytes; if not, which cells differ and how.

A result's key is the hash of its inputs, which include digests of files of the pack. So before anything runs, the check
finds a kernel, a program, a seed or a result that somebody changed in a pack. The run itself shows changes that no
digest in a result covers. Runs on bare Python too. Must not know how a pack is made.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flashbed.common import foreign, programs
from flashbed.common.digest import digest_json
from flashbed.common.errors import DifferentResultsError, HostResourceError, InputError, SetupError, host_refusal
from flashbed.common.progress import stage
from flashbed.execution import cut_campaign, memory
from flashbed.execution.beginnings import Beginnings, GroupedQueue
from flashbed.execution.memory import Memory
from flashbed.guest_output.assessment import HOST_DECIDED
from flashbed.machine.outcomes import Outcome
from flashbed.replay import pack_file, playing
from flashbed.replay.pack_file import Pack
from flashbed.replay.playing import Unpacked
from flashbed.replay.recipe import JOB, QEMU_PROGRAM, Recipe, check_result

ROOT = "root"
"""The name of the root of programs in a result."""


def doubts(recipe: Recipe, result: Mapping[str, Any], key_version: int) -> Iterator[str]:
    """Yield a sentence for each difference between a result and its recipe."""
    environment = result["environment"]
    if result["key"] != recipe.key:
        yield "the result belongs to another repetition"
    if digest_json({"version": key_version, "cell": result["cell"], "environment": environment}) != result["key"]:
        yield "the result's key does not match its inputs: one of them was changed"
    if result["seed"] != result["cell"]["seed"]:
        yield f"the result has seed {result['seed']}, and its inputs have {result['cell']['seed']}"
    yield from _machine(environment["machine"], " ".join(recipe.machine))
    yield from _other("kernel", environment["kernel"], recipe.kernel)
    for name, digest in recipe.archives:
        if name != JOB:
            yield from _other(f"archive {name}", environment.get(name), digest)
    if (measured := environment.get(ROOT)) != recipe.root:
        yield from _other("root of programs", measured, recipe.root or "none")
    yield from _cuts(recipe, result)


def _cuts(recipe: Recipe, result: Mapping[str, Any]) -> Iterator[str]:
    number, seed = (recipe.cuts.number, recipe.cuts.seed) if recipe.cuts else (0, result["cell"]["seed"])
    if number != (measured := result["cell"].get("power_cuts", 0)):
        yield f"the power is cut {number} times, and was cut {measured} times"
    if seed != result["cell"]["seed"]:
        yield f"the moments of the power cuts come from seed {seed}, and came from {result['cell']['seed']}"
    if recipe.cuts and result["environment"].get("moments") != cut_campaign.MOMENTS:
        yield "the moments of the power cuts are drawn by another rule"


def _machine(wanted: str, here: str) -> Iterator[str]:
    if wanted == here:
        return
    pairs = zip(wanted.split(), here.split(), strict=False)
    measured_word, word_here = next(((a, b) for a, b in pairs if a != b), (wanted, here))
    yield f"the machine is not the measured one: {word_here} instead of {measured_word}"


def _other(part: str, measured: str | None, here: str) -> Iterator[str]:
    if measured is None:
        yield f"the {part} was not part of the measurement"
    elif measured != here:
        yield f"the {part} is not the measured one: {here[:12]} instead of {measured[:12]}"


MOST_LETTERS = 60
MOST_SENTENCES = 4
RESULT, CONSOLE, OUT = "result.json", "console.log", "out/"


def differences_of(kept: Mapping[str, bytes], result: Mapping[str, Any], outcome: Outcome) -> list[str]:
    """Return sentences on the differences; none if all bytes are the same. `kept` are the files of the result, and
    `outcome` is the outcome on this host.
    """
    sentences = list(_all(kept, result, outcome))
    more = len(sentences) - MOST_SENTENCES
    return [*sentences[:MOST_SENTENCES], *([f"and {more} more"] if more > 0 else [])]


def _all(kept: Mapping[str, bytes], result: Mapping[str, Any], outcome: Outcome) -> Iterator[str]:
    if outcome.status != result["outcome"]:
        yield f"was {result['outcome']}, and is {outcome.status} here: {outcome.reason}"
    elif outcome.medium_check != result["check"]:
        yield f"the checker said {_check_words(result['check'])}, and says {_check_words(outcome.medium_check)}"
    kept_files = {name: data for name, data in kept.items() if name != RESULT}
    new_files = {CONSOLE: outcome.console, **{f"{OUT}{name}": data for name, data in outcome.files.items()}}
    for name in sorted(kept_files.keys() | new_files.keys()):
        if name not in new_files or name not in kept_files:
            yield f"{name}: {'is missing' if name not in new_files else 'is new'}"
        elif kept_files[name] != new_files[name]:
            yield f"{name}: {_first(kept_files[name], new_files[name])}"


def _check_words(check: str | None) -> str:
    return "nothing (not checked)" if check is None else f'"{_short(check)}"' if check else "clean"


def _first(old: bytes, new: bytes) -> str:
    """Describe the first line that differs, or the first byte if a file is no text."""
    try:
        old_lines, new_lines = old.decode().splitlines(), new.decode().splitlines()
    except UnicodeDecodeError:
        pairs = zip(old, new, strict=False)
        at = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))
        return f"{len(old)} bytes, {len(new)} here, and they differ from byte {at} on"
    for number, (a, b) in enumerate(zip(old_lines, new_lines, strict=False), start=1):
        if a != b:
            return f"line {number} was {_short(a)}, and is {_short(b)}"
    return f"had {len(old_lines)} lines, and has {len(new_lines)}"


def _short(text: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text.strip())
    return plain if len(plain) <= MOST_LETTERS else f"{plain[:MOST_LETTERS]}..."


Say = Callable[[str], object]
NO_LETTERS = ":;$"
"""Letters with a special meaning to the dynamic loader in the path of a directory."""


@dataclass(frozen=True)
class VerifyOptions:
    """Which cells are run again, and the limits on this host."""

    cells: int | None = None
    """How many cells, spread over the study; None for all."""
    jobs: int = 1
    """Guests at a time."""
    limit_s: float = 900.0
    """Host seconds for a guest."""
    folder: Path | None = None
    """Directory for temporary files; None for Python's default."""


@dataclass
class Differences:
    """By the label of a repetition: the sentences on its differences, or why it could not be run."""

    differ: dict[str, list[str]] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)


def verify(path: Path, options: VerifyOptions, print_line: Say) -> None:
    """Run a pack again and report in printable lines. Raises DifferentResultsError if anything differs, InputError for
    a damaged pack or a file that is none, HostResourceError if a guest could not be run here, and InterruptedByUser.
    """
    pack = pack_file.open_pack(path)

    def say(line: str) -> None:
        print_line(foreign.plain(line))

    say(f"{path}: {pack.contents['study']['title']} ({pack.contents['study']['name']})")
    say(f"{len(pack.recipes)} repetitions, measured by flashbed {pack.contents['flashbed']}; SHA-256 {pack.digest}")
    results = {recipe.key: _result(pack, recipe) for recipe in pack.recipes}
    chosen = sample(pack.recipes, results, options.cells)
    doubts = _doubts(pack, results)
    for sentence, labels in doubts.items():
        say(f"Not as measured: {sentence} ({_listed(labels)})")
    differences = Differences()
    with _scratch(options.folder) as folder, memory.scratch(options.jobs) as host:
        files = Unpacked(pack, folder)
        programs = [QEMU_PROGRAM, *(recipe.check.program for recipe in chosen if recipe.check)]
        files.take((digest for recipe in chosen for digest in recipe.files), programs)
        _check_emulator(files)
        for group, outcome in _played(_groups(chosen), files, folder, options, host):
            _compare(group, outcome, pack, results, differences)
    _tell(pack, chosen, differences, bool(doubts), say)


def _result(pack: Pack, recipe: Recipe) -> dict[str, Any]:
    pack.check_result(recipe.key)
    member = f"{pack_file.RESULTS_FOLDER}/{recipe.key}/{RESULT}"
    if member not in pack.members:
        raise InputError(f"{pack.path}: has no result of {recipe.label}; get it again")
    try:
        result = pack_file.parsed_json(pack.read(member))
        check_result(result)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{pack.path}: the result of {recipe.label} is invalid: {error}; get it again") from None
    return dict(result)


def sample(recipes: Sequence[Recipe], results: Mapping[str, Mapping[str, Any]], cells: int | None) -> list[Recipe]:
    """Return one repetition of each of `cells` cells, spread evenly over the study; the seeds alternate. The results,
    by key, have the coordinates of the cells.
    """
    if cells is None:
        return list(recipes)
    by_cell: dict[tuple[str, ...], list[Recipe]] = {}
    for recipe in recipes:
        by_cell.setdefault(tuple(results[recipe.key]["coordinates"].values()), []).append(recipe)
    all_cells = list(by_cell.values())
    wanted = min(cells, len(all_cells))
    places = [(2 * place + 1) * len(all_cells) // (2 * wanted) for place in range(wanted)]
    return [all_cells[place][turn % len(all_cells[place])] for turn, place in enumerate(places)]


def _doubts(pack: Pack, results: Mapping[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Return the differences between results and recipes as sentences, each with the labels of its repetitions."""
    labels: dict[str, list[str]] = {}
    for recipe in pack.recipes:
        for sentence in doubts(recipe, results[recipe.key], pack.contents["key_version"]):
            labels.setdefault(sentence, []).append(recipe.label)
    return labels


def _groups(chosen: Iterable[Recipe]) -> list[list[Recipe]]:
    groups: dict[str, list[Recipe]] = {}
    for recipe in chosen:
        groups.setdefault(recipe.guest, []).append(recipe)
    return list(groups.values())


def _played(
    groups: Sequence[list[Recipe]], files: Unpacked, folder: Path, options: VerifyOptions, host: Memory
) -> Iterator[tuple[list[Recipe], Outcome]]:
    """Run the groups and yield each with its outcome. Groups with the same beginning run one after the other."""
    stop = threading.Event()
    line = GroupedQueue(groups, lambda group: group[0].beginning)
    under_way: dict[Future[Outcome], list[Recipe]] = {}
    with (
        stage("Running it again", total=len(groups)) as progress,
        closing(Beginnings(options.jobs, folder)) as beginnings,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        try:
            while line or under_way:
                while line and len(under_way) < options.jobs:
                    group, more = line.take(beginnings.next_of)
                    first = group[0]
                    beginnings.announce(first.key, first.beginning, more=more)
                    future = pool.submit(playing.play, first, files, folder, options.limit_s, stop, host, beginnings)
                    under_way[future] = group
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    outcome = future.result()
                    progress.advance()
                    yield under_way.pop(future), outcome
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _compare(
    group: Sequence[Recipe],
    outcome: Outcome,
    pack: Pack,
    results: Mapping[str, dict[str, Any]],
    differences: Differences,
) -> None:
    """Add the differences between the outcome of a guest and the results of the recipes that it serves."""
    for recipe in group:
        if outcome.status in HOST_DECIDED:
            differences.not_run[recipe.label] = outcome.reason
        elif sentences := differences_of(pack.result(recipe.key), results[recipe.key], outcome):
            differences.differ[recipe.label] = sentences


def _tell(pack: Pack, chosen: Sequence[Recipe], differences: Differences, doubtful: bool, say: Say) -> None:
    """Report the differences. Raises DifferentResultsError or HostResourceError, as `verify`."""
    for label, sentences in differences.differ.items():
        say(f"Differs: {label}: {'; '.join(sentences)}")
    for label, reason in differences.not_run.items():
        say(f"Not run: {label}: {reason}")
    of = f"{len(chosen)} of {len(pack.recipes)} repetitions"
    if differences.differ or doubtful:
        problem = f"{len(differences.differ)} of {len(chosen)} repetitions that were run again differ"
        raise DifferentResultsError(
            problem if differences.differ else "the bytes are the same, but the inputs are not as measured"
        )
    if differences.not_run:
        raise HostResourceError(
            f"{len(differences.not_run)} of {len(chosen)} repetitions could not be run on this host"
        )
    say(f"same bytes: {of} run again" if len(chosen) < len(pack.recipes) else f"same bytes: {of}")


def _listed(labels: Sequence[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{labels[0]}, and {len(labels) - 1} more"


@contextmanager
def _scratch(folder: Path | None) -> Iterator[Path]:
    place = (folder or Path(tempfile.gettempdir())).absolute()
    if forbidden := [letter for letter in NO_LETTERS if letter in str(place)]:
        raise InputError(
            f"{place}: has a {forbidden[0]} in its name, and programs cannot find their libraries there; give another "
            "--folder"
        )
    try:
        made = tempfile.TemporaryDirectory(dir=place, prefix="flashbed-")
    except OSError as error:
        raise host_refusal(place, error) from None
    with made as name:
        yield Path(name)


def _check_emulator(files: Unpacked) -> None:
    """Raise SetupError if the emulator does not start here: another processor, or a directory mounted noexec."""
    if missing := [name for name in ("sh", "env", "timeout", "setpriv") if shutil.which(name) is None]:
        raise SetupError(f"{missing[0]} is not installed; it is in a package such as coreutils or util-linux")
    done = programs.run([files.program(QEMU_PROGRAM), "--version"])
    if done.returncode:
        why = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
        raise SetupError(
            f"the emulator of the pack does not start here ({why}): it needs an x86_64 Linux, and a --folder that "
            "programs may run from"
        )
