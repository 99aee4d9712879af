"""Decide which reasons say what someone edited, and which of them follow from it."""

from collections.abc import Sequence
from typing import Final

from xlagraph.comparison.called_functions import OF
from xlagraph.comparison.held_values import place
from xlagraph.comparison.more_layers import LAYERS
from xlagraph.comparison.own_lines import COMMON, TAKING
from xlagraph.comparison.reasons import CHECKPOINTS, CONSEQUENCES, MORE, Reason, ReasonKind, Subject
from xlagraph.comparison.repeated_ops import PRODUCTS

LEAST_SHARE: Final = 0.01
"""Minimum share of the growth for a sentence."""
LEAST_SHARE_OF_ALL: Final = 0.001
"""Minimum share of the reserved bytes for a sentence."""
_LEAST_SHARE_OF_OPS: Final = 0.1
"""Share of the ops that only one program has with which functions say more than these."""
_LEAST_SHARE_OF_CHANGE: Final = 0.1
"""Share of the growth with which a change of the program precedes larger consequences."""
LEAST_OF_CODE: Final = 5
"""Minimum number of values of code or a loop that precede consequences which they may not explain.
"""
_ALWAYS: Final = {
    ReasonKind.UNDONATED,
    ReasonKind.DONATED,
    ReasonKind.UNCHECKPOINTED,
    ReasonKind.CHECKPOINTED,
    ReasonKind.COLLECTIVES,
    ReasonKind.FUSED,
    ReasonKind.LIBRARY,
    ReasonKind.LOOPED,
    ReasonKind.NARROWED,
    ReasonKind.PLATFORM,
    ReasonKind.SPLIT,
    ReasonKind.UNROLLED,
    ReasonKind.VERSION,
}
"""Kinds that always get a sentence, even without growth, because someone edits them."""
INDIRECT: Final = {
    ReasonKind.COPIES,
    ReasonKind.FRAGMENTATION,
    ReasonKind.IDLE,
    ReasonKind.ORDER,
    ReasonKind.PEAK,
    ReasonKind.PLACED,
}
"""Kinds whose causes follow from what is called, as the values are those of both programs."""
_OF_WHOLE: Final = {ReasonKind.INPUTS, ReasonKind.REPEATED, ReasonKind.UNROLLED}
"""Kinds of edits that change which values a program has, and so what is copied."""
_OF_VALUES: Final = {ReasonKind.CONSTANTS, ReasonKind.SIZE}
"""Kinds of values that say more of an edit than the functions that only one program calls."""
_CHOSEN: Final = {ReasonKind.FUSED, ReasonKind.LIBRARY}
"""Kinds that a compiler chooses, which follows from what is called."""
_LEAST_SHARE_AGAINST: Final = 0.4
"""Share of the growth with which inputs or outputs that change the other way explain it, too."""
_OF_INPUTS: Final = {ReasonKind.DTYPE, ReasonKind.SIZE}
"""Kinds that someone edits where inputs have them, even if other bytes outweigh theirs."""


def rank(reason: Reason, explaining: Sequence[Reason]) -> int:
    """Return 0 for a change that explains the growth, 1 for code that makes its values, else 2.

    -1 for a checkpoint of few bytes, from which copies and the like follow that explain the growth.
    If nothing explains the growth, it follows from what someone edits, such as a checkpoint.
    A library without bytes is a choice of the compiler, which follows from other changes.
    """
    if reason.subject.kind is ReasonKind.LIBRARY and not reason.growth_bytes:
        return 2
    are_indirect = all(each.subject.kind in INDIRECT for each in explaining)
    if reason.subject.kind in CHECKPOINTS and explaining and are_indirect:
        return -1
    # another library, or version of XLA, splits sums into parts of its own
    has_library = any(each.subject.kind is ReasonKind.LIBRARY for each in explaining)
    if has_library and reason.subject.kind is ReasonKind.SIZE and not _is_of_known_size(reason):
        return 1
    is_named = reason.cause or (reason.code and reason.code.is_only_one_side) or reason.is_of_policy
    if reason.cause and reason.subject.kind in INDIRECT:  # it may follow from what was edited
        is_named = not any(
            each.subject.kind in _OF_WHOLE or _is_of_more_inputs(each, reason)
            for each in explaining
        )
    if reason in explaining:
        follows = reason.subject.kind in CONSEQUENCES or (
            reason.subject.kind is ReasonKind.STACKED
            and any(is_known_edit(each) or each.inputs or each.is_of_policy for each in explaining)
        )
        return int(follows and not is_named)
    return 2 if explaining or is_loose(reason) or not is_edit(reason, explaining) else 0


def _is_of_known_size(reason: Reason) -> bool:
    """Return True for other sizes of which the input, the loop or the dimension is known."""
    return bool(reason.input_example or reason.turns or reason.dimensions or reason.limits)


def _is_of_more_inputs(reason: Reason, other: Reason) -> bool:
    """Return True for another type or size of inputs that has more bytes than another reason."""
    is_of_inputs = reason.subject.kind in _OF_INPUTS and is_known_edit(reason)
    return is_of_inputs and abs(reason.growth_bytes) > abs(other.growth_bytes)


def is_edit(reason: Reason, explaining: Sequence[Reason]) -> bool:
    """Return True for what someone edits: its bytes may be few, but others follow from it."""
    if is_loose(reason):
        return reason in explaining or max(reason.count_a, reason.count_b) >= LEAST_OF_CODE
    is_of_input = reason.input_example is not None and not explaining
    is_of_input |= reason.is_of_all_inputs
    # its bytes moved: temporary values have as many
    is_moved = reason.subject.kind is ReasonKind.OUTPUTS and bool(reason.placed_bytes)
    return reason.subject.kind in _ALWAYS or is_of_input or is_moved


def explains(reason: Reason, growth_bytes: int, reserved_bytes: int) -> bool:
    """Return True for a change of the program with a fair share of the growth.

    If the reserved bytes are almost the same, every change with a sentence of its own is one.
    """
    is_named = reason.cause or reason.code or reason.is_of_policy
    if not growth_bytes or (reason.subject.kind in CONSEQUENCES and not is_named):
        return False
    if abs(growth_bytes) < LEAST_SHARE * reserved_bytes and reason.growth_bytes:
        return abs(reason.growth_bytes) >= LEAST_SHARE_OF_ALL * reserved_bytes
    share = reason.growth_bytes / growth_bytes
    is_edit = is_known_edit(reason) and not is_loose(reason)
    if reason.subject.kind in (ReasonKind.INPUTS, ReasonKind.OUTPUTS):
        is_edit = share <= -_LEAST_SHARE_AGAINST
    return (abs(share) if is_edit else share) >= _LEAST_SHARE_OF_CHANGE


def is_loose(reason: Reason) -> bool:
    """Return True for single values in more or fewer loops, which has many reasons."""
    is_named = reason.scopes or reason.inputs or reason.turns
    return reason.subject.kind is ReasonKind.LOOPED and not is_named


def is_known_edit(reason: Reason) -> bool:
    """Return True for what someone edits, whatever its bytes."""
    is_of_inputs = bool(reason.input_count or reason.input_example)
    kind = reason.subject.kind
    return kind in _ALWAYS or (kind in _OF_INPUTS and (is_of_inputs or bool(reason.turns)))


def are_reshaped_outputs(reason: Reason, explaining: Sequence[Reason]) -> bool:
    """Return True for as many outputs on both sides, if inputs have other shapes."""
    is_same_number = reason.count_a == reason.count_b and not reason.placed_bytes
    is_of_outputs = reason.subject.kind is ReasonKind.OUTPUTS and is_same_number
    return is_of_outputs and not reason.cause and any(each.input_example for each in explaining)


def is_plain_edit(reason: Reason) -> bool:
    """Return True for what someone edits, unless a compiler may choose it, too."""
    is_chosen = reason.subject.kind in _CHOSEN or is_loose(reason)
    return is_known_edit(reason) and not is_chosen


def is_telling(reason: Reason) -> bool:
    """Return True for a line that calls or computes what few functions have."""
    return not reason.subject.before and not reason.scopes | reason.inputs <= COMMON | TAKING


def is_vague(reason: Reason) -> bool:
    """Return True for a line that computes what many functions have, as other lines of it do."""
    return reason.subject.after == MORE and reason.scopes | reason.inputs <= COMMON


def are_of_other_ops(gradients: Reason, edited: Sequence[Reason]) -> bool:
    """Return True for gradients that both programs have, if a line computes one op for another."""
    is_other = any(each.is_replacement and is_telling(each) for each in edited)
    return is_other and not gradients.is_only_one_side


def may_resize(reason: Reason, other: Reason) -> bool:
    """Return True for a line that may say why values of the second program have other sizes.

    What only the program with smaller values computes there makes them so if it takes parts, as a
    loop does, or if it is a product by an equation alone.
    """
    less, more = (reason.scopes, reason.inputs)[:: 1 if other.growth_bytes > 0 else -1]
    is_product = all("->" in name for name in less)
    return bool(more or reason.turns) or is_product or less <= COMMON | TAKING


def says_more(reason: Reason, called: Reason) -> bool:
    """Return True for a line that calls a function which one program has instead of another one.

    That program may call the other one elsewhere, so that nothing else names it.
    """
    names = {name.partition(OF)[0] for name in called.scopes | called.inputs}
    is_named = names <= reason.scopes | reason.inputs
    return is_named and not called.is_replacement and bool(reason.scopes and reason.inputs)


def position_beside(sizes: Reason, functions: Reason) -> int:
    """Return 0 if functions precede values of other sizes, else 1.

    They replace others at the line with most of the values, so that parameters are of other sizes.
    """
    are_parameters = all(value.is_float for value in sizes.input_example or ())
    is_called = sizes.line is not None and place(sizes.line) in functions.labels
    is_of_call = functions.is_replacement and is_called
    return 0 if sizes.input_example and are_parameters and is_of_call else 1


def says_more_than_calls(reason: Reason) -> bool:
    """Return True for constants, sizes or an element type, but for that of few computed values.

    A compiler chooses it, as a TPU does for the operands of a product.
    """
    is_of_type = reason.subject.kind is ReasonKind.DTYPE
    is_edited = bool(reason.input_count) or reason.count_b >= LEAST_OF_CODE
    return reason.subject.kind in _OF_VALUES or (is_of_type and is_edited)


def called(reasons: Sequence[Reason]) -> tuple[list[Reason], list[Reason]]:
    """Return the functions, and the ops, of which only one program has some or which differ.

    Functions that make few of the ops that only one program has follow from what makes the others.
    """
    layers, functions, ops = (
        [each for each in reasons if each.subject == Subject(ReasonKind.CALLED, before)]
        for before in (LAYERS, "", "ops")
    )
    if functions and ops:
        few, many = functions[0], ops[0]
        is_of_one = 0 in (few.count_a + many.count_a, few.count_b + many.count_b)
        least = _LEAST_SHARE_OF_OPS * (many.count_a + many.count_b)
        if is_of_one and few.count_a + few.count_b < least:
            return ops, ops
    return functions or layers, ops


def is_called_elsewhere(functions: Reason, edited: Reason) -> bool:
    """Return True for functions that follow from a line which calls one thing instead of another.

    Only one program calls them, from another line.
    """
    is_other = bool(functions.labels) and not any(
        _is_at(label, called_at) for label in edited.labels for called_at in functions.labels
    )
    return is_other and functions.is_only_one_side and edited.is_replacement and is_telling(edited)


def is_replaced_elsewhere(functions: Reason, first: Reason) -> bool:
    """Return True for functions that replace others at a line with few bytes of a reason."""
    at_line = sum(
        growth for line, growth in first.growth_by_line.items() if place(line) in functions.labels
    )
    is_few = abs(at_line) <= _LEAST_SHARE_OF_CHANGE * abs(first.growth_bytes)
    return functions.is_replacement and bool(functions.labels) and is_few


def is_elsewhere(ops: Reason, functions: Reason, first: Reason) -> bool:
    """Return True for ops of one program at a line of neither functions nor the first reason."""
    lines = functions.labels | ({place(first.line)} if first.line else set())
    is_called = functions.subject.kind is ReasonKind.CALLED and bool(functions.labels)
    return is_called and bool(ops.labels) and ops.labels.isdisjoint(lines)


def is_of_less(functions: Reason, first: Reason) -> bool:
    """Return True for functions that only the program with fewer bytes of a reason calls."""
    return functions.is_only_one_side and bool(functions.count_b) is (first.growth_bytes < 0)


def is_of_line(reason: Reason, other: Reason) -> bool:
    """Return True if most of the growth of another reason is at the line that was edited."""
    line, growth = other.line, other.growth_bytes
    if reason.subject.kind is not ReasonKind.EDITED or line is None or not growth:
        return False
    is_most = 2 * other.growth_by_line[line] / growth > 1
    return is_most and any(_is_at(label, place(line)) for label in reason.labels)


def _is_at(label: str, line: str) -> bool:
    """Return True if lines of a label, as ``train.py:28-30 (step)``, contain ``train.py:29``."""
    file, _, numbers = label.partition(" (")[0].rpartition(":")
    first, _, last = numbers.partition("-")
    name, _, number = line.rpartition(":")
    is_known = file == name and first.isdecimal() and number.isdecimal()
    return is_known and int(first) <= int(number) <= int(last or first)


def is_of_named_inputs(reason: Reason) -> bool:
    """Return True for inputs that only one side has, unless they are numbers for a generator."""
    are_floats = any(value.is_float for value in reason.largest if value)
    is_named = reason.subject.kind is ReasonKind.INPUTS and bool(reason.inputs) and are_floats
    return is_named or reason.subject.kind is ReasonKind.REPEATED


def is_of_new_values(reason: Reason) -> bool:
    """Return True for collectives, and for stacks without a cause: new parameters say more."""
    is_stack = reason.subject.kind is ReasonKind.STACKED and not reason.is_of_policy
    return reason.subject.kind is ReasonKind.COLLECTIVES or (is_stack and not reason.cause)


def is_of_outputs_against(first: Reason, reasons: Sequence[Reason]) -> bool:
    """Return True for outputs that change against the growth, and so do not explain it."""
    growth = sum(each.growth_bytes for each in reasons)
    is_of_outputs = first.subject.kind is ReasonKind.OUTPUTS and not first.cause
    return is_of_outputs and first.growth_bytes * growth < 0


def is_of_unknown_size(reason: Reason) -> bool:
    """Return True for values of other sizes that no other size of an input or loop explains."""
    return reason.subject.kind is ReasonKind.SIZE and not _is_of_known_size(reason)


def largest(first: Reason, reasons: Sequence[Reason]) -> Reason:
    """Return the reason with most bytes of those that change as the first one does."""
    sign = 1 if first.growth_bytes > 0 else -1
    return max(reasons, key=lambda reason: sign * reason.growth_bytes)


def is_of_few_ops(reason: Reason) -> bool:
    """Return True for a small part of the ops, other than matrix products, that is repeated."""
    is_again = reason.subject.kind is ReasonKind.AGAIN and reason.subject.before != PRODUCTS
    return is_again and 2 * reason.count_b < reason.of[1]
