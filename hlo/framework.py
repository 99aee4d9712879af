"""The framework that compiled a program, from its op names."""

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["framework_of"]

_MARKS: Final = {
    "jax": re.compile(r"(?:^|/)p?jit\(|\bjvp\("),
    "pytorch": re.compile(r"(?:^|/)(?:aten__|xla__|prim__)"),
    "tensorflow": re.compile(r"StatefulPartitionedCall|gradient_tape/|__inference_|XLA_Args"),
}


def framework_of(op_names: Iterable[str | None]) -> str | None:
    """Return the framework that set most op names; None if none has the marks of one."""
    known = [name for name in op_names if name]
    counts = {
        framework: sum(mark.search(name) is not None for name in known)
        for framework, mark in _MARKS.items()
    }
    most = max(counts, key=counts.__getitem__)
    return most if counts[most] else None
