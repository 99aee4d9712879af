"""Find by which lines of a program an op is made.

    step:49, loss:37, forward:30, step:49, loss:37, forward:28, norm:12     stack of an op
    step:49, loss:37, forward:30, norm:12                                   how it is called

XLA puts the stack of an op in a function that JAX compiles on its own below that of the call. The
lower one is that of the first call, which may be of another program.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from itertools import chain, takewhile
from typing import Final, NamedTuple

from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.metadata import StackFrame, is_installed, names_in_checkouts
from xlagraph.hlo.op_names import is_backward

_INNER_FUNCTION: Final = re.compile(r"(?<!^)\bp?jit\(([^()/]*)\)")
_START: Final = re.compile(r"[^/]+/[^/]+/")
"""Compiled function of an op name, and the first part in it."""
_TRANSFORMATION: Final = re.compile(
    r"(?:transpose|jvp|vmap)\(|\)|rematted_computation/|checkpoint/"
)


class CallSite(NamedTuple):
    """An op, and the frames that make it, from a line of the compiled function on."""

    op_name: str
    function: str
    """Innermost function that JAX compiles on its own in the program; empty if there is none."""
    frames: tuple[StackFrame, ...]

    @property
    def outermost(self) -> tuple[str | None, str | None]:
        """File and function of the first frame."""
        return _function(self.frames[0])


class CallSites(NamedTuple):
    """The ops of a module whose call is known."""

    known: Set[CallSite]
    unknown: Set[str]
    """Functions that JAX compiles on its own, of which some calls are not known."""
    cut: Set[tuple[str | None, str | None]] = frozenset()
    """Files and functions of stacks that JAX limited, so that their other ops are not known."""
    of_cut: Set[CallSite] = frozenset()
    """The ops of such stacks, with the frames from the innermost line of the program on."""
    copied: str | None = None
    """File of another program that has the name of a copy of it: its lines have other numbers."""
    hidden: Set[str] = frozenset()
    """Functions that only call such of which some calls are not known."""

    @property
    def positions(self) -> Set[tuple[object, ...]]:
        """Function, file, line and column of each call in the program's own files."""
        frames = {frame for site in self.known for frame in site.frames}
        return {frame[:4] for frame in frames if not is_installed(frame.file or "")}


def call_sites(
    program: str, named: Collection[tuple[str, int]], frames: Mapping[int, StackFrame]
) -> CallSites:
    """Return the call sites of a module; none if no line of the compiled function is known.

    ``program`` is the name of that function, ``named`` the op names and frames of instructions.
    """
    inner = {name: inner_functions(name) for name, _ in named}
    often = called_in_several_places(inner.values())
    known: set[CallSite] = set()
    unknown: set[str] = set()
    hidden: set[str] = set()
    cut: set[tuple[str | None, str | None]] = set()
    of_cut: set[CallSite] = set()
    stacks = {number: _stack(number, frames) for _, number in named}
    if not any(_name(frame) == program for stack in stacks.values() for frame in stack):
        program = _outermost(stacks.values())
    for name, number in named:
        functions = [function for function, _ in inner[name]]
        stack = stacks[number]
        path, is_of_call = _path(stack, program, functions)
        if path and (is_of_call or often.isdisjoint(functions)):
            known.add(CallSite(name, functions[-1] if functions else "", tuple(path)))
        else:
            unknown.update(functions)
            hidden.update(frame.function or "" for frame in stack)
            # the op name of a part of another op has no function at its start
            if stack and not functions and name.startswith("jit("):
                cut.update(map(_function, stack))
                of_cut.add(from_innermost(CallSite(name, "", tuple(stack))))
    # a function that makes no op on its own is seen at its first call only; its gradients are seen
    shown = {
        frame.function for site in known if not is_backward(site.op_name) for frame in site.frames
    }
    return CallSites(known, unknown, cut, of_cut, hidden=hidden - shown)


def from_innermost(site: CallSite) -> CallSite:
    """Return a site with the frames from the innermost own line on: no limit cuts these."""
    below = takewhile(lambda frame: is_installed(frame.file or ""), reversed(site.frames))
    return site._replace(frames=site.frames[-1 - len(list(below)) :])


def with_common_files(a: CallSites, b: CallSites) -> tuple[CallSites, CallSites]:
    """Return the call sites of two programs, whose files have the same names if they are the same.

    Two checkouts have other folders (`names_in_checkouts`). The only file that is in one program
    alone is a copy of that of the other one, such as ``train_2.py`` of ``train.py``, if at least
    half of its functions are in both.
    """
    if names := names_in_checkouts(_own_files(a), _own_files(b)):
        a, b = _renamed(a, names), _renamed(b, names)
    files = [_own_files(each) for each in (a, b)]
    of_a, of_b = files[0] - files[1], files[1] - files[0]
    if len(of_a) == len(of_b) == 1:
        (before,), (after,) = of_a, of_b
        functions = [_functions_of(a, before), _functions_of(b, after)]
        if 2 * len(functions[0] & functions[1]) >= max(1, *map(len, functions)):
            return _renamed(a, {before: after})._replace(copied=after), b
    return a, b


def _own_files(sites: CallSites) -> set[str]:
    return {
        file
        for site in sites.known
        for frame in site.frames
        if (file := frame.file or "<") and not file.startswith("<") and not is_installed(file)
    }


def _functions_of(sites: CallSites, file: str) -> set[str | None]:
    return {frame.function for site in sites.known for frame in site.frames if frame.file == file}


def _renamed(sites: CallSites, names: Mapping[str, str]) -> CallSites:
    known, of_cut = (
        {
            site._replace(
                frames=tuple(
                    frame._replace(file=names.get(frame.file or "", frame.file))
                    for frame in site.frames
                )
            )
            for site in each
        }
        for each in (sites.known, sites.of_cut)
    )
    cut = {(names.get(file or "", file), function) for file, function in sites.cut}
    return sites._replace(known=known, cut=cut, of_cut=of_cut)


def inner_functions(op_name: str) -> list[tuple[str, str]]:
    """Return each function within the compiled one that contains an op, and where it is called.

    ``jit(step)/jvp(jit(relu))/max`` gives ``relu``, called in ``jit(step)/``. XLA may join the op
    name of a call and that of an op in it, which begins with the compiled function again.
    """
    start = _START.match(op_name)
    return [
        (each[1], _TRANSFORMATION.sub("", op_name[: each.start()]))
        for each in _INNER_FUNCTION.finditer(op_name)
        if not (start and op_name.startswith(start[0], each.start()))
    ]


def called_in_several_places(found: Iterable[Iterable[tuple[str, str]]]) -> Set[str]:
    """Return the functions that are called in several places: their stacks say little.

    A function that is traced once has the stack of its first call wherever it is called.
    """
    places = grouped(chain.from_iterable(found))
    return {function for function, of in places.items() if len(set(of)) > 1}


def _stack(number: int, frames: Mapping[int, StackFrame]) -> list[StackFrame]:
    """Return a frame and its callers, outermost first."""
    found = []
    at: int | None = number
    while at is not None and at in frames:
        found.append(frames[at])
        at = frames[at].caller
    return found[::-1]


def _outermost(stacks: Iterable[Sequence[StackFrame]]) -> str:
    """Return the outermost function several of whose lines make ops; empty if there is none.

    The program has another name if a transformation renames it, such as `jax.pmap`.
    """
    left = [stack for stack in stacks if stack]
    while left:
        functions = grouped((_function(stack[0]), stack) for stack in left)
        left = max(functions.values(), key=len)
        name = _name(left[0][0])
        if not name.startswith("<") and len({stack[0].line for stack in left}) > 1:
            return name
        left = [stack[1:] for stack in left if stack[1:]]
    return ""


def _path(
    stack: Sequence[StackFrame], program: str, functions: Sequence[str]
) -> tuple[list[StackFrame], bool]:
    """Return the frames from a line of the program on, and True if the stack is that of a call.

    Empty if no line of the program is in the stack.
    """
    entry = next((place for place, each in enumerate(stack) if _name(each) == program), None)
    if entry is None:
        return [], False
    # a function of a library may call both the program and what is in it
    heads = {
        _function(each) for each in stack[: entry + 1] if not is_installed(each.file or "")
    } | {_function(stack[entry])}
    above = {_place(frame) for frame in stack[:entry]}
    path = [stack[entry]]
    again: int | None = None
    is_of_call = is_of_first_call = False
    for frame in stack[entry + 1 :]:
        is_head = _function(frame) in heads
        if again is None or again == len(path):
            again = 0 if is_head and _function(path[-1]) not in heads else None
            if again is not None:
                is_of_call = True
                while _place(path[-1]) in above:
                    path.pop()
        if is_of_first_call:  # until the function itself
            if _name(frame) in functions:
                path.append(frame)
                is_of_first_call, again = False, None
        elif again is not None:
            if _name(frame) == program or not is_head:
                is_of_first_call = _place(path[again]) != _place(frame)
                again += 1
        else:
            places = [_place(each) for each in path]
            # in a loop, the stack of what contains it comes again; a wrapper of a library is in it
            # once for each layer
            if _place(frame) in places and not is_installed(frame.file or ""):
                del path[places.index(_place(frame)) :]
            path.append(frame)
    return path, is_of_call


def _name(frame: StackFrame) -> str:
    """Return the name of a function without what contains it."""
    return (frame.function or "").rpartition(".")[2]


def _function(frame: StackFrame) -> tuple[str | None, str | None]:
    return frame.file, frame.function


def _place(frame: StackFrame) -> tuple[str | None, str | None, int | None, int | None]:
    return frame.file, frame.function, frame.line, frame.column
