"""Find values that are computed from much smaller ones: masks, and one-hot matrices."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, file_and_line, of_avoidable
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import ArrayShape, Operation

INFLATION: Final = 16
"""Least ratio between the size of a value and the size of its operands."""
REPEATING: Final = frozenset(
    (
        "broadcast", "iota", "compare", "select", "convert", "constant", "bitcast", "reshape",
        "and", "or", "not", "copy", "transpose", "tuple",
    )
)  # fmt: skip
"""Opcodes that repeat, compare or select elements."""
_MAKE_ONE_HOT: Final = REPEATING.union(
    ("slice", "dynamic-slice", "parameter", "multiply", "add", "clamp")
)
"""Opcodes that make a one-hot matrix, a product of two, or one with a weight of each row."""
_MAKE_MULTI_HOT: Final = _MAKE_ONE_HOT | {"reduce"}
"""Opcodes that make the sum of several one-hot rows, too."""
_CONVERTING: Final = frozenset(("convert", "bitcast", "reshape", "copy", "parameter"))
_PADDING: Final = frozenset(("pad", "constant", "bitcast"))
_SAME_NUMBERS: Final = frozenset(
    ("broadcast", "bitcast", "reshape", "convert", "transpose", "copy")
)
"""Opcodes that repeat or move the numbers of an iota."""
_NUMBERING: Final = _SAME_NUMBERS | {"iota"}
STORED_FIRST: Final = frozenset(
    ("dot", "convolution", "custom-call", "sort", "scatter", "while", "call", "tuple", "gather")
)
"""Opcodes of readers that need a stored operand."""
_ONE_HOT: Final[Remedies] = {
    "jax": "Index instead of multiplying with jax.nn.one_hot: table[ids] for one_hot(ids) @ table,"
    " jax.ops.segment_sum(x, ids, n) for one_hot(ids, n).T @ x, and for a dispatch to experts"
    " jnp.zeros((experts, capacity, d)).at[expert, place].set(x, mode='drop') and"
    " out.at[expert, place].get(mode='fill', fill_value=0).",
    "tensorflow": "Index instead of multiplying with tf.one_hot: tf.gather, or"
    " tf.math.unsorted_segment_sum for the transposed product.",
    "pytorch": "Index instead of multiplying with one_hot: table[ids], or index_add_ for the"
    " transposed product.",
}
_INFLATED: Final[Remedies] = {
    "jax": "Compute it where it is read, so that it is fused: jnp.where(i[:, None] >= i[None, :],"
    " x, -inf) with jax.lax.broadcasted_iota instead of a stored mask; rely on broadcasting instead"
    " of jnp.broadcast_to, jnp.tile and jnp.repeat; keep masks bool.",
    "tensorflow": "Compute it where it is read: tf.range comparisons instead of a stored mask,"
    " broadcasting instead of tf.tile; keep masks bool.",
    "pytorch": "Compute it where it is read: comparisons of torch.arange instead of a stored mask,"
    " expand instead of repeat; keep masks bool.",
}
_INFLATED_LABELS: Final[Remedies] = {
    "jax": "Index with the labels instead of comparing them with the numbers of columns:"
    " jnp.take_along_axis(x, labels[..., None], -1) for a sum of x * one_hot(labels),"
    " counts.at[labels].add(1) for a sum of one_hot(labels), jnp.take(table, labels, 0).",
    "tensorflow": "Index with the labels instead of comparing them with the numbers of columns:"
    " tf.gather(x, labels, batch_dims=1), tf.math.bincount.",
    "pytorch": "Index with the labels instead of comparing them with the numbers of columns:"
    " x.gather(-1, labels[..., None]), torch.bincount.",
}


def inflated_values(program: PeakProgram) -> Iterator[Cause]:
    """Yield stored masks, which only repeat, compare and select much smaller values.

    A plain broadcast is stored because its reader needs it so, for example a library's kernel: no
    line of the program changes this.
    """
    found: list[tuple[StoredValue, str]] = []
    for value in program.at_peak:
        maker = program.instructions.get(value.name)
        if maker is None or not maker.computes_only(REPEATING) or not program.is_alone(value):
            continue
        if not (maker.computes_with("compare") or maker.computes_with("select")):
            continue
        if value.op_name is None:
            continue  # a pass of the compiler made it: no line of the program removes it
        readers = program.readers_of.get(value.value_id, ())
        if any(leads_to(program, value, name, STORED_FIRST) for name in readers):
            continue
        operands = program.read_by.get(value.name, [])
        made_of = sum(
            each.size_bytes
            for operand in operands
            if (each := program.values.get(operand)) is not None and each.dtype != "tuple"
        )
        if made_of * INFLATION <= value.size_bytes and not _selects_gradients(program, value):
            found.append((value, f"a mask, computed from {made_of:,} bytes and stored"))
    if found:
        largest, _ = max(found, key=lambda each: each[0].size_bytes)
        is_of_labels = _is_of_labels(program, largest)
        yield of_avoidable(
            program.compilation,
            "waste/broadcasts",
            "Masks are stored, although they could be recomputed from much less data",
            found,
            _INFLATED_LABELS if is_of_labels else _INFLATED,
        )


def one_hot_products(program: PeakProgram) -> Iterator[Cause]:
    """Yield matrices that compare integers with their own column numbers, and are multiplied.

    A GPU may store the numbers, and compare them in the fusions that multiply.
    """
    found = [*_numbers_of_columns(program)]
    for value in program.temporaries:
        maker = program.instructions.get(value.name)
        if maker is None or not program.is_alone(value) or not maker.computes_only(_MAKE_MULTI_HOT):
            continue
        if not (maker.computes_with("compare") and maker.computes_with("iota")):
            continue
        read = [program.values[each] for each in program.read_by.get(value.name, ())]
        indices = [each for each in read if each.is_integer]
        weights = [each for each in read if each not in indices]
        made_of = _sums_of_rows(program, value) + _padded(program, value)
        products = [name for each in (value, *made_of) for name in matrix_products(program, each)]
        if (
            products
            and 1 <= len(indices) <= 2
            and len(weights) <= 1
            and value.is_float
            and all(each.size_bytes * INFLATION <= value.size_bytes for each in read)
            and _compares_if_equal(program, value)
        ):
            line = place_name(program, products[0])
            name = _name_of(program, max(indices, key=lambda each: each.size_bytes))
            reason = f"{name} compared with column numbers; {line} multiplies by it"
            found.append((value, reason))
            found += [(each, f"made of {value.label}; {line} multiplies by it") for each in made_of]
            tables = _converted_tables(program, value, products)
            found += [(each, f"all rows, of which {line} needs some") for each in tables]
    if found:
        yield of_avoidable(
            program.compilation,
            "peak/contributors",
            "A one-hot matrix is stored for a product, where an index would do",
            found,
            _ONE_HOT,
            is_exact=True,
            likelihood=0.9,
        )


def _numbers_of_columns(program: PeakProgram) -> Iterator[tuple[StoredValue, str]]:
    """Yield stored column numbers of which every reader makes a one-hot matrix to multiply."""
    for value in program.temporaries:
        maker = program.instructions.get(value.name)
        if maker is None or not program.is_alone(value) or not maker.computes_with("iota"):
            continue
        if not maker.computes_only(_NUMBERING):
            continue
        readers = [
            name
            for name in program.readers_of.get(value.value_id, ())
            if program.instructions[name].opcode not in PASSING_ON
        ]
        indices = [_index_of(program, name, value) for name in readers]
        if indices and None not in indices:
            made = [each for name in readers for each in _stored_one_hot(program, name)]
            line = place_name(program, matrix_products(program, made[0])[0] if made else readers[0])
            names = ", ".join(dict.fromkeys(_name_of(program, each) for each in indices if each))
            yield value, f"numbers of columns; {line} compares {names} with them and multiplies"
            for each in made:
                yield each, f"{names} compared with column numbers; {line} multiplies by it"


def _index_of(program: PeakProgram, reader: str, numbers: StoredValue) -> StoredValue | None:
    """Return the integers that a reader compares with numbers of columns, if for equality.

    It multiplies what it compares, or stores it for products.
    """
    multiplies = program.computes_with(reader, "dot") or _stored_one_hot(program, reader)
    if not multiplies or not program.computes_with(reader, "compare"):
        return None  # before the module is parsed
    operation = program.operations.get(reader)
    fused = () if operation is None else program.fused_operations(operation)
    directions = [
        each.numbers.get("direction")
        for each in fused
        if each.opcode == "compare" and _elements(each) == math.prod(numbers.dimensions)
    ]
    if directions != [[1]]:
        return None
    read = [program.values[each] for each in program.read_by.get(reader, ())]
    integers = [each for each in read if each.is_integer]
    others = [each for each in integers if each.value_id != numbers.value_id]
    return others[0] if len(others) == 1 else None


def _stored_one_hot(program: PeakProgram, reader: str) -> list[StoredValue]:
    """Return what only compares and pads, if products read it: a GPU pads a matrix for them."""
    made = program.made_by.get(reader, ())
    if not program.instructions[reader].computes_only(REPEATING | _PADDING):
        return []
    return [each for each in made if matrix_products(program, each) and program.is_alone(each)]


def _sums_of_rows(program: PeakProgram, value: StoredValue) -> list[StoredValue]:
    """Return the sums of a one-hot matrix over a dimension, of several labels for each row."""
    lengths = value.dimensions
    shapes = [lengths[:axis] + lengths[axis + 1 :] for axis in range(len(lengths) - 1)]
    return [
        made
        for name in program.readers_of.get(value.value_id, ())
        if program.computes_with(name, "reduce")
        for made in program.made_by.get(name, ())
        if made.dimensions in shapes and matrix_products(program, made) and program.is_alone(made)
    ]


def _converted_tables(
    program: PeakProgram, value: StoredValue, products: Sequence[str]
) -> list[StoredValue]:
    """Return the tables that are converted only to multiply them by a one-hot matrix of rows.

    The rows that an index takes can be converted instead.
    """
    read = {each: program.values[each] for name in products for each in program.read_by[name]}
    return [
        table
        for table in read.values()
        if table.dimensions[:1] == value.dimensions[-1:]
        and program.instructions[table.name].computes_only(_CONVERTING)
        and program.computes_with(table.name, "convert")
        and program.is_alone(table)
        and {*program.readers_of.get(table.value_id, ())}.issubset(products)
    ]


def _padded(program: PeakProgram, value: StoredValue) -> list[StoredValue]:
    """Return the copies of a one-hot matrix that a GPU pads for its products."""
    return [
        made
        for name in program.readers_of.get(value.value_id, ())
        if program.instructions[name].computes_only(_PADDING)
        for made in program.made_by.get(name, ())
        if matrix_products(program, made)
    ]


def matrix_products(program: PeakProgram, value: StoredValue) -> list[str]:
    """Return the instructions that multiply a value as a matrix."""
    readers = program.readers_of.get(value.value_id, ())
    return [name for name in readers if leads_to(program, value, name, frozenset(("dot",)))]


def leads_to(
    program: PeakProgram, value: StoredValue, reader: str, opcodes: frozenset[str]
) -> bool:
    """Return True if a reader is an operation of these opcodes, or leads a value to a fused one.

    A fusion of a GPU adds a stored mask to what its product makes.
    """
    if not any(program.computes_with(reader, opcode) for opcode in opcodes):
        return False
    operation = program.operations.get(reader)
    inside = () if operation is None else program.fused_operations(operation)
    places = [
        [use.operand] for use in program.uses_by.get(reader, ()) if use.value_id == value.value_id
    ]
    led = {each.name for each in inside if each.numbers.get("number") in places}
    if not led:
        return True
    for each in inside:
        if any(name in led for name, _ in each.operands) and each.opcode != "tuple":
            if each.opcode in opcodes:
                return True
            led.add(each.name)
    return False


def _selects_gradients(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if a mask of labels selects gradients too, be it compared again for them.

    An index has a gradient of the same shape, which is stored.
    """
    elements = math.prod(value.dimensions)
    return _is_of_labels(program, value) and any(
        made.is_backward and math.prod(made.dimensions) == elements
        for source in (value.value_id, *program.read_by.get(value.name, ()))
        for name in program.readers_of.get(source, ())
        for made in program.made_by.get(name, ())
    )


def _is_of_labels(program: PeakProgram, value: StoredValue) -> bool:
    return _reads_labels(program, value) and _compares_if_equal(program, value)


def _reads_labels(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if an array of integers is compared, not only numbers of rows and columns."""
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    return any(each.dimensions and each.is_integer for each in read)


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
        each.opcode == "add" and _elements(each) * INFLATION > math.prod(value.dimensions)
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
