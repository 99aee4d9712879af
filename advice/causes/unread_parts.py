"""Find results that are computed larger than the program needs: full factors, halves of spectra.

A singular value decomposition completes the basis of a tall matrix unless it is told not to, and
the complex Fourier transform of real numbers has each frequency twice.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_smaller
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.sliced_reads import parts_of_reads
from xlagraph.hlo.opcodes import PASSING_ON
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import Operation
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS
from xlagraph.planner.edits.resizing import Scale
from xlagraph.queries.catalogue.declarations import ChangeKind

_FACTORING: Final = ("gesdd", "gesvd", "orgqr", "ungqr", "Svd", "svd", "householder", "Qr")
"""Parts of the targets of custom calls for the factors of a matrix."""
_LEAST_RATIO: Final = 2
"""Least columns of a factor for each one that the smaller factor has."""

_FULL_FACTORS: Final[Remedies] = {
    "jax": "Compute the columns that are read: jnp.linalg.svd(x, full_matrices=False), also where"
    " compute_uv=False or only singular values are read; jnp.linalg.qr(x, mode='reduced').",
    "tensorflow": "Compute the columns that are read: full_matrices=False in tf.linalg.svd and"
    " tf.linalg.qr.",
    "pytorch": "Compute the columns that are read: full_matrices=False in torch.linalg.svd,"
    " mode='reduced' in torch.linalg.qr.",
}
_WHOLE_SPECTRA: Final[Remedies] = {
    "jax": "Use the transforms of real numbers: jnp.fft.rfft, rfft2 or rfftn instead of fft, and"
    " jnp.fft.irfft, irfft2 or irfftn instead of the real part of ifft; frequencies of the last"
    " dimension are those of jnp.fft.rfftfreq.",
    "tensorflow": "Use the transforms of real numbers: tf.signal.rfft and tf.signal.irfft.",
    "pytorch": "Use the transforms of real numbers: torch.fft.rfft and torch.fft.irfft.",
}


def full_factors(program: PeakProgram) -> Iterator[Cause]:
    """Yield square factors of matrices of which the columns that complete a basis are not read."""
    found: list[tuple[StoredValue, str, Fraction]] = []
    for value in program.temporaries:
        columns = _columns(program, value)
        if columns is None or columns * _LEAST_RATIO > value.dimensions[-1]:
            continue
        ids = {each.value_id for each in program.members_of(value)}
        makers = {program.values[each].name for each in ids}
        readers = {
            name
            for each in ids
            for name in program.readers_of.get(each, ())
            if program.instructions[name].opcode not in PASSING_ON
        } - makers
        parts = parts_of_reads(program, ids, readers, ("slice",))
        whole = value.dimensions[-1]
        if readers and (parts is None or parts * columns < whole):
            continue
        read = "nothing reads it"
        if readers:
            name = min(readers, key=lambda each: (program.rows.get(each, 0), each))
            place = place_name(program, name)
            read = f"{place} reads at most {columns} of its {whole} columns"
        reason = f"completes {columns} columns to {whole}; {read}"
        found.append((value, reason, Fraction(columns, whole)))
    if found:
        yield of_smaller(
            program.compilation,
            "A factor of a matrix is computed with columns that nothing reads",
            found,
            _FULL_FACTORS,
            likelihood=1.0,
        )


def _columns(program: PeakProgram, value: StoredValue) -> int | None:
    """Return the columns of the smaller factor, if a custom call makes a square one."""
    if len(value.dimensions) < 2 or value.dimensions[-1] != value.dimensions[-2]:
        return None
    for member in program.members_of(value):
        maker = program.instructions[program.values[member.value_id].name]
        if maker.opcode == "custom-call" and any(
            each in (maker.target or "") for each in _FACTORING
        ):
            read = (program.values[each].dimensions for each in program.read_by.get(maker.name, ()))
            lengths = [
                min(each[-2:]) if len(each) == len(value.dimensions) else each[-1]
                for each in read
                if each
            ]
            return min(lengths, default=None)
    return None


def whole_spectra(program: PeakProgram) -> Iterator[Cause]:
    """Yield complex arrays as large as a transform of real numbers, which half of them would hold.

    Each transform of this size reads real numbers, or only the real part of its result is read.
    """
    spectra = [
        value
        for value in program.values.values()
        if _is_complex(value) and program.instructions[value.name].opcode == "fft"
    ]
    for size in sorted({tuple(sorted(value.dimensions)) for value in spectra}):
        alike = [
            value
            for value in program.values.values()
            if _is_complex(value) and tuple(sorted(value.dimensions)) == size
        ]
        transforms = [value for value in spectra if tuple(sorted(value.dimensions)) == size]
        planned = (program.planned(value) for value in alike)
        if any(each is not None and (each.is_stored or each.lives_out) for each in planned):
            continue
        if not all(
            _is_of_real(program, each) or _is_read_real(program, each) for each in transforms
        ):
            continue
        forward = [value for value in transforms if _is_of_real(program, value)]
        if not forward:
            continue
        sets = {program.set_of(value) for value in alike}
        values = [value for value in program.temporaries if program.set_of(value) in sets]
        place = place_name(program, forward[0].name)
        reason = f"has each frequency of real numbers twice, as the transform at {place}"
        yield Cause(
            "peak/contributors",
            "Real numbers are transformed as complex ones",
            ChangeKind.HALF,
            Scale({value.label: Fraction(1, 2) for value in values}),
            tuple(evidence_row(value, reason) for value in values),
            _WHOLE_SPECTRA,
            is_exact=True,
            likelihood=0.9,
        )


def _is_complex(value: StoredValue) -> bool:
    return value.dtype in ("c64", "c128") and prod(value.dimensions) > 1


def _is_of_real(program: PeakProgram, spectrum: StoredValue) -> bool:
    """Return True if a transform reads real numbers that were converted to complex ones."""
    operation = program.operations.get(spectrum.name)
    if operation is None or not operation.operands:
        return False
    maker = operation.operands[0].name
    inside = _inside(program, maker)
    by_name = {each.name: each for each in inside}
    found = inside[-1] if inside else None
    while found is not None and found.opcode in SAME_ELEMENTS - {"convert"}:
        found = by_name.get(found.operands[0].name)
    return found is not None and found.opcode == "convert" and _takes_real_parts(program, maker)


def _is_read_real(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if only the real part of a transform is computed with."""
    readers = [
        name
        for name in program.readers_of.get(value.value_id, ())
        if program.instructions[name].opcode not in PASSING_ON
    ]
    return bool(readers) and all(_takes_real_parts(program, name) for name in readers)


def _takes_real_parts(program: PeakProgram, instruction: str) -> bool:
    """Return True if an instruction computes with nothing but the real parts of complex arrays."""
    operation = program.operations.get(instruction)
    inside = _inside(program, instruction)
    if operation is None or not inside:
        return False
    given = {
        number: each.name
        for number, each in enumerate(operation.operands)
        if any(map(_is_complex, program.made_by.get(each.name, ())))
    }
    names = {*given.values()} | {
        each.name
        for each in inside
        if each.opcode == "parameter" and not given.keys().isdisjoint(each.numbers["number"])
    }
    for each in inside:
        if any(read.name in names for read in each.operands) and each.opcode != "real":
            if each.opcode not in SAME_ELEMENTS:
                return False
            names.add(each.name)
    return inside[-1].name not in names


def _inside(program: PeakProgram, instruction: str) -> Sequence[Operation]:
    """Return the operations of a fusion, or an operation of its own."""
    operation = program.operations.get(instruction)
    if operation is None:
        return ()
    return program.fused_operations(operation) or (operation,)
