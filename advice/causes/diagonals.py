"""Find matrices of which the program reads only the diagonal, as `jnp.diag(a @ b.T)` does.

An element of the diagonal is a product of two rows: none of the others has to be computed.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, of_avoidable
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


def read_diagonals(program: PeakProgram) -> Iterator[Cause]:
    """Yield square matrices, or many at once, of which only the diagonal is read."""
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    found: dict[int, tuple[StoredValue, str]] = {}
    for value in program.temporaries:
        if value.size_bytes < least:
            break
        rows, columns = value.dimensions[-2:] if len(value.dimensions) > 1 else (0, 1)
        if rows != columns or rows < _LEAST_ROWS or value.value_id in found:
            continue
        together = {program.values[each.value_id].name for each in program.members_of(value)}
        readers = sorted(readers_of_set(program, value))
        if readers and all(_reads_diagonal(program, reader, together) for reader in readers):
            line = place_name(program, readers[0])
            reason = f"{line} reads only its diagonal, {rows} of {rows} × {rows} elements"
            masked = [
                made
                for reader in readers
                for made in program.made_by.get(reader, ())
                if made.dimensions == value.dimensions
            ]
            made_for = _made_for(program, value)
            found |= {each.value_id: (each, reason) for each in (value, *masked, *made_for)}
    if found:
        yield of_avoidable(
            program.compilation,
            "peak/contributors",
            "A matrix is computed of which only the diagonal is read",
            [*found.values()],
            _DIAGONALS,
            likelihood=0.9,
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
    """Return the operation that makes a value, which may be a fusion that the reader reads."""
    made = program.operations.get(name)
    if made is not None and made.opcode == "parameter" and program.fused_operations(reader):
        made = program.operations.get(reader.operands[made.numbers["number"][0]].name)
    fused = () if made is None else program.fused_operations(made)
    return fused[-1] if fused else made


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
        mask = read[0]
        if (
            operation.operands[2].name in names
            or mask is None
            or mask.opcode != "compare"
            or mask.numbers.get("direction") != [1]
        ):
            return False
        sides = [made_as(each.name) for each in mask.operands]
        dimensions = [tuple(each.numbers.get("iota_dimension", ())) for each in sides if each]
        return all(map(_is_iota, sides)) and len(set(dimensions)) == len(sides)
    return False


def _is_iota(operation: Operation | None) -> bool:
    return operation is not None and operation.opcode == "iota"
