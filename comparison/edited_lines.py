"""Name the first line of the program's own functions at which two programs differ.

    forward:28  relu(dense(x))         of one program
    forward:28  dense(x)               of the other one
    forward:29  tanh

What a line does is what it calls and the ops that it makes itself, so a function that is called
less often differs only where it was called. As other lines move with each edit, the lines of a
function are aligned by what they do. Of several differences, what runs first counts: the others
may follow from it, as XLA drops what nothing reads and what is constant.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from difflib import SequenceMatcher
from itertools import chain, dropwhile, takewhile
from pathlib import PurePath
from typing import Final, NamedTuple

from xlagraph.comparison.argument_names import folded
from xlagraph.comparison.call_sites import CallSite, inner_functions
from xlagraph.comparison.called_functions import LOCALS, MOVING, outermost
from xlagraph.comparison.held_values import Reserved, place
from xlagraph.comparison.loop_texts import turns
from xlagraph.comparison.reasons import FoundReasons, Reason, ReasonKind, Subject
from xlagraph.hlo.metadata import StackFrame, is_installed
from xlagraph.hlo.op_names import OF_ANY_LOOP, is_backward, is_recomputed, scope_names
from xlagraph.presentation.byte_sizes import counted

_MOST_LINES: Final = 3
"""Maximum number of lines whose gradients are named."""
COMMON: Final = frozenset(
    (
        "abs", "add", "and", "div", "eq", "ge", "gt", "integer_pow", "is_finite", "le", "lt", "max",
        "min", "mul", "ne", "not", "or", "reduce_max", "reduce_min", "reduce_sum", "sub",
    )
)  # fmt: skip
"""Primitives that many functions have, so that others say more."""
_COMPARING: Final = frozenset(("and", "eq", "ge", "gt", "is_finite", "le", "lt", "ne", "not", "or"))
"""Primitives of conditions, which a function may compute for its backward pass alone."""
_OF_LOOPS: Final = frozenset(("dynamic_index_in_dim", "dynamic_update_index_in_dim"))
"""Functions by which `jax.lax.scan` takes its inputs and keeps its outputs."""
TAKING: Final = frozenset(("concatenate", "dynamic_slice", "gather", "pad", "rev", "slice"))
"""Primitives that take or join parts, which count where lines differ in nothing else."""
_COUNTER: Final = re.compile(r"/while/(?:body/add|cond/lt)$")
"""End of the op name of an instruction that counts iterations."""
_Function = tuple[str, str]
"""File and name of a function."""
_Path = tuple[int, ...]
"""Lines of own functions that call each other, outermost first: the order in which they run."""


class _Line(NamedTuple):
    function: _Function
    number: int | None
    """None if several lines do the same."""


class _Difference(NamedTuple):
    path: _Path
    """Lines of the functions that call the line, and its own."""
    line: _Line
    gone: frozenset[str]
    new: frozenset[str]
    pairs: tuple[tuple[_Line, _Line], ...] = ()
    """The differing lines of both programs in their order, if both have as many."""
    places: frozenset[str] = frozenset()
    """The differing lines of both programs, as ``train.py:28``."""

    def place(self) -> tuple[_Path, _Function]:
        """Return what differences are sorted by: when the line runs, and its function."""
        return self.path, self.line.function

    def calls(self, other: "_Difference") -> bool:
        """Return True if another line runs within this one, which only has more or less."""
        is_within = other.path[: len(self.path)] == self.path and len(other.path) > len(self.path)
        return is_within and not (self.gone and self.new)

    def is_common(self, *, is_new: bool) -> bool:
        """Return True if only one program has ops here, all of which many functions have."""
        more, less = (self.new, self.gone) if is_new else (self.gone, self.new)
        return not less and more <= COMMON


class _Lines:
    """What the lines of a program's own functions do in a pass."""

    def __init__(self) -> None:
        self.items: dict[_Line, set[tuple[int, str]]] = {}
        """The calls and ops of each line, each with its column."""
        self.paths: dict[_Line, _Path] = {}

    def add(self, frame: StackFrame, path: _Path, item: str) -> None:
        """Add what a frame of a call stack calls or computes."""
        line = _Line((frame.file or "", frame.function or ""), frame.line or 0)
        self.items.setdefault(line, set()).add((frame.column or 0, item))
        self.paths[line] = min(path, self.paths.get(line, path))

    @property
    def functions(self) -> Set[_Function]:
        """The functions that do something."""
        return {line.function for line in self.items}

    def of(self, function: _Function) -> list[_Line]:
        """Return the lines of a function in their order."""
        return sorted(line for line in self.items if line.function == function)

    def done(self, line: _Line) -> tuple[str, ...]:
        """Return what a line calls and computes."""
        return tuple(sorted(self.in_order(line)))

    def in_order(self, line: _Line) -> tuple[str, ...]:
        """Return what a line calls and computes from left to right."""
        return tuple(item for _, item in sorted(self.items[line]))


def name_edited_lines(sides: tuple[Reserved, Reserved], reasons: FoundReasons) -> None:
    """Name the first line that differs, or else the first ones with gradients in one program."""
    sites = [side.mentions.call_sites for side in sides]
    if not all(each.known for each in sites):
        return
    # where these are called is not known of both programs
    unsure = sites[0].unknown | sites[1].unknown
    cut = sites[0].cut | sites[1].cut
    unsure |= {_last(name or "") for _, name in cut}
    forward, backward = (
        tuple(_lines(each.known, unsure, cut, of_backward=of_backward) for each in sites)
        for of_backward in (False, True)
    )
    same, differences, moved = _aligned(*forward)
    pairs = [*same, *(pair for each in differences for pair in each.pairs)]
    for side, word in ((1, "new"), (0, "gone")):
        more, less = backward[side], backward[1 - side]
        of_one = [
            pair for pair in pairs if pair[side] in more.items and pair[1 - side] not in less.items
        ]
        # the forward pass computes something only for a backward pass
        if of_one and all(
            set(each.pairs) & set(of_one) and each.is_common(is_new=word == "new")
            for each in differences
        ):
            reason = reasons.of(ReasonKind.EDITED, before="backward", after=word)
            paths = {more.paths[pair[side]]: pair[side] for pair in of_one}
            # what calls a function of which this is said follows from it
            callers = {path[:length] for path in paths for length in range(1, len(path))}
            lines = [paths[path] for path in sorted(paths.keys() - callers)]
            reason.scopes = {_place(line) for line in lines[:_MOST_LINES]}
            reason.count_a = reason.count_b = len(lines)
            return
    if not differences:
        _, differences, _ = _aligned(
            *(_lines(each.known, unsure, cut, of_backward=False, of_moves=True) for each in sites)
        )
    a, b = forward
    moved += [
        _Difference(b.paths[of_b], of_b, *(frozenset(b.done(of_b)),) * 2)
        for of_a, of_b in same
        if a.in_order(of_a) != b.in_order(of_b)
    ]
    differences = differences or moved
    innermost = [each for each in differences if not any(map(each.calls, differences))]
    first = min(innermost, key=_Difference.place, default=None)
    if first is not None:
        reason = reasons.of(ReasonKind.EDITED)
        reason.scopes, reason.inputs = set(first.gone), set(first.new)
        reason.labels = {_place(first.line)}
        loops = reasons.found.get(Subject(ReasonKind.TURNS))
        if loops and len(loops.turns) == 1 and loops.scopes <= first.places:
            reason.turns = {each for each in loops.turns if 0 in each}


def _aligned(
    a: _Lines, b: _Lines
) -> tuple[list[tuple[_Line, _Line]], list[_Difference], list[_Difference]]:
    """Return the lines that do the same in both programs, where others differ, and those moved."""
    same: list[tuple[_Line, _Line]] = []
    differences: list[_Difference] = []
    moved: list[_Difference] = []
    for function in a.functions & b.functions:
        of_a, of_b = a.of(function), b.of(function)
        done = [a.done(line) for line in of_a], [b.done(line) for line in of_b]
        # a line may be aligned with another one that does the same
        all_a, all_b = (Counter(chain.from_iterable(each)) for each in done)
        for tag, start_a, end_a, start_b, end_b in SequenceMatcher(
            None, *done, autojunk=False
        ).get_opcodes():
            pairs = tuple(zip(of_a[start_a:end_a], of_b[start_b:end_b], strict=False))
            if tag == "equal":
                same += pairs
                continue
            before, after = (
                Counter(chain.from_iterable(each))
                for each in (done[0][start_a:end_a], done[1][start_b:end_b])
            )
            gone = (before - after) & (all_a - all_b)
            new = (after - before) & (all_b - all_a)
            is_paired = end_a - start_a == end_b - start_b
            # the line of the second program, if it has one
            lines, line = (b, of_b[start_b]) if end_b > start_b else (a, of_a[start_a])
            path = lines.paths[line]
            if _COMPARING.issuperset({*gone, *new}):
                if _COMPARING.issuperset(chain(before - after, after - before)):
                    same += pairs if is_paired else ()
                elif end_b > start_b:
                    moved.append(_Difference(path, line, *(frozenset(lines.done(line)),) * 2))
                continue
            if _can_be_moved(done[0], start_a, end_a) or _can_be_moved(done[1], start_b, end_b):
                line = line._replace(number=None)
            places = (
                place((line.function[0], line.number or 0))
                for line in (*of_a[start_a:end_a], *of_b[start_b:end_b])
            )
            differences.append(
                _Difference(
                    path,
                    line,
                    frozenset(gone),
                    frozenset(new),
                    pairs if is_paired else (),
                    frozenset(places),
                )
            )
    return same, differences, moved


def _can_be_moved(done: Sequence[tuple[str, ...]], start: int, end: int) -> bool:
    """Return True if the line before or after some does the same, so that it may differ."""
    before, after = done[start - 1 : start] if start else [], done[end : end + 1]
    return end > start and (done[end - 1 : end] == before or done[start : start + 1] == after)


def _lines(
    sites: Iterable[CallSite],
    unsure: Set[str],
    cut: Set[tuple[str | None, str | None]],
    *,
    of_backward: bool,
    of_moves: bool = False,
) -> _Lines:
    """Return the calls and ops of each line of the program's own functions in one of the passes.

    ``cut`` are functions of which not all is known. ``of_moves`` adds the ops that take or join
    parts of arrays.
    """
    lines = _Lines()
    callers: dict[str, set[str | None]] = {}
    # ops of a function that JAX compiles once have the call stack of its first call, which may lack
    # frames: other ops come first
    for site in sorted(sites, key=lambda site: bool(site.function)):
        if is_recomputed(site.op_name) or is_backward(site.op_name) is not of_backward:
            continue
        path: _Path = ()
        for at, frame in enumerate(site.frames):
            if _is_of_library(frame):
                continue
            path = (*path, frame.line or 0)
            item = _item(site, at, of_moves=of_moves)
            if not item or item in unsure or (frame.file, frame.function) in cut:
                continue
            if not site.function:
                callers.setdefault(item, set()).add(frame.function)
            is_op = at + 1 == len(site.frames)
            # a call is none for a condition, which the backward pass of an activation may need
            if not is_op and not _COMPARING.isdisjoint(scope_names(site.op_name)[-1:]):
                continue
            if is_op or frame.function in callers.get(item, {frame.function}):
                lines.add(frame, path, item)
    return lines


def _item(site: CallSite, at: int, *, of_moves: bool) -> str | None:
    """Return the function that a frame calls, or the op that it makes; None if it only moves."""
    # who reads a line reads its lambdas, too
    if called := list(dropwhile(_is_lambda, site.frames[at + 1 :])):
        above = {frame.function for frame in site.frames[: at + 1]}
        compiled = [name for name, _ in inner_functions(site.op_name) if name not in above]
        return _called(called, compiled)
    names = scope_names(site.op_name)
    # of `jnp.einsum`; a joined name is of no one op
    equations = [name for name in names[-2:-1] if "->" in name and ";" not in name]
    op = site.function or next(chain(equations, names[-1:]), "")
    is_scope = op in OF_ANY_LOOP or any(frame.function == op for frame in site.frames)
    unsaid = _OF_LOOPS | (MOVING - TAKING if of_moves else MOVING)
    is_op = "/" in site.op_name and op not in unsaid and not is_scope
    return op if is_op and not _COUNTER.search(site.op_name) else None


def _is_lambda(frame: StackFrame) -> bool:
    return (frame.function or "").endswith(">") and not _is_of_library(frame)


def _called(frames: Sequence[StackFrame], compiled: Sequence[str]) -> str | None:
    """Return which function the first of the frames that a line calls stands for.

    ``compiled`` are the functions that JAX compiles on its own in the line, outermost first.
    """
    names = [frame.function or "" for frame in takewhile(_is_of_library, frames)]
    own = [frame.function or "" for frame in frames[len(names) :][:1]]
    first = next(chain(names, own))
    # a wrapper calls what says more, such as a layer, but not what is in a compiled function
    if names and (LOCALS in first or first.startswith("_")):
        outside = list(takewhile(lambda each: each not in compiled, names))
        layers = (each for each in outside if each.endswith(".__call__"))
        plain = (each for each in outside if LOCALS not in each)
        calls = chain(layers, plain, own if outside == names else ())
        public = (each for each in calls if not each.startswith("_"))
        first = next(chain(public, compiled, names))
    first = first if first in own else outermost(first)
    name = _last(first)
    return None if "<" in name or name in _OF_LOOPS else name


def _last(function: str) -> str:
    return function.rpartition(LOCALS)[2].removesuffix(".__call__")


def _is_of_library(frame: StackFrame) -> bool:
    return is_installed(frame.file or "")


def _place(line: _Line) -> str:
    file, function = line.function
    number = "" if line.number is None else f":{line.number}"
    return f"{PurePath(file).name}{number} ({function.rpartition('.<locals>.')[2]})"


def _shown(name: str) -> str:
    return f"einsum {name}" if "->" in name else name.lstrip("_")


def edited_text(reason: Reason) -> str:
    """Return which ops and functions a line has in one program only."""
    if reason.subject.before:
        more = reason.count_b - len(reason.scopes)
        lines = ", ".join(sorted(reason.scopes))
        lines += f" and {counted(more, 'more line')}" if more else ""
        when = "none before" if reason.subject.after == "new" else "none now"
        return f"gradients of {lines}, {when}"
    (at,) = reason.labels
    gone, new = (
        folded(_shown(name) for name in each - COMMON or each)
        for each in (reason.scopes, reason.inputs)
    )
    loop = "".join(f"{turns(*each)}, with " for each in reason.turns)
    if reason.scopes == reason.inputs:
        return f"{at}: the same ops in another order"
    if gone and new:
        return f"{at}: {loop}{new} instead of {gone}"
    return f"{at}: {loop}{new} new" if new else f"{at}: {loop}{gone} gone"
