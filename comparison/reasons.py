"""Reasons why one program reserves more than another, with the values behind each."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Final, NamedTuple

from xlagraph.comparison.held_values import HeldValue, SourceLine
from xlagraph.hlo.op_names import is_recomputed


class ReasonKind(StrEnum):
    """Kind of a reason. The "same" values are those that `match_values` pairs."""

    UNDONATED = "undonated"
    """Inputs that are no longer donated, so outputs need allocations."""
    DONATED = "donated"
    """Inputs that are donated now."""
    PLATFORM = "platform"
    """The program is compiled for another platform, by another compiler. Without bytes."""
    VERSION = "version"
    """The program is traced by another version of JAX. Without bytes."""
    UNCHECKPOINTED = "uncheckpointed"
    """Values of scopes that are no longer recomputed in the backward pass."""
    CHECKPOINTED = "checkpointed"
    """Values of scopes that are recomputed now."""
    DTYPE = "dtype"
    """Same values with another element type."""
    SIZE = "size"
    """Same values with more or fewer elements."""
    SPLIT = "split"
    """Same values, split over another number of devices."""
    AGAIN = "again"
    """Ops of both programs that one computes several times as often. Without bytes."""
    LOOPED = "looped"
    """Same computation, in a loop on one side only."""
    UNROLLED = "unrolled"
    """Values of a loop whose body one side computes several times in each iteration, or for all
    iterations at once."""
    TURNS = "turns"
    """Other loops that one side runs another number of times. Without bytes."""
    NARROWED = "narrowed"
    """Values of an element type that only one side computes with, and those that they replace."""
    NEW_CODE = "newCode"
    """Files of libraries, or scopes and primitives, that make more values on one side.
    Without bytes: it only names what is new in a program that other reasons describe."""
    CALLED = "called"
    """Functions of installed packages that only one program calls, and those that they replace,
    or else layers of which one has more, or scopes and primitives that only one has. Without
    bytes."""
    EDITED = "edited"
    """Lines of the program's own functions that call or compute something in one program only, or
    of which only one computes the gradients. Without bytes."""
    COLLECTIVES = "collectives"
    """Instructions between devices that one side has more often. Without bytes."""
    ORDER = "order"
    """Same values in another order, so other ones are live together."""
    LIBRARY = "library"
    """Values that calls of a library make on one side only, and those that they replace."""
    FUSED = "fused"
    """Values of a program without any fusion of several instructions, and those they replace."""
    REPEATED = "repeated"
    """Inputs that only one side has more often, such as one more layer, and new values."""
    SCOPE_NEW = "scopeNew"
    """Values in scopes that only the second side has."""
    SCOPE_GONE = "scopeGone"
    """Values in scopes that only the first side has."""
    COPIES = "copies"
    """Copy instructions that only one side has."""
    CASTS = "casts"
    """Casts to another element type that only one side has."""
    INPUTS = "inputs"
    """Inputs that only one side has."""
    OUTPUTS = "outputs"
    """Values that only one side returns."""
    CONSTANTS = "constants"
    """Constants that only one side has."""
    STACKED = "stacked"
    """Temporary values with a part of each iteration of a loop that only one side has."""
    REPLACED = "replaced"
    """Temporary values that only one side has."""
    PADDING = "padding"
    """Same shapes in more or fewer bytes."""
    REUSED = "reused"
    """Outputs that use an input's bytes on one side only."""
    PLACED = "placed"
    """Same temporary values; on one side they lie in the bytes of inputs or outputs."""
    SPACE = "space"
    """Same values, which one program has in another memory space."""
    PEAK = "peak"
    """Same values, but different ones are live at the peak."""
    IDLE = "idle"
    """Temporary bytes in use at another step, but not at the peak."""
    FRAGMENTATION = "fragmentation"
    """Gaps in temporary allocations."""
    UNKNOWN = "unknown"
    """Temporary allocations of dumps without live ranges."""
    UNPAIRED = "unpaired"
    """Compilations that only one side has."""
    OTHER = "other"
    """Compilations whose values were not read, because others changed more."""


CHECKPOINTS: Final = (ReasonKind.CHECKPOINTED, ReasonKind.UNCHECKPOINTED)
"""Kinds of checkpoints that are added, and removed."""
CONSEQUENCES: Final = {
    ReasonKind.COPIES,
    ReasonKind.CASTS,
    ReasonKind.REPLACED,
    ReasonKind.PADDING,
    ReasonKind.REUSED,
    ReasonKind.SPACE,
    ReasonKind.PLACED,
    ReasonKind.PEAK,
    ReasonKind.IDLE,
    ReasonKind.FRAGMENTATION,
    ReasonKind.UNKNOWN,
}
"""Kinds that only state what differs; sentences about changes of the program precede them."""


_NEARLY_ALL: Final = 0.1
"""Share of bytes that may remain if those of two reasons cancel out."""
MORE: Final = "more"
"""Says that the other side has scopes with other numbers."""


class Subject(NamedTuple):
    """Identity of a reason: reasons with equal subjects are merged."""

    kind: ReasonKind
    before: str = ""
    """Old element type (DTYPE, NARROWED), platform (PLATFORM), scope of JAX (VERSION), number of
    devices (SPLIT), iterations or ``jax.vmap`` (UNROLLED), ``loop`` if both programs compute the
    values in a loop (LOOPED), ``backward`` for gradients (EDITED), `MORE` if the other side has
    scopes with other numbers (SCOPE_NEW, SCOPE_GONE), ``products`` for matrix products (AGAIN), or
    ``ops`` if no library or scope makes the values (NEW_CODE), or for no functions (CALLED)."""
    after: str = ""
    """New element type (DTYPE, CASTS, NARROWED), platform (PLATFORM), scope of JAX (VERSION),
    number of devices (SPLIT), iterations or ``jax.vmap`` (UNROLLED), ``new`` or ``gone`` (AGAIN,
    EDITED, LOOPED, FUSED, NEW_CODE), scope with `*` for numbers (SCOPE_NEW, SCOPE_GONE), name of a
    library (LIBRARY), or ``policy`` for values that its policy keeps (STACKED, REPLACED)."""


@dataclass
class Reason:
    """A reason, its growth of the reserved bytes, and the values behind it."""

    subject: Subject
    growth_bytes: int = 0
    count_a: int = 0
    """Number of values on the first side; of compilations for UNPAIRED and OTHER."""
    count_b: int = 0
    """Same number on the second side."""
    scopes: set[str] = field(default_factory=set)
    """Names of the scopes, for kinds that concern scopes; those that a loop replaces (LOOPED);
    constants of `repeated_ops` (AGAIN); ``checkpoint`` if it has values of other sizes (SIZE);
    source lines of loops (UNROLLED, TURNS); names of other inputs that only one side has
    (INPUTS); functions of the first side (CALLED); modules of the first side (UNPAIRED)."""
    inputs: set[str] = field(default_factory=set)
    """Names of inputs, or the branches that only one side has; a second one of another size (SIZE);
    modules of the second side (UNPAIRED); functions of the second side (CALLED); ``gone`` or
    ``added`` for the checkpoint in a loop (UNROLLED); the line with most ops (AGAIN)."""
    input_count: int = 0
    """Number of inputs among the values."""
    input_example: tuple[HeldValue, HeldValue] | None = None
    """Input with the largest change, on both sides (SIZE)."""
    is_of_all_inputs: bool = False
    """True if the programs have no name of an input in common (INPUTS)."""
    first: HeldValue | None = None
    """Value that the second program computes first, if no input has another size (SIZE)."""
    turns: set[tuple[int, int]] = field(default_factory=set)
    """Numbers of iterations of loops before and after (UNROLLED, TURNS); of loops that stack values
    (SIZE); of the only loop that one side has (LOOPED), or that an edited line has on one side
    (EDITED); how often ops are computed (AGAIN)."""
    of: tuple[int, int] = (0, 0)
    """Number of all computed values on both sides (NARROWED), or of all ops of both (AGAIN); of
    results in the bytes of the inputs that only one side has (DONATED, UNDONATED)."""
    factors: set[Fraction] = field(default_factory=set)
    """Number of elements after, divided by the number before (SIZE, AGAIN)."""
    dimensions: tuple[tuple[int, int], ...] = ()
    """Dimension that makes all values larger, before and after, and another one that changed by the
    inverse factor; none if an input has another size (SIZE)."""
    limits: tuple[int, int] | None = None
    """Numbers of iterations after which a loop ends on both sides, if they differ (SIZE)."""
    placed_bytes: int = 0
    """Part of the growth of a donation: temporaries that moved into or out of outputs."""
    recomputed_bytes: int = 0
    """Part of the growth: values that a checkpoint recomputes on both sides."""
    growth_by_line: Counter[SourceLine] = field(default_factory=Counter)
    """Growth by the user's line, else by the line of a library."""
    growth_by_library_line: Counter[tuple[SourceLine, SourceLine]] = field(default_factory=Counter)
    """Growth by the user's line and the line of the library that it calls."""
    example: tuple[HeldValue | None, HeldValue | None] = (None, None)
    """Value with the largest change, on both sides."""
    largest: tuple[HeldValue | None, HeldValue | None] = (None, None)
    """Value with most bytes on each side."""
    only_reason: bool = False
    """True if FRAGMENTATION is the only change."""
    compilations: tuple[str, str] = ("", "")
    """Keys of the pair with the largest change for this reason."""
    cause: str = ""
    """Title and line of the cause of the growth, if one is proved."""
    cause_remains: bool = False
    """True if the side with fewer bytes has the cause, too."""
    code: "Reason | None" = None
    """The new or gone code (NEW_CODE) that makes most of the values."""
    labels: set[str] = field(default_factory=set)
    """Labels of all values (NEW_CODE); place of the loop (LOOPED); line that calls or
    computes something (CALLED, EDITED), or most values of an element type (NARROWED)."""
    growth_by_label: Counter[tuple[bool, str]] = field(default_factory=Counter)
    """Growth by the label of the value on the side with more bytes; True if that is the second."""

    @property
    def is_only_one_side(self) -> bool:
        """True if only one side has values of this reason."""
        return 0 in (self.count_a, self.count_b)

    @property
    def is_replacement(self) -> bool:
        """True if functions or ops replace those of the other side (CALLED, EDITED)."""
        return bool(self.scopes and self.inputs)

    @property
    def is_resharded(self) -> bool:
        """True if an input is split over the devices in another way."""
        shardings = {each.sharding for each in self.input_example or ()}
        return len(shardings) > 1 and all(shardings)

    @property
    def line(self) -> SourceLine | None:
        """Source line with most of the growth; None if no value has a line."""
        sign = 1 if self.growth_bytes > 0 else -1
        lines = self.growth_by_line
        return max(lines, key=lambda line: sign * lines[line], default=None)

    @property
    def is_of_policy(self) -> bool:
        """True for values that the policy of a checkpoint keeps."""
        return self.subject.after == "policy"

    def count(self, a: HeldValue | None, b: HeldValue | None) -> None:
        """Add a value, on each side that has it."""
        growth_bytes = _held(b) - _held(a)
        if _rank((a, b)) > _rank(self.example):
            self.example = (a, b)
        self.largest = _larger(self.largest[0], a), _larger(self.largest[1], b)
        self.growth_bytes += growth_bytes
        self.count_a += a is not None
        self.count_b += b is not None
        if a and b and is_recomputed(a.op_name) and is_recomputed(b.op_name):
            self.recomputed_bytes += growth_bytes
        value = b or a
        if holder := b if growth_bytes > 0 else a:
            self.growth_by_label[growth_bytes > 0, holder.label] += growth_bytes
        line = value.line if value and value.dtype != "tuple" else None  # a table is of no line
        if value and line:
            self.growth_by_line[line] += growth_bytes
            if value.source_line and value.source_line != line:
                self.growth_by_library_line[line, value.source_line] += growth_bytes

    def merge(self, other: "Reason") -> None:
        """Add the reason with the same subject of another pair of compilations."""
        if abs(other.growth_bytes) > abs(self.growth_bytes):
            self.compilations = other.compilations
        if _rank(other.example) > _rank(self.example):
            self.example = other.example
        (a, b), (more_a, more_b) = self.largest, other.largest
        self.largest = _larger(a, more_a), _larger(b, more_b)
        self.growth_bytes += other.growth_bytes
        if not self.cause:
            self.cause, self.cause_remains = other.cause, other.cause_remains
        self.code = self.code or other.code
        self.count_a += other.count_a
        self.count_b += other.count_b
        self.scopes |= other.scopes
        self.placed_bytes += other.placed_bytes
        self.inputs |= other.inputs
        self.input_count += other.input_count
        self.input_example = self.input_example or other.input_example
        self.is_of_all_inputs |= other.is_of_all_inputs
        self.first = self.first or other.first
        self.dimensions = self.dimensions or other.dimensions
        self.limits = self.limits or other.limits
        self.of = self.of[0] + other.of[0], self.of[1] + other.of[1]
        self.factors |= other.factors
        self.turns |= other.turns
        self._add_lines(other)
        self.only_reason &= other.only_reason

    def absorb(self, other: "Reason") -> None:
        """Add the bytes and lines of a reason that follows from this one, without its counts."""
        self.growth_bytes += other.growth_bytes
        self._add_lines(other)

    def cancels(self, other: "Reason") -> bool:
        """Return True if almost nothing remains of the growth of two reasons."""
        growths = self.growth_bytes, other.growth_bytes
        return abs(sum(growths)) <= _NEARLY_ALL * max(map(abs, growths))

    def join(self, other: "Reason") -> None:
        """Add a reason with its counts."""
        self.absorb(other)
        self.count_a += other.count_a
        self.count_b += other.count_b

    def _add_lines(self, other: "Reason") -> None:
        self.recomputed_bytes += other.recomputed_bytes
        # `Counter.update` adds, and keeps negative growth
        self.growth_by_label.update(other.growth_by_label)
        self.growth_by_line.update(other.growth_by_line)
        self.growth_by_library_line.update(other.growth_by_library_line)


class FoundReasons:
    """The reasons of a pair, by subject."""

    def __init__(self) -> None:
        self.found: dict[Subject, Reason] = {}

    def of(self, kind: ReasonKind, *, before: str = "", after: str = "") -> Reason:
        """Return the reason with a subject, a new one if there is none."""
        key = Subject(kind, before, after)
        return self.found.setdefault(key, Reason(key))

    def absorb(self, kinds: Collection[ReasonKind], into: Reason) -> None:
        """Add all reasons of some kinds to one that they follow from, without their counts."""
        for each in [each for each in self.found.values() if each.subject.kind in kinds]:
            if each is not into:
                into.absorb(self.found.pop(each.subject))


def _larger(value: HeldValue | None, other: HeldValue | None) -> HeldValue | None:
    """Return the value with more bytes; a tuple's table of addresses says nothing."""
    if other is not None and other.dtype == "tuple":
        return value
    return other if _held(other) > _held(value) else value


def _held(value: HeldValue | None) -> int:
    return value.held_bytes if value else 0


def _rank(example: tuple[HeldValue | None, HeldValue | None]) -> tuple[bool, bool, int]:
    """Return how good an example is: no table, one that both sides have, the largest change."""
    a, b = example
    is_array = any(value is not None and value.dtype != "tuple" for value in example)
    return is_array, None not in example, abs(_held(b) - _held(a))
