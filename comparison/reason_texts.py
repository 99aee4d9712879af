"""Describe reasons in words."""

from typing import Final

from xlagraph.comparison.argument_names import folded
from xlagraph.comparison.called_functions import called_text
from xlagraph.comparison.compilers import compiler_text
from xlagraph.comparison.edited_texts import edited_text
from xlagraph.comparison.held_values import SourceLine, place
from xlagraph.comparison.library_calls import LIBRARIES
from xlagraph.comparison.loop_texts import (
    changed_numbers,
    looped,
    repeated,
    shapes,
    times,
    turns,
    unrolled,
)
from xlagraph.comparison.reasons import MORE, Reason, ReasonKind
from xlagraph.comparison.replaced_values import (
    are,
    has_own_lines,
    in_brackets,
    largest,
    largest_change,
    of_other_shape,
    outputs,
    read_by,
    replaced,
    stacked,
)
from xlagraph.hlo.op_names import OF_ANY_LOOP
from xlagraph.presentation.byte_sizes import counted, human_bytes, signed_bytes

_WITHOUT_LINE: Final = {
    ReasonKind.UNDONATED,
    ReasonKind.DONATED,
    ReasonKind.INPUTS,
    ReasonKind.REPEATED,
    ReasonKind.CONSTANTS,
    ReasonKind.UNROLLED,
}
_OF_TRANSFORMATIONS: Final = {
    "while": "a loop",
    "checkpoint": "a checkpoint",
    "rematted_computation": "what a checkpoint recomputes",
}
"""Names of scopes that JAX adds."""
_OF_ANY_PART: Final = OF_ANY_LOOP | {"shard_map"}
"""Names that JAX adds to the ops of every loop, and to those of one device."""
_LEAST_SHARE_OF_LINE: Final = 0.2


def reason_text(reason: Reason, names: tuple[str, str]) -> str:
    """Return a reason in words without its bytes, and the line with most of them.

    ``names`` are the names of the two sides.
    """
    if not reason.cause:
        code = f"{_code(reason.code)}; " if reason.code else ""
        return code + _text(reason, names) + ("" if has_own_lines(reason) else _mostly(reason))
    less = "less than before: " if reason.cause_remains else "no longer: "
    before = "" if (reason.placed_bytes or reason.growth_bytes) > 0 else less
    return f"{before}{reason.cause}; {_text(reason, names)}"


def _text(reason: Reason, names: tuple[str, str]) -> str:
    kind, before, after = reason.subject
    is_more = reason.growth_bytes > 0
    match kind:
        case ReasonKind.UNDONATED | ReasonKind.DONATED if any(reason.of):
            count, which = reason.count_a, "a donated input" if reason.count_a == 1 else "inputs"
            of = f"in the bytes of {which}{in_brackets(reason.inputs)}{_placed(reason)}"
            new = f"{counted(count, 'new output')} {of}"
            return new if reason.of[1] else f"{are(count, 'output', 'gone')}, {of}"
        case ReasonKind.UNDONATED | ReasonKind.DONATED:
            verb = "no longer" if kind is ReasonKind.UNDONATED else "now"
            inputs = in_brackets(reason.inputs)
            return f"{are(reason.count_a, 'input', verb)} donated{inputs}{_placed(reason)}"
        case ReasonKind.PLATFORM | ReasonKind.VERSION:
            return compiler_text(reason.subject)
        case ReasonKind.UNCHECKPOINTED:
            return f"checkpoint{_of(reason.scopes)} gone"
        case ReasonKind.CHECKPOINTED:
            return f"checkpoint{_of(reason.scopes)} added"
        case ReasonKind.DTYPE:
            return f"dtype of {_typed(reason)} is now {after}, was {before}"
        case ReasonKind.NARROWED:
            return _narrowed(reason, before or after)
        case ReasonKind.NEW_CODE:
            return _code(reason)
        case ReasonKind.CALLED:
            return called_text(reason)
        case ReasonKind.EDITED:
            return edited_text(reason)
        case ReasonKind.COLLECTIVES:
            return f"collectives: {', '.join(sorted(reason.scopes))}"
        case ReasonKind.SIZE:
            return _sizes(reason)
        case ReasonKind.SPLIT:
            return f"split over {after} devices, was {before}: {_sizes(reason)}"
        case ReasonKind.AGAIN:
            return repeated(reason)
        case ReasonKind.LOOPED:
            return looped(reason)
        case ReasonKind.UNROLLED:
            return unrolled(reason)
        case ReasonKind.TURNS:
            of_turns = [turns(*each) for each in sorted(reason.turns)]
            return f"{'; '.join(of_turns[:2])} ({', '.join(sorted(reason.scopes)[:2])})"
        case ReasonKind.FUSED:
            return _fused(reason)
        case ReasonKind.ORDER:
            less, what = ("less", after) if after else ("fewer", "of them are live together")
            amount = f"{'mostly ' if after else ''}{'more' if is_more else less}"
            return f"same values, other order: {amount} {what}"
        case ReasonKind.LIBRARY:
            return _library(reason, after)
        case ReasonKind.REPEATED:
            return _repeated(reason)
        case ReasonKind.SCOPE_NEW | ReasonKind.SCOPE_GONE:
            scopes = folded({_OF_TRANSFORMATIONS.get(each, each) for each in reason.scopes})
            when = ("at the peak, none before", "gone, none left")
            if before == MORE and "*" in scopes:
                when = ("at the peak, besides others", "gone, others left")
            values = counted(max(reason.count_a, reason.count_b), "value")
            return f"{values} of {scopes} {when[kind is ReasonKind.SCOPE_GONE]}"
        case ReasonKind.COPIES:
            return _copies(reason)
        case ReasonKind.CASTS:
            return _casts(reason.count_b - reason.count_a, after)
        case ReasonKind.OUTPUTS:
            return outputs(reason)
        case ReasonKind.INPUTS:
            return _inputs(reason)
        case ReasonKind.CONSTANTS:
            return replaced(reason, "constant") + read_by(reason)
        case ReasonKind.STACKED:
            return f"{stacked(reason)}{_kept(after)}{largest(reason)}"
        case ReasonKind.REPLACED:
            values = f"{replaced(reason, 'value')} at the peak{_kept(after)}{largest(reason)}"
            return of_other_shape(reason) or values
        case ReasonKind.PADDING:
            padding = f"{'more' if is_more else 'less'} padding"
            return f"{counted(reason.count_b, 'value')} of the same shape with {padding}"
        case ReasonKind.REUSED:
            verb = "no longer" if is_more else "now"
            return f"{counted(reason.count_b, 'output')} {verb} in the bytes of inputs"
        case ReasonKind.PLACED:
            verb = "no longer in" if is_more else "now in"
            values = counted(reason.count_b, "temporary value")
            return f"{values} {verb} the bytes of inputs or outputs"
        case ReasonKind.SPACE:
            values = counted(reason.count_b, "value")
            return f"{values} {'no longer' if is_more else 'now'} in another memory space"
        case ReasonKind.PEAK:
            share = reason.recomputed_bytes / (reason.growth_bytes or 1)
            recomputed = ", mostly what a checkpoint recomputes" if share > 1 / 2 else ""
            more = "more" if is_more else "fewer"
            such_as = "" if _mostly(reason) else largest_change(reason)
            return f"same values, but {more} of them live at the peak{recomputed}{such_as}"
        case ReasonKind.IDLE:
            return f"{'more' if is_more else 'less'} temporary memory idle at the peak"
        case ReasonKind.FRAGMENTATION if reason.only_reason:
            return f"same values, packed {'worse' if is_more else 'better'}"
        case ReasonKind.FRAGMENTATION:
            return f"{'more' if is_more else 'less'} fragmentation"
        case ReasonKind.UNKNOWN:
            return "temporary memory, in dumps without live ranges"
        case ReasonKind.UNPAIRED:
            counts, modules = (reason.count_a, reason.count_b), (reason.scopes, reason.inputs)
            return ", ".join(
                f"{counted(count, 'compilation')} only in {name}{in_brackets(of)}"
                for count, name, of in zip(counts, names, modules, strict=True)
                if count
            )
        case ReasonKind.OTHER:
            return f"{counted(reason.count_b, 'other compilation')} changed less"


def _code(reason: Reason) -> str:
    """Return how many values code makes on the side that has more of them."""
    before, after, is_new = reason.count_a, reason.count_b, reason.subject.after == "new"
    names = folded(reason.scopes)
    if is_new:
        more = f"{before:,} before" if before else "none before"
        return f"{counted(after, 'value')} made by {names}, {more}"
    left = f"{after:,} now" if after else "none now"
    return f"{counted(before, 'value')} made by {names} before, {left}"


def _mostly(reason: Reason) -> str:
    """Return the source line with most of the growth; empty if no line has a fair share."""
    line = reason.line
    if reason.subject.kind in _WITHOUT_LINE or not reason.growth_bytes or line is None:
        return ""
    growth = reason.growth_by_line[line]
    share = growth / reason.growth_bytes
    if share < _LEAST_SHARE_OF_LINE:
        return ""
    at = f"{place(line)}{_called(reason, line, growth)}"
    return f" (mostly {at})" if share > 1 / 2 else f" (most at {at}, {signed_bytes(growth)})"


def _called(reason: Reason, user_line: SourceLine, growth_bytes: int) -> str:
    """Return the library's line with most of the growth of a user's line; empty if none has."""
    for (line, called), growth in reason.growth_by_library_line.items():
        if line == user_line and growth / growth_bytes > 1 / 2:
            return f" → {place(called)}"
    return ""


def _placed(reason: Reason) -> str:
    outputs = reason.growth_bytes - reason.placed_bytes
    if not reason.placed_bytes or not outputs:
        return ", which temporary values share" if reason.placed_bytes and any(reason.of) else ""
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


def _copies(reason: Reason) -> str:
    more = reason.count_b - reason.count_a
    if not more or (more > 0) is not (reason.growth_bytes > 0):
        return f"other copies at the peak ({reason.count_b:,} in all, {reason.count_a:,} before)"
    noun = "copy" if abs(more) == 1 else "copies"
    return f"{abs(more):,} {noun} {'more' if more > 0 else 'fewer'}"


def _inputs(reason: Reason) -> str:
    """Return how many inputs only one side has, with their names."""
    new, gone = map(folded, (reason.inputs, reason.scopes))
    more = reason.count_b - reason.count_a
    if new and new == gone and more:  # places in a list, after which others follow
        which = "new" if more > 0 else "fewer"
        return f"{counted(abs(more), f'{which} input')}: {new}"
    named = f": {new}" if new else ""
    which = "; new names:" if reason.count_a else "; gone names:"
    which = " instead of" if new and not reason.is_only_one_side else which
    return replaced(reason, "input") + named + (f"{which} {gone}" if gone else "")


def _typed(reason: Reason) -> str:
    """Return how many inputs and values changed their type, with the names of the inputs."""
    if not reason.input_count:
        return counted(reason.count_b, "value")
    inputs = counted(reason.input_count, "input") + in_brackets(reason.inputs)
    others = reason.count_b - reason.input_count
    return f"{inputs} and {counted(others, 'value')}" if others > 0 else inputs


def _sizes(reason: Reason) -> str:
    have = "has" if reason.count_b == 1 else "have"
    values = f"{counted(reason.count_b, 'value')} {have} {times(reason.factors)}{shapes(reason)}"
    if reason.input_example is None:
        if reason.first and reason.first.line and reason.first.line != reason.line:
            values += f", the first at {place(reason.first.line)}"
        if len(reason.turns) != 1 or reason.subject.kind is ReasonKind.SPLIT:
            return changed_numbers(reason) + values
        return f"{turns(*next(iter(reason.turns)))}: {values}"
    a, b = reason.input_example
    split = f" (sharding {a.sharding} → {b.sharding})" if reason.is_resharded else ""
    others = ", with those of the changed checkpoint" if reason.scopes else ""
    inputs = f"{b.op_name or b.name} {a.shape} → {b.shape}{split}", *reason.inputs
    return f"{'; '.join(inputs)}: {values}{others}"


def _narrowed(reason: Reason, dtype: str) -> str:
    """Return how many values have an element type, with what replaces the others."""
    count, of = (reason.count_b or reason.count_a), reason.of[bool(reason.count_b)]
    when = "now, none before" if reason.count_b else "before, none now"
    values = f"{count:,} of {counted(of, 'computed value')} in {dtype} {when}"
    at = "" if reason.growth_bytes else "".join(f" (mostly {line})" for line in reason.labels)
    return f"{values}, with casts and what they replace{at}"


def _library(reason: Reason, name: str) -> str:
    flag = LIBRARIES[name].flag
    turned_off = f" (XLA_FLAGS={flag} turns it off)" if flag else ""
    calls = max(reason.count_a, reason.count_b)
    if reason.count_b:
        return f"{name} now makes {counted(calls, 'value')}{turned_off}"
    return f"{name} no longer makes {counted(calls, 'value')}{turned_off}"


def _kept(by: str) -> str:
    return ", which the policy of a checkpoint keeps" if by else ""


def _fused(reason: Reason) -> str:
    before, after = reason.count_a, reason.count_b
    counts = f"{after:,} fusions of several instructions now" if after else "no fusion of several"
    counts += ", none before" if after else f" instructions now, {before:,} before"
    return f"{counts}, with what they replace"


def _repeated(reason: Reason) -> str:
    inputs = f"{counted(reason.input_count, 'input')} of a repeated part"
    more = f"{folded(reason.inputs)} {'new' if reason.growth_bytes > 0 else 'gone'}, with {inputs}"
    values = max(reason.count_a, reason.count_b)
    return f"{more} and {counted(values, 'value')} at the peak" if values else more


def _casts(more: int, dtype: str) -> str:
    if not more:
        return f"other values cast to {dtype}"
    values = counted(abs(more), "more value" if more > 0 else "fewer value")
    return f"{values} cast to {dtype} at the peak"


def _of(scopes: set[str]) -> str:
    """Return the place of checkpoints, without names that say nothing of the program's parts."""
    parts = [scope.split("/") for scope in scopes]
    named = {"/".join(name for name in each if name not in _OF_ANY_PART) for each in parts}
    if named - {""}:
        return f" of {folded(named)}"
    return " in a loop" if any(not OF_ANY_LOOP.isdisjoint(each) for each in parts) else ""
