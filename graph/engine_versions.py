"""Versions of the engines, without loading them."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Final

_DISTRIBUTIONS: Final[Mapping[str, str]] = {"ladybug": "ladybug", "neo4j driver": "neo4j"}


def engine_versions() -> Mapping[str, str]:
    """Return the version of each engine that this package can use, by its name."""
    return {name: version(distribution) for name, distribution in _DISTRIBUTIONS.items()}
