"""Count names in a module, also those of instructions that have no value."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import PurePath
from typing import Final, NamedTuple

from xlagraph.comparison.call_sites import (
    CallSites,
    call_sites,
    called_in_several_places,
    inner_functions,
)
from xlagraph.comparison.counted_loops import counted_loops
from xlagraph.comparison.recomputed_ops import WAITS_FOR_GRADIENT, recomputes_forward_ops
from xlagraph.hlo.metadata import StackFrame, from_packages, is_installed
from xlagraph.hlo.module_text import parse_stack_frames
from xlagraph.planner.compilation.stored_compilation import StoredCompilation

_TEXT: Final = rb'"(?:[^"\\]|\\.)*"'
_FRAME: Final = re.compile(  # a GPU's modules have names of the scheduler between the two
    rb'op_name="((?:[^"\\]|\\.)*)"(?: \w+=' + _TEXT + rb")* stack_frame_id=(\d{1,18})\}"
)
_CONSTANT: Final = re.compile(rb"\n *%?([\w.-]+) = [su]\d+\[\] constant\((\d{1,18})\)")
_LIMIT: Final = re.compile(
    rb"compare\([^()\n]*?%?([\w.-]+)\), direction=LT,"
    rb' metadata=\{op_name="((?:[^"\\]|\\.)*/while/cond/lt)"'
)
_PROGRAM: Final = re.compile(rb"HloModule (?:p?jit_)?([^\s,]+)")
_OP_NAME: Final = re.compile(rb'op_name="((?:[^"\\]|\\.)*)"')


class Function(NamedTuple):
    """A function that makes instructions, or calls another one."""

    file: str
    """From ``site-packages`` on for one of an installed package, else without folders."""
    name: str
    is_installed: bool


CallStack = tuple[Function, ...]
"""Functions that call each other, outermost first."""


class Mentions:
    """The names in a module, also those of instructions inside of fusions; read on first use."""

    def __init__(self, stored: StoredCompilation | None = None) -> None:
        self._stored = stored

    def __contains__(self, name: str) -> bool:
        """Return True if the module has a name of a file or op; `*` stands for a number."""
        return self.count(name) > 0

    def has(self, mark: re.Pattern[str]) -> bool:
        """Return True if a part of the module matches."""
        return re.search(mark.pattern.encode(), self._contents) is not None

    def count(self, name: str) -> int:
        """Return how often the module has a name."""
        pattern = re.escape(name).replace(r"\*", r"\d+").replace("/", r"\)*/(?:\w+\()*")
        return sum(1 for _ in re.finditer(pattern.encode(), self._contents))

    @cached_property
    def op_names(self) -> Counter[str]:
        """Number of instructions by op name, including those inside of fusions.

        Empty for a module that is not stored as text.
        """
        module = None if self._stored is None else self._stored.module
        is_text = module is not None and module.form == "text"
        found = _OP_NAME.findall(self._contents) if is_text else ()
        return Counter(name.decode(errors="replace") for name in found)

    @cached_property
    def call_stacks(self) -> Counter[CallStack]:
        """Number of instructions by call stack, including those inside of fusions.

        Stacks of no instruction count 0. Empty for a module that has none, or no text.
        """
        if not self._frames:
            return Counter()
        frames, found_frames = self._frames, self._named_frames
        inner = {name: inner_functions(name) for name, _ in found_frames}
        often = called_in_several_places(inner.values())
        counts: Counter[int] = Counter()
        for (name, number), count in found_frames.items():
            if often.isdisjoint(function for function, _ in inner[name]):
                counts[number] += count
        stacks: dict[int, CallStack] = {}
        found: Counter[CallStack] = Counter()
        for number in frames:
            found[_call_stack(number, frames, stacks)] += counts[number]
        return found

    @cached_property
    def call_sites(self) -> CallSites:
        """The ops with the lines of the program that make them; none without call stacks."""
        program = _PROGRAM.match(self._contents)
        name = program[1].decode(errors="replace") if program else ""
        return call_sites(name, self._named_frames, self._frames)

    @cached_property
    def _frames(self) -> Mapping[int, StackFrame]:
        if b"\nStackFrames" not in self._contents:
            return {}
        return parse_stack_frames(self._contents.decode(errors="replace"))

    @cached_property
    def _named_frames(self) -> Counter[tuple[str, int]]:
        """Number of instructions by op name and frame."""
        found = Counter(_FRAME.findall(self._contents) if self._frames else ())
        return Counter(
            {
                (name.decode(errors="replace"), int(number)): count
                for (name, number), count in found.items()
            }
        )

    @cached_property
    def is_recomputing(self) -> bool:
        """True if `tf.recompute_grad`, of which no op name tells, computes ops again."""
        if not self.has(WAITS_FOR_GRADIENT) or self._stored is None:
            return False
        return recomputes_forward_ops(self._stored)

    def counted_loops(self) -> dict[str, int]:
        """Return how often the loops of a program for a TPU run, of which XLA writes no number."""
        module = None if self._stored is None else self._stored.module
        if module is None or module.form != "text" or b" while(" not in self._contents:
            return {}
        return counted_loops(self._contents.decode(errors="replace"))

    @cached_property
    def loop_limits(self) -> dict[str, int]:
        """The constant with which the condition of a loop compares its counter, by op name.

        Without op names that several loops share.
        """
        tests = _LIMIT.findall(self._contents)
        constants = dict(_CONSTANT.findall(self._contents) if tests else ())
        limits: dict[str, set[int]] = {}
        for name, op in tests:
            if name in constants:
                of_loop = limits.setdefault(op.decode(errors="replace"), set())
                of_loop.add(int(constants[name]))
        return {op: found.pop() for op, found in limits.items() if len(found) == 1}

    @cached_property
    def _contents(self) -> bytes:
        module = None if self._stored is None else self._stored.module
        return b"" if module is None else module.contents()


def _call_stack(
    number: int, frames: Mapping[int, StackFrame], known: dict[int, CallStack]
) -> CallStack:
    """Return the functions of a frame and its callers; those without a name are left out."""
    path = []
    at: int | None = number
    while at is not None and at not in known:
        path.append(at)
        at = frames[at].caller
    for each in reversed(path):
        frame = frames[each]
        callers = () if frame.caller is None else known[frame.caller]
        own = _function(frame)
        # a function is called once, whatever lines of it are on the stack
        known[each] = callers if own is None or own in callers[-1:] else (*callers, own)
    return known[number]


def _function(frame: StackFrame) -> Function | None:
    if not frame.function or not frame.file:
        return None
    is_of_package = is_installed(frame.file)
    file = from_packages(frame.file) if is_of_package else PurePath(frame.file).name
    return Function(file, frame.function, is_of_package)
