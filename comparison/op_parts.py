"""Split op names, to recognize one op in two programs that name it differently."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby, takewhile
from typing import Final

__all__ = [
    "has_checkpoint",
    "names_before_checkpoint",
    "own_op_name",
    "primitive",
    "scope_names",
    "stem",
]

_WRAPPED: Final = re.compile(r"[A-Za-z_]\w*\((?P<inner>.*)\)", re.DOTALL)
_FUNCTION: Final = re.compile(r"(?:jit|pjit|pmap|xmap)\(.*\)", re.DOTALL)
_OTHER_VERSIONS: Final = (
    ("/jit(main)", ""),
    ("/closed_call", ""),
    ("/jit(dynamic_index_in_dim)", ""),
    ("/jit(dynamic_update_index_in_dim)", ""),
    ("(while)))", "()))/while"),
    ("(while))", "())/while"),
    ("(while)", "()/while"),
)
"""Parts of op names that JAX versions write differently, and their replacements, in order."""
CHECKPOINT_NAMES: Final = frozenset({"checkpoint", "remat", "remat2", "rematted_computation"})
"""Parts of op names that `jax.checkpoint` adds."""


def own_op_name(op_name: str | None) -> str | None:
    """Return an op name without the name of the compiled function, which may change.

    ``jit(f)/jit(main)/mul`` of older JAX and ``jit(f)/mul`` of newer are both ``mul``;
    ``jvp(while)/body/mul`` and ``jvp()/while/body/closed_call/mul`` are both
    ``jvp()/while/body/mul``.
    """
    if op_name is None:
        return None
    for part, same in _OTHER_VERSIONS:
        op_name = op_name.replace(part, same)
    parts = _split(op_name)
    return "/".join(parts[1:] if len(parts) > 1 and _FUNCTION.fullmatch(parts[0]) else parts)


@cache
def scope_names(op_name: str | None) -> tuple[str, ...]:
    """Return the scopes and the primitive of an op name, outermost first, without transformations.

    ``jit(f)/transpose(jvp(layer_0))/mlp/mul`` has ``layer_0``, ``mlp`` and ``mul``.
    """
    own = own_op_name(op_name)
    if own is None:
        return ()
    names = []
    for part in _split(own):
        while found := _WRAPPED.fullmatch(part):
            part = found["inner"]
        if part:
            names.append(part)
    return tuple(names)


@cache
def stem(op_name: str | None) -> tuple[str, ...]:
    """Return the scope names without checkpoints and without direct repetitions.

    An op of the forward pass and its recomputation have the same stem.
    """
    return _once(name for name in scope_names(op_name) if name not in CHECKPOINT_NAMES)


def names_before_checkpoint(op_name: str | None) -> tuple[str, ...]:
    """Return the scopes around the outermost checkpoint, or all names if there is none."""
    return _once(takewhile(lambda name: name not in CHECKPOINT_NAMES, scope_names(op_name)))


def primitive(op_name: str | None) -> str | None:
    """Return the last part of an op name, which is the primitive; None without an op name."""
    names = scope_names(op_name)
    return names[-1] if names else None


def has_checkpoint(op_name: str | None) -> bool:
    """Return True if the op belongs to a function wrapped in `jax.checkpoint`."""
    return not CHECKPOINT_NAMES.isdisjoint(scope_names(op_name))


def _once(names: Iterable[str]) -> tuple[str, ...]:
    """Return names without direct repetitions."""
    return tuple(name for name, _ in groupby(names))


def _split(op_name: str) -> list[str]:
    """Split at slashes outside brackets."""
    parts, depth = [""], 0
    for piece in re.split(r"([/()\[\]{}])", op_name):
        if piece == "/" and depth == 0:
            parts.append("")
            continue
        if piece in ("(", "[", "{"):
            depth += 1
        elif piece in (")", "]", "}") and depth:
            depth -= 1
        parts[-1] += piece
    return parts
