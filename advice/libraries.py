"""Say what the functions of JAX that a change needs are called in the program's library."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from xlagraph.queries.catalogue.declarations import Advice

_LIBRARIES: Final = re.compile(r"/(flax/linen|flax/nnx|haiku/_src|keras/src|equinox/(?:nn/|_))")
"""Part of the path of a library's source files."""
_NAMES: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "flax/linen": ("Flax", {"jax.checkpoint": "nn.remat", "jax.lax.scan": "nn.scan"}),
    "flax/nnx": ("Flax NNX", {"jax.checkpoint": "nnx.remat", "jax.lax.scan": "nnx.scan"}),
    "haiku/_src": (
        "Haiku",
        {"jax.checkpoint": "hk.remat", "jax.lax.scan": "hk.scan or hk.layer_stack"},
    ),
    "equinox": ("Equinox", {"jax.checkpoint": "eqx.filter_checkpoint"}),
    "keras/src": (
        "Keras",
        {
            "jax.checkpoint": "keras.remat, or keras.RematScope (mode 'full', or"
            " 'list_of_layers' with layer_names) where layers are called,"
        },
    ),
}
"""Name of a library, and which of its functions a module calls in place of those of JAX."""


def library_of(files: Iterable[str | None]) -> str | None:
    """Return the library that most source files belong to, by its path; None if none is known."""
    found = Counter(match[1] for file in files if file and (match := _LIBRARIES.search(file)))
    most = max(found, key=found.__getitem__, default=None)
    return "equinox" if most is not None and most.startswith("equinox") else most


def in_words_of(library: str | None, advice: Advice) -> Advice:
    """Return the advice with the library's names for the functions of JAX that it proposes."""
    text = advice.remedies.get("jax")
    if library is None or text is None:
        return advice
    name, functions = _NAMES[library]
    proposed = [each for each in functions if re.search(rf"\b{re.escape(each)}\b(?!_)", text)]
    if not proposed:
        return advice
    listed = ", ".join(f"{functions[each]} for {each}" for each in proposed)
    words = f"{text} In a module of {name}: {listed}."
    return replace(advice, remedies={**advice.remedies, "jax": words})
