"""Find values that take a large share of the peak, by kind.

The kinds: values computed from much smaller ones, values that wait to be read, and the line that
takes most.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from xlagraph.advice.causes import remedies
from xlagraph.advice.causes.cause import Cause, evidence_row, file_and_line
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.op_names import is_backward
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import ArrayShape, Operation
from xlagraph.planner.edits.recomputing import Move
from xlagraph.planner.edits.resizing import Remove
from xlagraph.queries.catalogue.declarations import ChangeKind

__all__ = [
    "idle_values",
    "inflated_values",
    "largest_line",
    "one_hot_products",
]

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
_UPDATING: Final = ("dynamic-update-slice", "scatter", "while")
"""Opcodes of instructions that change a part of a state, which cannot be computed in parts."""
_REPEATING: Final = frozenset(
    (
        "broadcast", "iota", "compare", "select", "convert", "constant", "bitcast", "reshape",
        "and", "or", "not", "copy", "transpose", "tuple",
    )
)  # fmt: skip
"""Opcodes that repeat, compare or select elements."""
_ONE_HOT: Final = _REPEATING | {"slice", "dynamic-slice", "parameter", "multiply", "add", "clamp"}
"""Opcodes that make a one-hot matrix, a product of two, or one with a weight of each row."""
_MULTI_HOT: Final = _ONE_HOT | {"reduce"}
"""Opcodes that make the sum of several one-hot rows, too."""
_PADDING: Final = frozenset(("pad", "constant", "bitcast"))
_SAME_NUMBERS: Final = frozenset(
    ("broadcast", "bitcast", "reshape", "convert", "transpose", "copy")
)
"""Opcodes that repeat or move the numbers of an iota."""
_STORED_FIRST: Final = frozenset(
    ("dot", "convolution", "custom-call", "sort", "scatter", "while", "call", "tuple", "gather")
)
"""Opcodes of readers that need a stored operand."""
_HANDED_ON: Final = frozenset(
    (
        "parameter", "constant", "while", "conditional", "call", "get-tuple-element", "tuple",
        "copy", "copy-start", "slice-start", "async-start",
    )
)  # fmt: skip


def inflated_values(program: PeakProgram) -> Iterator[Cause]:
    """Yield stored masks, which only repeat, compare and select much smaller values.

    A plain broadcast is stored because its reader needs it so, for example a library's kernel: no
    line of the program changes this.
    """
    found: list[tuple[StoredValue, str]] = []
    for value in program.at_peak:
        maker = program.instructions.get(value.name)
        if maker is None or not maker.computes_only(_REPEATING) or not program.is_alone(value):
            continue
        if not (maker.computes_with("compare") or maker.computes_with("select")):
            continue
        if value.op_name is None:
            continue  # a pass of the compiler made it: no line of the program removes it
        readers = program.readers_of.get(value.value_id, ())
        if any(program.computes_with(name, opcode) for name in readers for opcode in _STORED_FIRST):
            continue
        operands = program.read_by.get(value.name, [])
        made_of = sum(
            each.size_bytes
            for operand in operands
            if (each := program.values.get(operand)) is not None and each.dtype != "tuple"
        )
        if made_of * _INFLATION <= value.size_bytes:
            found.append((value, f"a mask, computed from {made_of:,} bytes and stored"))
    if found:
        rows = tuple(evidence_row(value, reason) for value, reason in found)
        largest, _ = max(found, key=lambda each: each[0].size_bytes)
        is_of_labels = _reads_labels(program, largest) and _compares_if_equal(program, largest)
        yield Cause(
            "waste/broadcasts",
            "Masks are stored, although they could be recomputed from much less data",
            ChangeKind.WITHOUT,
            Remove.of(program.compilation, [value.label for value, _ in found]),
            rows,
            remedies.INFLATED_LABELS if is_of_labels else remedies.INFLATED,
        )


def one_hot_products(program: PeakProgram) -> Iterator[Cause]:
    """Yield matrices that compare integers with their own column numbers, and are multiplied."""
    found: list[tuple[StoredValue, str]] = []
    for value in program.temporaries:
        maker = program.instructions.get(value.name)
        if maker is None or not program.is_alone(value) or not maker.computes_only(_MULTI_HOT):
            continue
        if not (maker.computes_with("compare") and maker.computes_with("iota")):
            continue
        read = [program.values[each] for each in program.read_by.get(value.name, ())]
        indices = [each for each in read if (each.dtype or "").startswith(("s", "u"))]
        weights = [each for each in read if each not in indices]
        made_of = _sums_of_rows(program, value) + _padded(program, value)
        products = [name for each in (value, *made_of) for name in _products(program, each)]
        if (
            products
            and 1 <= len(indices) <= 2
            and len(weights) <= 1
            and (value.dtype or "").startswith(("f", "bf"))
            and all(each.size_bytes * _INFLATION <= value.size_bytes for each in read)
            and _compares_if_equal(program, value)
        ):
            line = file_and_line(*program.place_of(products[0])) or products[0]
            name = _name_of(program, max(indices, key=lambda each: each.size_bytes))
            reason = f"{name} compared with column numbers; {line} multiplies by it"
            found.append((value, reason))
            found += [(each, f"made of {value.label}; {line} multiplies by it") for each in made_of]
    if found:
        yield Cause(
            "peak/contributors",
            "A one-hot matrix is stored for a product, where an index would do",
            ChangeKind.WITHOUT,
            Remove.of(program.compilation, [value.label for value, _ in found]),
            tuple(evidence_row(value, reason) for value, reason in found),
            remedies.ONE_HOT,
            is_exact=True,
            likelihood=0.9,
        )


def _sums_of_rows(program: PeakProgram, value: StoredValue) -> list[StoredValue]:
    """Return the sums of a one-hot matrix over a dimension, of several labels for each row."""
    lengths = value.dimensions
    shapes = [lengths[:axis] + lengths[axis + 1 :] for axis in range(len(lengths) - 1)]
    return [
        made
        for name in program.readers_of.get(value.value_id, ())
        if program.computes_with(name, "reduce")
        for made in program.made_by.get(name, ())
        if made.dimensions in shapes and _products(program, made) and program.is_alone(made)
    ]


def _padded(program: PeakProgram, value: StoredValue) -> list[StoredValue]:
    """Return the copies of a one-hot matrix that a GPU pads for its products."""
    return [
        made
        for name in program.readers_of.get(value.value_id, ())
        if program.instructions[name].computes_only(_PADDING)
        for made in program.made_by.get(name, ())
        if _products(program, made)
    ]


def _products(program: PeakProgram, value: StoredValue) -> list[str]:
    """Return the instructions that multiply a value as a matrix."""
    readers = program.readers_of.get(value.value_id, ())
    return [name for name in readers if program.computes_with(name, "dot")]


def _reads_labels(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if an array of integers is compared, not only numbers of rows and columns."""
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    return any(each.dimensions and (each.dtype or "").startswith(("s", "u")) for each in read)


def _name_of(program: PeakProgram, value: StoredValue) -> str:
    """Return the name of an input, else the line that computes a value."""
    if value.op_name is not None and "/" not in value.op_name:
        return value.op_name
    return file_and_line(*program.place_of(value.name)) or value.label


def _compares_if_equal(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a one-hot matrix, or a product of them.

    Other comparisons with column numbers make masks, and sums of large arrays are not one-hot.
    """
    fusion = program.operations.get(value.name)
    called = () if fusion is None else program.fused_operations(fusion)
    by_name = {each.name: each for each in called}
    if any(
        each.opcode == "add" and _elements(each) * _INFLATION > math.prod(value.dimensions)
        for each in called
    ):
        return False
    directions = [
        each.numbers.get("direction")
        for each in called
        if each.opcode == "compare"
        and any(_is_of_iota(by_name, operand.name) for operand in each.operands)
    ]
    if directions:
        return all(each == [1] for each in directions)
    return "one_hot" in (value.attributed_op_name or "")


def _is_of_iota(by_name: Mapping[str, Operation], name: str) -> bool:
    """Return True for the numbers of rows or columns, in any shape."""
    found = by_name.get(name)
    while found is not None and found.opcode in _SAME_NUMBERS and found.operands:
        found = by_name.get(found.operands[0].name)
    return found is not None and found.opcode == "iota"


def _elements(operation: Operation) -> int:
    shape = operation.shape
    return math.prod(shape.lengths) if isinstance(shape, ArrayShape) else 0


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
            likelihood=0.0 if program.compilation.platform == "cpu" else None,
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
    share = held / reserved
    title = "One value takes" if len(found) == 1 else "One line takes"
    yield Cause(
        "peak/by-line" if found[0].user_file else "peak/by-op",
        f"{title} {share:.0%} of reserved memory",
        None,
        None,
        tuple(evidence_row(value, f"computed by {where}") for value in found),
        {} if any(_is_state(program, value) for value in found) else remedies.LARGE,
        "this is where the memory is, and no cause was found",
        likelihood=_LIKELIHOOD_OF_LINE,
    )


def _is_state(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a state of which an instruction changes a part."""
    return any(program.computes_with(value.name, opcode) for opcode in _UPDATING)


def _is_kept_for_backward(program: PeakProgram, value: StoredValue) -> bool:
    if is_backward(value.attributed_op_name):
        return False
    readers = program.compilation.readers.get(value.value_id, ())
    return any(program.values[reader].is_backward for reader in readers)


def _bytes(found: Sequence[StoredValue]) -> int:
    return sum(value.size_bytes for value in found)
