"""What op names tell of the pass that an instruction belongs to.

The queries of the theme `lifetime` hold the same words; a test compares them.
"""

from typing import Final

__all__ = ["BACKWARD_MARKS", "RECOMPUTED_MARKS", "is_backward", "is_recomputed"]

BACKWARD_MARKS: Final = ("transpose(", "gradient_tape/", "gradients/")
"""Parts of the op names of the backward pass: of JAX, of TensorFlow 2, and of its graphs."""
RECOMPUTED_MARKS: Final = ("rematted_computation", "recompute_grad")
"""Parts of the op names of what a checkpoint computes again: of JAX, and of a scope that a
TensorFlow program calls so."""


def is_backward(op_name: str | None) -> bool:
    """Whether an op belongs to the backward pass; False without a name."""
    return any(mark in (op_name or "") for mark in BACKWARD_MARKS)


def is_recomputed(op_name: str | None) -> bool:
    """Whether an op belongs to what a checkpoint computes again; False without a name."""
    return any(mark in (op_name or "") for mark in RECOMPUTED_MARKS)
