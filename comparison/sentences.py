"""Sentences that give reasons, each with the query that shows the details."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from xlagraph.comparison.groups import By
from xlagraph.comparison.new_code import OF_GRADIENTS
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import CONSEQUENCES, Reason, ReasonKind
from xlagraph.comparison.repeated_ops import PRODUCTS
from xlagraph.presentation.byte_sizes import signed_bytes

_MOST: Final = 6
"""Maximum number of sentences; other reasons are summed."""
_LEAST_SHARE: Final = 0.01
"""Minimum share of the growth for a sentence."""
_LEAST_SHARE_OF_ALL: Final = 0.001
"""Minimum share of the reserved bytes for a sentence."""
_LEAST_SHARE_OF_CHANGE: Final = 0.1
"""Share of the growth with which a change of the program precedes larger consequences."""
_LEAST_OF_CODE: Final = 5
"""Minimum number of values of code or a loop that precede consequences which they may not explain.
"""
_WEIGHT_OF_CAUSE: Final = 4
"""A cause precedes what is not proved to be one, unless that has so many times its bytes."""
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
}
"""Kinds that always get a sentence, even without growth, because someone edits them."""

_LEAST_SHARE_AGAINST: Final = 0.4
"""Share of the growth with which inputs or outputs that change the other way explain it, too."""
_OF_INPUTS: Final = {ReasonKind.DTYPE, ReasonKind.SIZE}
"""Kinds that someone edits where inputs have them, even if other bytes outweigh theirs."""


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
    ``names`` and ``reserved_bytes`` describe the two sides. The last sentence sums the other
    reasons, so all sentences add up to the growth.
    """
    growth = reserved_bytes[1] - reserved_bytes[0]
    explaining = [each for each in reasons if _explains(each, growth, max(reserved_bytes))]
    if any(each.input_example for each in reasons):  # a stack is larger with what it stacks
        explaining = [
            each
            for each in explaining
            if each.subject.kind is not ReasonKind.STACKED or each.cause or each.is_of_policy
        ]
    least = max(_LEAST_SHARE * abs(growth), _LEAST_SHARE_OF_ALL * max(reserved_bytes), 1)
    is_same = abs(growth) < _LEAST_SHARE * max(reserved_bytes)
    ranked = sorted(
        reasons,
        key=lambda reason: (
            reason.subject.kind is not ReasonKind.PLATFORM,
            not reason.is_of_all_inputs,
            _rank(reason, explaining),
            # if bytes cancel out, those of an edit may be fewer
            is_same and not (reason.cause or _is_known_edit(reason)),
            -abs(reason.growth_bytes) * (_WEIGHT_OF_CAUSE if reason.cause else 1),
            reason.subject.kind in CONSEQUENCES,
            reason.subject,
        ),
    )
    told = [
        reason
        for reason in ranked
        if abs(reason.growth_bytes) >= least or _is_edit(reason, explaining)
    ][:_MOST]
    if not told and growth:
        told = sorted(ranked, key=lambda reason: -abs(reason.growth_bytes))[:1]
    found = [_sentence(reason, names) for reason in told]
    if told and not (told[0].cause or told[0].code):
        # without bytes, it names what is new
        for place, reason in _of_no_bytes(told[0], explaining, reasons):
            found.insert(place, _sentence(reason, names))
    rest = growth - sum(sentence.growth_bytes for sentence in found)
    if rest:
        found.append(Sentence("everything else", rest, "", {}))
    return tuple(found)


def _of_no_bytes(
    first: Reason, explaining: Sequence[Reason], reasons: Sequence[Reason]
) -> list[tuple[int, Reason]]:
    """Return up to one reason without bytes that says more than the first one, and its place.

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
    if again and not is_said and not _is_known_edit(first):
        return [(0, again[0])]
    is_stack = first.subject.kind is ReasonKind.STACKED and not first.is_of_policy
    is_scope = first.subject.kind in (ReasonKind.SCOPE_GONE, ReasonKind.SCOPE_NEW)
    if is_known and new[0].subject.after == word:
        is_gradient = not new[0].scopes.isdisjoint(OF_GRADIENTS)
        if is_stack or (is_scope and is_gradient):
            return [(0, new[0])]
    if not follows and first in explaining:
        return []
    if is_known:
        return [(0, new[0])]
    return [(0 if follows and turns else 1, each) for each in turns or (new[:1] * follows)][:1]


def _is_whole(reason: Reason) -> bool:
    """Return True for code that only one side has, or most of it, and that makes some values."""
    is_one_sided = reason.is_only_one_side or not reason.scopes.isdisjoint(OF_GRADIENTS)
    is_code = is_one_sided and not reason.subject.before
    return is_code and reason.count_a + reason.count_b >= _LEAST_OF_CODE


def _rank(reason: Reason, explaining: Sequence[Reason]) -> int:
    """Return 0 for a change that explains the growth, 1 for code that makes its values, else 2.

    If nothing explains the growth, it follows from what someone edits, such as a checkpoint.
    A library without bytes is a choice of the compiler, which follows from other changes.
    """
    if reason.subject.kind is ReasonKind.LIBRARY and not reason.growth_bytes:
        return 2
    is_named = reason.cause or (reason.code and reason.code.is_only_one_side) or reason.is_of_policy
    if reason in explaining:
        follows = reason.subject.kind in CONSEQUENCES or (
            reason.subject.kind is ReasonKind.STACKED
            and any(_is_known_edit(each) or each.inputs or each.is_of_policy for each in explaining)
        )
        return int(follows and not is_named)
    return 2 if explaining or _is_loose(reason) or not _is_edit(reason, explaining) else 0


def _is_edit(reason: Reason, explaining: Sequence[Reason]) -> bool:
    """Return True for what someone edits: its bytes may be few, but others follow from it."""
    if _is_loose(reason):
        return reason in explaining or max(reason.count_a, reason.count_b) >= _LEAST_OF_CODE
    is_of_input = reason.input_example is not None and not explaining
    is_of_input |= reason.is_of_all_inputs
    # its bytes moved: temporary values have as many
    is_moved = reason.subject.kind is ReasonKind.OUTPUTS and bool(reason.placed_bytes)
    return reason.subject.kind in _ALWAYS or is_of_input or is_moved


def _explains(reason: Reason, growth_bytes: int, reserved_bytes: int) -> bool:
    """Return True for a change of the program with a fair share of the growth.

    If the reserved bytes are almost the same, every change with a sentence of its own is one.
    """
    is_named = reason.cause or reason.code or reason.is_of_policy
    if not growth_bytes or (reason.subject.kind in CONSEQUENCES and not is_named):
        return False
    if abs(growth_bytes) < _LEAST_SHARE * reserved_bytes and reason.growth_bytes:
        return abs(reason.growth_bytes) >= _LEAST_SHARE_OF_ALL * reserved_bytes
    share = reason.growth_bytes / growth_bytes
    is_edit = _is_known_edit(reason) and not _is_loose(reason)
    if reason.subject.kind in (ReasonKind.INPUTS, ReasonKind.OUTPUTS):
        is_edit = share <= -_LEAST_SHARE_AGAINST
    return (abs(share) if is_edit else share) >= _LEAST_SHARE_OF_CHANGE


def _is_loose(reason: Reason) -> bool:
    """Return True for single values in more or fewer loops, which has many reasons."""
    return reason.subject.kind is ReasonKind.LOOPED and not (reason.scopes or reason.inputs)


def _is_known_edit(reason: Reason) -> bool:
    """Return True for what someone edits, whatever its bytes."""
    is_of_inputs = bool(reason.input_count or reason.input_example)
    kind = reason.subject.kind
    return kind in _ALWAYS or (kind in _OF_INPUTS and is_of_inputs)


def _sentence(reason: Reason, names: tuple[str, str]) -> Sentence:
    query, parameters = _query(reason, names)
    return Sentence(reason_text(reason, names), reason.growth_bytes, query, parameters)


def _query(reason: Reason, names: tuple[str, str]) -> tuple[str, dict[str, str]]:
    """Return the id and the parameters of the query that shows the details."""
    sides = {"runA": names[0], "runB": names[1]}
    before, after = reason.compilations
    match reason.subject.kind:
        case ReasonKind.UNDONATED:
            return "alias/not-donated", {"compilation": after}
        case ReasonKind.DONATED:
            return "alias/donated", {"compilation": after}
        case ReasonKind.UNCHECKPOINTED:
            return "lifetime/recomputed", {"compilation": before}
        case ReasonKind.CHECKPOINTED:
            return "lifetime/recomputed", {"compilation": after}
        case ReasonKind.COPIES:
            is_more = reason.count_b >= reason.count_a
            return "alias/copies", {"compilation": after if is_more else before}
        case ReasonKind.SCOPE_NEW | ReasonKind.SCOPE_GONE:
            return "compare/scopes", sides
        case (
            ReasonKind.PEAK
            | ReasonKind.SPACE
            | ReasonKind.PLACED
            | ReasonKind.REPLACED
            | ReasonKind.STACKED
            | ReasonKind.ORDER
            | ReasonKind.FUSED
            | ReasonKind.LIBRARY
            | ReasonKind.NEW_CODE
            | ReasonKind.COLLECTIVES
            | ReasonKind.UNROLLED
            | ReasonKind.TURNS
            | ReasonKind.AGAIN
        ):
            return "compare/lines", sides
        case ReasonKind.FRAGMENTATION:
            return "reuse/fragmentation", {"compilation": after}
        case ReasonKind.IDLE | ReasonKind.UNKNOWN:
            return "compare/causes", sides
        case ReasonKind.PLATFORM:
            return "overview/compilations", {}
        case ReasonKind.UNPAIRED | ReasonKind.OTHER:
            return "compare/modules", sides
        case _:
            return "compare/values", sides
