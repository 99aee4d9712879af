"""The category of an input, from the words of its name."""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final

__all__ = ["Category", "category_of_input_name"]


class Category(StrEnum):
    """The part that a value has in a program."""

    WEIGHT = "weight"
    OPTIMIZER_STATE = "optimizerState"
    BATCH = "batch"
    STATE = "state"
    GRADIENT = "gradient"
    ACTIVATION = "activation"
    RECOMPUTED = "recomputed"
    GATHERED = "gathered"
    COLLECTIVE = "collective"
    OFFLOADED = "offloaded"
    SCRATCH = "scratch"
    OUTPUT = "output"
    CONSTANT = "constant"
    FORWARD = "forward"
    BACKWARD = "backward"
    UPDATE = "update"
    OTHER = "other"


_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_WORDS: Final[Sequence[tuple[Category, frozenset[str]]]] = (
    (
        Category.OPTIMIZER_STATE,
        frozenset(
            (
                *("opt_state", "opt_states", "optimizer", "optimizer_state", "optimizer_states"),
                *("optimizer_variables", "optim_state", "exp_avg", "exp_avg_sq"),
                "momentum_buffer",
            )
        ),
    ),
    (Category.GRADIENT, frozenset(("grad", "grads", "gradient", "gradients"))),
    (
        Category.STATE,
        frozenset(
            ("batch_stats", "non_trainable_variables", "metrics_variables", "cache", "kv_cache")
        ),
    ),
    (
        Category.WEIGHT,
        frozenset(
            ("params", "weights", "trainable_variables", "model", "kernel", "weight", "bias")
        ),
    ),
    (Category.BATCH, frozenset(("batch", "inputs", "labels", "targets", "images", "tokens"))),
)
"""Words of the names of inputs; the first row with a word of the name decides."""


@lru_cache(maxsize=1 << 14)
def category_of_input_name(name: str) -> Category | None:
    """Return the category that the name of an input shows: of ``params['w']``, weight."""
    if name.startswith(("jit(", "pjit(")):
        return None  # the name of an op
    words = set(_WORD.findall(name))
    return next((category for category, known in _WORDS if words & known), None)
