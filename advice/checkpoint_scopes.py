"""Try to wrap scopes of a program in a checkpoint, if no finding makes it fit."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.op_names import scope_names
from xlagraph.planner.edits.edit import Edit, replan
from xlagraph.planner.edits.recomputing import Checkpoint
from xlagraph.queries.errors import NoSuchName

_MOST_TRIED: Final = 12
"""Each scope is replanned, which takes about as long as a `whatif`."""
_MOST_HELD: Final = 0.5
"""Share of the bytes at the peak: a larger scope needs nearly all of them again at once, when it is
recomputed."""


@dataclass(frozen=True, slots=True)
class CheckpointScopes:
    """Scopes whose checkpoints save memory together."""

    arguments: tuple[str, ...]
    """Arguments of `xlagraph whatif` that make these changes."""
    saved_bytes: int
    """Least of the range."""
    saved_at_most: int
    keeps_first: bool = False
    """True if the compiler may keep first results instead, because it drops barriers."""


def checkpoint_scopes(program: PeakProgram) -> CheckpointScopes | None:
    """Return scopes to checkpoint, each as a block; None if that saves nothing.

    The scopes with most bytes of forward values at the peak are tried, one after another. A CPU
    compiler that recomputes early is told to order instructions for memory, too.
    """
    if program.obstacle is not None:
        return None
    order = program.memory_order if program.recomputes_early else None
    before: list[Edit] = [] if order is None else [order]
    found = None
    edits: list[Edit] = []
    for scope in _scopes(program):
        try:
            replanned = replan(program.compilation, (*before, *edits, Checkpoint(scope)))
        except NoSuchName:  # the scope keeps nothing for the backward pass
            continue
        most = replanned.saved_bytes()
        least = most - (replanned.most_reserved_bytes() - replanned.reserved_bytes())
        if least > (0 if found is None else found.saved_bytes):
            edits.append(Checkpoint(scope))
            words = [word for each in (*edits, *before) for word in each.arguments]
            found = CheckpointScopes(
                tuple(words), least, most, not program.compilation.orders_recomputation
            )
    return found


def _scopes(program: PeakProgram) -> Iterator[str]:
    held: Counter[str] = Counter()
    for value in program.at_peak:
        if not value.is_backward:
            for scope in scope_names(value.known_op_name)[:-1]:
                held[scope] += value.size_bytes
    for scope, size_bytes in held.most_common(_MOST_TRIED):
        if size_bytes <= _MOST_HELD * program.temp_bytes_at_peak:
            yield scope
