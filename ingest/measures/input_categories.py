"""The category of an input by the words of its name, and of any value by the user's patterns."""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple


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


class Categorized(NamedTuple):
    """A category and the evidence for it."""

    category: str
    """A `Category`, or a name that the user gives."""
    reason: str | None
    """None if no rule applies."""


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
            (
                *("batch_stats", "non_trainable_variables", "metrics_variables", "cache"),
                *("kv_cache", "ema", "ema_params", "ema_state"),
            )
        ),
    ),
    (
        Category.WEIGHT,
        frozenset(
            (
                *("params", "weights", "trainable_variables", "model", "base_params"),
                *("frozen", "frozen_params", "lora", "lora_params", "target_params"),
            )
        ),
    ),
    (Category.BATCH, frozenset(("batch", "inputs", "labels", "targets", "images", "tokens"))),
)
"""Words of the names of inputs; the first row with a word of the name decides."""


_LEAVES: Final = frozenset(("kernel", "weight", "bias"))
"""Names of weights, which an optimizer's state repeats: they count if nothing else decides."""
_OPTAX_FIELD: Final = re.compile(r"\](?:\.|\[')(?:mu|nu|trace|sum_of_squares|inner_state)\b")
"""A field in a tuple of states: `o[0].mu['kernel']`."""


@lru_cache(maxsize=1 << 14)
def category_of_input_name(name: str) -> Category | None:
    """Return the category that the name of an input shows: of ``params['w']``, weight."""
    words = _words(name)
    found = next((category for category, known in _WORDS if words & known), None)
    field = _OPTAX_FIELD.search(name)
    if field is not None and words and category_of_input_name(name[: field.start()]) is None:
        return Category.OPTIMIZER_STATE
    return found


def category_of_leaf_name(name: str) -> Category | None:
    """Return weight if the name has a word such as ``kernel``, which is weak evidence."""
    return Category.WEIGHT if _words(name) & _LEAVES else None


def _words(name: str) -> set[str]:
    """Return the words of an input's name; none for an op's name."""
    return set() if name.startswith(("jit(", "pjit(")) else set(_WORD.findall(name))


@lru_cache(maxsize=1 << 14)
def category_of_patterns(name: str, patterns: Sequence[tuple[str, str]]) -> str | None:
    """Return the category of the first pattern that is found in a name; None if none is.

    ``patterns`` are pairs of a category and a pattern: a part of the name, where ``*`` stands for
    any characters.
    """
    for category, pattern in patterns:
        if re.search(re.escape(pattern).replace(r"\*", ".*"), name):
            return next((known for known in Category if known == category), category)
    return None


@lru_cache(maxsize=1 << 14)
def sorted_array(shape: str) -> tuple[str, tuple[str, ...]]:
    """Return the type and the sorted dimensions, which a transposed array shares."""
    dtype, _, dimensions = shape.rstrip("]").partition("[")
    return dtype, tuple(sorted(dimensions.split(",")))
