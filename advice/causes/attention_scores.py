"""Find scores of an attention that are stored for all queries at once."""

import math
from collections.abc import Iterator
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, of_all_at_once
from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.softmaxes import (
    LEAST_GROWTH,
    connected,
    elements_made,
    scores_like,
    softmax_of,
    softmax_of_kernel,
    softmax_with_product,
    sums_over,
)
from xlagraph.hlo.op_names import is_recomputed
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import stacks_of

_LEAST_KEYS: Final = 192
"""Fewest keys: of fewer, a loop over blocks of queries keeps about as much as it saves."""

_MULTIPLYING: Final = ("dot", "custom-call")
"""Opcodes of products in a module; a library's call may be one."""

_ATTENTION_SCORES: Final[Remedies] = {
    "jax": "Call a kernel that stores no scores: jax.nn.dot_product_attention(q, k, v,"
    " implementation='cudnn') on a GPU in bf16 or f16, splash_attention of"
    " jax.experimental.pallas.ops.tpu on a TPU; or attend with one block of queries after another:"
    " jax.lax.map(jax.checkpoint(attend), blocks), so that only the scores of one block exist. The"
    " backward pass computes them once more.",
    "tensorflow": "Attend with one block of queries after another in a tf.while_loop, with"
    " tf.recompute_grad around it.",
    "pytorch": "Call a kernel that stores no scores (flash_attention of"
    " torch_xla.experimental.custom_kernel); or attend with one block of queries after another,"
    " each inside of torch_xla.utils.checkpoint.checkpoint.",
}


def stored_scores(program: PeakProgram) -> Iterator[Cause]:
    """Yield scores: products of computed arrays that a softmax and then a product read.

    The second product sums over the dimension of the softmax, that of the keys. Values of the size
    of the scores that they depend on, or that depend on them, are counted too, with the stacks in
    which a loop over layers collects them, and the scores that a checkpoint recomputes.
    """
    reasons: dict[int, str] = {}
    known: dict[tuple[tuple[int, ...], str | None, int | None], str] = {}
    products = [value for value in _made_in_temporaries(program) if _is_product(program, value)]
    # a library may fuse the whole attention of the forward pass, and store what is recomputed
    for value in sorted(products, key=lambda each: each.is_backward):
        if value.value_id in reasons:
            continue
        if value.is_backward and _like(value) in known:
            recomputed = connected(program, value, max(value.dimensions))
            reasons |= dict.fromkeys(recomputed, known[_like(value)])
        else:
            reasons |= _of_softmax(program, value)
        if value.value_id in reasons:
            known.setdefault(_like(value), reasons[value.value_id])
    if reasons:
        yield _cause(program, reasons)


def _made_in_temporaries(program: PeakProgram) -> Iterator[StoredValue]:
    """Yield what the buffers of temporaries hold, such as a product added to a bias."""
    for value in program.temporaries:
        for member in program.members_of(value):
            if member.value_id in program.values:
                yield program.values[member.value_id]


def _of_softmax(program: PeakProgram, value: StoredValue) -> dict[int, str]:
    """Return the scores of an attention that are made with this product, with what reduces them."""
    for keys in sorted({*value.dimensions} - {1}):  # a longer one may fit partial results
        scores = scores_like(program, value, keys)
        reduction = softmax_of(program, scores) or softmax_of_kernel(program, value, keys)
        if keys < _LEAST_KEYS:
            if reduction is not None:
                return {}
            continue
        reduction = reduction or softmax_with_product(program, scores)
        if reduction is None or not sums_over(program, scores):
            continue
        line = place_name(program, reduction)
        reason = f"scores of {keys} keys for each query, which {line} reduces"
        return dict.fromkeys(scores.value_ids, reason)
    return {}


def _is_product(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a product that is far larger than what it multiplies.

    In a loop it must have all keys for each position: a loop may compute the others in blocks.
    """
    maker = program.instructions.get(value.name)
    if maker is None or not maker.may_multiply:
        return False
    if value.is_backward and not is_recomputed(value.attributed_op_name):
        return False
    lengths = [each for each in value.dimensions if each >= _LEAST_KEYS]
    if not lengths or (maker.loop is not None and len(lengths) == len(set(lengths))):
        return False
    size = math.prod(value.dimensions)
    smaller = {
        program.values[each]
        for each in program.read_by.get(value.name, ())
        if math.prod(program.values[each].dimensions) != size
    }
    largest = max((math.prod(each.dimensions) for each in smaller), default=size)
    if size < LEAST_GROWTH * largest or any(_is_table(program, each) for each in smaller):
        return False
    return smaller.issuperset(factors_of(program, value))  # reading the whole module takes seconds


def factors_of(program: PeakProgram, value: StoredValue) -> list[StoredValue]:
    """Return what a product multiplies, and what is fused with it, but no masks.

    An array with as many elements as the result is a mask, unless a factor of the product is as
    large, or what a library solves for. The first two operands of a library's call are no mask.
    """
    size = math.prod(value.dimensions)
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    operation = program.operations.get(value.name)
    inside = () if operation is None else program.fused_operations(operation) or (operation,)
    is_large = any(
        elements_made(program, operand.name) == size
        for each in inside
        if each.opcode in _MULTIPLYING
        for operand in each.operands[:2]
    )
    return [each for each in read if is_large or math.prod(each.dimensions) != size]


def _is_table(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for an input of two dimensions: its product is a projection, or logits."""
    return len(value.dimensions) == 2 and input_of(program, value, gathered=True) is not None


def _like(value: StoredValue) -> tuple[tuple[int, ...], str | None, int | None]:
    """Return what the scores of a layer have in common with those that are recomputed for it."""
    return value.dimensions, value.user_file, value.user_line


def _cause(program: PeakProgram, reasons: dict[int, str]) -> Cause:
    stacks = stacks_of(program.compilation, program.program, reasons)
    reason = next(iter(reasons.values()))
    by_set = {program.set_of(program.values[each]): reason for each in stacks}
    by_set |= {program.set_of(program.values[each]): text for each, text in reasons.items()}
    found = [
        (value, by_set[program.set_of(value)])
        for value in program.temporaries
        if program.set_of(value) in by_set
    ]
    return of_all_at_once(
        "Attention scores are stored for all queries at once", found, _ATTENTION_SCORES
    )
