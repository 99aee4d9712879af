"""Tell whether two programs come from other compilers: of another platform, or another JAX.

Which ops, scopes and functions are left of a program then follows from the compiler, too, so that
a difference of those is no edit of the program.
"""

from typing import Final

from xlagraph.comparison.held_values import Reserved
from xlagraph.comparison.reasons import FoundReasons, ReasonKind, Subject

_OF_JAX: Final = "jit("
"""Beginning of the op names of a program of JAX."""
_MAIN: Final = "/jit(main)/"
"""Scope in all op names of a program, as JAX named it up to 0.6."""
_BODIES: Final = "/closed_call/", "/eval_jaxpr/"
"""Scopes in which JAX calls the body of a loop: from 0.7 to 0.10, and in 0.12."""


def name_platform(sides: tuple[Reserved, Reserved], reasons: FoundReasons) -> bool:
    """Name the platforms if they differ; return True then: their libraries differ, too."""
    before, after = (side.platform for side in sides)
    if before is None or after is None or before == after:
        return False
    reasons.of(ReasonKind.PLATFORM, before=before, after=after)
    return True


def name_version(sides: tuple[Reserved, Reserved], reasons: FoundReasons) -> bool:
    """Name the scopes of which one version of JAX has one, and the other the other one.

    Return True then. Two versions without such a scope are not told apart.
    """
    a, b = ([name for name in side.mentions.op_names if name.startswith(_OF_JAX)] for side in sides)
    if not a or not b:
        return False
    has_main = [all(_MAIN in name for name in side) for side in (a, b)]
    bodies = [{mark for mark in _BODIES if any(mark in name for name in side)} for side in (a, b)]
    if has_main[0] is not has_main[1]:
        before, after = (_MAIN if each else "" for each in has_main)
    elif len(bodies[0]) == len(bodies[1]) == 1 and bodies[0] != bodies[1]:
        (before,), (after,) = bodies
    else:
        return False
    reasons.of(ReasonKind.VERSION, before=before.strip("/"), after=after.strip("/"))
    return True


def compiler_text(subject: Subject) -> str:
    """Return what differs, in words."""
    kind, before, after = subject
    if kind is ReasonKind.PLATFORM:
        return f"compiled for {after}, was {before}"
    now = f"{after} in op names now" if after else f"no {before} in op names now"
    was = f", {before} before" if before and after else ""
    return f"traced by another version of JAX ({now}{was})"
