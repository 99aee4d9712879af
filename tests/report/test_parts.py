"""Parts of a page: the requested compilations, users' queries, and commands that repeat tables."""

import base64
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tiny_dumps import BEFORE_F, dump, write_dump
from xlagraph.graph import Graph, open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import load_catalogue, value
from xlagraph.report import (
    advice_and_answers,
    compare_sides,
    comparison_part,
    compilation_part,
    make_report,
)
from xlagraph.report import report as report_module
from xlagraph.report.reproduction import command_line

OWN = """\
// Values of a compilation, by name
// @kind     table
// @answers  Which values are there?
// @param    compilation STRING          key of a compilation
// @param    isReversed  BOOLEAN = false from the last one
// @column   value       STRING          name of the value
// @measure  none
// @status   experimental
MATCH (c:Compilation {key: $compilation, state: 'complete'})
      -[:ALLOCATES]->(a:Allocation)-[:HOLDS]->(v:Value)
WHERE a.number >= 0 OR $isReversed
RETURN v.label AS value
ORDER BY value
"""


@pytest.fixture
def without_live_ranges(tmp_path: Path) -> Iterator[Graph]:
    """Yield two runs whose dumps have no live ranges."""
    for run, temp in (("before", 256), ("after", 512)):
        text, _, _ = dump(temp).partition("\n\nHloLiveRange")
        write_dump(tmp_path / "runs" / run, 1, "jit_f", text)
    with open_graph(tmp_path / "graph.lbug", create=True) as graph:
        ingest(graph, tmp_path / "runs", jobs=1)
        yield graph


def facts_by_part(html: str) -> dict[str, dict[str, Any]]:
    """Return the facts of each part in a page."""
    found = {}
    for name, text in re.findall(r'data-part="([^"]*)">([^<]*)<', html):
        whole = gzip.decompress(base64.b64decode(text))
        found[name] = json.loads(whole[4 : 4 + int.from_bytes(whole[:4], "little")])["facts"]
    return found


def test_the_first_compilation_is_included_whatever_its_size(
    tiny_graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_module, "MOST_BYTES", 1)
    assert list(facts_by_part(make_report(tiny_graph, [BEFORE_F]).html)) == ["start", BEFORE_F]
    assert list(facts_by_part(make_report(tiny_graph, ["before"]).html)) == ["start", BEFORE_F]


def test_the_users_own_queries_are_answered(tiny_graph: Graph, tmp_path: Path) -> None:
    own = tmp_path / "names" / "all.cypher"
    own.parent.mkdir()
    own.write_text(OWN)
    own.with_name("refused.cypher").write_text(OWN.replace("v.label AS", "v.labels AS"))
    catalogue = load_catalogue([tmp_path])
    parts = facts_by_part(make_report(tiny_graph, [BEFORE_F], catalogue=catalogue).html)
    answers = {answer["id"]: answer for answer in parts[BEFORE_F]["answers"]}
    assert answers["names/all"]["rows"] == [["out"], ["p"], ["t"]]
    assert answers["names/refused"]["rows"] == []
    assert "labels" in answers["names/refused"]["notes"][0]
    query = catalogue["names/all"]
    assert command_line(query, {"isReversed": False}) == "xlagraph query names/all --no-is-reversed"
    assert command_line(query, {"isReversed": True}) == "xlagraph query names/all --is-reversed"


def test_commands_beside_a_table_can_be_pasted_and_run(tiny_graph: Graph) -> None:
    provenance: Any = compilation_part(tiny_graph, BEFORE_F).facts["provenance"]
    live_at = provenance["liveAt"]["cypher"].replace("$step", "1")
    assert [row["value"] for row in tiny_graph.query(live_at)] == ["t", "p"]
    assert [row["label"] for row in tiny_graph.query(provenance["values"]["cypher"])] == [
        *("p", "t", "out")
    ]
    assert len(tiny_graph.query(provenance["allocations"]["cypher"]).rows) == 3


def test_pairs_without_live_ranges_have_no_timelines(
    without_live_ranges: Graph, tiny_graph: Graph
) -> None:
    for graph, timelines in ((without_live_ranges, []), (tiny_graph, [0])):
        part = comparison_part(graph, compare_sides(graph, "before", "after"))
        assert part.facts["timelines"] == timelines
        assert part.facts["haveLiveRanges"] == bool(timelines)


def test_a_page_says_why_a_live_range_ends_in_the_words_of_value(tiny_graph):
    values = compilation_part(tiny_graph, BEFORE_F).tables["values"]
    sentences = dict(zip(map(str, values["label"].cells), values["why"].cells, strict=True))
    assert sentences == {
        label: value(tiny_graph, label, BEFORE_F).live_range.why for label in sentences
    }


def test_the_other_order_has_as_many_steps_as_this_one_or_a_note(tiny_graph: Graph) -> None:
    _, part = advice_and_answers(tiny_graph, BEFORE_F, load_catalogue())
    order: Any = part.facts["otherOrder"]
    assert order["name"] is None
    assert "module text" in order["note"]
    assert part.tables["otherOrder"]["liveBytes"].cells == ()
