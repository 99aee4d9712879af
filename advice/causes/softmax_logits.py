"""Find logits of a large vocabulary that are computed for all tokens at once."""

import math
from collections import defaultdict
from collections.abc import Collection, Container, Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, Remedies, of_all_at_once
from xlagraph.advice.causes.copied_inputs import GATHERING, input_of, multiplies_inputs
from xlagraph.advice.causes.names import input_name, knows_passes, place_name
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.softmaxes import (
    Scores,
    loops_of_sums,
    normalizes_columns,
    parts_of_rows,
    scores_like,
    softmax_of,
    softmax_of_kernel,
    sums_over,
)
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import stacks_of

_LEAST_VOCABULARY: Final = 256
_COMPUTED_VOCABULARY: Final = 4096
"""Least words of a table that is no input: shorter ones may be the keys of an attention."""
_LEAST_TOKENS: Final = 64
"""Fewest tokens to compute in parts: a step of decoding has one of each sequence."""
_LEAST_IN_LOOP: Final = Fraction(1, 4)
"""Least share of the reserved bytes of logits in a loop."""

PARTS_OF_LOSS: Final = (
    "with backward() and torch_xla.sync() after each part: compute them from"
    " x = hidden.detach().requires_grad_(), and then call hidden.backward(x.grad). Checkpoint the"
    " layers before, because the first graph returns what they keep, and views of it as copies."
    " Parts of one graph, also with checkpoints, may all be computed before the first is read."
)
"""Remedy for PyTorch by which the values of one part of a loss are freed before the next part."""

_LOGITS: Final[Remedies] = {
    "jax": "Compute the loss, or what is sampled, in parts: reshape the tokens to"
    " (parts, tokens, d) and use jax.lax.map(jax.checkpoint(part), parts), so that only the logits"
    " of one part exist at a time, in the backward pass too; skip the logits of tokens that do not"
    " count.",
    "tensorflow": "Compute the loss in parts of the tokens in a tf.while_loop, with"
    " tf.recompute_grad around the loss of a part, which gets the table as a tensor"
    " (tf.convert_to_tensor before the loop); or use tf.nn.sampled_softmax_loss.",
    "pytorch": "Call the head only on tokens that count; or compute the loss in parts of the"
    f" tokens, {PARTS_OF_LOSS}",
}


_STACKED_LOGITS: Final[Remedies] = {
    "jax": "Return from the body of jax.lax.scan what the product is computed of instead of the"
    " product, and compute the product and what reads it after the loop in parts: jax.lax.map("
    "jax.checkpoint(loss_of_part), parts), so that only the logits of one part exist at a time.",
    "tensorflow": "Return from the tf.while_loop what the product is computed of instead of the"
    " product, and compute the product and what reads it in parts of the tokens in another one,"
    " with tf.recompute_grad around it.",
    "pytorch": "Return from the loop what the product is computed of instead of the product, and"
    f" compute the product and what reads it in parts of the tokens, {PARTS_OF_LOSS}",
}
"""Remedies for logits that a loop stacks: computing only their readers in parts keeps the stack."""

_WEIGHTS: Final[Remedies] = {
    "jax": "Compute them in parts: reshape the rows to (parts, rows, d) and use"
    " jax.lax.map(jax.checkpoint(mixture_of_part), parts), so that only the weights of one part"
    " exist at a time, in the backward pass too; or weigh only the nearest rows of the table"
    " (jax.lax.top_k).",
    "tensorflow": "Compute them in parts in a tf.while_loop, with tf.recompute_grad around a part,"
    " which gets the table as a tensor (tf.convert_to_tensor before the loop).",
    "pytorch": f"Compute the loss in parts of the rows, {PARTS_OF_LOSS}",
}


class _Kind(NamedTuple):
    """What the logits that one finding names have in common."""

    is_in_loop: bool
    is_mixture: bool
    """True if a product sums over the rows of the table, which are no words then."""
    is_stacked: bool

    @property
    def title(self) -> str:
        share = "many" if self.is_in_loop else "all"
        if self.is_mixture:
            return f"Weights of all rows of a table are computed for {share} inputs at once"
        return f"Logits of a large vocabulary are computed for {share} tokens at once"

    @property
    def remedies(self) -> Remedies:
        if self.is_mixture:
            return _WEIGHTS
        return _STACKED_LOGITS if self.is_stacked else _LOGITS


def logits(program: PeakProgram) -> Iterator[Cause]:
    """Yield the values of a softmax over the words of a table.

    A product with a table has a dimension of its words, and the exponential of it is reduced over
    this dimension. Values of the same size that the product depends on, or that depend on it, count
    as logits too. In a loop they must be a large share of the reserved bytes: an iteration may
    compute only some tokens. If a product of the forward pass then sums over the dimension, the
    rows of the table are no words to choose from: they weigh something, as the codes of a soft
    codebook or the keys of an attention do.
    """
    tables = {
        lengths
        for value in (*program.compilation.array_parameters, *_gathered(program))
        if len(lengths := _lengths(value)) == 2
        and max(lengths) >= _LEAST_VOCABULARY
        and max(lengths) >= 4 * min(lengths)
    }
    seen: set[int] = set()
    found: defaultdict[_Kind, list[tuple[StoredValue, str]]] = defaultdict(list)
    least = _LEAST_IN_LOOP * program.compilation.reserved_bytes.get(program.memory_space, 0)
    for value in (*program.temporaries, *program.elsewhere):  # a TPU may make them in VMEM
        loop = program.instructions[value.name].loop
        if value.value_id in seen:
            continue
        products = (
            (table[1], name)
            for table in sorted(tables)
            if table[1] in value.dimensions
            and (name := _table_of_product(program, value, table)) is not None
        )
        words, table = next(products, (0, ""))
        if not words:
            continue
        whole, words = _joined_with_others(program, value, words)
        scores, reduction = _softmax(program, whole, words)
        is_stacked = False
        for stack in _stacks(program, scores) if reduction is None else ():
            is_stacked = True
            scores, reduction = _softmax(program, stack, words)
            loop = program.instructions[stack.name].loop
        seen |= scores.value_ids
        # an iteration that sums exponentials again, such as Sinkhorn's, is no softmax
        if reduction is None or loops_of_sums(program, scores) != {loop}:
            continue
        if loop is not None and _is_equal_in_all_iterations(program, value, loop):
            continue
        if normalizes_columns(program, scores):
            continue
        if scores.rows < _LEAST_TOKENS or multiplies_inputs(program, value.name, scores.value_ids):
            continue
        is_mixture = sums_over(program, scores) and (
            knows_passes(program) or not _is_differentiated(program, scores.value_ids, tables)
        )
        line = place_name(program, reduction)
        reason = f"{scores.rows} × {words} products with {table}, which {line} reduces"
        alike = scores.value_ids | {value.value_id} | _reduced_for(program, scores)
        sets = {program.set_of(program.values[each]) for each in alike}
        found[_Kind(loop is not None, is_mixture, is_stacked)] += [
            (each, reason) for each in program.temporaries if program.set_of(each) in sets
        ]
    for kind, values in found.items():
        # those of a TPU may all be in VMEM
        if not values or (kind.is_in_loop and sum(value.size_bytes for value, _ in values) < least):
            continue
        yield of_all_at_once(kind.title, values, kind.remedies)


def _lengths(value: StoredValue) -> tuple[int, ...]:
    """Return the lengths of a value, sorted, without the device that jax.pmap adds."""
    return tuple(sorted(value.squeezed))


def _is_equal_in_all_iterations(program: PeakProgram, value: StoredValue, loop: str) -> bool:
    """Return True if what makes a value in a loop reads nothing that the loop computes."""
    read = (program.values[each].name for each in program.read_by.get(value.name, ()))
    makers = (program.instructions.get(each) for each in read)
    return all(maker is None or maker.loop != loop for maker in makers)


def _softmax(program: PeakProgram, product: StoredValue, words: int) -> tuple[Scores, str | None]:
    """Return the values of a softmax of a product, or of a slice of its rows, and what reduces."""
    alike = scores_like(program, product, words)
    reduction = softmax_of(program, alike) or softmax_of_kernel(program, product, words)
    if reduction is not None:
        return alike, reduction
    for scores in parts_of_rows(program, alike):
        if (reduction := softmax_of(program, scores)) is not None:
            return scores, reduction
    return alike, None


def _reduced_for(program: PeakProgram, scores: Scores) -> set[int]:
    """Return other values of their size of which sums of rows are read to make the scores.

    The gradient of a logarithm of a softmax subtracts the sum of the gradients of all words.
    """
    found: set[int] = set()

    def needed_for(value_id: int) -> Iterator[int]:
        for each in program.read_by.get(program.values[value_id].name, ()):
            elements = math.prod(program.values[each].dimensions)
            if elements == scores.rows:
                yield each
            elif elements == scores.elements and scores.length in program.values[each].dimensions:
                found.add(each)

    for _ in reached(scores.value_ids, needed_for):
        pass
    return found - scores.value_ids


def _stacks(program: PeakProgram, scores: Scores) -> Iterator[StoredValue]:
    """Yield what loops stack of these values, as a decoder does of the logits of each step."""
    stacks = stacks_of(program.compilation, program.program, scores.value_ids)
    for writer in sorted(stacks):
        for member in program.members_of(program.values[writer]):
            if (value := program.values[member.value_id]).opcode == "while":
                yield value


def _is_differentiated(
    program: PeakProgram, logits: Collection[int], tables: Container[tuple[int, ...]]
) -> bool:
    """Return True if a product of these values is as large as a table, as its gradient is."""
    return any(
        _lengths(made) in tables
        for each in logits
        for name in program.readers_of.get(each, ())
        if name in program.products
        for made in program.made_by.get(name, ())
    )


def _gathered(program: PeakProgram) -> Iterator[StoredValue]:
    """Yield the values of which every device had a part."""
    for name, known in program.instructions.items():
        if any(map(known.computes_with, GATHERING)):
            yield from program.made_by.get(name, ())


def _joined_with_others(
    program: PeakProgram, value: StoredValue, words: int
) -> tuple[StoredValue, int]:
    """Return the array of these and a few other products, and its words; else the value itself.

    A contrastive loss puts the score of the right pair before those with a queue of rows.
    """
    axis = value.dimensions.index(words)
    for name in program.readers_of.get(value.value_id, ()):
        if not program.computes_with(name, "concatenate"):
            continue
        for made in program.made_by.get(name, ()):
            lengths = list(made.dimensions)
            if len(lengths) == len(value.dimensions) and words < lengths[axis] < 2 * words:
                longer, lengths[axis] = lengths[axis], words
                if tuple(lengths) == value.dimensions:
                    return made, longer
    return value, words


def _table_of_product(
    program: PeakProgram, value: StoredValue, table: tuple[int, ...]
) -> str | None:
    """Return the name of the table in a product of the forward pass, unless it has its shape."""
    maker = program.instructions.get(value.name)
    if value.is_backward or maker is None:
        return None
    if not maker.may_multiply:
        return None
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    tables = [each for each in read if _lengths(each) == table and not each.is_backward]
    if _lengths(value) == table or not tables:
        return None
    for each in tables:  # the other factor has its shape, if there are as many tokens as words
        if (given := input_of(program, each, gathered=True)) is not None:
            return input_name(given)
    if max(table) < _COMPUTED_VOCABULARY:
        return None
    given = _source_of_rows(program, tables[0], max(table))
    return None if given is None else given.attributed_op_name or input_name(given)


def _source_of_rows(program: PeakProgram, table: StoredValue, words: int) -> StoredValue | None:
    """Return the input of which a table is computed, or the table; None for rows of a network.

    These are products of products; one product may add low-rank weights to a table, and an inner
    step a gradient.
    """
    found = table
    seen: set[tuple[int, bool]] = set()
    waiting = [(table, False)]
    while waiting:
        value, is_product = waiting.pop()
        if (planned := program.planned(value)) is not None and planned.is_stored:
            found = value
        if (maker := program.instructions.get(value.name)) is not None and maker.multiplies:
            if is_product:
                return None
            is_product = True
        for value_id in program.read_by.get(value.name, ()):
            read = program.values[value_id]
            known = read.is_backward or (value_id, is_product) in seen
            if words in read.dimensions and not known:
                seen.add((value_id, is_product))
                waiting.append((read, is_product))
    return found
