"""Name the causes that only one of two compilations has, where they cover a reason's values."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from math import inf
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, file_and_line
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.search import causes_of_values
from xlagraph.advice.planned_savings import replanned_savings
from xlagraph.comparison.loop_turns import MAPPED
from xlagraph.comparison.reasons import CONSEQUENCES, Reason, ReasonKind
from xlagraph.graph.engine import Cell, Graph
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.edit import Edit
from xlagraph.queries.catalogue.declarations import ChangeKind
from xlagraph.queries.errors import NotStored

_COVERED: Final = {
    ReasonKind.COPIES,
    ReasonKind.LOOPED,
    ReasonKind.OUTPUTS,
    ReasonKind.PLACED,
    ReasonKind.REPLACED,
    ReasonKind.SCOPE_GONE,
    ReasonKind.SCOPE_NEW,
    ReasonKind.STACKED,
}
"""Kinds that only say which values are new; a cause says why."""
_INDIRECT: Final = {
    ReasonKind.FRAGMENTATION,
    ReasonKind.IDLE,
    ReasonKind.ORDER,
    ReasonKind.PEAK,
    ReasonKind.PLACED,
}
"""Kinds of bytes that other values than those of a cause can have."""
_NUMBER: Final = re.compile(r"\d+")
_LEAST_SHARE_OF_GROWTH: Final = 0.1
_LEAST_SHARE_OF_REASON: Final = 0.5
_LEAST_SHARE_OF_CAUSE: Final = 0.1
"""Share of the values of a cause that a reason must have, so that it is not one of others."""
_LEAST_LIKELIHOOD: Final = 0.5
"""A less likely cause, such as a copy that the compiler did not elide, explains no growth."""
_LEAST_SHARE_OF_ALL: Final = 0.01
"""Share of the reserved bytes below which a growth proves nothing about a cause."""
_LEAST_FACTOR: Final = 2
"""A cause that both sides have is one of the growth if it has this many times the share of all."""


class FoundCause(NamedTuple):
    """A cause of one compilation, with its values and edits."""

    title: str
    place: str | None
    sum_bytes: int
    labels: frozenset[str]
    """Values of the cause and of its edit, and those that must share their addresses."""
    edits: tuple[Edit, ...]
    in_parts: bool
    """True if a loop over parts would remove the cause."""
    is_unrolled: bool = False
    """True if that loop is one over equal parts, such as layers."""
    shape: Cell = None
    """Shape of its largest value."""

    @property
    def text(self) -> str:
        """Title and line, as part of a sentence."""
        title = self.title[0].lower() + self.title[1:]
        return f"{title} ({self.place})" if self.place else title

    def joined(self, other: "FoundCause") -> "FoundCause":
        """Return both, with the line of the first."""
        return self._replace(
            sum_bytes=self.sum_bytes + other.sum_bytes,
            labels=self.labels | other.labels,
            edits=self.edits + other.edits,
        )

    def bytes_of(self, reason: Reason) -> int:
        """Return how much of a reason's growth the values are, with its sign."""
        is_new = reason.growth_bytes > 0
        return abs(sum(reason.growth_by_label[is_new, label] for label in self.labels))

    def is_left_in(self, shapes: Container[Cell]) -> bool:
        """Return True if one of a program's shapes is that of the largest value of the cause.

        Such a program still computes at once what a loop over parts would not, although something
        else may hide the cause there.
        """
        return self.in_parts and not self.is_unrolled and self.shape in shapes


class _Side:
    """The causes of a compilation, at each place and by title."""

    def __init__(self, graph: Graph, key: str) -> None:
        self._program = PeakProgram(StoredCompilation(graph, key), 0)
        self.places = tuple(self._causes())
        self.causes = _by_title(self.places)

    def share(self, title: str) -> float:
        """Return the bytes of a cause, as a share of the reserved bytes."""
        known = self.causes.get(title)
        reserved = self.reserved_bytes
        return known.sum_bytes / reserved if known and reserved else 0.0

    @property
    def reserved_bytes(self) -> int:
        """Reserved bytes of memory space 0."""
        return self._program.compilation.reserved_bytes.get(0, 0)

    @cached_property
    def shapes(self) -> frozenset[Cell]:
        """Shapes of all temporary values."""
        return frozenset(value.shape for value in self._program.temporaries)

    def saves(self, edits: Sequence[Edit]) -> int:
        """Return the bytes that edits save together."""
        savings = replanned_savings(self._program, edits)
        return max(savings.bytes, savings.at_most or 0)

    def _causes(self) -> Iterator[FoundCause]:
        try:
            if self._program.obstacle is None:
                for cause in causes_of_values(self._program):
                    if cause.likelihood is None or cause.likelihood >= _LEAST_LIKELIHOOD:
                        yield _found(self._program, cause)
        except NotStored:
            return


def name_causes(graph: Graph, reasons: Sequence[Reason], keys: tuple[str, str]) -> None:
    """Name the causes of large reasons that only say which values a pair of compilations has.

    A cause is printed with the reason in which its values have most bytes. A replan without it
    must save at least half of these bytes, or half of the whole growth; beside other causes, in
    addition to what a replan without them saves.
    """
    growth = sum(reason.growth_bytes for reason in reasons)
    large = [
        reason
        for reason in sorted(reasons, key=lambda reason: -abs(reason.growth_bytes))
        if growth and reason.growth_bytes / growth >= _LEAST_SHARE_OF_GROWTH
    ]
    mapped = [reason for reason in reasons if MAPPED in reason.subject]
    covered = [each for each in large if each.subject.kind in _COVERED or each in mapped]
    indirect = [reason for reason in large if reason.subject.kind in _INDIRECT]
    is_indirect = bool(indirect) and all(reason.subject.kind in CONSEQUENCES for reason in large)
    if not covered and not is_indirect:
        return
    less, more = keys if growth > 0 else keys[::-1]
    side = _Side(graph, more)
    if not side.causes:
        return
    other = _Side(graph, less)
    found = of_elements(_grown(side, other), mapped)
    edits: tuple[Edit, ...] = ()
    saved = 0.0
    for reason in covered:
        best = best_cause(found, reason)
        if best is None:
            continue
        found.remove(best)
        # what it costs more than the whole growth, other values save
        costs = min(
            best.bytes_of(reason), max(abs(growth), _LEAST_SHARE_OF_ALL * side.reserved_bytes)
        )
        together = side.saves((*edits, *best.edits)) if best.edits else inf
        if together - saved >= _LEAST_SHARE_OF_REASON * costs:
            reason.cause = best.text
            # other stacks may have too few bytes for the cause
            is_stacked = reason.subject.kind is ReasonKind.STACKED and not reason.is_only_one_side
            remains = best.title in other.causes or best.is_left_in(other.shapes)
            reason.cause_remains = is_stacked or remains
            if best.edits:
                edits, saved = (*edits, *best.edits), together
    is_indirect &= abs(growth) >= _LEAST_SHARE_OF_ALL * side.reserved_bytes
    if is_indirect and not any(reason.cause for reason in large):
        least = _LEAST_SHARE_OF_REASON * abs(growth)
        for cause in found:
            # the other program computes these values as a whole, too
            if cause.in_parts and cause.bytes_of(indirect[0]) * 2 >= cause.sum_bytes:
                continue
            # a few values that others wait for are not what grew
            if cause.edits and cause.sum_bytes >= least and side.saves(cause.edits) >= least:
                indirect[0].cause = cause.text
                indirect[0].cause_remains = cause.title in other.causes
                return


def join_moved(reasons: Sequence[Reason]) -> list[Reason]:
    """Join values that one program returns and the other has in temporary memory instead.

    Then the bytes of outputs and of temporary values cancel out; a cause of these stays. They do
    so, too, if temporary values are in the bytes of new outputs.
    """
    of = {reason.subject.kind: reason for reason in reasons}
    outputs, placed = of.get(ReasonKind.OUTPUTS), of.get(ReasonKind.PLACED)
    if outputs is None or placed is None:
        return [*reasons]
    rest = abs(outputs.growth_bytes + placed.growth_bytes)
    shapes = [{value.shape for value in each.example if value} for each in (outputs, placed)]
    is_moved = outputs.count_a == outputs.count_b and shapes[0] == shapes[1]
    is_shared = (
        (outputs.count_b - outputs.count_a) * outputs.growth_bytes > 0
        and shapes[0] != shapes[1]
        and not outputs.cause
    )
    is_all = rest < _LEAST_SHARE_OF_GROWTH * abs(outputs.growth_bytes)
    if not is_all or not (is_moved or is_shared):
        return [*reasons]
    outputs.absorb(placed)
    outputs.placed_bytes = placed.growth_bytes
    outputs.cause, outputs.cause_remains = placed.cause, placed.cause_remains
    return [reason for reason in reasons if reason is not placed]


def of_elements(causes: Sequence[FoundCause], mapped: Sequence[Reason]) -> list[FoundCause]:
    """Return the causes that a loop removes which replaces `jax.vmap`, if one does.

    It runs once for each element, and leaves the other dimensions as they are.
    """
    elements = {str(number) for each in mapped for turns in each.turns for number in turns}
    return [
        cause for cause in causes if not mapped or elements.issuperset(_NUMBER.findall(cause.title))
    ]


def _grown(side: _Side, other: _Side) -> list[FoundCause]:
    """Return the causes that a side has and the other has not, or of which it has more.

    Of causes with a title that both have, those at single places may be new.
    """
    found = []
    for title, cause in side.causes.items():
        growth = side.share(title) - other.share(title)
        if side.share(title) > _LEAST_FACTOR * other.share(title):
            found.append(cause)
            continue
        found += [
            each
            for each in side.places
            if each.title == title
            and growth * side.reserved_bytes >= _LEAST_SHARE_OF_REASON * each.sum_bytes
        ]
    return found


def best_cause(causes: Iterable[FoundCause], reason: Reason) -> FoundCause | None:
    """Return the cause with most values of a reason; None if none has a fair share."""
    fitting = list(causes)
    if reason.subject.kind is ReasonKind.LOOPED:  # what a loop computes is in parts already
        is_in_loop = (reason.subject.after == "new") is (reason.growth_bytes > 0)
        # a loop over equal parts, such as layers, has the values of one of them
        is_of_others = 2 * min(reason.count_a, reason.count_b) > max(reason.count_a, reason.count_b)
        fitting = [
            cause
            for cause in fitting
            if cause.in_parts is not is_in_loop and not (cause.is_unrolled and is_of_others)
        ]
    best = max(fitting, key=lambda cause: cause.bytes_of(reason), default=None)
    if best is None:
        return None
    bytes_ = best.bytes_of(reason)
    is_most = bytes_ >= _LEAST_SHARE_OF_REASON * abs(reason.growth_bytes)
    return best if is_most and bytes_ >= _LEAST_SHARE_OF_CAUSE * best.sum_bytes else None


def _by_title(causes: Iterable[FoundCause]) -> dict[str, FoundCause]:
    """Return the causes of a kind as one, with the line of the largest."""
    found: dict[str, FoundCause] = {}
    for cause in sorted(causes, key=lambda cause: -cause.sum_bytes):
        known = found.get(cause.title)
        found[cause.title] = cause if known is None else known.joined(cause)
    return found


def _found(program: PeakProgram, cause: Cause) -> FoundCause:
    labels = set(cause.labels)
    for value in map(program.by_label.get, cause.labels):
        planned = None if value is None else program.planned(value)
        if planned is not None and not planned.is_copy:  # a copy may share the address of others
            members = program.program.sets[planned.buffer_set]
            labels |= {program.values[each.value_id].label for each in members}
    if cause.edit is not None:
        labels |= {program.values[each].label for each in cause.edit.matched}
    first = cause.rows[0]
    place = file_and_line(first["userFile"], first["userLine"])
    edits = () if cause.edit is None else (cause.edit,)
    in_parts = cause.kind is ChangeKind.PARTS
    return FoundCause(
        cause.title,
        place,
        cause.sum_bytes,
        frozenset(labels),
        edits,
        in_parts,
        cause.is_unrolled,
        first["shape"],
    )
