"""Join causes that save nothing alone, because the others take as many bytes at the peak."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes.cause import Cause
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.edits.edit import replan
from xlagraph.planner.edits.resizing import ComputeInParts, Remove, Scale
from xlagraph.queries.catalogue.declarations import ChangeKind

_MOST: Final = 4
"""Causes that are tried together: each try is a replan."""
_OF_COMPUTED: Final = "peak/contributors"
"""Query of causes whose values the program computes; copies depend on the order."""


def saving_together(
    program: PeakProgram, causes: Iterable[tuple[Cause, int]], least_bytes: int
) -> Cause | None:
    """Return one cause for several that save enough together, and little alone.

    ``causes`` come with the most bytes that each saves alone. None if no two of them do.
    """
    candidates = [
        (cause, alone)
        for cause, alone in causes
        if cause.query == _OF_COMPUTED and not cause.is_fact and cause.sum_bytes >= least_bytes
        if _kept(cause)
    ]
    candidates.sort(key=lambda each: -each[0].sum_bytes)
    joined = [cause for cause, _ in candidates[:_MOST]]
    best = max((alone for _, alone in candidates), default=0)
    if len(joined) < 2 or all(alone >= least_bytes for _, alone in candidates):
        return None
    saved = _saved_bytes(program, joined)
    if saved < best + least_bytes:
        return None
    for cause in reversed(joined):
        others = [each for each in joined if each is not cause]
        if _saved_bytes(program, others) == saved:
            joined = others
    return _joined(joined)


def _joined(causes: Sequence[Cause]) -> Cause:
    first, *others = (each.title for each in causes)
    titles = "; ".join(f"{each[0].lower()}{each[1:]}" for each in (first, *others))
    frameworks = dict.fromkeys(name for each in causes for name in each.remedies)
    doubts = dict.fromkeys(each.doubt for each in causes if each.doubt is not None)
    rows = {str(row["value"]): row for each in causes for row in each.rows}
    return Cause(
        _OF_COMPUTED,
        f"Only together: {titles}",
        ChangeKind.PARTS,
        ComputeInParts(_kept_together(causes)),
        tuple(sorted(rows.values(), key=lambda row: -int(str(row["sizeBytes"])))),
        {
            name: " And: ".join(each.remedies[name] for each in causes if name in each.remedies)
            for name in frameworks
        },
        doubt="; ".join(doubts) or None,
        likelihood=min((each.likelihood for each in causes if each.likelihood), default=None),
    )


def _saved_bytes(program: PeakProgram, causes: Sequence[Cause]) -> int:
    after = replan(program.compilation, [ComputeInParts(_kept_together(causes))])
    return after.saved_bytes(program.memory_space)


def _kept_together(causes: Iterable[Cause]) -> dict[str, Fraction]:
    kept: dict[str, Fraction] = {}
    for cause in causes:
        kept |= _kept(cause)
    return kept


def _kept(cause: Cause) -> Mapping[str, Fraction]:
    """Return the part of each value that stays; nothing for edits that change no sizes."""
    if isinstance(cause.edit, ComputeInParts | Scale):
        return cause.edit.kept_by_label
    if isinstance(cause.edit, Remove) and not cause.edit.has_followers:
        return dict.fromkeys(cause.edit.patterns, Fraction(0))
    return {}
