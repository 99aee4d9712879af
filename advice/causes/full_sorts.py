"""Find sorts of whole rows of which only the first or last few elements are read."""

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, of_removed
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.op_names import primitive
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_LEAST_RATIO: Final = 8
"""Least elements of a sorted array for each one that is read."""
_SELECTING: Final = ("top_k", "approx_top_k")
"""Ops that select elements, for which a compiler may sort."""
_NUMBERING: Final = frozenset(("iota", "broadcast", "constant", "bitcast", "copy"))
"""Opcodes of instructions that number the elements, so that a sort returns their indices."""

_FULL_SORTS: Final[Remedies] = {
    "jax": "Select instead of sorting: jax.lax.top_k(x, k) for jnp.sort(x)[..., ::-1][..., :k] and"
    " jnp.argsort(-x)[..., :k], of -x for the smallest; x.argmax(-1) for one element.",
    "tensorflow": "Select instead of sorting: tf.math.top_k.",
    "pytorch": "Select instead of sorting: torch.topk.",
}
_SORTED_SELECTIONS: Final[Remedies] = {
    "jax": "The compiler sorts to select. Select from one block of rows after another:"
    " jax.lax.map(select, x, batch_size=...).",
    "tensorflow": "The compiler sorts to select. Select from one block of rows after another:"
    " tf.map_fn.",
    "pytorch": "The compiler sorts to select. Select from one block of rows after another, with"
    " torch_xla.sync() after each.",
}
_APPROXIMATE: Final[Remedies] = {
    **_SORTED_SELECTIONS,
    "jax": f"{_SORTED_SELECTIONS['jax']} Or, if it may miss some: jax.lax.approx_max_k(x, k), or"
    " approx_min_k, with a recall_target below 1, for which a TPU does not sort.",
}


def full_sorts(program: PeakProgram) -> Iterator[Cause]:
    """Yield sorts of which all that is read is a short slice, as a selection would make it.

    The elements to sort are needed anyway, but not the sorted or negated ones, nor a number for
    each.
    """
    found: dict[bool, list[tuple[StoredValue, str]]] = {}
    removed: dict[bool, list[str]] = {}
    for name, made in program.made_by.items():
        if not program.computes_with(name, "sort"):  # a GPU fuses it
            continue
        results = [each for each in made if program.planned(each) and each.dimensions]
        read = _reads_of_ends(program, results)
        if read is None:
            continue
        slices, copies = read
        line = place_name(program, slices[0].name)
        reason = (
            f"{line} reads {prod(slices[0].dimensions)} of {prod(results[0].dimensions)} elements"
        )
        given = [program.values[each] for each in program.read_by.get(name, ())]
        only_sorted = [
            each
            for each in given
            if program.instructions[each.name].computes_only(_NUMBERING)
            or _is_negated(program, each)
        ]
        is_selection = primitive(program.instructions[name].op_name) in _SELECTING
        found.setdefault(is_selection, []).extend((each, reason) for each in results)
        labels = (each.label for each in (*results, *copies, *only_sorted))
        removed.setdefault(is_selection, []).extend(labels)
    of_selection = _APPROXIMATE if program.compilation.is_tpu else _SORTED_SELECTIONS
    for is_selection, values in found.items():
        yield of_removed(
            program.compilation,
            "peak/contributors",
            "Whole rows are sorted, although only the first elements are read",
            removed[is_selection],
            (evidence_row(value, reason) for value, reason in values),
            of_selection if is_selection else _FULL_SORTS,
            likelihood=0.9,
        )


def _is_negated(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for what only a sort reads, and has the elements of another value negated."""
    maker = program.instructions[value.name]
    if not maker.computes_with("negate") or len(program.readers_of[value.value_id]) > 1:
        return False
    others = program.made_by[value.name]  # a TPU negates in the product, which has two results
    if maker.computes_only(SAME_ELEMENTS | {"negate"}):
        others = [program.values[each] for each in program.read_by.get(value.name, ())]
    return any(
        each.value_id != value.value_id and each.dimensions == value.dimensions for each in others
    )


def _reads_of_ends(
    program: PeakProgram, results: Sequence[StoredValue]
) -> tuple[list[StoredValue], list[StoredValue]] | None:
    """Return the short slices of results, and copies of them; None if anything else is read."""
    slices: list[StoredValue] = []
    copies: list[StoredValue] = []
    waiting = list(results)
    while waiting:
        value = waiting.pop(0)
        if program.program.by_id[value.value_id].lives_out:
            return None
        for name in program.readers_of.get(value.value_id, ()):
            if program.moves(name) and not program.computes_with(name, "slice"):
                continue  # a TPU fetches the slice
            made = program.made_by.get(name, ())
            if made and program.instructions[name].computes_only(SAME_ELEMENTS):
                copies += made
                waiting += made
            elif made and _takes_an_end(program, name, value, made):
                slices += (each for each in made if each.dimensions)
            elif made:
                return None
    return (slices, copies) if slices else None


def _takes_an_end(
    program: PeakProgram, reader: str, value: StoredValue, made: Iterable[StoredValue]
) -> bool:
    """Return True for short slices of the first or last elements; a median is in between."""
    if not program.instructions[reader].computes_with("slice"):
        return False
    if any(_LEAST_RATIO * prod(each.dimensions) > prod(value.dimensions) for each in made):
        return False
    operation = program.operations.get(reader)
    if operation is None:
        return False
    taken = [
        each.numbers.get("slice", ())
        for each in program.fused_operations(operation) or (operation,)
        if each.opcode == "slice"
    ]
    return bool(taken) and all(
        stride == 1 and (start == 0 or limit in value.dimensions)
        for bounds in taken
        for start, limit, stride in zip(bounds[::3], bounds[1::3], bounds[2::3], strict=True)
    )
