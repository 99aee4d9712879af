"""Find Jacobians and Hessians of which only products are read, or that are computed at once."""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes.cause import (
    PARTS,
    Cause,
    Remedies,
    evidence_row,
    of_all_at_once,
    of_removed,
)
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.opcodes import CONTROL_FLOW, FORWARDING
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.returning import with_their_makers

_OF_BASIS: Final = re.compile(r"(?:^|/)vmap\((?:jvp\(vmap\()?transpose\(jvp\(")
"""Op names of the backward passes of all results at once; no outer gradient needs them."""
_OF_DIRECTIONS: Final = re.compile(r"vmap\((?:jit\()?(?:transpose\()?jvp\(")
"""Op names of derivatives in several directions, forward or backward."""
_OF_SECOND: Final = re.compile(r"vmap\((?:jit\()?(?:transpose\()?jvp\(.*jvp\(")
"""Op names of derivatives of derivatives in several directions."""
_TRANSFORMATION: Final = re.compile(r"\b(?:vmap|jvp)\(")
_HANDING_ON: Final = CONTROL_FLOW | FORWARDING
_FACTORING: Final = re.compile("getrf|geqrf|potrf|LuDecomposition|Qr|[Cc]holesky")
_SOLVING: Final = re.compile("trsm|[Tt]riangular")
"""Parts of the opcodes or targets of instructions that factor a matrix, or solve with a factor."""
_LEAST_SHARE: Final = 0.01
"""Smallest share of the temporary bytes for which products are searched."""
_LEAST_AT_ONCE: Final = Fraction(1, 2)
"""Least share of the reserved bytes that derivatives in all directions take."""

_MULTIPLIED: Final = "A Jacobian is stored as a matrix, although only its products are read"
_SOLVED: Final = "A Jacobian is stored and factored, although it only solves for vectors"

_JACOBIANS: Final[Remedies] = {
    "jax": "Compute the products instead of the matrix: jax.jvp(f, (x,), (v,))[1] for J @ v,"
    " jax.vjp(f, x)[1](u)[0] for J.T @ u, jax.jvp(jax.grad(f), (x,), (v,))[1] for a Hessian's;"
    " solvers such as jax.scipy.sparse.linalg.cg take them as a function.",
    "tensorflow": "Compute the products instead of the matrix: tf.autodiff.ForwardAccumulator for"
    " J @ v, tape.gradient with output_gradients for J.T @ u.",
    "pytorch": "Compute the products instead of the matrix: torch.func.jvp for J @ v,"
    " torch.func.vjp for J.T @ u.",
}
_SYSTEMS: Final[Remedies] = {
    "jax": "Solve with products instead of the matrix: lineax.GMRES, or lineax.CG if it is"
    " symmetric, as the linear_solver of the solver or of optimistix.ImplicitAdjoint;"
    " jax.scipy.sparse.linalg.gmres or cg with lambda v: jax.jvp(f, (x,), (v,))[1].",
    "tensorflow": "Solve with products instead of the matrix:"
    " tf.linalg.experimental.conjugate_gradient with a LinearOperator, if it is symmetric.",
    "pytorch": "Solve with products instead of the matrix: conjugate gradients with torch.func.jvp"
    " or torch.func.vjp.",
}
_DERIVATIVES_AT_ONCE: Final[Remedies] = {
    "jax": "Take a few directions at a time: jax.lax.map(lambda v: jax.jvp(f, (x,), (v,))[1],"
    " jnp.eye(n), batch_size=k) instead of jax.jacfwd(f)(x), or the same with jax.vjp for"
    " jax.jacrev and with jax.grad(f) for f in jax.hessian. If only a sum is needed,"
    " such as a trace, add to it in the carry of jax.lax.scan. If the program differentiates this"
    " again, put jax.checkpoint around the body.",
    "tensorflow": "Take a few directions at a time in a tf.while_loop, or set"
    " experimental_use_pfor=False in tape.jacobian.",
    "pytorch": "Give torch.func.jacfwd a chunk_size.",
}

_SECOND_AT_ONCE: Final[Remedies] = {
    "jax": "Compute products with the Hessian: jax.jvp(jax.grad(f), (x,), (v,))[1] for H @ v;"
    " solvers such as jax.scipy.sparse.linalg.cg take it as a function. If all of it is needed,"
    " compute a few of its rows at a time: jax.lax.map(lambda v: jax.jvp(jax.grad(f), (x,),"
    " (v,))[1], jnp.eye(n), batch_size=k) instead of jax.hessian(f)(x). If the program"
    " differentiates this again, put jax.checkpoint around the function that is mapped.",
    "tensorflow": "Compute products with the Hessian: tf.autodiff.ForwardAccumulator around"
    " tape.gradient; or set experimental_use_pfor=False in tape.jacobian.",
    "pytorch": "Compute products with the Hessian: torch.func.jvp of torch.func.grad; or give"
    " torch.func.jacfwd of torch.func.grad a chunk_size.",
}


def stored_jacobians(program: PeakProgram) -> Iterator[Cause]:
    """Yield matrices of derivatives that are only multiplied with vectors, or only solve for them.

    Such a product needs no matrix: forward mode makes J @ v, backward mode J.T @ u. Nor does a
    solution of equations, which iterative solvers find with such products.
    """
    least = _LEAST_SHARE * sum(value.size_bytes for value in program.at_peak)
    factoring = {name for name in program.instructions if _does(program, name, _FACTORING)}
    square = _square_derivatives(program) if factoring else set[int]()
    seen: dict[bool, set[int]] = {False: set(), True: set()}
    found: dict[bool, list[tuple[StoredValue, str]]] = {False: [], True: []}
    for value in program.temporaries:
        if value.size_bytes < least:
            break
        if len(value.dimensions) < 2 or any(value.value_id in forms for forms in seen.values()):
            continue
        is_of_basis = _OF_BASIS.search(value.attributed_op_name or "") is not None
        if not is_of_basis and value.value_id not in square:
            continue
        forms, products = _forms_and_products(program, value)
        readers = {name for each in forms for name in program.readers_of.get(each, ())}
        is_solved = not readers.isdisjoint(factoring)
        if products and (is_of_basis or is_solved):
            seen[is_solved] |= forms
            how = "solves for vectors" if is_solved else "reads only products with vectors"
            reason = f"derivatives, of which {place_name(program, products[0])} {how}"
            found[is_solved].append((value, reason))
    by_id = program.program.by_id
    for is_solved, rows in found.items():
        if rows:
            sets = {by_id[each].buffer_set for each in seen[is_solved] if each in by_id}
            removed = with_their_makers(program.compilation, program.program, sets)
            yield of_removed(
                program.compilation,
                "peak/contributors",
                _SOLVED if is_solved else _MULTIPLIED,
                [program.values[each].label for each in sorted(removed)],
                (evidence_row(value, reason) for value, reason in rows),
                _SYSTEMS if is_solved else _JACOBIANS,
                likelihood=0.9,
            )


def derivatives_at_once(program: PeakProgram) -> Iterator[Cause]:
    """Yield what is computed for all columns or rows of a Jacobian at once, but not itself.

    The directions are the rows of an identity matrix, so each one can be taken in turn. It is made
    outside of the derivatives; inside, `K + jnp.eye(n)` belongs to the function itself.
    """
    least = _LEAST_AT_ONCE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    by_count: defaultdict[int, set[int]] = defaultdict(set)
    for count, around, derivatives in _all_derivatives(program):
        by_count[count] |= _read_inside(program, derivatives, around)
    named: set[StoredValue] = set()
    for count, value_ids in sorted(by_count.items(), reverse=True):
        sets = {program.set_of(program.values[each]) for each in value_ids}
        found = [each for each in program.temporaries if program.set_of(each) in sets]
        at_peak = [each for each in program.at_peak if program.set_of(each) in sets]
        if not found or sum(each.size_bytes for each in at_peak) < least:
            continue
        if named & set(at_peak[:1]):  # of a Hessian: each of its dimensions is one of directions
            continue
        named |= set(at_peak)
        second = [each for each in found if _OF_SECOND.search(each.attributed_op_name or "")]
        is_hessian = 2 * sum(each.size_bytes for each in second) > sum(
            each.size_bytes for each in found
        )
        what = "second derivatives" if is_hessian else "derivatives"
        reason = f"{what} in each of {count} directions, the rows of an identity matrix"
        yield of_all_at_once(
            f"The {what} in all directions of a {'Hessian' if is_hessian else 'Jacobian'}"
            " are computed at once",
            [(each, reason) for each in found],
            _SECOND_AT_ONCE if is_hessian else _DERIVATIVES_AT_ONCE,
            likelihood=0.9,
        )


def _square_derivatives(program: PeakProgram) -> set[int]:
    """Return the derivatives of as many results as there are directions, in each of these.

    The last op, such as a transposition, may be mapped only.
    """
    return {
        each
        for count, around, derivatives in _all_derivatives(program)
        for each in derivatives | _made_inside(program, derivatives, around)
        if math.prod(program.values[each].dimensions) == count * count
    }


def _all_derivatives(
    program: PeakProgram,
) -> Iterator[tuple[int, tuple[str, ...], set[int]]]:
    """Yield the numbers of directions, the transformations around them, and the derivatives."""
    op_names = {value.attributed_op_name for value in program.values.values()}
    if not any(name and _OF_DIRECTIONS.search(name) for name in op_names):
        return  # reading the whole module takes seconds
    for name, made in program.made_by.items():
        for count, around in _directions(program, name):
            if count >= PARTS:
                yield count, around, _derivatives(program, made, count, around)


def _directions(program: PeakProgram, instruction: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the rows of identity matrices that an instruction makes of numbers of rows.

    With them are the transformations around the op that makes one.
    """
    fusion = program.operations.get(instruction)
    if fusion is None or not program.computes_with(instruction, "iota"):
        return
    of_inputs: set[str] = set()
    for each in program.fused_operations(fusion):
        if each.opcode == "parameter" or any(read.name in of_inputs for read in each.operands):
            of_inputs.add(each.name)
        elif each.opcode == "compare" and each.numbers.get("direction") == [1]:
            lengths = each.lengths
            if len(lengths) == 2 and lengths[0] == lengths[1]:
                yield lengths[0], _transformations(each.op_name)


def _transformations(op_name: str | None) -> tuple[str, ...]:
    """Return the transformations around an op, the outermost first."""
    return tuple(_TRANSFORMATION.findall(op_name or ""))


def _derivatives(
    program: PeakProgram, basis: Iterable[StoredValue], count: int, around: tuple[str, ...]
) -> set[int]:
    """Return what is computed from a basis for each direction, to compute derivatives of it.

    What is repeated for each direction to compute it is included.
    """

    def is_of_each(value: StoredValue) -> bool:
        ends = value.dimensions[:1] + value.dimensions[-1:]
        op_name = value.attributed_op_name or ""
        transformations = _transformations(op_name)
        outer, inner = transformations[: len(around)], transformations[len(around) :]
        return (
            bool(inner)
            and outer == around
            and _OF_DIRECTIONS.search(op_name) is not None
            and (count in value.dimensions or any(each and each % count == 0 for each in ends))
        )

    waiting = list(basis)
    found = {each.value_id for each in waiting if is_of_each(each)}
    while waiting:
        value = waiting.pop()
        near = list(_made_of(program, value.value_id))
        if value.value_id in found:
            near += [program.values[each] for each in program.read_by.get(value.name, ())]
        new = [each for each in near if each.value_id not in found and is_of_each(each)]
        found |= {each.value_id for each in new}
        waiting += new
    return found


def _read_inside(
    program: PeakProgram, derivatives: Collection[int], around: tuple[str, ...]
) -> set[int]:
    """Return the derivatives that only derivatives are computed from."""
    return {
        each
        for each in derivatives
        if all(_is_inside(made, around) for made in _made_of(program, each))
    }


def _made_inside(
    program: PeakProgram, derivatives: Collection[int], around: tuple[str, ...]
) -> set[int]:
    """Return what is computed from derivatives, for derivatives."""
    return {
        made.value_id
        for each in derivatives
        for made in _made_of(program, each)
        if _is_inside(made, around)
    }


def _made_of(program: PeakProgram, value_id: int) -> Iterator[StoredValue]:
    for name in program.readers_of.get(value_id, ()):
        yield from program.made_by.get(name, ())


def _is_inside(value: StoredValue, around: tuple[str, ...]) -> bool:
    """Return True for derivatives; the last op, such as a transposition, may be mapped only."""
    op_name = value.attributed_op_name or ""
    inner = _transformations(op_name)[len(around) :]
    return inner[:1] == ("vmap(",) or _OF_DIRECTIONS.search(op_name) is not None


def _forms_and_products(program: PeakProgram, value: StoredValue) -> tuple[set[int], list[str]]:
    """Return a matrix with its copies, transposes and factors, and what reads it with vectors.

    No products if anything else reads one of them, or the same derivatives computed once more.
    """
    size = math.prod(value.dimensions)
    forms = {value.value_id, *_computed_alike(program, value)}
    waiting = list(forms)
    products: list[str] = []
    while waiting:
        each = waiting.pop()
        for name in program.readers_of.get(each, ()):
            if program.instructions[name].opcode in _HANDING_ON:
                continue
            made = program.made_by.get(name, [])
            if program.computes_with(name, "dot") or _does(program, name, _SOLVING):
                matrix = program.values[each]
                if not made or not all(_is_product(product, matrix) for product in made):
                    return forms, []
                products.append(name)
                continue
            new = {form.value_id for form in made if math.prod(form.dimensions) == size}
            if new and (len(new) == len(made) or _does(program, name, _FACTORING)):
                new -= forms
                forms |= new
                waiting += new
            else:
                return forms, []
    return forms, products


def _computed_alike(program: PeakProgram, value: StoredValue) -> Iterator[int]:
    """Yield values of its op that are computed from the same: a CPU computes it for each reader."""
    read = program.read_by.get(value.name)
    for name in {name for each in read or () for name in program.readers_of.get(each, ())}:
        if program.read_by[name] == read:
            yield from (
                each.value_id
                for each in program.made_by.get(name, ())
                if each.attributed_op_name == value.attributed_op_name
                and math.prod(each.dimensions) == math.prod(value.dimensions)
            )


def _does(program: PeakProgram, instruction: str, what: re.Pattern[str]) -> bool:
    maker = program.instructions[instruction]
    return what.search(maker.target or maker.opcode or "") is not None


def _is_product(product: StoredValue, matrix: StoredValue) -> bool:
    """Return True for a product of a matrix and a vector, outside of the derivatives themselves."""
    lengths = matrix.dimensions
    sides = {
        math.prod(side)
        for at in range(1, len(lengths))
        for side in (lengths[:at], lengths[at:])
        if math.prod(side) < math.prod(lengths)
    }
    op_name = product.attributed_op_name
    is_outside = op_name is not None and "vmap(" not in op_name
    return is_outside and math.prod(product.dimensions) in sides
