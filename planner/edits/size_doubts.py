"""Say what a change of sizes assumes: types, results and readers that it does not name."""

from collections import Counter
from collections.abc import Collection, Iterable, Set
from fractions import Fraction
from typing import Final

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.presentation.byte_sizes import human_bytes

_WIDE_FLOATS: Final = frozenset(("f32", "f64", "c128"))
_WIDEST: Final = frozenset(("f64", "c128"))
"""Types of which a CPU has half as wide ones that it computes with."""
_OF_ONE_WIDTH: Final = frozenset(("pred", "s8", "s32", "s64", "u8", "u32", "u64"))
_LEAST_SHARE: Final = 0.01
"""Share of the bytes that change from which a doubt about them is said."""
_SMALLER_SHAPES: Final = (
    "the values get smaller shapes, not a narrower type: on CPU the compiler computes bf16 and f16"
    " in f32 and keeps both, so that a narrower type saves less or nothing; a sharding adds"
    " collectives and copies that are not planned"
)
_SAME_READERS: Final = (
    "what is computed from the values keeps its type and size: a narrower type narrows that, or"
    " adds conversions; a sharding adds collectives and copies"
)


def of_one_width(
    compilation: PlannableCompilation, program: PlannedProgram, value_ids: Set[int]
) -> frozenset[int]:
    """Return which of some values a narrower type of floats keeps; empty if they are few."""
    types = {each: _dtype(compilation, each) for each in value_ids}
    others = {each for each, dtype in types.items() if dtype in _OF_ONE_WIDTH}
    has_both = not _WIDE_FLOATS.isdisjoint(types.values()) and _is_much(program, others, value_ids)
    return frozenset(others if has_both else ())


def doubts_of_types(
    compilation: PlannableCompilation,
    program: PlannedProgram,
    value_ids: Set[int],
    kept: Fraction,
) -> Iterable[str]:
    """Yield what a narrower type does besides shrinking some values, if they are wide floats."""
    wide = _WIDE_FLOATS.intersection(_dtype(compilation, each) or "" for each in value_ids)
    if not wide:
        return
    if compilation.platform == "cpu" and not (wide <= _WIDEST and kept >= Fraction(1, 2)):
        yield _SMALLER_SHAPES
    elif any(
        not value_ids.isdisjoint(value.operands)
        for value in program.values
        if value.value_id not in value_ids and _dtype(compilation, value.value_id) in _WIDE_FLOATS
    ):
        yield _SAME_READERS
    if others := of_one_width(compilation, program, value_ids):
        types = ", ".join(sorted({_dtype(compilation, each) or "" for each in others}))
        size = human_bytes(program.bytes_of(others))
        yield f"{size} of the values are {types}, which another type of floats keeps"


def doubts_of_results(
    compilation: PlannableCompilation, program: PlannedProgram, value_ids: Set[int]
) -> Iterable[str]:
    """Yield which results may be the new values of smaller parameters, but keep their size."""
    values, parameters = compilation.values, compilation.parameters.keys()
    smaller = Counter(values[each].shape for each in parameters & set(value_ids))
    results = []
    for value in program.values:
        allocation = program.allocation_of(value) if value.lives_out else None
        is_own = allocation is not None and allocation.role != "parameter"
        if is_own and value.value_id in values.keys() - value_ids - parameters:
            smaller[shape := values[value.value_id].shape] -= 1
            results += [value.value_id] * (smaller[shape] >= 0)
    if _is_much(program, results, value_ids):
        yield (
            "results with the shapes of smaller parameters,"
            f" {human_bytes(program.bytes_of(results))}, "
            "keep their size; if they are the parameters' new values, shrink them, too"
        )


def doubts_of_readers(program: PlannedProgram, value_ids: Set[int]) -> Iterable[str]:
    """Yield that something reads removed values, and so what they are computed from instead."""
    read = {
        each
        for value in program.values
        if value.value_id not in value_ids
        for each in value.operands
        if each in value_ids
    }
    if _is_much(program, read, value_ids):
        yield (
            f"what reads {human_bytes(program.bytes_of(read))} of the removed values is assumed to"
            " read nothing in their place; if it reads others, these may live longer"
        )


def _dtype(compilation: PlannableCompilation, value_id: int) -> str | None:
    value = compilation.values.get(value_id)
    return None if value is None else value.dtype


def _is_much(program: PlannedProgram, some: Collection[int], changed: Set[int]) -> bool:
    bytes_ = program.bytes_of(some)
    return bytes_ > 0 and bytes_ >= _LEAST_SHARE * program.bytes_of(changed)
