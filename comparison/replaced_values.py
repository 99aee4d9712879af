"""Describe values that only one of two programs has, and the values that they replace."""

from math import prod

from xlagraph.comparison.argument_names import folded
from xlagraph.comparison.held_values import HeldValue, place
from xlagraph.comparison.reasons import CHECKPOINTS, FoundReasons, Reason, ReasonKind, Subject
from xlagraph.hlo.op_names import OF_ANY_LOOP, is_backward, primitive
from xlagraph.hlo.shapes import dimensions
from xlagraph.presentation.byte_sizes import counted


def join_scopes(reasons: FoundReasons) -> None:
    """Join values of a scope that only one side has with those of its line that replace them.

    Those of a checkpoint join it, wherever it recomputes them.
    """
    replacing = reasons.found.get(Subject(ReasonKind.REPLACED))
    if replacing is None:
        return
    for scope in list(reasons.found.values()):
        is_scope = scope.subject.kind in (ReasonKind.SCOPE_GONE, ReasonKind.SCOPE_NEW)
        is_there = scope.line == replacing.line is not None
        if is_scope and is_there and replacing.cancels(scope):
            replacing.join(reasons.found.pop(scope.subject))
        is_checkpoint = scope.subject.kind in CHECKPOINTS
        if is_checkpoint and scope.growth_bytes and scope.cancels(replacing):
            scope.absorb(reasons.found.pop(replacing.subject))
            return


def leave_out_numbers(reasons: FoundReasons) -> None:
    """Count no values of a side that has only single numbers, such as a TPU's semaphores."""
    for reason in reasons.found.values():
        if reason.subject.kind not in (ReasonKind.REPLACED, ReasonKind.STACKED):
            continue
        gone, new = reason.largest
        if gone and new and _is_number(gone) is not _is_number(new):
            if _is_number(gone):
                reason.count_a, reason.largest = 0, (None, new)
            else:
                reason.count_b, reason.largest = 0, (gone, None)


def _is_number(value: HeldValue) -> bool:
    sizes = dimensions(value.shape)
    return sizes is not None and prod(sizes) == 1


def stacked(reason: Reason) -> str:
    """Return how many stacks of loops only one program has, or which replace others."""
    if reason.count_a and reason.count_b:
        return f"{replaced(reason, 'value')} that loops stack"
    verb = "now" if reason.count_b else "no longer"
    values = counted(reason.count_a + reason.count_b, "more value" if reason.count_b else "value")
    return f"loops {verb} stack {values} of each iteration"


def replaced(reason: Reason, noun: str) -> str:
    """Return how many values are new, gone or replaced by others."""
    if not reason.count_a:
        return f"{counted(reason.count_b, f'new {noun}')}"
    if not reason.count_b:
        return f"{are(reason.count_a, noun, 'gone')}"
    new = f"{reason.count_b:,} other{'' if reason.count_b == 1 else 's'}"
    return f"{counted(reason.count_a, noun)} replaced by {new}"


def of_other_shape(reason: Reason) -> str:
    """Return what a routine makes instead of a value of another shape; empty for other values."""
    gone, new = reason.largest
    if not (gone and new and reason.count_a == reason.count_b == 1) or gone.target is None:
        return ""
    if (gone.target, gone.dtype) != (new.target, new.dtype) or gone.shape == new.shape:
        return ""
    at = f" ({_place(new)})" if has_own_lines(reason) else ""
    return f"{primitive(new.op_name)} now makes {new.shape}, {gone.shape} before{at}"


def largest(reason: Reason) -> str:
    """Return the largest value of the side with more bytes; that of both if their lines differ."""
    gone, new = reason.largest
    if gone and new and has_own_lines(reason):
        return (
            f", the largest gone is {_named(gone)} ({_place(gone)})"
            f", the largest new is {_named(new)} ({_place(new)})"
        )
    if (value := reason.largest[reason.growth_bytes > 0]) is None:
        return ""
    if reason.is_only_one_side:
        such_as = ":" if reason.count_a + reason.count_b == 1 else ", such as"
        return f"{such_as} {_named(value)}"
    return f", the largest {'new' if reason.growth_bytes > 0 else 'gone'} is {_named(value)}"


def largest_change(reason: Reason) -> str:
    """Return the value with the largest change, unless it is against the growth."""
    a, b = reason.example
    if a is None or b is None or (b.held_bytes > a.held_bytes) is not (reason.growth_bytes > 0):
        return ""
    return f", the largest is {_named(b)}"


def outputs(reason: Reason) -> str:
    """Return the change of the number of outputs, with the largest one."""
    more = reason.count_b - reason.count_a
    gone, new = reason.largest
    example = reason.example
    if None in example and gone and new and gone.held_bytes == new.held_bytes:
        example = (None, new) if more > 0 else (gone, None)
    # the table of a tuple has bytes, too, but is no output
    shown = {
        f"{value.shape}{' of the backward pass' if is_backward(value.op_name) else ''}"
        for value in example
        if value and value.shape[:1] != "("
    }
    such_as = f", such as {shown.pop()}" if len(shown) == 1 else ""
    sizes = [value.shape for value in (gone, new) if value and value.dtype != "tuple"]
    if reason.count_a == reason.count_b == 1 and len(set(sizes)) > 1:
        return f"the output is {sizes[1]} now, {sizes[0]} before"
    # the largest one can be new although there are fewer, or the reverse
    growth = reason.growth_bytes - reason.placed_bytes
    if not more or example[more > 0] is None or more * growth < 0:
        before = f", {reason.count_a:,} before" if more else ""
        moved = "now temporary" if reason.placed_bytes > 0 else "no longer temporary"
        such_as = f"{such_as}, which is {moved}" if reason.placed_bytes else such_as
        counts = counted(reason.count_b, "output")
        return f"{counts}{before}, some of other values{such_as}"
    share = f", whose bytes temporary values share{'' if more > 0 else 'd'}"
    values = counted(more, "new output") if more > 0 else are(-more, "output", "gone")
    return values + such_as + (share if reason.placed_bytes else "")


def read_by(reason: Reason) -> str:
    """Return the shape of the largest constant, and the line of its first reader."""
    if (value := reason.largest[reason.growth_bytes > 0]) is None:
        return ""
    read = f", read at {_place(value)}" if value.line else ""
    is_one = reason.is_only_one_side and reason.count_a + reason.count_b == 1
    return f"{': ' if is_one else ', the largest is '}{value.shape}{read}"


def has_own_lines(reason: Reason) -> bool:
    """Return True if values of one line replace those of another, so that none has the growth."""
    lines = [value and value.line for value in reason.largest]
    return (
        reason.subject.kind in (ReasonKind.REPLACED, ReasonKind.STACKED)
        and None not in lines
        and lines[0] != lines[1]
    )


def are(count: int, noun: str, what: str) -> str:
    """Return a count with its verb: ``1 input is gone``, ``2 inputs are gone``."""
    return f"{counted(count, noun)} {'is' if count == 1 else 'are'} {what}"


def in_brackets(names: set[str]) -> str:
    """Return names after what they belong to: ``3 inputs (o, p)``."""
    text = folded(names)
    return f" ({text})" if text else ""


def _place(value: HeldValue) -> str:
    return place(value.line) if value.line else ""


def _named(value: HeldValue) -> str:
    # the op name of a copy of an argument is the argument's name, such as params['a/b']
    is_op = "/" in (value.op_name or "").partition("[")[0]
    op = primitive(value.op_name) if is_op else value.opcode
    op = value.opcode if op in OF_ANY_LOOP else op
    # XLA writes (a/dot_general:b/dot_general) for an op that it made of two
    return f"{(op or '').rpartition('/')[2].strip('()')} {value.shape}"
