"""Find the compilation of a graph that is the same program with another batch."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Final, cast

from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.dimensions.following import FollowedDimensions, follow
from xlagraph.planner.edits.batch import (
    ScaleBatch,
    batch_ratio,
    compared_dimensions,
    named_dimensions,
    scaled_batch,
)
from xlagraph.planner.edits.changes import Changes, parse_factor
from xlagraph.planner.edits.chosen_again import reordering_of_choice
from xlagraph.queries.errors import BadParameter
from xlagraph.queries.runner.compilations import find_compilation

_PARAMETERS: Final = load_statement(__file__, "parameters-of-same-module")


def find_batch(
    graph: Graph, compilation: PlannableCompilation, changes: Changes
) -> ScaleBatch | None:
    """Return which values carry the batch and what they keep; None if the batch is unchanged.

    Raises BadParameter if nothing shows which dimension is the batch, and if the module is not
    stored; the message says what to name or do.
    """
    if changes.batch is None:
        return None
    kept = parse_factor(changes.batch)
    if changes.batch_of:
        named = named_dimensions(compilation, changes.batch_of)
        found = scaled_batch(compilation, kept, named, _followed(graph, compilation))
        names = (word for name in changes.batch_of for word in ("--batch-of", name))
        return _in_order(graph, compilation, replace(found, named_by=tuple(names)))
    if changes.batch_like is not None:
        key = find_compilation(graph, changes.batch_like).key
    else:
        key = _of_same_module(graph, compilation, kept)
    other = plannable_compilation(StoredCompilation(graph, key))
    compared = compared_dimensions(compilation, other)
    if compared is None:
        raise BadParameter(
            f"the parameter shapes of {key} and {compilation.key} do not differ by a single ratio;"
            f" {_advice(compilation)}"
        )
    dimensions, ratio = compared
    followed = _followed(graph, compilation)
    scaled = scaled_batch(compilation, kept, dimensions, followed, (key, ratio))
    return _in_order(graph, compilation, scaled)


def _in_order(graph: Graph, compilation: PlannableCompilation, found: ScaleBatch) -> ScaleBatch:
    """Return the edit with the orders of which XLA chooses one again."""
    stored = StoredCompilation(graph, compilation.key)
    return replace(found, reordering=reordering_of_choice(stored, compilation))


def _followed(graph: Graph, compilation: PlannableCompilation) -> FollowedDimensions:
    operations = StoredCompilation(graph, compilation.key).operations
    if operations is None:
        raise BadParameter(
            f"{compilation.key}: the module is not stored, so the batch cannot be followed through"
            " it; ingest the dump again, with the `.txt` file of the module next to it"
        )
    return follow(operations)


def _of_same_module(graph: Graph, compilation: PlannableCompilation, kept: Fraction) -> str:
    """Return the key of a compilation of the same module with another batch."""
    shapes: defaultdict[str, dict[tuple[int, str], str]] = defaultdict(dict)
    for row in graph.query(_PARAMETERS, {"compilation": compilation.key}).rows:
        key, number, index, shape = cast("tuple[str, int, str, str]", row)
        shapes[key][number, index] = shape
    own = shapes.pop(compilation.key, {})
    ratios = {key: ratio for key, each in shapes.items() if (ratio := batch_ratio(own, each))}
    if not ratios:
        raise BadParameter(
            f"no other compilation of the module of {compilation.key} has another batch to compare"
            f" with; {_advice(compilation)}"
        )
    # a larger model has other weights, a larger batch a few other inputs
    changed = {key: sum(each != shapes[key][at] for at, each in own.items()) for key in ratios}
    return min(ratios, key=lambda key: (changed[key], ratios[key] != kept, key))


def _advice(compilation: PlannableCompilation) -> str:
    arrays = [each for each in compilation.array_parameters if each.dimensions]
    last = arrays[-1] if arrays else None
    example = f", for example {last.label} ({last.full_shape})" if last is not None else ""
    return (
        "name the parameters whose first dimension is the batch (--batch-of), or a compilation"
        f" of another batch (--batch-like){example}"
    )
