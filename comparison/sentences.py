"""Sentences that give reasons, each with the query that shows the details."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from xlagraph.comparison.edits_of_programs import (
    INDIRECT,
    LEAST_OF_CODE,
    LEAST_SHARE,
    LEAST_SHARE_OF_ALL,
    are_of_other_ops,
    are_reshaped_outputs,
    called,
    explains,
    is_called_elsewhere,
    is_edit,
    is_elsewhere,
    is_known_edit,
    is_loose,
    is_of_few_ops,
    is_of_less,
    is_of_line,
    is_of_named_inputs,
    is_of_new_values,
    is_of_outputs_against,
    is_of_unknown_size,
    is_plain_edit,
    is_replaced_elsewhere,
    is_telling,
    is_vague,
    largest,
    may_resize,
    position_beside,
    rank,
    says_more,
    says_more_than_calls,
)
from xlagraph.comparison.groups import By
from xlagraph.comparison.new_code import OF_GRADIENTS, SAY_MORE, TRANSFORMATIONS
from xlagraph.comparison.queries_of_reasons import query_of
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import CONSEQUENCES, MORE, Reason, ReasonKind
from xlagraph.comparison.repeated_ops import PRODUCTS
from xlagraph.presentation.byte_sizes import signed_bytes

_MOST: Final = 6
"""Maximum number of sentences; other reasons are summed."""
_WEIGHT_OF_CAUSE: Final = 4
"""A cause precedes what is not proved to be one, unless that has so many times its bytes."""
_DONATIONS: Final = {ReasonKind.DONATED, ReasonKind.UNDONATED}
_OF_LINES: Final = {
    ReasonKind.OUTPUTS,
    ReasonKind.SCOPE_GONE,
    ReasonKind.SCOPE_NEW,
    ReasonKind.STACKED,
}
"""Other kinds that say less than the line that was edited."""


class Sentence(NamedTuple):
    """A reason for the growth, in words."""

    text: str
    """Text without the bytes: ``12 inputs are no longer donated``."""
    growth_bytes: int
    """Change of the reserved bytes for this reason."""
    query: str
    """Id of the query that shows the details; empty for the sum of the other reasons."""
    parameters: Mapping[str, str]
    """Parameters of that query."""

    @property
    def line(self) -> str:
        """Text with the bytes: ``12 inputs are no longer donated: +245.9 MiB``."""
        return f"{self.text}: {signed_bytes(self.growth_bytes)}"

    @property
    def command(self) -> str:
        """Command that shows the details; empty for the sum of the other reasons."""
        if not self.query:
            return ""
        grouping = By.of_query(self.query)
        if grouping is not None:
            sides = shlex.join((self.parameters["runA"], self.parameters["runB"]))
            return f"xlagraph compare {sides} --by {grouping}"
        options = [
            shlex.quote(value)
            if name == "compilation"
            else f"--{re.sub('[A-Z]', lambda found: '-' + found[0].lower(), name)}"
            f" {shlex.quote(value)}"
            for name, value in self.parameters.items()
        ]
        return " ".join(["xlagraph query", self.query, *options])


def sentences_of(
    reasons: Sequence[Reason], names: tuple[str, str], reserved_bytes: tuple[int, int]
) -> tuple[Sentence, ...]:
    """Return a sentence for each important reason, sorted by bytes, descending.

    Changes of the program that explain a fair share of the growth precede what follows from them.
    ``names`` and ``reserved_bytes`` describe the two sides. The last sentence sums the rest.
    """
    growth = reserved_bytes[1] - reserved_bytes[0]
    explaining = [each for each in reasons if explains(each, growth, max(reserved_bytes))]
    if any(each.input_example for each in reasons):  # a stack is larger with what it stacks
        explaining = [
            each
            for each in explaining
            if each.subject.kind is not ReasonKind.STACKED or each.cause or each.is_of_policy
        ]
    least = max(LEAST_SHARE * abs(growth), LEAST_SHARE_OF_ALL * max(reserved_bytes), 1)
    is_same = abs(growth) < LEAST_SHARE * max(reserved_bytes)
    ranked = sorted(
        reasons,
        key=lambda reason: (
            reason.subject.kind not in (ReasonKind.PLATFORM, ReasonKind.VERSION),
            not reason.is_of_all_inputs,
            not reason.is_resharded,  # collectives and the sizes of others follow from it
            # one without bytes follows from what is returned no longer
            not is_same and reason.subject.kind in _DONATIONS and abs(reason.growth_bytes) < least,
            rank(reason, explaining),
            are_reshaped_outputs(reason, explaining),
            # if bytes cancel out, those of an edit may be fewer
            is_same and not (reason.cause or (is_known_edit(reason) and not is_loose(reason))),
            -abs(reason.growth_bytes) * (_WEIGHT_OF_CAUSE if reason.cause else 1),
            reason.subject.kind in CONSEQUENCES,
            reason.subject,
        ),
    )
    told = [
        reason
        for reason in ranked
        if abs(reason.growth_bytes) >= least or is_edit(reason, explaining)
    ][:_MOST]
    inputs = [each for each in reasons if is_of_named_inputs(each)]
    edited = [each for each in reasons if each.subject.kind is ReasonKind.EDITED]
    # who adds one edits more than its bytes, and a new parameter is often returned, too
    is_returned = told[:1] and told[0].subject.kind is ReasonKind.OUTPUTS and not told[0].cause
    is_late = told[:1] and (_is_generic(told[0]) or is_of_new_values(told[0]))
    if told and inputs and (is_late or (is_returned and not edited)):
        told = [*inputs, *(each for each in told if each not in inputs)]
    if is_silent := not told:  # what differs has almost no bytes
        said = (ReasonKind.CALLED, ""), (ReasonKind.TURNS, ""), (ReasonKind.CALLED, "ops")
        ops = [each for of in said for each in reasons if each.subject[:2] == of][:1]
        told = edited or ops
        if growth and not any(each.growth_bytes for each in ops) and not edited:
            of_bytes = sorted(ranked, key=lambda reason: -abs(reason.growth_bytes))
            most = min(
                of_bytes,
                key=lambda each: (not each.growth_bytes, each.subject.kind in CONSEQUENCES),
            )
            # where ops differ, bytes come first only if they are most of the growth
            is_most = 2 * abs(most.growth_bytes) > abs(growth)
            if not ops or (is_most and most.subject.kind not in CONSEQUENCES):
                told = [most, *ops]
    found = [_sentence(reason, names) for reason in told]
    if told and (code := told[0].code) and not told[0].cause_remains:
        # another function says more than its files, or a transformation that both programs have
        functions, _ = called(reasons)
        is_named = code.is_only_one_side and not code.scopes.isdisjoint(TRANSFORMATIONS)
        if functions and functions[0].is_replacement and not is_named:
            found.insert(0, _sentence(functions[0], names))
    elif told and not is_silent:
        for place, reason in _of_no_bytes(told[0], explaining, reasons, is_same=is_same):
            kinds = reason.subject.kind, told[0].subject.kind
            is_said = kinds == (ReasonKind.EDITED, ReasonKind.COPIES) or is_of_line(reason, told[0])
            if (told[0].cause and place) or is_said:  # both say why
                text = f"{reason_text(reason, names)}; {found[0].text}"
                found[0] = found[0]._replace(text=text)
            else:
                found.insert(place, _sentence(reason, names))
    if rest := growth - sum(sentence.growth_bytes for sentence in found):
        found.append(Sentence("everything else", rest, "", {}))
    return tuple(found)


def _of_no_bytes(
    first: Reason, explaining: Sequence[Reason], reasons: Sequence[Reason], *, is_same: bool
) -> list[tuple[int, Reason]]:
    """Return reasons without bytes that say more than the first one, and their places.

    Ops of another line follow functions that only one program calls, as they are another edit.

    A function that only one program calls says more than where its values are, and less than a
    gradient, which it may contain, or than what someone edits. If the programs do not need the
    same memory, functions of the smaller one make none of the others' values.
    """
    loops = [each for each in reasons if each.subject.kind is ReasonKind.TURNS]
    if loops and first.cause_remains:  # another loop says more than what is less than before
        return [(0, loops[0])]
    code = [] if first.cause else _of_code(first, explaining, reasons)
    functions, ops = called(reasons)
    edited = [each for each in reasons if each.subject.kind is ReasonKind.EDITED]
    edited = [each for each in edited if _is_generic(first) or not is_vague(each)]
    kind = first.subject.kind
    if edited and any(is_of_few_ops(reason) for _, reason in code):
        return [(0, edited[0])]
    above = next((reason for place, reason in code if place == 0), None)
    # the size of a parameter may follow from a line
    is_of_files = all(reason.scopes.isdisjoint(TRANSFORMATIONS) for _, reason in code)
    is_of_files &= above is None or above.subject.kind is ReasonKind.NEW_CODE
    if edited and first.input_example and not first.turns and is_of_files:
        if functions and functions[0].is_replacement and not edited[0].is_replacement:
            return [(position_beside(first, functions[0]), functions[0])]
        is_first = is_telling(edited[0]) or is_of_line(edited[0], largest(first, reasons))
        is_parameter = all(each.is_float for each in first.input_example)
        return [(0 if is_first and is_parameter else 1, edited[0])]
    if kind in SAY_MORE and functions and is_replaced_elsewhere(functions[0], first):
        return [(1, functions[0])]
    if is_plain_edit(first):  # a library makes checkpoints and casts; unrolled steps are more code
        is_new = any(each.is_only_one_side for _, each in code) or kind is not ReasonKind.UNROLLED
        if kind in SAY_MORE or not is_new:
            return [(1, reason) for _, reason in code]
        if kind in _DONATIONS:  # nothing that is computed follows from it
            beside = functions or [each for each in edited if is_telling(each)]
            return code or [(1, each) for each in beside[:1]]
        return code or [
            (position_beside(first, x), x) for x in functions if kind is ReasonKind.SIZE
        ]
    gradients = [each for each in reasons if _is_gradient(each)]
    word = "new" if first.growth_bytes > 0 else "gone"
    if above is not None:
        is_again = above.subject.kind is ReasonKind.AGAIN
        is_gradient = above in gradients and not are_of_other_ops(above, edited)
        # what one program computes less often makes it no larger
        if is_gradient or (is_again and (not functions or above.subject.after == word)):
            return code
    is_of_lines = _is_generic(first) or (kind in _OF_LINES and not first.cause)
    # sizes follow from a line, unless those of an input or a loop differ; so do new parameters
    is_own_size = kind is ReasonKind.SIZE and not (first.input_example or first.turns)
    is_of_lines |= is_own_size and bool(edited) and may_resize(edited[0], first)
    is_of_lines |= kind is ReasonKind.INPUTS and any(map(is_telling, edited))
    is_code = above is None or above.subject.kind is ReasonKind.NEW_CODE
    # a line may say the loop, too
    is_edited_line = bool(edited) and is_of_lines and (is_code or bool(edited[0].turns))
    is_less = bool(functions) and not is_same and is_of_less(functions[0], first)
    is_less |= bool(functions and edited) and says_more(edited[0], functions[0])
    if functions and not (is_edited_line and is_less):
        follows = bool(first.cause and edited) and is_called_elsewhere(functions[0], edited[0])
        instead = gradients or (edited if follows else functions)
        # a part with more inputs than ops says more
        is_part = kind is ReasonKind.REPEATED and first.input_count > max(
            functions[0].count_a, functions[0].count_b
        )
        is_replaced = functions[0].is_replacement and first.input_example is None
        is_edited = says_more_than_calls(first) and not is_replaced
        is_explained = bool(first.cause) and kind not in INDIRECT
        position = 1 if is_explained or is_edited or is_part else 0
        others = ops[:1] if instead[0].is_only_one_side and not first.cause else []
        others = [each for each in others if is_elsewhere(each, instead[0], first)]
        return [(position, instead[0]), *((position + 1, each) for each in others)]
    if is_edited_line or (first.cause and edited and is_telling(edited[0])):
        return [(0 if is_edited_line else 1, edited[0])]
    is_generic = kind is not ReasonKind.COPIES and _is_generic(first)
    is_generic |= is_of_outputs_against(first, reasons)
    # ops of the side with more bytes say more than code of the other one
    is_said = above is not None and (
        not (ops and ops[0].scopes and ops[0].inputs) or above.subject.after == word
    )
    return [(0, ops[0])] if ops and is_generic and not is_said else code


def _is_generic(reason: Reason) -> bool:
    """Return True for a reason that only says which values, or inputs without names, differ."""
    is_named = reason.cause or reason.code or reason.is_of_policy or reason.inputs
    is_more = reason.subject.before == MORE
    return (is_more or reason.subject.kind in (*CONSEQUENCES, ReasonKind.INPUTS)) and not is_named


def _is_gradient(reason: Reason) -> bool:
    """Return True for a gradient that only one side has."""
    is_code = reason.subject.kind is ReasonKind.NEW_CODE and _is_whole(reason)
    return is_code and not OF_GRADIENTS.isdisjoint(reason.scopes)


def _of_code(
    first: Reason, explaining: Sequence[Reason], reasons: Sequence[Reason]
) -> list[tuple[int, Reason]]:
    """Return up to one of repeated ops, new code and other loops, and its place.

    It is the first one if only one side has it, or else what the first one follows from.
    """
    again, new, turns = (
        [reason for reason in reasons if reason.subject.kind is kind]
        for kind in (ReasonKind.AGAIN, ReasonKind.NEW_CODE, ReasonKind.TURNS)
    )
    word = "new" if first.growth_bytes > 0 else "gone" if first.growth_bytes else ""
    new.sort(key=lambda reason: (not _is_whole(reason), word not in ("", reason.subject.after)))
    is_known = bool(new) and _is_whole(new[0])
    follows = first.subject.kind in CONSEQUENCES
    # a gradient that only one program has says why it has more products
    is_said = is_known and new[0].subject.after == word and OF_GRADIENTS.issuperset(new[0].scopes)
    is_said &= bool(again) and again[0].subject.before == PRODUCTS
    is_few = bool(again) and (again[0].subject.before == PRODUCTS or is_of_few_ops(again[0]))
    is_said |= is_few and first.subject.kind is ReasonKind.INPUTS
    if again and not is_said and not is_known_edit(first):
        return [(0, again[0])]
    is_stack = first.subject.kind is ReasonKind.STACKED and not first.is_of_policy
    is_scope = first.subject.kind in (ReasonKind.SCOPE_GONE, ReasonKind.SCOPE_NEW)
    if is_known and new[0].subject.after == word:
        is_gradient = not new[0].scopes.isdisjoint(OF_GRADIENTS)
        if is_stack or (is_scope and is_gradient):
            return [(0, new[0])]
    if not follows and first in explaining:
        return [(0, each) for each in turns[:1] if is_of_unknown_size(first)]
    if is_known:
        return [(0, new[0])]
    return [(0 if follows and turns else 1, each) for each in turns or (new[:1] * follows)][:1]


def _is_whole(reason: Reason) -> bool:
    """Return True for code that only one side has, or most of it, and that makes some values."""
    is_one_sided = reason.is_only_one_side or not reason.scopes.isdisjoint(OF_GRADIENTS)
    is_many = reason.count_a + reason.count_b >= LEAST_OF_CODE
    return is_many and is_one_sided and not reason.subject.before


def _sentence(reason: Reason, names: tuple[str, str]) -> Sentence:
    return Sentence(reason_text(reason, names), reason.growth_bytes, *query_of(reason, names))
