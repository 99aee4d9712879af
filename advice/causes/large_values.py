"""Find values that take a large share of the peak, by kind.

The kinds: per-example gradients, logits of a large vocabulary, values computed from much smaller
ones, values that wait to be read, and the line that takes most.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes import remedies
from xlagraph.advice.causes.cause import Cause, evidence_row, file_and_line
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.op_names import is_backward, is_per_example
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.edit import Edit
from xlagraph.planner.edits.recomputing import Move
from xlagraph.planner.edits.resizing import ComputeInParts, Remove
from xlagraph.queries.catalogue.declarations import ChangeKind

__all__ = ["idle_values", "inflated_values", "largest_line", "logits", "per_example_gradients"]

_LEAST_VOCABULARY: Final = 8192
_PARTS: Final = 8
"""Parts in which logits and per-example gradients could be computed."""
_INFLATION: Final = 16
"""Least ratio between the size of a value and the size of its operands."""
_LEAST_IDLE: Final = 0.1
"""Least share of the peak for an idle value."""
_LEAST_WAIT: Final = 0.1
"""Least share of the schedule between the write and the first read of an idle value."""
_LEAST_OF_LINE: Final = 0.4
"""Least share of the peak for which a line is reported only because it is large."""
_LIKELIHOOD_OF_LINE: Final = 0.2
"""Part of a line's bytes that are expected to be saved: a large line need not be reducible."""
_ELEMENTWISE: Final = frozenset(("broadcast", "iota", "fusion", "compare", "select", "convert"))
_HANDED_ON: Final = frozenset(
    (
        "parameter", "constant", "while", "conditional", "call", "get-tuple-element", "tuple",
        "copy", "copy-start", "slice-start", "async-start",
    )
)  # fmt: skip


def per_example_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield per-example gradients: a batch dimension followed by the dimensions of a parameter."""
    shapes = {
        lengths
        for value in program.compilation.array_parameters
        if len(lengths := value.dimensions) > 1
    }
    found = [
        value
        for value in program.temporaries
        # without the mark, batch × sequence × width looks the same
        if is_per_example(value.attributed_op_name) and program.is_alone(value)
        if (inner := value.dimensions[1:]) in shapes or inner[::-1] in shapes
    ]
    if not any(is_backward(value.attributed_op_name) for value in found):
        return
    examples = [value.dimensions[0] for value in found]
    factors = {
        value.label: max(Fraction(1, count), Fraction(1, _PARTS))
        for value, count in zip(found, examples, strict=True)
    }
    reason = "a gradient of a parameter for each of {} examples"
    rows = tuple(
        evidence_row(value, reason.format(count))
        for value, count in zip(found, examples, strict=True)
    )
    yield Cause(
        "peak/contributors",
        "Gradients are kept for each example",
        ChangeKind.PARTS,
        ComputeInParts(factors),
        rows,
        remedies.PER_EXAMPLE,
    )


def logits(program: PeakProgram) -> Iterator[Cause]:
    """Yield the values with an element for each token and each word of a large vocabulary."""
    sizes = {
        max(lengths)
        for value in program.compilation.array_parameters
        if len(lengths := value.dimensions) == 2
        and max(lengths) >= _LEAST_VOCABULARY
        and max(lengths) >= 4 * min(lengths)
    }
    parameters = {tuple(sorted(value.dimensions)) for value in program.compilation.array_parameters}
    found = [
        value
        for value in program.temporaries
        if (lengths := value.dimensions)
        and len(lengths) > 1
        and not sizes.isdisjoint(lengths)
        and tuple(sorted(lengths)) not in parameters
    ]
    if found:
        (words, *_) = sizes & set(found[0].dimensions)
        rows = tuple(
            evidence_row(value, f"{math.prod(value.dimensions) // words} tokens × {words} words")
            for value in found
        )
        yield Cause(
            "peak/contributors",
            "Logits of a large vocabulary are computed for all tokens at once",
            ChangeKind.PARTS,
            _in_parts(found, _PARTS),
            rows,
            remedies.LOGITS,
        )


def inflated_values(program: PeakProgram) -> Iterator[Cause]:
    """Yield stored values that are computed from much smaller ones, like broadcasts and masks."""
    found: list[tuple[StoredValue, int]] = []
    for value in program.at_peak:
        if value.opcode not in _ELEMENTWISE or not program.is_alone(value):
            continue
        operands = program.read_by.get(value.name, [])
        made_of = sum(
            each.size_bytes
            for operand in operands
            if (each := program.values.get(operand)) is not None and each.dtype != "tuple"
        )
        if made_of * _INFLATION <= value.size_bytes:
            found.append((value, made_of))
    if found:
        rows = tuple(
            evidence_row(value, f"computed from {made_of:,} bytes and stored")
            for value, made_of in found
        )
        yield Cause(
            "waste/broadcasts",
            "Broadcasts or masks are stored, though computed from much less data",
            ChangeKind.WITHOUT,
            Remove.of(program.compilation, [value.label for value, _ in found]),
            rows,
            remedies.INFLATED,
        )


def idle_values(program: PeakProgram) -> Iterator[Cause]:
    """Yield values written before the peak that nothing reads until after it."""
    peak = program.peak_step
    if peak is None:
        return
    least = _LEAST_IDLE * program.temp_bytes_at_peak
    steps = program.stored.totals.schedule_length or 0
    found: list[tuple[StoredValue, int]] = []
    for value in program.at_peak:
        if value.size_bytes < least or value.live_from is None or value.live_from >= peak:
            continue
        reads = program.read_steps.get(value.value_id, [])
        if not reads or reads[0] <= peak or value.opcode in _HANDED_ON or value.is_phi:
            continue
        if reads[0] - value.live_from < _LEAST_WAIT * steps:
            continue
        if not program.is_alone(value) or _is_kept_for_backward(program, value):
            continue
        found.append((value, reads[0]))
    if found:
        rows = tuple(
            evidence_row(
                value,
                f"written at step {value.live_from}, first read at {read}; the peak is at {peak}",
            )
            for value, read in found
        )
        yield Cause(
            "lifetime/longest",
            "A value is computed long before it is read, and is live at the peak",
            ChangeKind.MOVE,
            Move(tuple(value.label for value, _ in found)),
            rows,
            remedies.IDLE,
        )


def largest_line(program: PeakProgram, explained: Collection[str]) -> Iterator[Cause]:
    """Yield the line or op that takes most of the peak, unless other findings explain it."""
    groups: defaultdict[str, list[StoredValue]] = defaultdict(list)
    for value in program.at_peak:
        line = file_and_line(value.user_file, value.user_line)
        groups[line or value.attributed_op_name or value.label].append(value)
    if not groups:
        return
    where, found = max(groups.items(), key=lambda group: _bytes(group[1]))
    held = _bytes(found)
    reserved = program.compilation.reserved_bytes.get(program.memory_space, 0)
    if held < _LEAST_OF_LINE * reserved:
        return
    sets = {program.set_of(program.by_label.get(label)) for label in explained}
    if _bytes([value for value in found if program.set_of(value) in sets]) * 2 > held:
        return
    shapes = {value.dimensions for value in found if value.size_bytes * 20 > reserved}
    changed = [value for value in program.temporaries if value.dimensions in shapes]
    share = held / reserved
    title = "One value takes" if len(found) == 1 else "One line takes"
    yield Cause(
        "peak/by-line" if found[0].user_file else "peak/by-op",
        f"{title} {share:.0%} of reserved memory",
        ChangeKind.PARTS,
        _in_parts(changed, 2),
        tuple(evidence_row(value, f"computed by {where}") for value in found),
        remedies.LARGE,
        likelihood=_LIKELIHOOD_OF_LINE,
    )


def _is_kept_for_backward(program: PeakProgram, value: StoredValue) -> bool:
    if is_backward(value.attributed_op_name):
        return False
    readers = program.compilation.readers.get(value.value_id, ())
    return any(program.values[reader].is_backward for reader in readers)


def _in_parts(found: Sequence[StoredValue], parts: int) -> Edit:
    return ComputeInParts({value.label: Fraction(1, parts) for value in found})


def _bytes(found: Sequence[StoredValue]) -> int:
    return sum(value.size_bytes for value in found)
