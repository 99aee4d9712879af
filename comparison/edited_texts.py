"""Describe the lines of a program that someone edited."""

from xlagraph.comparison.argument_names import folded
from xlagraph.comparison.loop_texts import turns
from xlagraph.comparison.own_lines import COMMON, COMPARING
from xlagraph.comparison.reasons import MORE, Reason
from xlagraph.presentation.byte_sizes import counted


def _shown(name: str) -> str:
    return f"einsum {name}" if "->" in name else name.lstrip("_")


def edited_text(reason: Reason) -> str:
    """Return which ops and functions a line has in one program only."""
    if reason.subject.before:
        more = reason.count_b - len(reason.scopes)
        lines = ", ".join(sorted(reason.scopes))
        lines += f" and {counted(more, 'more line')}" if more else ""
        when = "none before" if reason.subject.after == "new" else "none now"
        return f"gradients of {lines}, {when}"
    (at,) = reason.labels
    if reason.scopes == reason.inputs:
        return f"{at}: the same ops in another order"
    gone, new = (
        folded(_shown(name) for name in each - COMMON or each - COMPARING or each)
        for each in (reason.scopes, reason.inputs)
    )
    # the gradient of an activation needs a comparison, which no one edits
    if reason.is_replacement and COMPARING.issuperset(reason.scopes):
        gone = ""
    elif reason.is_replacement and COMPARING.issuperset(reason.inputs):
        new = ""
    loop = "".join(f"{turns(*each)}, with " for each in reason.turns)
    if gone and new:
        return f"{at}: {loop}{new} instead of {gone}"
    after = reason.subject.after
    if after.startswith(("to ", "from ")):
        return f"{at}: {loop}{new or gone} moved {after}"
    is_elsewhere = after == MORE
    if new:
        return f"{at}: {loop}{new} new{', besides others' if is_elsewhere else ''}"
    return f"{at}: {loop}{gone} gone{', others left' if is_elsewhere else ''}"
