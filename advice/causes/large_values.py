"""Find values that take a large share of the peak, by kind.

The kinds: logits of a large vocabulary, values computed from much smaller
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
from xlagraph.hlo.op_names import is_backward
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.edit import Edit
from xlagraph.planner.edits.recomputing import Move
from xlagraph.planner.edits.resizing import ComputeInParts, Remove
from xlagraph.queries.catalogue.declarations import ChangeKind

__all__ = [
    "idle_values",
    "inflated_values",
    "largest_line",
    "logits",
    "one_hot_products",
]

_LEAST_VOCABULARY: Final = 4096
_PARTS: Final = 8
"""Parts in which logits could be computed."""
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
_REPEATING: Final = frozenset(
    (
        "broadcast", "iota", "compare", "select", "convert", "constant", "bitcast", "reshape",
        "and", "or", "not", "copy", "transpose", "tuple",
    )
)  # fmt: skip
"""Opcodes that repeat, compare or select elements."""
_ONE_HOT: Final = _REPEATING | {"slice", "parameter", "multiply"}
"""Opcodes that make a one-hot matrix, or the product of two."""
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


def logits(program: PeakProgram) -> Iterator[Cause]:
    """Yield the values of a softmax over the words of a table.

    A product with a table has a dimension of its words, and the exponential of it is reduced over
    this dimension. All values of this size that depend on each other are part of it.
    """
    tables = {
        tuple(sorted(value.dimensions)): value.op_name or value.label
        for value in program.compilation.array_parameters
        if len(lengths := value.dimensions) == 2
        and max(lengths) >= _LEAST_VOCABULARY
        and max(lengths) >= 4 * min(lengths)
    }
    seen: set[int] = set()
    found: list[tuple[StoredValue, str]] = []
    for value in program.temporaries:
        words = next((table for table in tables if table[1] in value.dimensions), None)
        if words is None or value.value_id in seen or not _is_product(program, value, words):
            continue
        connected = _connected(program, value)
        seen |= connected
        reduction = _softmax(program, connected, words[1])
        if reduction is None:
            continue
        line = file_and_line(*program.place_of(reduction)) or reduction
        rows = math.prod(value.dimensions) // words[1]
        reason = f"{rows} × {words[1]} products with {tables[words]}, which {line} reduces"
        sets = {program.set_of(program.values[each]) for each in connected}
        found += [(each, reason) for each in program.temporaries if program.set_of(each) in sets]
    if found:
        yield Cause(
            "peak/contributors",
            "Logits of a large vocabulary are computed for all tokens at once",
            ChangeKind.PARTS,
            _in_parts([value for value, _ in found], _PARTS),
            tuple(evidence_row(value, reason) for value, reason in found),
            remedies.LOGITS,
        )


def _is_product(program: PeakProgram, value: StoredValue, table: tuple[int, ...]) -> bool:
    """Return True for a product of the forward pass with a table, and not one of its shape."""
    if value.is_backward or not any(
        program.computes_with(value.name, opcode) for opcode in ("dot", "custom-call")
    ):
        return False
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    return tuple(sorted(value.dimensions)) != table and any(
        tuple(sorted(each.dimensions)) == table and not each.is_backward for each in read
    )


def _connected(program: PeakProgram, value: StoredValue) -> set[int]:
    """Return a value, and those of its size that are computed from it, or from the same values."""
    size, words = math.prod(value.dimensions), max(value.dimensions)
    found, waiting = {value.value_id}, [value]
    while waiting:
        each = waiting.pop()
        near = list(program.read_by.get(each.name, ()))
        for reader in program.readers_of.get(each.value_id, ()):
            near += [made.value_id for made in program.made_by.get(reader, ())]
        for value_id in near:
            other = program.values[value_id]
            is_like = words in other.dimensions and math.prod(other.dimensions) == size
            if value_id not in found and is_like:
                found.add(value_id)
                waiting.append(other)
    return found


def _softmax(program: PeakProgram, value_ids: Collection[int], words: int) -> str | None:
    """Return the instruction that reduces these values over a dimension for a softmax.

    A softmax reads the maximum or the sum of each row next to the row itself; a sum of a
    function of each element, such as a softplus, does not.
    """
    around = {name for each in value_ids for name in program.readers_of.get(each, ())}
    makers = {program.values[each].name for each in value_ids}
    size = math.prod(program.values[next(iter(value_ids))].dimensions)
    if not any(program.computes_with(name, "exponential") for name in around | makers):
        return None
    reducing = []
    for name in around:
        made = program.made_by.get(name, ())
        lengths = [math.prod(each.dimensions) for each in made]
        if not program.computes_with(name, "reduce"):
            continue
        of_rows = {
            each.value_id
            for each, length in zip(made, lengths, strict=True)
            if length == size // words
        }
        is_read_with_rows = any(
            not of_rows.isdisjoint(program.read_by.get(reader, ())) for reader in around | makers
        )
        is_complete = size in lengths and program.computes_with(name, "exponential")
        if (of_rows and is_read_with_rows) or is_complete:
            reducing.append(name)
    return min(reducing, key=lambda name: program.rows.get(name, 0), default=None)


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
        yield Cause(
            "waste/broadcasts",
            "Masks are stored, although they could be recomputed from much less data",
            ChangeKind.WITHOUT,
            Remove.of(program.compilation, [value.label for value, _ in found]),
            rows,
            remedies.INFLATED,
        )


def one_hot_products(program: PeakProgram) -> Iterator[Cause]:
    """Yield matrices that compare integers with their own column numbers, and are multiplied."""
    found: list[tuple[StoredValue, str]] = []
    for value in program.temporaries:
        maker = program.instructions.get(value.name)
        if maker is None or not program.is_alone(value) or not maker.computes_only(_ONE_HOT):
            continue
        if not (maker.computes_with("compare") and maker.computes_with("iota")):
            continue
        read = [program.values[each] for each in program.read_by.get(value.name, ())]
        indices = [each for each in read if (each.dtype or "").startswith(("s", "u"))]
        products = [
            name
            for name in program.readers_of.get(value.value_id, ())
            if program.computes_with(name, "dot")
        ]
        if (
            products
            and 1 <= len(read) == len(indices) <= 2
            and (value.dtype or "").startswith(("f", "bf"))
            and indices[0].size_bytes * _INFLATION <= value.size_bytes
            and _compares_if_equal(program, value)
        ):
            line = file_and_line(*program.place_of(products[0])) or products[0]
            name = indices[0].op_name or indices[0].label
            reason = f"{name} compared with column numbers; {line} multiplies by it"
            found.append((value, reason))
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


def _compares_if_equal(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a one-hot matrix; other comparisons with column numbers make masks."""
    if "one_hot" in (value.attributed_op_name or ""):
        return True
    fusion = program.operations.get(value.name)
    called = () if fusion is None else program.fused_operations(fusion)
    directions = [each.numbers.get("direction") for each in called if each.opcode == "compare"]
    return bool(directions) and all(each == [1] for each in directions)


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
        remedies.LARGE,
        "this is where the memory is, and no cause was found",
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
