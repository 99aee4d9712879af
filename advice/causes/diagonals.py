"""Find matrices of which only the diagonal is read, or is not zero.

An element of the diagonal of a product, as of `jnp.diag(a @ b.T)`, is a product of two rows: none
of the others has to be computed. A product with a diagonal matrix, as `x @ jnp.diag(d)`, scales
columns or rows: the vector is enough.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, Remedies, of_avoidable
from xlagraph.advice.causes.inflated_values import matrix_products
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.needed_only import readers_of_set
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.overwriting import ELEMENTWISE
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import Operation

_LEAST_SHARE: Final = 0.02
"""Smallest share of the reserved bytes for which a matrix is searched."""
_LEAST_ROWS: Final = 16
"""Least rows: the diagonal of a smaller matrix is not much smaller."""
_TAKING: Final = frozenset(("gather", "select"))
"""Opcodes that can take the diagonal of a matrix."""

_BY_ELEMENT: Final = ELEMENTWISE | {"broadcast", "constant"}

_DIAGONALS: Final[Remedies] = {
    "jax": "Compute the diagonal alone: (a * b).sum(-1) instead of jnp.diag(a @ b.T), and"
    " jnp.vdot(a, b) instead of jnp.trace(a @ b.T); ask a library for variances instead of a"
    " covariance.",
    "tensorflow": "Compute the diagonal alone: tf.reduce_sum(a * b, -1) instead of"
    " tf.linalg.diag_part(tf.matmul(a, b, transpose_b=True)).",
    "pytorch": "Compute the diagonal alone: (a * b).sum(-1) instead of torch.diagonal(a @ b.T).",
}
_FACTORS: Final[Remedies] = {
    "jax": "Multiply by the vector: x * d instead of x @ jnp.diag(d), d[:, None] * x instead of"
    " jnp.diag(d) @ x, and (u * s) @ vt instead of u @ jnp.diag(s) @ vt.",
    "tensorflow": "Multiply by the vector: x * d instead of tf.matmul(x, tf.linalg.diag(d)), and"
    " d[:, None] * x instead of tf.matmul(tf.linalg.diag(d), x).",
    "pytorch": "Multiply by the vector: x * d instead of x @ torch.diag(d), and d[:, None] * x"
    " instead of torch.diag(d) @ x.",
}


class _Found(NamedTuple):
    """A matrix that need not be stored, why, and the line that makes or reads its diagonal."""

    value: StoredValue
    reason: str
    line: str


def diagonals(program: PeakProgram) -> Iterator[Cause]:
    """Yield square matrices, or many at once, of which only the diagonal is needed.

    The gradient of a diagonal matrix is one of which only the diagonal is read.
    """
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    matrices = [
        value
        for value in takewhile(lambda each: each.size_bytes >= least, program.temporaries)
        if len(value.dimensions) > 1
        if value.dimensions[-2] == value.dimensions[-1] >= _LEAST_ROWS
    ]
    factors = [*_factors(program, matrices)]
    factors += _masks(program, matrices, factors)
    read: dict[int, _Found] = {}
    for value in matrices:
        if value.value_id not in read:
            read |= _of_diagonal(program, value)
    lines = {each.line for each in factors}
    factors += [each for each in read.values() if each.line in lines]
    others = [each for each in read.values() if each.line not in lines]
    for title, found, remedies in (
        ("A diagonal matrix is stored for a product", factors, _FACTORS),
        ("A matrix is computed of which only the diagonal is read", others, _DIAGONALS),
    ):
        if found:
            yield of_avoidable(
                program.compilation,
                "peak/contributors",
                title,
                [(each.value, each.reason) for each in found],
                remedies,
                likelihood=0.9,
            )


def _of_diagonal(program: PeakProgram, value: StoredValue) -> dict[int, _Found]:
    """Return a matrix of which only the diagonal is read, and what is made for it, by id."""
    together = {program.values[each.value_id].name for each in program.members_of(value)}
    readers = sorted(readers_of_set(program, value))
    if not readers or not all(_reads_diagonal(program, each, together) for each in readers):
        return {}
    line, rows = place_name(program, readers[0]), value.dimensions[-1]
    reason = f"{line} reads only its diagonal, {rows} of {rows} × {rows} elements"
    masked = [
        made
        for reader in readers
        for made in program.made_by.get(reader, ())
        if made.dimensions == value.dimensions
    ]
    return {
        each.value_id: _Found(each, reason, line)
        for each in (value, *masked, *_made_for(program, value))
    }


def _factors(program: PeakProgram, matrices: Sequence[StoredValue]) -> Iterator[_Found]:
    """Yield matrices that are zero outside of their diagonals, and that only products read."""
    for value in matrices:
        readers = sorted(readers_of_set(program, value))
        if (
            readers
            and program.computes_with(value.name, "select")
            and set(readers).issubset(matrix_products(program, value))
            and _selects_diagonal(program, value.name)
        ):
            rows, line = value.dimensions[-1], place_name(program, readers[0])
            reason = (
                f"{line} multiplies by it: only {rows} of {rows} × {rows} elements are not zero"
            )
            yield _Found(value, reason, place_name(program, value.name))


def _masks(
    program: PeakProgram, matrices: Sequence[StoredValue], factors: Sequence[_Found]
) -> list[_Found]:
    """Return masks of the diagonal that are stored for these alone, as before a loop."""
    by_maker = {each.value.name: each for each in factors}
    return [
        by_maker[next(iter(readers))]._replace(value=value)
        for value in matrices
        if program.computes_with(value.name, "compare")
        and (readers := readers_of_set(program, value))
        and readers <= by_maker.keys()
    ]


def _selects_diagonal(program: PeakProgram, name: str) -> bool:
    """Return True if a fusion repeats a smaller array on the diagonal, and a number beside it."""
    outside = program.operations.get(name)
    inside = () if outside is None else program.fused_operations(outside)
    by_name = {each.name: each for each in inside}
    made = inside[-1] if inside else None
    if outside is None or made is None or made.opcode != "select":
        return False
    if not _is_diagonal_mask(made, partial(_made_as, program, outside)):
        return False
    diagonal, rest = (by_name[each.name] for each in made.operands[1:])
    return all(each.opcode == "broadcast" for each in (diagonal, rest)) and (
        by_name[rest.operands[0].name].opcode == "constant"
        and len(by_name[diagonal.operands[0].name].lengths) < len(made.lengths)
    )


def _made_for(program: PeakProgram, value: StoredValue) -> list[StoredValue]:
    """Return what only another matrix is computed of, element by element.

    It may have several numbers for each element, as the differences of two rows.
    """
    lengths = value.dimensions
    found = {value.value_id: value}
    while True:
        members = (member for each in found.values() for member in program.members_of(each))
        makers = {program.values[member.value_id].name for member in members}
        read = {each for name in makers for each in program.read_by.get(name, ())}
        new = {
            each: operand
            for each in sorted(read - found.keys())
            if (operand := program.values[each]).dimensions[: len(lengths)] == lengths
            and (readers := readers_of_set(program, operand)) <= makers
            and all(_reads_by_element(program, name, operand) for name in readers)
        }
        if not new:
            return list(found.values())[1:]
        found |= new


def _reads_by_element(program: PeakProgram, instruction: str, value: StoredValue) -> bool:
    """Return True if each element of what an instruction makes needs that of a value alone.

    It may sum what a value has for each element, as a library's kernel does squared differences.
    """
    if program.instructions[instruction].computes_only(_BY_ELEMENT):
        return True
    count = min((len(each.dimensions) for each in program.made_by[instruction]), default=0)
    outside = program.operations.get(instruction)
    inside: Sequence[Operation] = () if outside is None else program.fused_operations(outside)
    own = {program.values[each.value_id].name for each in program.members_of(value)}
    names = set() if outside is None else _parameters(outside, inside, own)
    for each in inside:
        if any(read.name in names for read in each.operands):
            is_sum = (
                each.opcode == "reduce" and min(each.numbers.get("dimensions") or (0,)) >= count
            )
            if each.opcode not in ELEMENTWISE and not is_sum:
                return False
            names.add(each.name)
    return bool(names)


def _parameters(outside: Operation, inside: Sequence[Operation], values: set[str]) -> set[str]:
    """Return the parameters of a fusion that are some of the values."""
    return {
        each.name
        for each in inside
        if each.opcode == "parameter" and outside.operands[each.numbers["number"][0]].name in values
    }


def _reads_diagonal(program: PeakProgram, instruction: str, values: set[str]) -> bool:
    """Return True if an instruction reads no element of these outside of their diagonals."""
    known = program.instructions[instruction]
    opcodes = known.fused_opcodes or (known.opcode,)
    if _TAKING.isdisjoint(opcodes) and "fusion" not in opcodes:
        return False  # reading the whole module takes seconds
    outside = program.operations.get(instruction)
    if outside is None:
        return False
    inside: Sequence[Operation] = program.fused_operations(outside)
    names = _parameters(outside, inside, values)
    if not inside:
        inside, names = (outside,), set(values)
    uses = []
    for each in inside:
        if any(read.name in names for read in each.operands):
            if _takes_diagonal(each, names, partial(_made_as, program, outside)):
                uses.append(each)
            elif each.opcode in ELEMENTWISE and each is not inside[-1]:
                names.add(each.name)  # its diagonal is computed from the diagonal
            else:
                return False
    return bool(uses)


def _made_as(program: PeakProgram, reader: Operation, name: str) -> Operation | None:
    """Return the operation that makes a value, which may be a fusion that the reader reads.

    That of what a loop only hands on, such as a mask, is outside of the loop.
    """
    made = program.operations.get(name)
    if made is not None and made.opcode == "parameter" and program.fused_operations(reader):
        made = program.operations.get(_source(program, reader, made.numbers["number"][0]))
    fused = () if made is None else program.fused_operations(made)
    return fused[-1] if fused else made


def _source(program: PeakProgram, reader: Operation, number: int) -> str:
    """Return the only instruction that makes an operand, or else the operand itself."""
    uses = program.uses_by.get(reader.name, ())
    read = [program.values[use.value_id] for use in uses if use.operand == number]
    members = [program.values[e.value_id] for each in read for e in program.members_of(each)]
    makers = {each.name for each in members if not each.is_phi and each.opcode != "parameter"}
    return makers.pop() if len(makers) == 1 else reader.operands[number].name


def _takes_diagonal(
    operation: Operation, names: set[str], made_as: Callable[[str], Operation | None]
) -> bool:
    """Return True for rows gathered at equal numbers, or a mask of equal row and column."""
    read = [made_as(each.name) for each in operation.operands]
    if operation.opcode == "gather" and operation.operands[0].name in names and len(read) > 1:
        places = read[1]
        if places is None or places.opcode != "concatenate":
            return False
        parts = {each.name for each in places.operands}
        is_of_iota = len(parts) == 1 and _is_iota(made_as(parts.pop()))
        return is_of_iota and list(operation.numbers.get("slice_sizes", ()))[-2:] == [1, 1]
    if operation.opcode == "select" and operation.operands[1].name in names:
        return operation.operands[2].name not in names and _is_diagonal_mask(operation, made_as)
    return False


def _is_diagonal_mask(select: Operation, made_as: Callable[[str], Operation | None]) -> bool:
    """Return True if a selection chooses where the numbers of row and column are equal."""
    mask = made_as(select.operands[0].name)
    if mask is None or mask.opcode != "compare" or mask.numbers.get("direction") != [1]:
        return False
    sides = [made_as(each.name) for each in mask.operands]
    dimensions = [tuple(each.numbers.get("iota_dimension", ())) for each in sides if each]
    return all(map(_is_iota, sides)) and len(set(dimensions)) == len(sides)


def _is_iota(operation: Operation | None) -> bool:
    return operation is not None and operation.opcode == "iota"
