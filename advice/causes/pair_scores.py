"""Find scores of all pairs of rows that are stored, although only reductions of them are read.

A contrastive loss multiplies two batches of computed rows, and reduces each row of the product.
"""

from collections.abc import Collection, Iterator
from math import prod
from typing import Final

from xlagraph.advice.causes.attention_scores import factors_of
from xlagraph.advice.causes.cause import Cause, Remedies, of_all_at_once
from xlagraph.advice.causes.copied_inputs import input_of, multiplies_inputs
from xlagraph.advice.causes.loop_readers import takes_parts
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.needed_only import readers_of_set
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.random_bits import makes_random_bits
from xlagraph.advice.causes.softmax_logits import PARTS_OF_LOSS, logits
from xlagraph.advice.causes.softmaxes import connected
from xlagraph.advice.causes.unread_rows import MOST_READ, share_read
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_LEAST_SHARE: Final = 0.02
"""Smallest share of the reserved bytes for which scores are searched."""
_MULTIPLYING: Final = SAME_ELEMENTS | {"dot"}
_LEAST_GROWTH: Final = 4
"""Least elements of the scores for each element of the rows, and of their sums."""

_PAIR_SCORES: Final[Remedies] = {
    "jax": "Compute the scores of a part of the rows at a time, and sum them immediately:"
    " jax.lax.map(jax.checkpoint(lambda rows: loss of rows @ b.T), blocks of a); a loss over the"
    " columns too is another such loop, over blocks of b.",
    "tensorflow": "Compute the scores of a part of the rows at a time in a tf.while_loop, with"
    " tf.recompute_grad around it.",
    "pytorch": f"Compute the scores and the loss of a part of the rows at a time, {PARTS_OF_LOSS}",
}


def pair_scores(program: PeakProgram) -> Iterator[Cause]:
    """Yield products of two arrays that the forward pass only reduces.

    Values of the same size that are made with the product, from it, or for the same sums are
    counted too. Scores of an attention are multiplied again, and logits are products with a table.
    """
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    seen: set[int] = set()
    found: dict[int | None, str] = {}
    for value in program.temporaries:
        if value.size_bytes < least:
            break
        if value.value_id in seen or not _is_product_of_rows(program, value):
            continue
        if share_read(program, value, readers_of_set(program, value)) <= MOST_READ:
            continue
        scores = connected(program, value, max(value.dimensions))
        seen |= scores
        reduction = _reduction(program, value, scores)
        if reduction is not None and (
            _are_computed(program, value)
            or (  # a convolution has filters
                program.computes_with(value.name, "dot")
                and multiplies_inputs(program, value.name, scores)
            )
            or _multiplies_itself(program, value.name)
            or _is_of_numbers(program, reduction, scores)
        ):
            line = place_name(program, reduction)
            *rows, columns = value.dimensions
            text = f"of {prod(rows)} × {columns} pairs of rows, which {line} only reduces"
            found |= {program.set_of(program.values[each]): text for each in scores}
    of_table = {row["value"] for cause in logits(program) for row in cause.rows} if found else ()
    values = [
        (value, found[program.set_of(value)])
        for value in program.temporaries
        if program.set_of(value) in found and value.label not in of_table
    ]
    if values:
        yield of_all_at_once(
            "Scores of all pairs of rows are stored, although only reductions of them are read",
            values,
            _PAIR_SCORES,
        )


def _is_product_of_rows(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a product that is far larger than its factors, in no loop."""
    maker = program.instructions.get(value.name)
    if maker is None or maker.loop is not None or value.is_backward:
        return False
    if not maker.may_multiply:
        return False
    size = prod(value.dimensions)
    # vectors are added to the rows or columns
    factors = [each for each in factors_of(program, value) if len(each.dimensions) > 1]
    return bool(factors) and all(size >= _LEAST_GROWTH * prod(each.dimensions) for each in factors)


def _are_computed(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if no factor of a product is an input, such as a table."""
    read = (program.values[each] for each in program.read_by.get(value.name, ()))
    return all(input_of(program, each, gathered=True) is None for each in read if each.dimensions)


def _multiplies_itself(program: PeakProgram, product: str) -> bool:
    """Return True for distances within one set of rows, all of which a gradient may train."""
    operation = program.operations.get(product)
    inside = () if operation is None else program.fused_operations(operation) or (operation,)
    by_name = {each.name: each for each in inside}

    def source(name: str) -> str:
        known = by_name.get(name)
        moves = known is not None and known.opcode in SAME_ELEMENTS and known.operands
        return source(known.operands[0].name) if known and moves else name

    return any(
        len({source(operand.name) for operand in each.operands}) == 1
        for each in inside
        if each.opcode == "dot"
    )


def _is_of_numbers(program: PeakProgram, reduction: str, scores: Collection[int]) -> bool:
    """Return True if only the number of the best row is read, of which there is no gradient."""
    made = program.made_by.get(reduction, ())
    return any(each.is_integer for each in made) and not any(
        program.values[each].is_backward for each in scores
    )


def _reduction(program: PeakProgram, value: StoredValue, scores: Collection[int]) -> str | None:
    """Return the first instruction that sums scores; None if anything reads them otherwise.

    What is drawn for each pair is no score: the samples take the memory, not the product.
    """
    if any(
        each in program.program.by_id and program.program.by_id[each].lives_out for each in scores
    ):
        return None
    size = prod(value.dimensions)
    makers = {program.values[each].name for each in scores}
    if any(makes_random_bits(program, name) for name in makers):
        return None
    readers = {name for each in scores for name in program.readers_of.get(each, ())}
    reducing = []
    for name in readers:
        if program.is_backward(name):
            continue
        reader = program.instructions[name]
        if reader.opcode == "sort":
            return None
        if takes_parts(program, value, name):  # in a loop that could compute them
            return None
        multiplies = reader.may_multiply
        if name in makers:  # a kernel may combine other scores with these
            if multiplies and reader.computes_only(_MULTIPLYING):
                return None
            continue
        if multiplies:
            return None
        made = [prod(each.dimensions) for each in program.made_by.get(name, ())]
        if any(_LEAST_GROWTH * each > size for each in made):
            return None
        if program.computes_with(name, "reduce"):
            reducing.append(name)
    return min(reducing, key=lambda name: (program.rows.get(name, 0), name), default=None)
