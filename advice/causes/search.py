"""Search a compilation for every kind of cause."""

from collections.abc import Iterator, Mapping, Sequence

from xlagraph.advice.causes.added_gradients import added_gradients
from xlagraph.advice.causes.added_values import added_values
from xlagraph.advice.causes.attention_scores import stored_scores
from xlagraph.advice.causes.boundaries import (
    large_constants,
    returned_gradients,
    returned_stacks,
    wide_floats,
)
from xlagraph.advice.causes.cause import Cause
from xlagraph.advice.causes.converted_inputs import converted_inputs
from xlagraph.advice.causes.costly_order import costly_order
from xlagraph.advice.causes.dense_experts import dense_experts
from xlagraph.advice.causes.diagonals import diagonals
from xlagraph.advice.causes.early_copies import early_copies
from xlagraph.advice.causes.expanded_values import expanded_values
from xlagraph.advice.causes.forced_copies import forced_copies
from xlagraph.advice.causes.full_sorts import full_sorts
from xlagraph.advice.causes.gathered_batches import gathered_batches
from xlagraph.advice.causes.gathered_rows import gathered_rows
from xlagraph.advice.causes.gathered_stacks import gathered_stacks
from xlagraph.advice.causes.gram_matrices import products_with_themselves
from xlagraph.advice.causes.grown_inputs import grown_inputs
from xlagraph.advice.causes.inflated_values import inflated_values, one_hot_products
from xlagraph.advice.causes.jacobians import derivatives_at_once, stored_jacobians
from xlagraph.advice.causes.kept_by_checkpoints import kept_by_checkpoints
from xlagraph.advice.causes.kept_gradients import kept_gradients
from xlagraph.advice.causes.large_values import idle_values
from xlagraph.advice.causes.layouts import copies_in_other_layouts
from xlagraph.advice.causes.loop_inputs import computed_ahead
from xlagraph.advice.causes.loop_states import rewritten_inputs
from xlagraph.advice.causes.mapped_axes import mapped_axes
from xlagraph.advice.causes.merged_weights import merged_weights
from xlagraph.advice.causes.offloads import useless_offloads
from xlagraph.advice.causes.pair_differences import pair_differences
from xlagraph.advice.causes.pair_scores import pair_scores
from xlagraph.advice.causes.parameter_gradients import per_example_gradients
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.reduced_stacks import reduced_stacks
from xlagraph.advice.causes.repeated_before_loops import repeated_before_loops
from xlagraph.advice.causes.repeated_parts import repeated_parts
from xlagraph.advice.causes.replicated_parameters import (
    replicated_batch,
    replicated_parameters,
    replicated_state,
)
from xlagraph.advice.causes.restacked_states import restacked_states
from xlagraph.advice.causes.returned_values import (
    gradients_of_frozen,
    repeated_results,
    returned_forward_values,
    unchanged_inputs,
)
from xlagraph.advice.causes.scaled_products import scaled_products
from xlagraph.advice.causes.shifted_states import shifted_states
from xlagraph.advice.causes.sliced_inputs import sliced_inputs
from xlagraph.advice.causes.softmax_logits import logits
from xlagraph.advice.causes.stacked_carries import stacked_carries
from xlagraph.advice.causes.stacked_inputs import stacked_inputs
from xlagraph.advice.causes.table_gradients import dense_gradients
from xlagraph.advice.causes.unread_parts import full_factors, whole_spectra
from xlagraph.advice.causes.unread_rows import unread_rows
from xlagraph.advice.causes.unrolled_parts import unrolled_checkpoints
from xlagraph.advice.causes.unused_donations import (
    results_of_another_type,
    unused_donations,
)
from xlagraph.advice.causes.wide_checkpoints import wide_checkpoints
from xlagraph.advice.causes.widened_stacks import widened_stacks
from xlagraph.graph.engine import Cell

INPUTS_OF_DEVICES = "inputs-of-devices"
UNUSED_DONATIONS = "unused-donations"
"""Names of statements, and keys of their rows among the answers."""

Answers = Mapping[str, Sequence[Mapping[str, Cell]]]


def find_causes(program: PeakProgram, answers: Answers) -> Iterator[Cause]:
    """Yield the causes in a compilation; ``answers`` maps query ids to their rows."""
    yield from unused_donations(program, answers.get(UNUSED_DONATIONS, ()))
    yield from results_of_another_type(program)
    yield from kept_by_checkpoints(
        program,
        answers.get("lifetime/kept-for-backward", ()),
        knows_merged=bool(answers.get("lifetime/not-recomputed")),
    )
    explained = set[str]()
    for cause in replicated_state(program, answers.get(INPUTS_OF_DEVICES, ())):
        explained |= cause.labels
        yield cause
    yield from replicated_parameters(program, answers.get("waste/gathered", ()), explained)
    yield from replicated_batch(program, answers.get(INPUTS_OF_DEVICES, ()))
    yield from gathered_batches(program, answers.get(INPUTS_OF_DEVICES, ()))
    yield from causes_of_values(program)
    yield from wide_floats(program)
    yield from early_copies(program)
    yield from idle_values(program)
    yield from costly_order(program)
    yield from useless_offloads(program)


def causes_of_values(program: PeakProgram) -> Iterator[Cause]:
    """Yield the causes that say why a value exists, by what the program computes."""
    named: set[str] = set()
    for cause in _certain_causes(program):
        named |= cause.labels
        yield cause
    for cause in widened_stacks(program, named):
        named |= cause.labels
        yield cause
    checkpointed: set[str] = set()
    yield from unrolled_checkpoints(program)
    for cause in wide_checkpoints(program):  # what one recomputes may be of few rows at a time, too
        checkpointed |= cause.labels
        yield cause
    for cause in unread_rows(program, named | checkpointed):
        named |= cause.labels
        yield cause
    yield from expanded_values(program, named)


def _certain_causes(program: PeakProgram) -> Iterator[Cause]:
    yield from forced_copies(program)
    yield from converted_inputs(program)
    yield from copies_in_other_layouts(program)
    yield from rewritten_inputs(program)
    yield from restacked_states(program)
    yield from unchanged_inputs(program)
    yield from repeated_results(program)
    yield from grown_inputs(program)
    yield from shifted_states(program)
    yield from merged_weights(program)
    yield from dense_experts(program)
    yield from sliced_inputs(program)
    yield from stacked_inputs(program)
    yield from per_example_gradients(program)
    yield from stored_jacobians(program)
    yield from derivatives_at_once(program)
    yield from products_with_themselves(program)
    yield from diagonals(program)
    yield from gathered_rows(program)
    yield from added_gradients(program)
    yield from added_values(program)
    yield from logits(program)
    yield from stored_scores(program)
    yield from computed_ahead(program)
    yield from gathered_stacks(program)
    yield from repeated_parts(program)
    yield from stacked_carries(program)
    yield from returned_stacks(program)
    yield from reduced_stacks(program)
    yield from returned_gradients(program)
    yield from kept_gradients(program)
    yield from gradients_of_frozen(program)
    yield from returned_forward_values(program)
    yield from dense_gradients(program)
    yield from large_constants(program)
    yield from one_hot_products(program)
    yield from full_sorts(program)
    yield from full_factors(program)
    yield from whole_spectra(program)
    yield from pair_differences(program)
    yield from pair_scores(program)
    yield from mapped_axes(program)
    yield from scaled_products(program)
    yield from inflated_values(program)
    yield from repeated_before_loops(program)
