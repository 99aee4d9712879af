"""Parameters that suit every query; the place to add a value for a new one."""

from collections.abc import Mapping
from typing import Any, Final

from tests.tiny_dumps import STEM
from xlagraph.queries import Query

__all__ = ["OF_TINY_DUMPS", "suitable_parameters"]

OF_TINY_DUMPS: Final[Mapping[str, Any]] = {
    "compilation": f"before/{STEM.format(number=1, module='jit_f')}",
    "runA": "before",
    "runB": "after",
    "value": "t",
    "allocation": 2,
    "opName": "jit(f)/layer_0/dot",
}
"""Parameters that suit the runs of `tests.tiny_dumps`."""


def suitable_parameters(
    query: Query, found: Mapping[str, Any] = OF_TINY_DUMPS, **given: Any
) -> dict[str, Any]:
    """Return a value for every parameter: given, from the graph, or the default."""
    values = {**found, **given}
    names = {parameter.name for parameter in query.parameters if parameter.required}
    assert names <= values.keys(), f"{query.id}: no value for {sorted(names - values.keys())}"
    return {
        parameter.name: values.get(parameter.name, parameter.default)
        for parameter in query.parameters
    }
