"""Name code that one program has and the other has not, or less often."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Set
from typing import Final

from xlagraph.comparison.argument_names import pattern
from xlagraph.comparison.held_values import HeldValue, Reserved
from xlagraph.comparison.joined_reasons import Sides
from xlagraph.comparison.loop_turns import MAPPED
from xlagraph.comparison.reasons import CHECKPOINTS, FoundReasons, Reason, ReasonKind, Subject
from xlagraph.hlo.metadata import from_packages
from xlagraph.hlo.op_names import (
    OF_ANY_LOOP,
    has_all_transformations,
    is_backward,
    is_recomputed,
    primitive,
    stem,
)

_BACKWARD: Final = "the backward pass"
GRADIENT_OF_GRADIENT: Final = re.compile(r"jvp\((?:vmap\()*transpose\((?:vmap\()*jvp\(")
"""Part of the op names of second derivatives."""
_OF_CUSTOM: Final = "gradients in a custom backward pass"
_IN_FORWARD: Final = re.compile(
    r"(?<!transpose\()(?<!transpose\(vmap\()" + GRADIENT_OF_GRADIENT.pattern
)
"""Part of the op names of a gradient that a forward pass takes, unlike `jax.custom_vjp`."""
TRANSFORMATIONS: Final[Mapping[str, re.Pattern[str]]] = {
    _BACKWARD: re.compile(r"transpose\((?:vmap\()*jvp\(|gradient_tape/"),
    _OF_CUSTOM: re.compile(r"transpose\((?:vmap\()*" + GRADIENT_OF_GRADIENT.pattern),
    # also of a Hessian, which is a gradient for many directions at once
    "the gradient of a gradient": GRADIENT_OF_GRADIENT,
    # of a gradient that the forward pass of both programs has
    "the backward pass of a gradient": re.compile(r'transpose\([^";\n]*transpose\('),
    MAPPED: re.compile(r"vmap\("),
}
"""Transformations, with the parts of op names that they make."""
OF_GRADIENTS: Final = frozenset(TRANSFORMATIONS) - {MAPPED}
"""Names of the transformations that make gradients."""
_OTHER_MARKS: Final[Mapping[str, re.Pattern[str]]] = {
    # a gradient within a loop of which another gradient is taken: jvp()/while/body/transpose(jvp())
    "the gradient of a gradient": re.compile(r'jvp\([^";\n]*jvp\('),
}
"""Other parts of op names that show the same transformation."""
_MARKS_OF_BOTH: Final[Mapping[str, re.Pattern[str]]] = {
    "the backward pass of a gradient": re.compile(
        r'(?<!transpose\()jvp\((?:(?!transpose\(jvp)[^";\n])*transpose\('
    ),
}
"""Parts of op names that both programs must have."""
_LEAST_SHARES: Final[Mapping[str, float]] = {
    _BACKWARD: 0.05,
    _OF_CUSTOM: 0.0,
    "the gradient of a gradient": 0.0,
    "the backward pass of a gradient": 0.0,
}
"""Share of all values that a transformation must make, if a small part of a program has it."""
_DIFFERENTIATED: Final = re.compile(r"\bjvp\(")
"""Part of the op names of a forward pass that has a backward pass."""
SAY_MORE: Final = frozenset((*CHECKPOINTS, ReasonKind.NARROWED))
"""Kinds of edits that say more than the library that makes checkpoints or casts."""
_MADE_BY_CODE: Final = (ReasonKind.COPIES, ReasonKind.REPLACED, ReasonKind.STACKED)
_KEPT_FOR_CODE: Final = (ReasonKind.LOOPED, ReasonKind.STACKED)
"""Kinds of values that loops keep for new gradients, or compute for them."""
_LEAST_MORE: Final = 5
_LEAST_SHARE_MORE: Final = 0.25
"""Minimum number and share of values that known code makes more, so that another fusion is none."""
_LEAST_FACTOR: Final = 2
"""Instructions of a backward pass, divided by those of one that stops gradients, relative to the
forward passes."""


def name_new_code(sides: Sides, reasons: FoundReasons) -> None:
    """Name transformations, else files of libraries, or else ops, that one side has more of.

    New code becomes a part of a reason, unless it is ops, if it makes at least half of its values.
    """
    # without fusions, a program has the instructions that were in them
    has_other_fusions = any(
        each.subject.kind is ReasonKind.FUSED for each in reasons.found.values()
    )
    is_unrolled = any(each.kind is ReasonKind.UNROLLED for each in reasons.found)
    for is_new, less, more in ((True, sides.a, sides.b), (False, sides.b, sides.a)):
        code = _transformation_of_one(less, more, is_new=is_new)
        library = _more_code(less, more, _library_file, is_new=is_new)
        # a library may use `jax.vmap` in its own code
        if code is None or (library and MAPPED in code.scopes and _makes(library, code)):
            code = library
        if not is_unrolled:  # whose steps have more gradients
            code = code or _more_gradients(less, more, is_new=is_new)
        of_library = code is not None
        if not has_other_fusions:
            code = code or _more_code(less, more, _last_names, is_new=is_new)
        # a loop that replaces `jax.vmap` says more
        is_said = any(MAPPED in each for each in reasons.found)
        if code is None or (is_said and MAPPED in code.scopes):
            continue
        kept = _kept_for(code, less, more)
        made = [
            reason
            for kinds, labels in ((_MADE_BY_CODE, code.labels), (_KEPT_FOR_CODE, kept))
            for reason in reasons.found.values()
            if of_library and reason.subject.kind in kinds and _is_of(reason, labels, is_new=is_new)
        ]
        if made:  # said once
            max(made, key=lambda reason: abs(reason.growth_bytes)).code = code
        else:
            is_named = of_library or _has_own_scopes(code, less)
            code.subject = code.subject._replace(before="" if is_named else "ops")
            reasons.found[code.subject] = code


def _makes(code: Reason, other: Reason) -> bool:
    """Return True if code makes at least half of the values of other code."""
    return 2 * len(code.labels & other.labels) >= len(other.labels)


def _has_own_scopes(code: Reason, less: Reserved) -> bool:
    """Return True if the other program has none of the scopes of ops, such as ``ij,jk->ik``."""
    scopes = {name.partition("/")[0] for name in code.scopes}
    return (
        bool(less.mentions.op_names)
        and scopes.isdisjoint(OF_ANY_LOOP)
        and not any(scope in less.mentions for scope in scopes)
    )


def _transformation_of_one(less: Reserved, more: Reserved, *, is_new: bool) -> Reason | None:
    """Return what only one side has, if it makes a fair share of the values: vmap, gradients."""
    computed = {value.name for value in more.values if value.is_computed}
    if not has_all_transformations(value.op_name for value in less.values):
        return None
    for name, mark in TRANSFORMATIONS.items():
        of_both = _MARKS_OF_BOTH.get(name)
        is_other = of_both is not None and not (
            less.mentions.has(of_both) and more.mentions.has(of_both)
        )
        is_other |= name == _OF_CUSTOM and more.mentions.has(_IN_FORWARD)
        if is_other or less.mentions.has(_OTHER_MARKS.get(name, mark)):
            continue

        def name_of(value: HeldValue, name: str = name, mark: re.Pattern[str] = mark) -> str | None:
            return name if mark.search(value.op_name or "") else None

        code = _more_code(less, more, name_of, is_new=is_new)
        least = _LEAST_SHARES.get(name, _LEAST_SHARE_MORE) * len(computed)
        if code and code.count_a + code.count_b >= least:
            return code
    return None


def _more_gradients(less: Reserved, more: Reserved, *, is_new: bool) -> Reason | None:
    """Return the backward pass if one side has most of it only, for the same forward pass.

    The other one stops gradients, such as those of frozen weights.
    """
    (forward, backward), (forward_more, backward_more) = map(_passes, (less, more))
    both = forward.keys() & forward_more.keys()
    is_same = 2 * len(both) > len(forward.keys() | forward_more.keys())
    # fusions compute values of the forward pass several times for the backward pass
    factor = _LEAST_FACTOR * max(1.0, forward_more.total() / (forward.total() or 1))
    if not is_same or not 0 < factor * backward.total() <= backward_more.total():
        return None
    few, many = (
        [value for value in _computed(side) if is_backward(value.op_name)] for side in (less, more)
    )
    code = Reason(Subject(ReasonKind.NEW_CODE, after="new" if is_new else "gone"))
    sides = (few, many) if is_new else (many, few)
    code.count_a, code.count_b = map(len, sides)
    code.scopes, code.labels = {_BACKWARD}, {value.label for value in many}
    return code if _is_more(len(few), len(many)) else None


def _passes(side: Reserved) -> tuple[Counter[str], Counter[str]]:
    """Return how many instructions have each name of the forward and of the backward pass."""
    passes: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for name, count in side.mentions.op_names.items():
        if not is_recomputed(name):
            passes[is_backward(name)][name] += count
    return passes


def _more_code(
    less: Reserved, more: Reserved, name_of: Callable[[HeldValue], str | None], *, is_new: bool
) -> Reason | None:
    before, after = (
        Counter(
            name
            for _, name in {
                (value.name, name_of(value)) for value in side.values if value.is_computed
            }
            if name
        )
        for side in (less, more)
    )
    # what was in a fusion is not new, and without a fusion it is not more often
    names = {name for name in after if not before[name] and name not in less.mentions}
    if name_of is _last_names:
        names -= _moved(less, more)
    if not names and name_of is _last_names:
        more_often = {
            name: after[name] - count
            for name, count in before.items()
            if _is_more(count, after[name])
            and _is_more(less.mentions.count(name), more.mentions.count(name))
        }
        most = max(more_often.values(), default=0)
        names = {name for name, count in more_often.items() if count >= most / 2}
    if not names:
        return None
    code = Reason(Subject(ReasonKind.NEW_CODE, after="new" if is_new else "gone"))
    # a loop's stack may be a parameter of its body
    made = [
        value
        for value in more.values
        if (value.is_computed or value.stack_turns) and name_of(value) in names
    ]
    code.scopes, code.labels = names, {value.label for value in made}
    counts = sum(before[name] for name in names), sum(after[name] for name in names)
    code.count_a, code.count_b = counts if is_new else counts[::-1]
    return code


def _moved(less: Reserved, more: Reserved) -> set[str]:
    """Return last names of ops that the other program computes at the same place as often.

    They are in another scope, such as a function that a newer library compiles on its own.
    """
    places: list[Counter[tuple[str, int, str]]] = [
        Counter(place for value in _computed(side) if (place := _place(value)))
        for side in (less, more)
    ]
    before, after = places
    return {
        name
        for value in _computed(more)
        if (name := _last_names(value))
        and (place := _place(value))
        and before[place] >= after[place]
    }


def _computed(side: Reserved) -> list[HeldValue]:
    return list({value.name: value for value in side.values if value.is_computed}.values())


def _place(value: HeldValue) -> tuple[str, int, str] | None:
    """Return the line and primitive of an op; of an installed package, only its name."""
    if value.source_line is None:
        return None
    file, line = value.source_line
    installed = from_packages(file)
    package = installed.partition("/")[0] if installed != file else ""
    return package or file, 0 if package else line, primitive(value.op_name) or ""


def _is_more(before: int, after: int) -> bool:
    return after - before >= max(_LEAST_MORE, _LEAST_SHARE_MORE * before)


def _kept_for(code: Reason, less: Reserved, more: Reserved) -> set[str]:
    """Return the labels of a gradient, and of what its forward pass stacks for it.

    All of the forward pass if the other program has none; empty for code that is no gradient.
    """
    if OF_GRADIENTS.isdisjoint(code.scopes):
        return set()
    if _BACKWARD not in code.scopes:
        return code.labels
    is_of_one = not less.mentions.has(_DIFFERENTIATED)
    return code.labels | {
        value.label
        for value in more.values
        if (is_of_one or value.is_stack) and _DIFFERENTIATED.search(value.op_name or "")
    }


def _is_of(reason: Reason, labels: Set[str], *, is_new: bool) -> bool:
    """Return True if at least half of a reason's bytes are of values of one side."""
    if not reason.growth_bytes or (reason.growth_bytes > 0) is not is_new:
        return False
    bytes_ = sum(reason.growth_by_label[is_new, label] for label in labels)
    return bytes_ / reason.growth_bytes >= 1 / 2


def _library_file(value: HeldValue) -> str | None:
    if value.line is None or value.source_line in (None, value.user_line):
        return None
    return from_packages(value.source_line[0])


def _last_names(value: HeldValue) -> str | None:
    """Return the last scope and the primitive of a value's op, with `*` for numbers.

    None for what every loop has.
    """
    is_one = "/" in (value.op_name or "") and ";" not in (value.op_name or "")
    names = stem(value.op_name)[-2:] if is_one else ()
    is_of_any_loop = OF_ANY_LOOP.issuperset(names)
    return pattern("/".join(names)) if len(names) == 2 and not is_of_any_loop else None
