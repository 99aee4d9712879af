"""`advise` names the functions of the library that made the program."""

import pytest

from xlagraph.advice.libraries import in_words_of, library_of
from xlagraph.queries.catalogue.declarations import Advice

SITE = "/venv/lib/python3.11/site-packages"


def advice(text: str) -> Advice:
    return Advice("bytes", "reserved", "Title", (), None, {"jax": text, "tensorflow": "Other."})


@pytest.mark.parametrize(
    ("files", "library"),
    [
        ([f"{SITE}/flax/linen/linear.py", f"{SITE}/jax/_src/nn/functions.py"], "flax/linen"),
        ([f"{SITE}/flax/nnx/nn/linear.py"], "flax/nnx"),
        ([f"{SITE}/haiku/_src/basic.py", f"{SITE}/haiku/_src/stateful.py"], "haiku/_src"),
        ([f"{SITE}/equinox/nn/_mlp.py", f"{SITE}/equinox/_ad.py"], "equinox"),
        ([f"{SITE}/keras/src/backend/jax/nn.py"], "keras/src"),
        (["/home/me/equinox/train.py", None], None),
        ([], None),
    ],
)
def test_the_library_is_the_one_whose_files_made_most_values(files, library):
    assert library_of(files) == library


@pytest.mark.parametrize(
    ("library", "text", "added"),
    [
        ("flax/linen", "Put jax.checkpoint around it.", "Flax: nn.remat for jax.checkpoint."),
        ("haiku/_src", "Use jax.lax.scan.", "Haiku: hk.scan or hk.layer_stack for jax.lax.scan."),
        ("equinox", "Use jax.lax.scan.", None),
        ("flax/nnx", "See jax.checkpoint_policies.", None),
        (None, "Put jax.checkpoint around it.", None),
    ],
)
def test_functions_of_jax_have_the_names_of_the_library(library, text, added):
    words = text if added is None else f"{text} In a module of {added}"
    assert in_words_of(library, advice(text)).remedies == {"jax": words, "tensorflow": "Other."}
