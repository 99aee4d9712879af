"""Canned queries over memory plans, and the analyses built on them.

`run` answers one; `load_catalogue` lists them; `compare` finds what grew between two runs,
`check` whether XLA's totals and a user's limits hold, `check_capacity` whether there is
room, `check_resident` for several programs at once, `advise` what to change, `whatif` what a
change saves, `order_cost` what the order of instructions costs, `value` all about one value.
`diagnose_failed_program` finds the compilation of an error message. `run_statement` runs a
statement of the user's own, `picture_of` draws paths.
"""

from typing import TYPE_CHECKING

from xlagraph.runtime.imports import lazy_names

if TYPE_CHECKING:
    from xlagraph.advice.advise import advise
    from xlagraph.advice.capacity import SpaceFit, check_capacity
    from xlagraph.advice.diagnosis import (
        DiagnosedCompilation,
        Diagnosis,
        Finding,
        diagnosis_result,
    )
    from xlagraph.advice.failed_program import (
        FailedProgram,
        MessageClues,
        diagnose_failed_program,
    )
    from xlagraph.advice.planned_donations import with_planned_donations
    from xlagraph.advice.resident import ResidentProgram, ResidentSpace, check_resident
    from xlagraph.advice.totals import CheckedCompilation, CheckResult, check
    from xlagraph.comparison.compare import compare
    from xlagraph.comparison.compared_sides import Comparison, comparison_result
    from xlagraph.comparison.groups import By, GroupGrowth
    from xlagraph.planner.compilation.range_end_text import RangeEnd
    from xlagraph.planner.compilation.value_cells import value_cells
    from xlagraph.planner.compilation.value_details import LiveRangeDetails, ValueDetails, value
    from xlagraph.planner.edits.changes import Changes
    from xlagraph.planner.edits.edit import DonatedParameter
    from xlagraph.planner.edits.order_cost import order_cost
    from xlagraph.planner.edits.order_result import OrderCost, order_cells
    from xlagraph.planner.edits.result import (
        Effect,
        PeakValue,
        WhatIf,
        whatif_cells,
    )
    from xlagraph.planner.edits.whatif import whatif
    from xlagraph.queries.catalogue.declarations import Advice, Column, LiteralType, Parameter
    from xlagraph.queries.catalogue.query_check import check_queries
    from xlagraph.queries.catalogue.query_files import Query, load_catalogue
    from xlagraph.queries.errors import (
        AmbiguousCompilation,
        AmbiguousValue,
        BadParameter,
        CatalogueError,
        EmptyGraph,
        NoSuchCompilation,
        NoSuchMemorySpace,
        NoSuchName,
        NoSuchRun,
        NotStored,
        QueryError,
        UnknownQuery,
    )
    from xlagraph.queries.graph_formats import Picture, picture_of
    from xlagraph.queries.runner.compilations import (
        FoundCompilation,
        Selection,
        find_compilation,
        find_run,
        list_runs,
        select,
    )
    from xlagraph.queries.runner.run import Answer, StatementAnswer, find_query, run, run_statement

__all__ = [
    "Advice",
    "AmbiguousCompilation",
    "AmbiguousValue",
    "Answer",
    "BadParameter",
    "By",
    "CatalogueError",
    "Changes",
    "CheckResult",
    "CheckedCompilation",
    "Column",
    "Comparison",
    "DiagnosedCompilation",
    "Diagnosis",
    "DonatedParameter",
    "Effect",
    "EmptyGraph",
    "FailedProgram",
    "Finding",
    "FoundCompilation",
    "GroupGrowth",
    "LiteralType",
    "LiveRangeDetails",
    "MessageClues",
    "NoSuchCompilation",
    "NoSuchMemorySpace",
    "NoSuchName",
    "NoSuchRun",
    "NotStored",
    "OrderCost",
    "Parameter",
    "PeakValue",
    "Picture",
    "Query",
    "QueryError",
    "RangeEnd",
    "ResidentProgram",
    "ResidentSpace",
    "Selection",
    "SpaceFit",
    "StatementAnswer",
    "UnknownQuery",
    "ValueDetails",
    "WhatIf",
    "advise",
    "check",
    "check_capacity",
    "check_queries",
    "check_resident",
    "compare",
    "comparison_result",
    "diagnose_failed_program",
    "diagnosis_result",
    "find_compilation",
    "find_query",
    "find_run",
    "list_runs",
    "load_catalogue",
    "order_cells",
    "order_cost",
    "picture_of",
    "run",
    "run_statement",
    "select",
    "value",
    "value_cells",
    "whatif",
    "whatif_cells",
    "with_planned_donations",
]

# What is not asked for is not loaded: the list of queries is there at once.
__getattr__ = lazy_names(__name__)
