"""Canned queries over memory plans: a catalogue of `.cypher` files and what runs them.

`run` answers one; `load_catalogue` says which there are; `compare` tells what grew between
two runs, `check` whether XLA's totals and a user's limits hold, `fit` whether there is room,
`advise` what to change, `value` all about one value.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

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
        AmbiguousValue,
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
    "AmbiguousValue",
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

# What is not asked for is not loaded: the list of queries is there at once.
_MODULE_BY_NAME: Final = {
    "Advice": "declarations",
    "AmbiguousCompilation": "errors",
    "AmbiguousValue": "errors",
    "Answer": "runner",
    "BadParameter": "errors",
    "By": "groups",
    "CatalogueError": "errors",
    "Check": "checks",
    "CheckedCompilation": "checks",
    "Column": "declarations",
    "Comparison": "comparison",
    "Diagnosed": "diagnosis",
    "Diagnosis": "diagnosis",
    "EmptyGraph": "errors",
    "Ending": "value_ending",
    "Finding": "diagnosis",
    "FoundCompilation": "compilations",
    "GroupGrowth": "groups",
    "Life": "value_ending",
    "LiteralType": "declarations",
    "NoSuchCompilation": "errors",
    "NoSuchName": "errors",
    "NoSuchRun": "errors",
    "Parameter": "declarations",
    "Query": "catalogue",
    "QueryError": "errors",
    "Selection": "runs",
    "SpaceFit": "capacity",
    "UnknownQuery": "errors",
    "ValueStory": "value_story",
    "advise": "diagnosis",
    "check": "checks",
    "check_queries": "lint",
    "compare": "comparison",
    "find_compilation": "compilations",
    "find_query": "runner",
    "find_run": "compilations",
    "first_changes": "capacity",
    "fit": "capacity",
    "list_runs": "runs",
    "load_catalogue": "catalogue",
    "run": "runner",
    "select": "runs",
    "value": "value_story",
}


def __getattr__(name: str) -> object:
    if name in _MODULE_BY_NAME:
        found: object = getattr(import_module(f"{__name__}.{_MODULE_BY_NAME[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
