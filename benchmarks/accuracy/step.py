"""A program with planted mistakes; modules of programs declare it with these classes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Step(NamedTuple):
    """A function to compile, with shapes of its arguments."""

    function: Callable[..., object]
    arguments: tuple[object, ...]
    donate: tuple[int, ...] = ()
    options: Mapping[str, object] = {}
    """Compiler options, such as those of a schedule."""
    shardings: object = None
    """`in_shardings` of `jax.jit`, if any."""
    x64: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is healthy if no flag is set.

    A flag plants a mistake, or makes an edit that a finding could name. Its kind says which
    findings mean it: see `kinds`.
    """

    mistakes: Mapping[str, str]
    """Kind of each flag that plants a mistake."""
    edits: Mapping[str, str] = field(default_factory=dict)
    """Kind of each flag that improves the program, or only changes it."""
    fixes: Mapping[str, str] = field(default_factory=dict)
    """Flag that mends a mistake as its finding also describes, unlike the healthy program."""
    predictions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Options of `whatif` that predict what an edit does."""

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each flag."""
        return {**self.mistakes, **self.edits}

    @property
    def variants(self) -> list[frozenset[str]]:
        """Sets of flags to compile: none, and each alone."""
        return [frozenset(), *(frozenset((flag,)) for flag in (*self.kinds, *self.fixes.values()))]
