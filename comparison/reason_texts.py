"""Describe reasons in words."""

import re
from fractions import Fraction
from pathlib import PurePath
from typing import Final

from xlagraph.comparison.reasons import Reason, ReasonKind
from xlagraph.presentation.byte_sizes import counted, human_bytes, signed_bytes

__all__ = ["reason_text"]

_WITHOUT_LINE: Final = {
    ReasonKind.UNDONATED,
    ReasonKind.DONATED,
    ReasonKind.INPUTS,
    ReasonKind.OUTPUTS,
    ReasonKind.CONSTANTS,
}
_LOOP_NAMES: Final = {"while", "body", "closed_call"}
_SCOPES_NAMED: Final = 3
_LEAST_SHARE_OF_LINE: Final = 0.2


def reason_text(reason: Reason, names: tuple[str, str]) -> str:
    """Return a reason in words without its bytes, and the line with most of them.

    ``names`` are the names of the two sides.
    """
    return _text(reason, names) + _mostly(reason)


def _text(reason: Reason, names: tuple[str, str]) -> str:
    kind, before, after, factor = reason.subject
    is_more = reason.growth_bytes > 0
    match kind:
        case ReasonKind.UNDONATED | ReasonKind.DONATED:
            verb = "no longer" if kind is ReasonKind.UNDONATED else "now"
            return f"{_are(reason.count_a, 'input', verb)} donated{_placed(reason)}"
        case ReasonKind.UNCHECKPOINTED:
            return f"checkpoint{_of(reason.scopes)} gone"
        case ReasonKind.CHECKPOINTED:
            return f"checkpoint{_of(reason.scopes)} added"
        case ReasonKind.DTYPE:
            return f"dtype of {counted(reason.count_b, 'value')} is now {after}, was {before}"
        case ReasonKind.SIZE:
            have = "has" if reason.count_b == 1 else "have"
            return f"{counted(reason.count_b, 'value')} {have} {_times(factor)}{_shapes(reason)}"
        case ReasonKind.SCOPE_NEW | ReasonKind.SCOPE_GONE:
            word = "new" if kind is ReasonKind.SCOPE_NEW else "gone"
            values = counted(max(reason.count_a, reason.count_b), "value")
            return f"{_folded(reason.scopes)} {word}, with {values} at the peak"
        case ReasonKind.COPIES:
            return _copies(reason.count_b - reason.count_a)
        case ReasonKind.CASTS:
            return _casts(reason.count_b - reason.count_a, after)
        case ReasonKind.INPUTS | ReasonKind.OUTPUTS | ReasonKind.CONSTANTS:
            return _replaced(reason, kind.value.removesuffix("s"))
        case ReasonKind.REPLACED:
            return _replaced(reason, "value") + " at the peak"
        case ReasonKind.PADDING:
            padding = f"{'more' if is_more else 'less'} padding"
            return f"{counted(reason.count_b, 'value')} of the same shape with {padding}"
        case ReasonKind.PLACED:
            moved = f"moved {'out of' if is_more else 'into'} allocations of inputs or outputs"
            return f"{counted(reason.count_b, 'temporary value')} {moved}"
        case ReasonKind.PEAK:
            return f"same values, but {'more' if is_more else 'fewer'} of them live at the peak"
        case ReasonKind.IDLE:
            return f"{'more' if is_more else 'less'} temporary memory idle at the peak"
        case ReasonKind.FRAGMENTATION if reason.only_reason:
            return f"same values, packed {'worse' if is_more else 'better'}"
        case ReasonKind.FRAGMENTATION:
            return f"{'more' if is_more else 'less'} fragmentation"
        case ReasonKind.UNKNOWN:
            return "temporary memory, in dumps without live ranges"
        case ReasonKind.UNPAIRED:
            only = [
                f"{counted(count, 'compilation')} only in {name}"
                for count, name in zip((reason.count_a, reason.count_b), names, strict=True)
                if count
            ]
            return ", ".join(only)
        case ReasonKind.OTHER:
            return f"{counted(reason.count_b, 'other compilation')} changed less"


def _mostly(reason: Reason) -> str:
    """Return the source line with most of the growth; empty if no line has a fair share."""
    if reason.subject.kind in _WITHOUT_LINE or not reason.growth_bytes:
        return ""
    sign = 1 if reason.growth_bytes > 0 else -1
    lines = reason.growth_by_line.items()
    (file, line), growth = max(lines, key=lambda item: sign * item[1], default=(("", 0), 0))
    share = growth / reason.growth_bytes
    if share < _LEAST_SHARE_OF_LINE:
        return ""
    place = f"{PurePath(file).name}:{line}"
    return f" (mostly {place})" if share > 1 / 2 else f" (most at {place}, {signed_bytes(growth)})"


def _placed(reason: Reason) -> str:
    if not reason.placed_bytes:
        return ""
    outputs = reason.growth_bytes - reason.placed_bytes
    if reason.subject.kind is ReasonKind.UNDONATED:
        less = "less" if reason.placed_bytes < 0 else "and"
        return (
            f" ({human_bytes(abs(outputs))} of outputs, {less}"
            f" {human_bytes(abs(reason.placed_bytes))} of temporary values that share them)"
        )
    return (
        f" ({human_bytes(abs(outputs))} of outputs saved, temporary values"
        f" {signed_bytes(reason.placed_bytes)})"
    )


def _copies(more: int) -> str:
    if not more:
        return "other copies"
    noun = "copy" if abs(more) == 1 else "copies"
    return f"{abs(more):,} {noun} {'more' if more > 0 else 'fewer'}"


def _casts(more: int, dtype: str) -> str:
    if not more:
        return f"other values cast to {dtype}"
    noun = "value" if abs(more) == 1 else "values"
    return f"{abs(more):,} {'more' if more > 0 else 'fewer'} {noun} cast to {dtype} at the peak"


def _replaced(reason: Reason, noun: str) -> str:
    if not reason.count_a:
        return f"{counted(reason.count_b, f'new {noun}')}"
    if not reason.count_b:
        return f"{_are(reason.count_a, noun, 'gone')}"
    new = f"{reason.count_b:,} other{'' if reason.count_b == 1 else 's'}"
    return f"{counted(reason.count_a, noun)} replaced by {new}"


def _of(scopes: set[str]) -> str:
    """Return the place of checkpoints, without the names that a loop adds to its body."""
    named = {
        "/".join(name for name in scope.split("/") if name not in _LOOP_NAMES) for scope in scopes
    }
    if named - {""}:
        return f" of {_folded(named)}"
    return " in a loop" if scopes - {""} else ""


def _folded(scopes: set[str]) -> str:
    """Return names; those that differ only in their numbers become one pattern."""
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
    return f"{counted(count, noun)} {'is' if count == 1 else 'are'} {what}"
