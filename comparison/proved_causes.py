"""Name the causes that only one of two compilations has, where they cover a reason's values."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, file_and_line
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.search import causes_of_values
from xlagraph.comparison.reasons import Reason, ReasonKind
from xlagraph.graph.engine import Graph
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.queries.errors import NotStored

__all__ = ["name_causes"]

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
_LEAST_SHARE_OF_GROWTH: Final = 0.1
_LEAST_SHARE_OF_REASON: Final = 0.5
_LEAST_LIKELIHOOD: Final = 0.5
"""A less likely cause, such as a copy that the compiler did not elide, explains no growth."""
_LEAST_FACTOR: Final = 2
"""A cause that both sides have is one of the growth if it has this many times the bytes."""


class _Found(NamedTuple):
    title: str
    place: str | None
    sum_bytes: int
    labels: frozenset[str]
    """Values of the cause and of its edit, and those that must share their addresses."""

    def joined(self, other: "_Found") -> "_Found":
        """Return both, with the line of the first."""
        return self._replace(
            sum_bytes=self.sum_bytes + other.sum_bytes, labels=self.labels | other.labels
        )

    def bytes_of(self, reason: Reason) -> int:
        """Return how much of a reason's growth the values are, with its sign."""
        growth = sum(
            bytes_ for label, bytes_ in reason.growth_by_label.items() if label in self.labels
        )
        return growth if reason.growth_bytes > 0 else -growth


def name_causes(graph: Graph, reasons: Sequence[Reason], keys: tuple[str, str]) -> None:
    """Name the causes of large reasons that only say which values a pair of compilations has."""
    growth = sum(reason.growth_bytes for reason in reasons)
    large = [
        reason
        for reason in reasons
        if reason.subject.kind in _COVERED
        and growth
        and reason.growth_bytes / growth >= _LEAST_SHARE_OF_GROWTH
    ]
    if not large:
        return
    less, more = keys if growth > 0 else keys[::-1]
    found = _by_title(_causes(graph, more))
    if not found:
        return
    others = _by_title(_causes(graph, less))
    for reason in large:
        best = max(found.values(), key=lambda cause: cause.bytes_of(reason))
        known = others.get(best.title)
        is_new = known is None or best.sum_bytes > _LEAST_FACTOR * known.sum_bytes
        if is_new and best.bytes_of(reason) / abs(reason.growth_bytes) >= _LEAST_SHARE_OF_REASON:
            title = best.title[0].lower() + best.title[1:]
            reason.cause = f"{title} ({best.place})" if best.place else title


def _by_title(causes: Iterable[_Found]) -> dict[str, _Found]:
    """Return the causes of a kind as one, with the line of the largest."""
    found: dict[str, _Found] = {}
    for cause in sorted(causes, key=lambda cause: -cause.sum_bytes):
        known = found.get(cause.title)
        found[cause.title] = cause if known is None else known.joined(cause)
    return found


def _causes(graph: Graph, key: str) -> Iterator[_Found]:
    program = PeakProgram(StoredCompilation(graph, key), 0)
    try:
        if program.obstacle is None:
            for cause in causes_of_values(program):
                if cause.likelihood is None or cause.likelihood >= _LEAST_LIKELIHOOD:
                    yield _found(program, cause)
    except NotStored:
        return


def _found(program: PeakProgram, cause: Cause) -> _Found:
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
    return _Found(cause.title, place, cause.sum_bytes, frozenset(labels))
