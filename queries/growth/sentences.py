"""Reasons as sentences, each with the query that shows the details."""

import re
import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import PurePath
from typing import Final, NamedTuple

from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.queries.growth.reasons import Kind, Reason

__all__ = ["Sentence", "sentences_of"]

_MOST: Final = 6
"""Sentences that are told before the others are summed."""
_LEAST_SHARE: Final = 0.01
"""A smaller share of the growth is not worth a sentence."""
_LEAST_SHARE_OF_ALL: Final = 0.001
"""Nor is a smaller share of what is reserved."""
_ALWAYS: Final = {Kind.UNDONATED, Kind.DONATED, Kind.UNCHECKPOINTED, Kind.CHECKPOINTED}
"""Edits of the program that are worth a sentence even where they cost nothing."""
_WITHOUT_LINE: Final = {Kind.UNDONATED, Kind.DONATED, Kind.INPUTS, Kind.OUTPUTS, Kind.CONSTANTS}
_SCOPES_NAMED: Final = 3
_LEAST_SHARE_OF_LINE: Final = 0.2


class Sentence(NamedTuple):
    """A reason for the growth, in words."""

    text: str
    """Without the bytes: ``12 inputs are no longer donated``."""
    growth_bytes: int
    """Change of the reserved bytes for this reason."""
    query: str
    """Id of the query that shows the details; empty for the sum of the other reasons."""
    parameters: Mapping[str, str]
    """Parameters of that query."""

    @property
    def line(self) -> str:
        """The text with the bytes: ``12 inputs are no longer donated: +245.9 MiB``."""
        return f"{self.text}: {_signed_bytes(self.growth_bytes)}"

    @property
    def command(self) -> str:
        """The command that shows the details; empty for the sum of the other reasons."""
        if not self.query:
            return ""
        options = [
            f"--{re.sub('[A-Z]', lambda found: '-' + found[0].lower(), name)} {shlex.quote(value)}"
            for name, value in self.parameters.items()
        ]
        return " ".join(["xlagraph query", self.query, *options])


def sentences_of(
    reasons: Sequence[Reason], names: tuple[str, str], reserved_bytes: tuple[int, int]
) -> tuple[Sentence, ...]:
    """Return the sentences that are worth telling, the most bytes first.

    ``names`` are those of the two sides, ``reserved_bytes`` what they reserve. What is left out
    is the last sentence, so that all of them add up to the growth.
    """
    growth = reserved_bytes[1] - reserved_bytes[0]
    least = max(_LEAST_SHARE * abs(growth), _LEAST_SHARE_OF_ALL * max(reserved_bytes), 1)
    ranked = sorted(reasons, key=lambda reason: (-abs(reason.growth_bytes), reason.subject))
    told = [
        reason
        for reason in ranked
        if abs(reason.growth_bytes) >= least or reason.subject.kind in _ALWAYS
    ][:_MOST]
    found = [_sentence(reason, names) for reason in told]
    rest = growth - sum(sentence.growth_bytes for sentence in found)
    if rest:
        found.append(Sentence("everything else", rest, "", {}))
    return tuple(found)


def _sentence(reason: Reason, names: tuple[str, str]) -> Sentence:
    query, parameters = _query(reason, names)
    return Sentence(_text(reason, names) + _mostly(reason), reason.growth_bytes, query, parameters)


def _text(reason: Reason, names: tuple[str, str]) -> str:
    kind, before, after, factor = reason.subject
    is_more = reason.growth_bytes > 0
    match kind:
        case Kind.UNDONATED | Kind.DONATED:
            verb = "no longer" if kind is Kind.UNDONATED else "now"
            return f"{_are(reason.count_a, 'input', verb)} donated{_placed(reason)}"
        case Kind.UNCHECKPOINTED:
            return f"checkpoint{_of(reason.scopes)} gone"
        case Kind.CHECKPOINTED:
            return f"checkpoint{_of(reason.scopes)} added"
        case Kind.DTYPE:
            return f"dtype of {_counted(reason.count_b, 'value')} is now {after}, was {before}"
        case Kind.SIZE:
            have = "has" if reason.count_b == 1 else "have"
            return f"{_counted(reason.count_b, 'value')} {have} {_times(factor)}{_shapes(reason)}"
        case Kind.SCOPE_NEW | Kind.SCOPE_GONE:
            word = "new" if kind is Kind.SCOPE_NEW else "gone"
            count = max(reason.count_a, reason.count_b)
            return f"{_folded(reason.scopes)} {word}, with {_counted(count, 'value')} at the peak"
        case Kind.COPIES:
            more = reason.count_b - reason.count_a
            if not more:
                return "other copies"
            noun = "copy" if abs(more) == 1 else "copies"
            return f"{abs(more):,} {noun} {'more' if more > 0 else 'fewer'}"
        case Kind.INPUTS | Kind.OUTPUTS | Kind.CONSTANTS:
            return _replaced(reason, kind.value.removesuffix("s"))
        case Kind.REPLACED:
            return _replaced(reason, "value") + " at the peak"
        case Kind.PADDING:
            more = "more" if is_more else "less"
            return f"{_counted(reason.count_b, 'value')} of the same shape with {more} padding"
        case Kind.PLACED:
            count = _counted(reason.count_b, "temporary value")
            return f"{count} {'out of' if is_more else 'moved into'} allocations of inputs or outputs"
        case Kind.PEAK:
            return f"same values, but {'more' if is_more else 'fewer'} of them live at the peak"
        case Kind.IDLE:
            return f"{'more' if is_more else 'less'} temporary memory idle at the peak"
        case Kind.FRAGMENTATION if reason.only_reason:
            return f"same values, packed {'worse' if is_more else 'better'}"
        case Kind.FRAGMENTATION:
            return f"{'more' if is_more else 'less'} fragmentation"
        case Kind.UNKNOWN:
            return "temporary memory, in dumps without live ranges"
        case Kind.UNPAIRED:
            only = [
                f"{_counted(count, 'compilation')} only in {name}"
                for count, name in zip((reason.count_a, reason.count_b), names, strict=True)
                if count
            ]
            return ", ".join(only)
        case Kind.OTHER:
            return f"{_counted(reason.count_b, 'other compilation')} changed less"


def _query(reason: Reason, names: tuple[str, str]) -> tuple[str, dict[str, str]]:
    """Return the id and the parameters of the query that shows the details."""
    sides = {"runA": names[0], "runB": names[1]}
    before, after = reason.compilations
    match reason.subject.kind:
        case Kind.UNDONATED:
            return "alias/not-donated", {"compilation": after}
        case Kind.DONATED:
            return "alias/donated", {"compilation": after}
        case Kind.UNCHECKPOINTED:
            return "lifetime/recomputed", {"compilation": before}
        case Kind.CHECKPOINTED:
            return "lifetime/recomputed", {"compilation": after}
        case Kind.COPIES:
            is_more = reason.count_b >= reason.count_a
            return "alias/copies", {"compilation": after if is_more else before}
        case Kind.SCOPE_NEW | Kind.SCOPE_GONE:
            return "compare/scopes", sides
        case Kind.PEAK | Kind.PLACED | Kind.REPLACED:
            return "compare/lines", sides
        case Kind.FRAGMENTATION:
            return "reuse/fragmentation", {"compilation": after}
        case Kind.IDLE | Kind.UNKNOWN:
            return "compare/causes", sides
        case Kind.UNPAIRED | Kind.OTHER:
            return "compare/modules", sides
        case _:
            return "compare/values", sides


def _mostly(reason: Reason) -> str:
    """Return the source line that has most of the growth, if there is such a line."""
    if reason.subject.kind in _WITHOUT_LINE or not reason.growth_bytes:
        return ""
    sign = 1 if reason.growth_bytes > 0 else -1
    lines = reason.growth_by_line.items()
    (file, line), growth = max(lines, key=lambda item: sign * item[1], default=(("", 0), 0))
    share = growth / reason.growth_bytes
    if share < _LEAST_SHARE_OF_LINE:
        return ""
    place = f"{PurePath(file).name}:{line}"
    return f" (mostly {place})" if share > 1 / 2 else f" (most at {place}, {_signed_bytes(growth)})"


def _placed(reason: Reason) -> str:
    if not reason.placed_bytes:
        return ""
    outputs = reason.growth_bytes - reason.placed_bytes
    if reason.subject.kind is Kind.UNDONATED:
        less = "less" if reason.placed_bytes < 0 else "and"
        return (
            f" ({human_bytes(abs(outputs))} of outputs, {less}"
            f" {human_bytes(abs(reason.placed_bytes))} of temporary values that share them)"
        )
    return (
        f" ({human_bytes(abs(outputs))} of outputs saved, temporary values"
        f" {_signed_bytes(reason.placed_bytes)})"
    )


def _replaced(reason: Reason, noun: str) -> str:
    if not reason.count_a:
        return f"{_counted(reason.count_b, f'new {noun}')}"
    if not reason.count_b:
        return f"{_are(reason.count_a, noun, 'gone')}"
    new = f"{reason.count_b:,} other{'' if reason.count_b == 1 else 's'}"
    return f"{_counted(reason.count_a, noun)} replaced by {new}"


def _of(scopes: set[str]) -> str:
    return f" of {_folded(scopes)}" if scopes - {""} else ""


def _folded(scopes: set[str]) -> str:
    """Return names, those that differ in their numbers once."""
    patterns: dict[str, list[str]] = {}
    for scope in sorted(scopes - {""}):
        patterns.setdefault(re.sub(r"\d+", "*", scope), []).append(scope)
    folded = [found[0] if len(found) == 1 else name for name, found in patterns.items()]
    more = len(folded) - _SCOPES_NAMED
    return ", ".join(folded[:_SCOPES_NAMED]) + (f" and {more} more" if more > 0 else "")


def _times(factor: float) -> str:
    if factor in (0.0, 1.0):
        return "another shape"
    if factor > 1:
        return f"{factor:g} times as many elements" if factor < 1000 else "more elements"
    share = Fraction(factor).limit_denominator(1000)
    return f"{share} of the elements" if share else "fewer elements"


def _shapes(reason: Reason) -> str:
    a, b = reason.example
    if a is None or b is None or a.shape.startswith("("):
        return ""
    return f", as {a.shape} → {b.shape}"


def _are(count: int, noun: str, what: str) -> str:
    return f"{_counted(count, noun)} {'is' if count == 1 else 'are'} {what}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _signed_bytes(growth_bytes: int) -> str:
    return f"{'+' if growth_bytes > 0 else ''}{human_bytes(growth_bytes)}"
