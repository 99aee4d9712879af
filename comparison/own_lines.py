"""What each line of a program's own functions calls and computes in a pass.

A line calls the first function below it that says something, such as a layer of a library, and
computes the ops that have it as their innermost line.
"""

import re
from collections.abc import Iterable, Sequence, Set
from itertools import chain, dropwhile, takewhile
from typing import Final, NamedTuple

from xlagraph.comparison.call_sites import CallSite, inner_functions
from xlagraph.comparison.called_functions import LOCALS, MOVING, outermost
from xlagraph.hlo.metadata import StackFrame, is_installed
from xlagraph.hlo.op_names import OF_ANY_LOOP, is_backward, is_recomputed, scope_names

COMMON: Final = frozenset(
    (
        "abs", "add", "and", "div", "eq", "ge", "gt", "integer_pow", "is_finite", "le", "lt", "max",
        "min", "mul", "ne", "not", "or", "reduce_max", "reduce_min", "reduce_sum", "sub",
    )
)  # fmt: skip
"""Primitives that many functions have, so that others say more."""
COMPARING: Final = frozenset(("and", "eq", "ge", "gt", "is_finite", "le", "lt", "ne", "not", "or"))
"""Primitives of conditions, which a function may compute for its backward pass alone."""
_OF_LOOPS: Final = frozenset(("dynamic_index_in_dim", "dynamic_update_index_in_dim"))
"""Functions by which `jax.lax.scan` takes its inputs and keeps its outputs."""
TAKING: Final = frozenset(("concatenate", "dynamic_slice", "gather", "pad", "rev", "slice"))
"""Primitives that take or join parts, which count where lines differ in nothing else."""
_OF_INDICES: Final = COMPARING | {"add"}
"""Primitives that a gather needs for indices which may be negative."""
_COUNTER: Final = re.compile(r"/while/(?:body/add|cond/lt)$")
"""End of the op name of an instruction that counts iterations."""
_NUMBERED: Final = re.compile(r"[\w-]+\.\d+")
"""Name of an instruction, in the op name that XLA gives to what its passes make."""
OwnFunction = tuple[str, str]
"""File and name of a function."""
OwnPath = tuple[int, ...]
"""Lines of own functions that call each other, outermost first: the order in which they run."""

OwnItem = tuple[OwnFunction, str]
"""A function, and what one of its lines calls."""


class OwnLine(NamedTuple):
    """A line of a function of the program."""

    function: OwnFunction
    number: int | None
    """None if several lines do the same."""


class OwnLines:
    """Calls and ops of the lines of a program's own functions, in one of the passes."""

    def __init__(self) -> None:
        self.items: dict[OwnLine, set[tuple[int, str]]] = {}
        """The calls and ops of each line, each with its column."""
        self.paths: dict[OwnLine, OwnPath] = {}
        self._callers: dict[tuple[OwnLine, str], Set[OwnItem]] = {}

    def add(self, frame: StackFrame, path: OwnPath, item: str, callers: Set[OwnItem]) -> None:
        """Add what a frame of a call stack calls or computes, and the calls around it."""
        line = OwnLine(_function(frame), frame.line or 0)
        self.items.setdefault(line, set()).add((frame.column or 0, item))
        self.paths[line] = min(path, self.paths.get(line, path))
        known = self._callers.get((line, item))
        self._callers[line, item] = callers if known is None else known & callers

    def leave_out(self, line: OwnLine, item: str) -> None:
        """Leave out what a line calls if its other items say it."""
        if others := {each for each in self.items.get(line, ()) if each[1] != item}:
            self.items[line] = others

    def callers(self, lines: Iterable[OwnLine], items: Set[str]) -> Set[OwnItem]:
        """Return the calls within which lines do all of some items."""
        found = [self._callers[line, item] for line in lines for item in items & {*self.done(line)}]
        return frozenset.intersection(*map(frozenset, found)) if found else frozenset()

    @property
    def functions(self) -> Set[OwnFunction]:
        """The functions that do something."""
        return {line.function for line in self.items}

    def of(self, function: OwnFunction) -> list[OwnLine]:
        """Return the lines of a function in their order."""
        return sorted(line for line in self.items if line.function == function)

    def done(self, line: OwnLine) -> tuple[str, ...]:
        """Return what a line calls and computes."""
        return tuple(sorted(self.in_order(line)))

    def in_order(self, line: OwnLine) -> tuple[str, ...]:
        """Return what a line calls and computes from left to right; nothing in another pass."""
        return tuple(item for _, item in sorted(self.items.get(line, ())))


def own_lines(
    sites: Iterable[CallSite],
    unsure: Set[str],
    cut: Set[tuple[str | None, str | None]],
    *,
    of_backward: bool,
    of_moves: bool = False,
) -> OwnLines:
    """Return the calls and ops of each line of the program's own functions in one of the passes.

    ``cut`` are functions of which not all is known. ``of_moves`` adds the ops that take or join
    parts of arrays.
    """
    lines = OwnLines()
    callers: dict[str, set[str | None]] = {}
    layers: set[tuple[OwnLine, str]] = set()
    # ops of a function that JAX compiles once have the call stack of its first call, which may lack
    # frames: other ops come first
    for site in sorted(sites, key=lambda site: bool(site.function)):
        if is_recomputed(site.op_name) or is_backward(site.op_name) is not of_backward:
            continue
        if not unsure.isdisjoint(name for name, _ in inner_functions(site.op_name)):
            continue  # the other program may call it by the same line
        path: OwnPath = ()
        calls: frozenset[OwnItem] = frozenset()
        for at, frame in enumerate(site.frames):
            if _is_of_library(frame):
                continue
            path = (*path, frame.line or 0)
            item = _item(site, at, of_moves=of_moves)
            if not item or item in unsure or (frame.file, frame.function) in cut:
                continue
            if equation := _equation(site, at):
                layers.add((OwnLine(_function(frame), frame.line or 0), item))
                item = equation
            if not site.function:
                callers.setdefault(item, set()).add(frame.function)
            is_op = at + 1 == len(site.frames)
            # a call is none for a condition, which the backward pass of an activation may need
            if not is_op and not COMPARING.isdisjoint(scope_names(site.op_name)[-1:]):
                continue
            if is_op or frame.function in callers.get(item, {frame.function}):
                lines.add(frame, path, item, calls)
                calls |= {(_function(frame), item)}
    for line, item in layers:  # such as a cast in it, which its equation says
        lines.leave_out(line, item)
    return lines


def is_in_gradient(line: OwnLine, forward: OwnLines, backward: OwnLines) -> bool:
    """Return True if a line that calls another one computes gradients by a function of its own.

    JAX puts what the backward pass of `jax.custom_vjp` calls at the call, so not all is seen.
    """
    path = forward.paths.get(line, ())
    return any(
        not COMMON.issuperset({*backward.done(caller)} - {*forward.done(caller)})
        for caller, of_caller in backward.paths.items()
        if len(of_caller) < len(path) and path[: len(of_caller)] == of_caller
    )


def gathered(
    pairs: Iterable[tuple[OwnLine, OwnLine]], lines: Iterable[OwnLines], done: Iterable[Set[str]]
) -> list[set[str]]:
    """Return what paired lines do in one program only, with a gather instead of its indices' ops.

    ``lines`` of both programs have the ops that take parts; they are read if they are needed.
    """
    said = [set(each) for each in done]
    if not any(each and each <= _OF_INDICES for each in said):
        return said
    pairs = list(pairs)
    is_gather = [
        any("gather" in of_side.done(pair[side]) for pair in pairs)
        for side, of_side in enumerate(lines)
    ]
    return [
        {"gather"} if each <= _OF_INDICES and is_gather == [side == 0, side == 1] else each
        for side, each in enumerate(said)
    ]


def _item(site: CallSite, at: int, *, of_moves: bool) -> str | None:
    """Return the function that a frame calls, or the op that it makes; None if it only moves."""
    # who reads a line reads its lambdas, too
    if called := list(dropwhile(_is_lambda, site.frames[at + 1 :])):
        above = {frame.function for frame in site.frames[: at + 1]}
        compiled = [name for name, _ in inner_functions(site.op_name) if name not in above]
        return _called(called, compiled)
    op = site.function or next(chain(_equations(site), scope_names(site.op_name)[-1:]), "")
    is_scope = op in OF_ANY_LOOP or any(frame.function == op for frame in site.frames)
    unsaid = _OF_LOOPS | (MOVING - TAKING if of_moves else MOVING)
    # XLA may join several that only move data
    is_moving = unsaid.issuperset(op.split(";"))
    is_op = "/" in site.op_name and not is_moving and not is_scope
    is_of_compiler = _COUNTER.search(site.op_name) or _NUMBERED.fullmatch(op)
    return op if is_op and not is_of_compiler else None


def _equation(site: CallSite, at: int) -> str | None:
    """Return the equation that a frame gives to a layer, such as `nnx.Einsum`."""
    called = {(frame.file, frame.function) for frame in site.frames[at + 1 :]}
    is_layer = len(called) == 1 and _is_of_library(site.frames[-1])
    return next(iter(_equations(site)), None) if is_layer else None


def _equations(site: CallSite) -> list[str]:
    """Return the equation of `jnp.einsum`, if an op is of one; a joined name is of no one op."""
    names = scope_names(site.op_name)[-2:-1]
    return [name for name in names if "->" in name and ";" not in name]


def _function(frame: StackFrame) -> OwnFunction:
    return frame.file or "", frame.function or ""


def _is_lambda(frame: StackFrame) -> bool:
    return (frame.function or "").endswith(">") and not _is_of_library(frame)


def _called(frames: Sequence[StackFrame], compiled: Sequence[str]) -> str | None:
    """Return which function the first of the frames that a line calls stands for.

    ``compiled`` are the functions that JAX compiles on its own in the line, outermost first.
    """
    of_library = list(takewhile(_is_of_library, frames))
    names = [frame.function or "" for frame in of_library]
    own = [frame.function or "" for frame in frames[len(names) :][:1]]
    first = next(chain(names, own))
    # a wrapper calls what says more, such as a layer, but not what is in a compiled function
    if names and (LOCALS in first or first.startswith("_")):
        outside = list(takewhile(lambda each: each not in compiled, names))
        layers = (each for each in outside if each.endswith(".__call__"))
        # a closure of another file is what a wrapper calls, as transformations of optax are
        other = {f.function for f in of_library if f.file != of_library[0].file}
        plain = (
            outermost(each) if each in other else each
            for each in outside
            if LOCALS not in each or each in other
        )
        calls = chain(layers, plain, own if outside == names else ())
        public = (each for each in calls if not each.startswith("_"))
        first = next(chain(public, compiled, names))
    first = first if first in own else outermost(first)
    name = last_name(first)
    return None if "<" in name or name in _OF_LOOPS else name


def last_name(function: str) -> str:
    """Return the name of a function or layer without what contains it."""
    return function.rpartition(LOCALS)[2].removesuffix(".__call__")


def _is_of_library(frame: StackFrame) -> bool:
    return is_installed(frame.file or "")
