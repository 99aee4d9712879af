"""Words by which a finding or a sentence is recognised as one that names a planted mistake."""

import re
from typing import Final, NamedTuple


class Words(NamedTuple):
    """Patterns for the titles of findings, and for the sentences of `compare`."""

    finding: str
    sentence: str


KINDS: Final = {
    "donation": Words(
        r"could be donated|[Nn]ot donated|[Dd]onate ", r"donat|shares? (its|their) bytes|in place"
    ),
    "reader": Words(
        r"[Rr]eader of the old|reads the old|old value", r"copies|reader|reads the old"
    ),
    "swap": Words(r"swap|change places|moves to another place", r"swap|change places|copies"),
    "logits": Words(r"[Ll]ogits|vocabulary", r"logits|vocabulary|softmax|cross.entropy"),
    "output": Words(
        r"[Oo]utput|[Rr]esult|return(ed|s)", r"outputs?\b(?<!or outputs)|result|return(ed|s)"
    ),
    "constant": Words(r"[Cc]onstant", r"constant"),
    "checkpoint": Words(
        r"kept for the backward|[Cc]heckpoint (around|covers)", r"backward|checkpoint|recomput"
    ),
    "order": Words(r"recomputes too early|[Oo]rder", r"order|schedul|recomput"),
    "wide types": Words(r"wide type|float64|f64", r"f64|float64|wide|type|twice"),
    "per-example": Words(r"each example|per.example", r"example|batch"),
    "replicated": Words(r"replicat|complete tensors", r"replicat|shard|device"),
    "cache": Words(r"cache|xs|carr", r"cache|xs|stack|copies|loop|carr"),
    "dense gradient": Words(r"[Dd]ense|table", r"dense|scatter|table"),
    "broadcast": Words(r"[Bb]roadcast|mask|one.hot", r"broadcast|one.hot"),
    "stack": Words(
        r"stack|concatenat|until they are added", r"stack|concatenat|each|until they are added"
    ),
    "trajectory": Words(
        r"stack|trajector|slice|every (step|iteration)", r"stack|trajector|loop|every"
    ),
    "unrolled": Words(r"of an unrolled loop", r"loop|unroll|checkpoint"),
    "computed ahead": Words(r"computed before it", r"gather|embed|rows|loop"),
    "gathered rows": Words(r"[Gg]athered rows", r"gather"),
    "batch": Words(r"$^", r"batch|size"),
}

GENERIC: Final = (
    "wide types", "checkpoint", "broadcast", "output", "reader", "order", "stack", "unrolled",
)  # fmt: skip
"""Kinds of which a program can have more than it plants; a finding of another kind is wrong."""


def is_meant(kind: str, title: str) -> bool:
    """Return whether a finding's title is of a kind."""
    return re.search(KINDS[kind].finding, title) is not None


def is_named(kind: str, sentence: str) -> bool:
    """Return whether a sentence of `compare` names a kind."""
    return re.search(KINDS[kind].sentence, sentence) is not None
