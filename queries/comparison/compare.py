"""Compare two runs or two compilations: did it grow, where, by what, because of which line."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast, get_args

from xlagraph.graph.engine import Cell, Graph, Result
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.comparison.groups import By, GroupGrowth, group_growths
from xlagraph.queries.comparison.pairing import Candidate, Pairing, Signature, pair_compilations
from xlagraph.queries.selection.compilations import Selection, select

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, unused-ignore]  # has no types of its own
    import polars

_COMPILATIONS: Final = load_statement(__file__, "compilations")
_SIGNATURES: Final = load_statement(__file__, "signatures")

DEFAULT_GROUPS: Final = (By.ROLE, By.OP, By.LINE)
"""The parts that a comparison shows unless another is asked for."""


TotalName = Literal["reserved", "logicalPeak", "physicalPeak", "allocation"]
"""What is compared, in the order of `Totals`."""
TOTALS: Final[tuple[TotalName, ...]] = get_args(TotalName)


class Totals(NamedTuple):
    """Byte counts of a compilation, or summed over several; None where no dump tells.

    The first three are of memory space 0; the last one of all, thread-local ones too.
    """

    reserved_bytes: int | None
    logical_peak_bytes: int | None
    physical_peak_bytes: int | None
    allocation_bytes: int | None


class ComparedCompilation(NamedTuple):
    """One compilation of a side."""

    key: str
    module: str | None
    module_number: int | None
    totals: Totals


@dataclass(frozen=True, slots=True)
class Growth:
    """A byte count on both sides; None where that side has none."""

    bytes_a: int | None
    bytes_b: int | None

    @property
    def growth_bytes(self) -> int:
        """More than 0 if the second side has more; a side without counts as 0."""
        return (self.bytes_b or 0) - (self.bytes_a or 0)

    @property
    def is_known(self) -> bool:
        """Both sides have one."""
        return self.bytes_a is not None and self.bytes_b is not None

    @property
    def share(self) -> float | None:
        """Growth divided by the first side; None if that is 0 or unknown."""
        return self.growth_bytes / self.bytes_a if self.bytes_a else None

    def exceeds_bytes(self, limit_bytes: int) -> bool:
        """Whether it grew by more; exactly the limit is within it."""
        return self.growth_bytes > limit_bytes

    def exceeds_share(self, limit: float) -> bool:
        """Whether it grew by more than this share of the first side: 0.02 is 2 %."""
        return self.growth_bytes > limit * (self.bytes_a or 0)


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two compilations, or one without partner."""

    a: ComparedCompilation | None
    b: ComparedCompilation | None

    @property
    def module(self) -> str | None:
        """Name of the module, without its number."""
        known = self.b or self.a
        return known.module if known else None

    @property
    def reserved(self) -> Growth:
        """Reserved bytes of memory space 0."""
        return Growth(
            self.a.totals.reserved_bytes if self.a else None,
            self.b.totals.reserved_bytes if self.b else None,
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two sides hold, compilation by compilation and group by group.

    Bytes are summed over all compilations of a side, unpaired ones too.
    """

    a: Selection
    b: Selection
    totals_a: Totals
    totals_b: Totals
    pairs: tuple[ComparedPair, ...]
    """Those with a partner, the largest growth or shrinkage of reserved bytes first."""
    unpaired: tuple[ComparedPair, ...]
    """Those without, of the first side, then of the second, by key."""
    groups: Mapping[By, tuple[GroupGrowth, ...]]
    """The rows of the query of each grouping; the largest growth or shrinkage first."""

    def growth_of(self, measure: TotalName) -> Growth:
        """Return one of the totals on both sides."""
        index = TOTALS.index(measure)
        return Growth(self.totals_a[index], self.totals_b[index])

    @property
    def reserved(self) -> Growth:
        """What a gate looks at: the reserved bytes of memory space 0, summed."""
        return self.growth_of("reserved")

    def without_peak(self, side: Selection) -> tuple[str, ...]:
        """Return the compilations of a side without live ranges, whose peak is unknown."""
        pairs = (*self.pairs, *self.unpaired)
        sides = [pair.b for pair in pairs] if side is self.b else [pair.a for pair in pairs]
        return tuple(
            compilation.key
            for compilation in sides
            if compilation and compilation.totals.physical_peak_bytes is None
        )

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return iter(self._result())

    def _repr_html_(self) -> str:
        from xlagraph.queries.notebook import comparison_html

        return comparison_html(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return all parts as a pandas frame; ImportError with the remedy without pandas."""
        return self._result().to_pandas()

    def to_polars(self) -> "polars.DataFrame":
        """Return all parts as a polars frame; ImportError with the remedy without polars."""
        return self._result().to_polars()

    def _result(self) -> Result:
        from xlagraph.queries.comparison.comparison_rows import comparison_result

        return comparison_result(self)


def compare(
    graph: Graph, a: str, b: str, *, by: Iterable[By] = DEFAULT_GROUPS, depth: int = 3
) -> Comparison:
    """Compare two sides, each a run or a compilation; a name is resolved as by `select`.

    Two compilations are a pair whatever their modules are; those of runs are paired as
    `pair_compilations` says.
    """
    side_a, side_b = select(graph, a), select(graph, b)
    a_by_key, b_by_key = (_compilations(graph, side) for side in (side_a, side_b))
    pairing = _pair(graph, side_a, side_b, a_by_key, b_by_key)
    pairs = [ComparedPair(a_by_key[key_a], b_by_key[key_b]) for key_a, key_b in pairing.pairs]
    return Comparison(
        side_a,
        side_b,
        _sum(a_by_key.values()),
        _sum(b_by_key.values()),
        # sorted is stable: of equal growths, in order of the keys
        tuple(sorted(pairs, key=lambda pair: -abs(pair.reserved.growth_bytes))),
        (
            *(ComparedPair(a_by_key[key], None) for key in pairing.only_a),
            *(ComparedPair(None, b_by_key[key]) for key in pairing.only_b),
        ),
        group_growths(graph, by, side_a.name, side_b.name, depth=depth),
    )


def _compilations(graph: Graph, side: Selection) -> dict[str, ComparedCompilation]:
    if not side.compilations:  # one engine cannot unwind an empty list
        return {}
    rows = graph.query(_COMPILATIONS, {"compilations": list(side.compilations)}).rows
    compilations = {}
    for key, module, module_number, *totals in rows:
        compilations[str(key)] = ComparedCompilation(
            str(key),
            cast("str | None", module),
            cast("int | None", module_number),
            Totals(*cast("Sequence[int | None]", totals)),
        )
    return compilations


def _sum(compilations: Iterable[ComparedCompilation]) -> Totals:
    totals = [compilation.totals for compilation in compilations]
    return Totals(
        reserved_bytes=_known_sum(each.reserved_bytes for each in totals),
        logical_peak_bytes=_known_sum(each.logical_peak_bytes for each in totals),
        physical_peak_bytes=_known_sum(each.physical_peak_bytes for each in totals),
        allocation_bytes=_known_sum(each.allocation_bytes for each in totals),
    )


def _known_sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _pair(
    graph: Graph,
    side_a: Selection,
    side_b: Selection,
    a: Mapping[str, ComparedCompilation],
    b: Mapping[str, ComparedCompilation],
) -> Pairing:
    if not (side_a.is_run or side_b.is_run):
        return Pairing(((side_a.name, side_b.name),), (), ())
    signatures = _signatures(graph, [*a, *b])
    candidates_a, candidates_b = (
        [
            Candidate(key, compilation.module, compilation.module_number, signatures.get(key, ()))
            for key, compilation in side.items()
        ]
        for side in (a, b)
    )
    return pair_compilations(candidates_a, candidates_b)


def _signatures(graph: Graph, keys: Sequence[str]) -> dict[str, Signature]:
    shapes: defaultdict[str, list[tuple[int | str, ...]]] = defaultdict(list)
    parameters = {"compilations": list(dict.fromkeys(keys))}
    rows = graph.query(_SIGNATURES, parameters).rows if keys else ()
    for key, number, shape_index, shape, is_output in rows:
        if number is not None:
            shapes[str(key)].append((cast("int", number), str(shape_index or ""), str(shape or "")))
        if is_output:  # of a donated result the shape is that of its parameter
            shapes[str(key)].append(("result", str(shape or "")))
    return {key: tuple(sorted(signature, key=str)) for key, signature in shapes.items()}
