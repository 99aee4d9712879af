"""Statements that a page asks several times."""

from collections import Counter

from tests.tiny_dumps import BEFORE_F
from xlagraph.graph.asked_once import AskedOnce
from xlagraph.graph.ladybug.engine import LadybugGraph
from xlagraph.report import make_report

LABELS = "MATCH (v:Value) RETURN v.key AS key ORDER BY key LIMIT $limit"
COUNTED = "MATCH (v:Value) RETURN v.key AS key, $limit AS most ORDER BY key LIMIT $limit"


def test_the_first_rows_of_an_answer_are_not_asked_again(tiny_graph, monkeypatch):
    asked = count_statements(monkeypatch)
    graph = AskedOnce(tiny_graph)
    every = graph.query(LABELS, {"limit": 1000})
    assert graph.query(LABELS, {"limit": 2}).rows == every.rows[:2]
    assert graph.query(LABELS, {"limit": 2000}) == every
    assert asked[LABELS] == 1


def test_more_rows_than_known_are_asked_for(tiny_graph, monkeypatch):
    asked = count_statements(monkeypatch)
    graph = AskedOnce(tiny_graph)
    assert len(graph.query(LABELS, {"limit": 2}).rows) == 2
    assert len(graph.query(LABELS, {"limit": 3}).rows) == 3
    assert asked[LABELS] == 2


def test_a_limit_that_is_not_only_a_limit_is_part_of_the_question(tiny_graph):
    graph = AskedOnce(tiny_graph)
    assert graph.query(COUNTED, {"limit": 3}).rows[0][1] == 3
    assert graph.query(COUNTED, {"limit": 2}).rows[0][1] == 2


def test_a_page_runs_each_statement_once_for_a_compilation(tiny_graph, monkeypatch):
    asked = count_statements(monkeypatch)
    make_report(tiny_graph, [BEFORE_F])
    repeated = {text for text, count in asked.items() if count > 1}
    assert not [text for text in repeated if "$limit" in text]


def count_statements(monkeypatch):
    """Count the statements that the engine receives."""
    asked: Counter[str] = Counter()
    query = LadybugGraph.query

    def counted(self, text, *arguments, **options):
        asked[text] += 1
        return query(self, text, *arguments, **options)

    monkeypatch.setattr(LadybugGraph, "query", counted)
    return asked
