"""Tell from op names which pass an instruction belongs to.

The queries of the theme `lifetime` contain the same words; a test compares them.
"""

from functools import lru_cache
from typing import Final

__all__ = [
    "BACKWARD_MARKS",
    "RECOMPUTED_MARKS",
    "is_backward",
    "is_checkpointed",
    "is_per_example",
    "is_recomputed",
    "scope_parts",
]

BACKWARD_MARKS: Final = ("transpose(", "gradient_tape/", "gradients/")
"""Parts of the op names of the backward pass: JAX, TensorFlow 2, TensorFlow graphs."""
RECOMPUTED_MARKS: Final = ("rematted_computation", "recompute_grad")
"""Parts of the op names of recomputed ops: JAX, and a scope that TensorFlow programs name so."""
_CHECKPOINT_PARTS: Final = frozenset(("checkpoint", "remat", "remat2", "rematted_computation"))
"""Scopes of a checkpoint's backward pass in the versions of JAX."""
_PER_EXAMPLE_MARKS: Final = ("vmap(", "pfor/", "vectorized_map")
"""Parts of the op names of computations vectorized over examples."""


def is_backward(op_name: str | None) -> bool:
    """Return True if an op belongs to the backward pass; False without a name."""
    return any(mark in (op_name or "") for mark in BACKWARD_MARKS)


def is_recomputed(op_name: str | None) -> bool:
    """Return True if a checkpoint recomputes an op; False without a name."""
    return any(mark in (op_name or "") for mark in RECOMPUTED_MARKS)


def is_checkpointed(op_name: str | None) -> bool:
    """Return True for an op of the backward pass of a checkpoint; False without a name."""
    if is_recomputed(op_name):
        return True
    return is_backward(op_name) and not _CHECKPOINT_PARTS.isdisjoint(scope_parts(op_name or ""))


def is_per_example(op_name: str | None) -> bool:
    """Return True if an op is vectorized over examples; False without a name."""
    return any(mark in (op_name or "") for mark in _PER_EXAMPLE_MARKS)


@lru_cache(maxsize=1 << 14)
def scope_parts(op_name: str) -> tuple[str, ...]:
    """Return the parts between slashes outside brackets, without their transformations."""
    parts: list[str] = []
    nesting = 0
    part = ""
    for character in op_name + "/":
        if character == "/" and nesting == 0:
            parts.append(part)
            part = ""
            continue
        nesting += (character in "([{") - (character in ")]}")
        part += character
    return tuple(map(_without_transformations, parts))


def _without_transformations(part: str) -> str:
    """Return `layer_0` of `transpose(jvp(layer_0))`; keep `jit(f)`, which is a function."""
    while part.endswith(")") and not part.startswith(("jit(", "pjit(")):
        _, opening, inner = part[:-1].partition("(")
        if not opening or not inner:
            break
        part = inner
    return part
