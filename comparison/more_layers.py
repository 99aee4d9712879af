"""Name the layers of which one program has more, where inputs have only numbers for names.

    jit(step)/jvp(conv2d)/add, jit(step)/jvp(conv2d_1)/add     of one program
    jit(step)/jvp(conv2d)/add                                  of the other one

Keras numbers the layers of one class, but gives a compiled step its weights as a list.
"""

import re
from collections import Counter
from typing import Final

from xlagraph.comparison.held_values import Reserved, ReservedPart
from xlagraph.comparison.reasons import FoundReasons, ReasonKind, Subject
from xlagraph.hlo.op_names import scope_names

LAYERS: Final = "layers"
"""Marks a reason that says of which layers one program has more (CALLED)."""
_NUMBER: Final = re.compile(r"_\d+$")
_OF_TREE: Final = re.compile(r"\['|\.[a-z]")
"""Part of the name of an input that says what it is."""
_MOST: Final = 4


def name_more_layers(sides: tuple[Reserved, Reserved], reasons: FoundReasons) -> None:
    """Name layers by their class and how many are more, if one program has more of all others."""
    known = [
        value.op_name
        for side in sides
        for value in side.values
        if value.part is ReservedPart.INPUTS and _OF_TREE.search(value.op_name or "")
    ]
    if known or Subject(ReasonKind.INPUTS) not in reasons.found:
        return
    scopes_a, scopes_b = map(_scopes, sides)
    classes = {_NUMBER.sub("", each) for each in scopes_a | scopes_b if _NUMBER.search(each)}
    before, after = (
        Counter(name for each in scopes if (name := _NUMBER.sub("", each)) in classes)
        for scopes in (scopes_a, scopes_b)
    )
    names = before.keys() & after.keys()
    more = {name: after[name] - before[name] for name in names if after[name] != before[name]}
    if before.keys() ^ after.keys() or len({number > 0 for number in more.values()}) != 1:
        return
    reason = reasons.of(ReasonKind.CALLED, before=LAYERS)
    for name, number in more.items():
        (reason.inputs if number > 0 else reason.scopes).add(f"{abs(number)} {name}")


def _scopes(side: Reserved) -> set[str]:
    return {scope for name in side.mentions.op_names for scope in scope_names(name)[:-1]}


def more_layers_text(gone: set[str], new: set[str]) -> str:
    """Return the layers, those of which most are more or fewer first."""
    found = sorted(gone or new, key=lambda each: (-int(each.partition(" ")[0]), each))
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return f"{'fewer' if gone else 'more'} layers: {', '.join(found[:_MOST])}{more}"
