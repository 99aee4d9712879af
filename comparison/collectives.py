"""Name the communication between devices that one program has and the other has not."""

from collections import Counter
from collections.abc import Sequence, Set
from math import prod
from typing import Final

from xlagraph.comparison.held_values import HeldValue, Reserved, place
from xlagraph.comparison.joined_reasons import Sides, looped
from xlagraph.comparison.reasons import FoundReasons, Reason, ReasonKind
from xlagraph.comparison.size_changes import without_ones
from xlagraph.hlo.op_names import loop_depth
from xlagraph.hlo.shapes import dimensions

_COLLECTIVES: Final = {
    "all-gather": "all-gather",
    "all-gather-start": "all-gather",
    "all-reduce": "all-reduce",
    "all-reduce-start": "all-reduce",
    "reduce-scatter": "reduce-scatter",
    "all-to-all": "all-to-all",
    "collective-permute": "collective-permute",
    "collective-permute-start": "collective-permute",
}
_GATHER: Final = "all-gather"
_MADE_OF_GATHERED: Final = (
    ReasonKind.COPIES, ReasonKind.REPLACED, ReasonKind.SIZE, ReasonKind.STACKED,
)  # fmt: skip


def name_collectives(sides: Sides, reasons: FoundReasons) -> None:
    """Name the instructions between devices of which the programs have other numbers.

    What all-gathers of one program make whole explains values with as many elements.
    """
    if sides.a.partitions != sides.b.partitions:
        return
    before, after = (
        Counter(
            _COLLECTIVES[opcode]
            for _, opcode in {(v.name, v.opcode) for v in side.values}
            if opcode in _COLLECTIVES
        )
        for side in (sides.a, sides.b)
    )
    texts = {
        name: f"{after[name] or 'no'} {name} ({before[name] or 'none'} before)"
        for name in before | after
        if before[name] != after[name]
    }
    for is_new, less, more in ((True, sides.a, sides.b), (False, sides.b, sides.a)):
        others, gathered = _gathered(less), _gathered(more)
        in_loops, known = (
            {without_ones(value) for value in others if loop_depth(value.op_name) >= depth}
            for depth in (1, 0)
        )
        new = [
            value
            for value in gathered
            if without_ones(value) not in known and not loop_depth(value.op_name)
        ]
        stacks = [value for value in new if _dimensions_of_part(value) in in_loops]
        if stacks:
            loop = looped(reasons, int(is_new), int(not is_new))
            loop.scopes = {f"all-gather of {value.shape}" for value in stacks}
            _absorb(reasons, stacks, loop, is_new=is_new)
        elif new and (after[_GATHER] > before[_GATHER]) is is_new and _GATHER in texts:
            largest = max(new, key=lambda value: value.size_bytes)
            at = f" at {place(largest.line)}" if largest.line else ""
            texts[_GATHER] += f", such as {largest.shape}{at}"
            _absorb(reasons, new, reasons.of(ReasonKind.COLLECTIVES), is_new=is_new)
    if texts:
        reasons.of(ReasonKind.COLLECTIVES).scopes = set(texts.values())


def _gathered(side: Reserved) -> list[HeldValue]:
    return [v for v in side.values if _COLLECTIVES.get(v.opcode or "") == _GATHER]


def _dimensions_of_part(stack: HeldValue) -> tuple[str, *tuple[int, ...]]:
    text, *sizes = without_ones(stack)
    return text, *sizes[1:]


def _absorb(
    reasons: FoundReasons, gathered: Sequence[HeldValue], into: Reason, *, is_new: bool
) -> None:
    """Join reasons for what is as large as gathered values, or has a dimension of theirs."""
    for each in [*reasons.found.values()]:
        if each.subject.kind not in _MADE_OF_GATHERED or each.input_example is not None:
            continue
        large, small = each.example[::-1] if is_new else each.example
        whole = {sizes[is_new] for sizes in each.dimensions}  # of others, they may be a factor
        if large and any(_is_of(value, large, small, whole) for value in gathered):
            into.absorb(reasons.found.pop(each.subject))


def _is_of(
    gathered: HeldValue, large: HeldValue, small: HeldValue | None, whole_sizes: Set[int]
) -> bool:
    sizes, whole = (dimensions(value.shape) or () for value in (gathered, large))
    if small is None or small.shape == large.shape:
        return prod(sizes) == prod(whole) and gathered.dtype == large.dtype
    part = dimensions(small.shape) or ()
    return not whole_sizes.isdisjoint(sizes) or any(
        size in sizes for size, before in zip(whole, part, strict=False) if size > before
    )
