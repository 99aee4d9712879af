"""Find Jacobians and Hessians that are stored as matrices, of which only products are read."""

import math
import re
from collections.abc import Iterator
from typing import Final

from xlagraph.advice.causes import remedies
from xlagraph.advice.causes.cause import Cause, evidence_row, file_and_line
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.resizing import Remove
from xlagraph.planner.edits.returning import with_their_makers
from xlagraph.queries.catalogue.declarations import ChangeKind

__all__ = ["stored_jacobians"]

_OF_BASIS: Final = re.compile(r"(?:^|/)vmap\((?:jvp\(vmap\()?transpose\(jvp\(")
"""Op names of the backward passes of all results at once; no outer gradient needs them."""
_HANDING_ON: Final = frozenset(
    ("tuple", "get-tuple-element", "bitcast", "while", "conditional", "call")
)
_LEAST_SHARE: Final = 0.01
"""Smallest share of the temporary bytes for which products are searched."""


def stored_jacobians(program: PeakProgram) -> Iterator[Cause]:
    """Yield matrices of derivatives that are only multiplied with vectors.

    Such a product needs no matrix: forward mode makes J @ v, backward mode J.T @ u.
    """
    least = _LEAST_SHARE * sum(value.size_bytes for value in program.at_peak)
    seen: set[int] = set()
    found: list[tuple[StoredValue, str]] = []
    for value in program.temporaries:
        if value.size_bytes < least:
            break
        if len(value.dimensions) < 2 or value.value_id in seen:
            continue
        if _OF_BASIS.search(value.attributed_op_name or "") is None:
            continue
        forms, products = _forms_and_products(program, value)
        if products:
            seen |= forms
            line = file_and_line(*program.place_of(products[0])) or products[0]
            found.append((value, f"derivatives, of which {line} reads only products with vectors"))
    if found:
        by_id = program.program.by_id
        sets = {by_id[each].buffer_set for each in seen if each in by_id}
        removed = with_their_makers(program.compilation, program.program, sets)
        yield Cause(
            "peak/contributors",
            "A Jacobian is stored as a matrix, although only its products are read",
            ChangeKind.WITHOUT,
            Remove.of(
                program.compilation, [program.values[each].label for each in sorted(removed)]
            ),
            tuple(evidence_row(value, reason) for value, reason in found),
            remedies.JACOBIANS,
            likelihood=0.9,
        )


def _forms_and_products(program: PeakProgram, value: StoredValue) -> tuple[set[int], list[str]]:
    """Return a matrix with its copies and transposes, and what multiplies them with vectors.

    No products if anything else reads one of them.
    """
    size = math.prod(value.dimensions)
    forms, waiting = {value.value_id}, [value.value_id]
    products: list[str] = []
    while waiting:
        each = waiting.pop()
        for name in program.readers_of.get(each, ()):
            if program.instructions[name].opcode in _HANDING_ON:
                continue
            made = program.made_by.get(name, [])
            if program.computes_with(name, "dot"):
                matrix = program.values[each]
                if not made or not all(_is_product(product, matrix) for product in made):
                    return forms, []
                products.append(name)
            elif made and all(math.prod(form.dimensions) == size for form in made):
                new = {form.value_id for form in made} - forms
                forms |= new
                waiting += new
            else:
                return forms, []
    return forms, products


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
