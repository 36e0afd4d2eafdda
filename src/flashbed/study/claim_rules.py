# SPDX-License-Identifier: Apache-2.0
"""Check that the study's cells, once measured, can decide each of its claims.

An error is reported with its line. Must not know results, nor how a claim is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flashbed.common.tomlfile import Keys, Problem, nearest
from flashbed.result.metrics import METRICS
from flashbed.study.draft import Draft
from flashbed.study.format import SYSTEM, Claim, StudyFile, Where, matches
from flashbed.study.relation import CLEAR, LEVELS, RELATIONS, TRENDS, band, each

Coordinates = Mapping[str, str]
"""The values of a cell, by axis."""

TIME_UNITS = ("s", "ms", "us")
"""The units of metrics that are times."""


def checked_claims(draft: Draft) -> tuple[Claim, ...]:
    """Return the claims with full values in their selections."""
    draft.extend([*_system_problems(draft.content), *_sentence_problems(draft.content)])
    return tuple(_checked(draft, claim, ("claim", index)) for index, claim in enumerate(draft.content.claim))


def _system_problems(study: StudyFile) -> Iterator[Problem]:
    if SYSTEM in study.axes:
        yield Problem(("axes", SYSTEM), f"{SYSTEM} is the name of whose results are imported; call the axis otherwise")
    for index, name in enumerate(study.systems):
        if name in study.systems[:index]:
            yield Problem(("systems", index), f'"{name}" is there twice')


def _sentence_problems(study: StudyFile) -> Iterator[Problem]:
    """Yield a problem if claims about one sentence do not say how they differ. A claim with `own = true` adds a
    condition to a sentence that another claim has from the paper.
    """
    papers = {claim.sentence for claim in study.claim if claim.sentence and not claim.own}
    seen: set[str] = set()
    for index, claim in enumerate(study.claim):
        at = ("claim", index)
        if claim.of_study:
            if not (claim.own and claim.sentence and claim.condition):
                yield Problem((*at, "of_study"), "goes with own = true, sentence and condition")
            continue
        if claim.sentence and claim.sentence not in papers:
            suggestion = nearest(claim.sentence, papers)
            yield Problem((*at, "sentence"), f"is that of no claim without own = true{suggestion}")
        if claim.condition and not claim.sentence:
            yield Problem((*at, "condition"), "is of a sentence that other claims judge too; name it in sentence")
        if claim.sentence in seen and not claim.condition:
            yield Problem((*at, "sentence"), "is judged by a claim before this one; say in condition what differs here")
        seen.update(filter(None, [claim.sentence]))


def _checked(draft: Draft, claim: Claim, at: Keys) -> Claim:
    before = len(draft.problems)
    draft.extend(_shape_problems(claim, at))
    for metric in claim.metric:
        draft.has_metric(metric, (*at, "metric"))
    if claim.is_about_systems:
        if not draft.content.systems:
            draft.add(at, 'compares systems: name them at the top, systems = ["Linux", "Windows XP"]')
            return claim
        draft = draft.widened({SYSTEM: draft.content.systems, **draft.content.axes})
    where = draft.full(claim.where, (*at, "where"))
    compare = [draft.full(selection, (*at, "compare", index)) for index, selection in enumerate(claim.compare)]
    for name, axis in (("along", claim.along), ("gap_along", claim.gap_along)):
        if axis is not None:
            draft.has_axis(axis, (*at, name))
    for axis in claim.over:
        draft.has_axis(axis, (*at, "over"))
    printed = [
        figure.model_copy(update={"at": draft.full(figure.at, (*at, "printed", index, "at"))})
        for index, figure in enumerate(claim.printed)
    ]
    full = claim.model_copy(update={"where": where, "compare": compare, "printed": printed})
    if len(draft.problems) == before:
        draft.extend(_axis_problems(claim, at))
    if len(draft.problems) == before:
        draft.extend(_cell_problems(full, draft.cells(where), at))
    return full


def _shape_problems(claim: Claim, at: Keys) -> Iterator[Problem]:
    """Yield the contradictions of a claim that need no knowledge of its study."""
    kinds = {"compare": bool(claim.compare), "along": claim.along is not None, "value": claim.value is not None}
    named = [name for name, is_given in kinds.items() if is_given]
    if not named:
        yield Problem(at, "has nothing that decides it: give it compare, along or value")
        return
    if len(named) > 1:
        yield Problem((*at, named[1]), f"cannot stand beside {named[0]}: make two claims of it")
        return
    kind = "gap_along" if claim.gap_along is not None else named[0]
    relations = {"compare": RELATIONS, "along": TRENDS, "gap_along": TRENDS, "value": LEVELS}[kind]
    for relation in claim.relation:
        if relation not in relations:
            yield Problem((*at, "relation"), f'"{relation}" is no relation of {kind}{nearest(relation, relations)}')
            return
    if kind == "gap_along" and [len(values) for selection in claim.compare for values in selection.values()] != [1, 1]:
        yield Problem((*at, "gap_along"), "needs two selections to compare, of one value of one axis each")
        return
    yield from _average_problems(claim, at)
    steps = len(claim.compare) - 1 if claim.compare and kind == "compare" else 1
    if claim.compare and len(claim.compare) < 2:
        yield Problem((*at, "compare"), "has one selection; give two or more, each to be held against the next")
        return
    for name, entries in (("relation", claim.relation), ("by", claim.by)):
        if len(entries) not in (0, 1, steps):
            yield Problem((*at, name), f"has {len(entries)} entries; give one, or one for each of {steps} comparisons")
            return
    for relation, by in zip(each(claim.relation, steps), each(claim.by, steps), strict=True):
        try:
            band(relation, by, clear=1.0 if claim.value is not None else CLEAR)
        except ValueError as error:
            yield Problem((*at, "by"), f'"{by}": {error}')
            return


def _average_problems(claim: Claim, at: Keys) -> Iterator[Problem]:
    """Yield a problem if a claim says how to average without averaging, or averages in time what is not a time."""
    for name, is_said in (("over", bool(claim.over)), ("average", claim.average != "ratios")):
        if is_said and claim.cells != "average":
            yield Problem((*at, name), 'says how to average; it goes with cells = "average"')
    if claim.average == "time":
        for metric in claim.metric:
            unit = METRICS[metric].unit if metric in METRICS else "s"
            if unit not in TIME_UNITS:
                yield Problem((*at, "average"), not_a_time(metric))


def not_a_time(metric: str) -> str:
    """Return the problem of a metric that cannot be averaged in time."""
    return f'"time" is for times, and {metric} is none; leave it out'


def _axis_problems(claim: Claim, at: Keys) -> Iterator[Problem]:
    """Yield a problem unless the compared selections name the same axes, and `where` names other ones."""
    for index, selection in enumerate(claim.compare):
        place = (*at, "compare", index)
        if not selection:
            yield Problem(place, "names no axis; say which cells are compared")
        for axis in {**claim.compare[0], **selection}:
            if axis not in selection or axis not in claim.compare[0]:
                yield Problem(place, f'one names "{axis}" and another does not; name it in each, or in where')
        for axis in selection:
            if axis in claim.where:
                yield Problem((*at, "where", axis), "is compared already; keep it here or in compare")
            for name, taken in (("gap_along", [claim.gap_along]), ("over", claim.over)):
                if axis in taken:
                    yield Problem((*at, name), f'"{axis}" is compared already; name an axis that is not')


def _cell_problems(claim: Claim, cells: Sequence[Coordinates], at: Keys) -> Iterator[Problem]:
    """Yield a problem if a selection has no cells, or cells without a partner to compare with."""
    if not cells:
        yield Problem((*at, "where"), "leaves no cell to judge by")
        return
    for name, axis in (("along", claim.along), ("gap_along", claim.gap_along)):
        if axis is not None and len({cell[axis] for cell in cells}) < 2:
            yield Problem((*at, name), f'"{axis}" has one value here: nothing can change along it')
    for index, (left, right) in enumerate(zip(claim.compare, claim.compare[1:], strict=False), start=1):
        place = (*at, "compare", index)
        first, second = ([_setting(cell, left) for cell in cells if matches(cell, side)] for side in (left, right))
        if any(matches(cell, left) and matches(cell, right) for cell in cells):
            yield Problem(place, "takes cells that the one before it takes too; nothing differs from itself")
        elif not set(first) & set(second):
            yield Problem(place, f"has no partner in the one before it{_why_apart(cells, left, right)}")
    yield from _printed_problems(claim, cells, at)


def _setting(cell: Coordinates, compared: Where) -> tuple[tuple[str, str], ...]:
    return tuple((axis, value) for axis, value in cell.items() if axis not in compared)


def _why_apart(cells: Sequence[Coordinates], left: Where, right: Where) -> str:
    """Return the axes in which the two sides never meet."""
    sides = [[cell for cell in cells if matches(cell, side)] for side in (left, right)]
    if not all(sides):
        return ": skip leaves it no cell"
    apart = [
        axis
        for axis in sides[0][0]
        if axis not in left and not {cell[axis] for cell in sides[0]} & {cell[axis] for cell in sides[1]}
    ]
    return (
        f": they differ in {' and '.join(apart)} too; name it in each" if apart else "; name all that differs in each"
    )


def _printed_problems(claim: Claim, cells: Sequence[Coordinates], at: Keys) -> Iterator[Problem]:
    """Yield a problem unless each printed figure belongs to one cell of the claim, and no two to the same cell."""
    taken: dict[tuple[object, ...], int] = {}
    for index, figure in enumerate(claim.printed):
        keys = (*at, "printed", index)
        if figure.metric is None and len(claim.metric) > 1:
            yield Problem(keys, f"has no metric; it is one of {', '.join(claim.metric)}")
            continue
        if figure.metric is not None and figure.metric not in claim.metric:
            suggestion = nearest(figure.metric, claim.metric)
            yield Problem((*keys, "metric"), f'"{figure.metric}" is no metric of this claim{suggestion}')
            continue
        figure_cells = [cell for cell in cells if matches(cell, figure.at)]
        if not figure_cells:
            yield Problem((*keys, "at"), "is no cell of this claim")
        for cell in figure_cells:
            place = (figure.metric, *cell.values())
            if taken.setdefault(place, index) != index:
                yield Problem(keys, f"stands for a cell of printed[{taken[place]}]; say in at what tells them apart")
                break
