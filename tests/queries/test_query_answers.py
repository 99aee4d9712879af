"""Answers over real dumps agree with an independent computation from the plan."""

from collections import Counter
from collections.abc import Callable

import pytest

from tests.queries.plain.answer import PlainAnswer, Row, find_answers
from tests.queries.plain.attribution import Attribution
from tests.queries.plain.plan import PlainDump
from tests.queries.plain.questions import PAIRS, questions, questions_over_runs
from tests.queries.plain.value import PlainValue
from tests.queries.real_dumps import RealDumps
from xlagraph.graph import Cell
from xlagraph.queries import load_catalogue, run

CATALOGUE = load_catalogue()
ALL = 1_000_000
ANSWERS = find_answers()
DECLARED = {
    query.id: {parameter.name for parameter in query.parameters} for query in CATALOGUE.values()
}
OF_ONE = [query for query in ANSWERS if "compilation" in DECLARED[query]]
OVER_RUNS = [query for query in ANSWERS if "compilation" not in DECLARED[query]]

OF_A_VALUE: dict[str, Callable[[PlainValue], object]] = {
    "sizeBytes": lambda value: value.size,
    "shape": lambda value: value.shape,
    "opcode": lambda value: value.made.opcode,
    "opName": lambda value: value.made.op_name,
    "sourceFile": lambda value: value.made.source[0],
    "sourceLine": lambda value: value.made.source[1],
}
OF_ITS_OP: dict[str, Callable[[Attribution], object]] = {
    "attributedOpName": lambda attribution: attribution.op_name,
    "userFile": lambda attribution: attribution.user[0],
    "userLine": lambda attribution: attribution.user[1],
}
"""Columns that are always next to `value`."""


def test_each_independent_computation_belongs_to_a_query():
    assert ANSWERS.keys() <= CATALOGUE.keys()


def ask(real: RealDumps, query: str, **parameters: str | int) -> list[dict[str, Cell]]:
    """Return all rows of a query."""
    if any(parameter.name == "limit" for parameter in CATALOGUE[query].parameters):
        parameters["limit"] = ALL
    return run(real.graph, query, catalogue=CATALOGUE, **parameters).result.mappings()


@pytest.mark.parametrize("query", OF_ONE)
def test_rows_are_those_of_the_plan(real: RealDumps, query: str):
    answer = ANSWERS[query]
    for dump in real.telling:
        for parameters in questions(DECLARED[query], dump):
            rows = ask(real, query, compilation=dump.key, **parameters)
            _agree(rows, answer, answer.rows(dump, parameters))
            _tell_of_values(rows, dump)


def _agree(rows: list[dict[str, Cell]], answer: PlainAnswer, expected: list[Row]) -> None:
    found: list[Row] = [tuple(row[name] for name in answer.columns) for row in rows]
    if answer.largest is None:
        assert found == expected
        return
    assert Counter(found) == Counter(expected)
    if not answer.largest:
        return
    measured = [row[answer.largest] for row in rows]
    known = [number for number in measured if isinstance(number, int)]
    assert known == sorted(known, reverse=True)


def _tell_of_values(rows: list[dict[str, Cell]], dump: PlainDump) -> None:
    if not rows or "value" not in rows[0]:
        return
    values = {value.label: value for value in dump.values}
    for row in rows:
        value = values[str(row["value"])]
        attribution = dump.attribution(value)
        assert {name: row[name] for name in [*OF_A_VALUE, *OF_ITS_OP]} == {
            name: fact(value) for name, fact in OF_A_VALUE.items()
        } | {name: tell(attribution) for name, tell in OF_ITS_OP.items()}


@pytest.mark.parametrize("query", OVER_RUNS)
def test_rows_over_runs_are_those_of_the_plans(real: RealDumps, query: str):
    for parameters in questions_over_runs(DECLARED[query]):
        expected = ANSWERS[query].rows(real.dumps, parameters)
        _agree(ask(real, query, **parameters), ANSWERS[query], expected)


def test_growth_adds_up_to_that_of_the_peaks(real: RealDumps):
    for before, after in PAIRS:
        peaks = [
            sum(dump.physical_peak(0) or 0 for dump in real.dumps if dump.files.run == name)
            for name in (before, after)
        ]
        for query in ("compare/ops", "compare/lines", "compare/opcodes", "compare/shapes"):
            (growths,) = expected_columns(
                query, real.dumps, {"runA": before, "runB": after}, "growthBytes"
            )
            assert sum(growths) == peaks[1] - peaks[0]


def test_groups_add_up_to_the_peak(real: RealDumps):
    for dump in real.telling:
        for color in dump.colors:
            shares = dump.shares(color)
            sizes = sum(value.size for value in shares)
            for query in (query for query in ANSWERS if query.startswith("peak/by-")):
                if query == "peak/by-stack":  # has separate sums
                    continue
                names = ("values", "physicalBytes", "sizeBytes")
                columns = expected_columns(query, dump, {"memorySpace": color}, *names)
                sums = [sum(column) for column in columns]
                assert sums == [len(shares), sum(shares.values()), sizes], (dump.key, query)


def expected_columns(
    query: str, plain: object, parameters: dict[str, str | int], *names: str
) -> list[list[int]]:
    """Return the given columns of the rows that a query returns, after the comparison above."""
    answer = ANSWERS[query]
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows(plain, parameters)]
    return [[int(str(row[name])) for row in rows] for name in names]
