"""Canned queries over memory plans: a catalogue of `.cypher` files and what runs them.

`run` answers one; `load_catalogue` says which there are; `compare` tells what grew between
two runs, `check` whether XLA's totals and a user's limits hold, `fit` whether there is room,
`advise` what to change, `value` all about one value.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xlagraph.queries.capacity import SpaceFit, first_changes, fit
    from xlagraph.queries.catalogue import Query, load_catalogue
    from xlagraph.queries.checks import Check, CheckedCompilation, check
    from xlagraph.queries.comparison import Comparison, compare
    from xlagraph.queries.compilations import FoundCompilation, find_compilation, find_run
    from xlagraph.queries.declarations import Advice, Column, LiteralType, Parameter
    from xlagraph.queries.diagnosis import Diagnosed, Diagnosis, Finding, advise
    from xlagraph.queries.errors import (
        AmbiguousCompilation,
        BadParameter,
        CatalogueError,
        EmptyGraph,
        NoSuchCompilation,
        NoSuchName,
        NoSuchRun,
        QueryError,
        UnknownQuery,
    )
    from xlagraph.queries.groups import By, GroupGrowth
    from xlagraph.queries.lint import check_queries
    from xlagraph.queries.runner import Answer, find_query, run
    from xlagraph.queries.runs import Selection, list_runs, select
    from xlagraph.queries.value_ending import Ending, Life
    from xlagraph.queries.value_story import ValueStory, value

__all__ = [
    "Advice",
    "AmbiguousCompilation",
    "Answer",
    "BadParameter",
    "By",
    "CatalogueError",
    "Check",
    "CheckedCompilation",
    "Column",
    "Comparison",
    "Diagnosed",
    "Diagnosis",
    "EmptyGraph",
    "Ending",
    "Finding",
    "FoundCompilation",
    "GroupGrowth",
    "Life",
    "LiteralType",
    "NoSuchCompilation",
    "NoSuchName",
    "NoSuchRun",
    "Parameter",
    "Query",
    "QueryError",
    "Selection",
    "SpaceFit",
    "UnknownQuery",
    "ValueStory",
    "advise",
    "check",
    "check_queries",
    "compare",
    "find_compilation",
    "find_query",
    "find_run",
    "first_changes",
    "fit",
    "list_runs",
    "load_catalogue",
    "run",
    "select",
    "value",
]

_MODULES = (
    *("catalogue", "declarations", "errors", "groups", "compilations", "runner", "runs"),
    *("comparison", "checks", "lint", "diagnosis", "capacity", "value_story", "value_ending"),
)


def __getattr__(name: str) -> object:
    # what is not asked for is not loaded: the list of queries is there at once
    if name in __all__:
        for module in _MODULES:
            loaded = import_module(f"{__name__}.{module}")
            if name in vars(loaded):
                return vars(loaded)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
