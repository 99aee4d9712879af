"""Find the compilation of a graph that is the same program with another batch."""

from collections import defaultdict
from fractions import Fraction
from typing import Final, cast

from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.batch import (
    Batch,
    batch,
    batch_ratio,
    compared_dimensions,
    named_dimensions,
)
from xlagraph.planner.edits.changes import Changes, parse_factor
from xlagraph.planner.edits.donors import parameters
from xlagraph.planner.edits.stacked_values import dimensions
from xlagraph.queries.errors import BadParameter
from xlagraph.queries.runner.compilations import find_compilation

__all__ = ["find_batch"]

_PARAMETERS: Final = load_statement(__file__, "parameters-of-same-module")


def find_batch(graph: Graph, stored: PlannableCompilation, changes: Changes) -> Batch | None:
    """Return which values carry the batch and what they keep; None if the batch is unchanged.

    Raises BadParameter if nothing shows which dimension is the batch; the message says what to
    name.
    """
    if changes.batch is None:
        return None
    kept = parse_factor(changes.batch)
    if changes.batch_of:
        return batch(stored, kept, named_dimensions(stored, changes.batch_of))
    if changes.batch_like is not None:
        key = find_compilation(graph, changes.batch_like).key
    else:
        key = _of_same_module(graph, stored, kept)
    other = plannable_compilation(StoredCompilation(graph, key))
    found = compared_dimensions(stored, other)
    if found is None:
        raise BadParameter(
            f"the parameter shapes of {key} and {stored.key} do not differ by a single ratio;"
            f" {_advice(stored)}"
        )
    compared, ratio = found
    return batch(stored, kept, compared, (other, ratio))


def _of_same_module(graph: Graph, stored: PlannableCompilation, kept: Fraction) -> str:
    """Return the key of a compilation of the same module with another batch."""
    shapes: defaultdict[str, dict[tuple[int, str], str]] = defaultdict(dict)
    for row in graph.query(_PARAMETERS, {"compilation": stored.key}).rows:
        key, number, index, shape = cast("tuple[str, int, str, str]", row)
        shapes[key][number, index] = shape
    own = shapes.pop(stored.key, {})
    ratios = {key: ratio for key, each in shapes.items() if (ratio := batch_ratio(own, each))}
    if not ratios:
        raise BadParameter(
            f"no other compilation of the module of {stored.key} has another batch to compare with;"
            f" {_advice(stored)}"
        )
    return min(ratios, key=lambda key: (ratios[key] != kept, key))


def _advice(stored: PlannableCompilation) -> str:
    arrays = [facts for facts in parameters(stored) if dimensions(facts.shape)]
    last = arrays[-1] if arrays else None
    example = f", for example {last.label} ({last.shape})" if last is not None else ""
    return (
        "name the parameters whose first dimension is the batch (--batch-of), or a compilation"
        f" of another batch (--batch-like){example}"
    )
