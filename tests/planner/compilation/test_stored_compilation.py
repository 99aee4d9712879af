"""The statements of a stored compilation return the fields of its records."""

from pathlib import Path

import pytest

from xlagraph.graph import NameUnknown, open_graph
from xlagraph.planner.compilation import records
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.planned_program import PlannedAllocation

STATEMENTS = Path(records.__file__).parent / "statements"
RECORDS = {
    "compilation": (records.CompilationTotals, records.StoredSpace),
    "allocations": (PlannedAllocation,),
    "values": (records.StoredValue,),
    "instructions": (records.StoredInstruction,),
    "uses": (records.StoredUse,),
    "positions": (records.StoredPosition,),
    "successions": (records.StoredSuccession,),
    "overwrites": (records.StoredOverwrite,),
    "frames": (records.StoredFrame,),
}


@pytest.fixture(scope="module")
def empty_graph(tmp_path_factory):
    with open_graph(tmp_path_factory.mktemp("graph") / "empty.lbug", create=True) as graph:
        yield graph


@pytest.mark.parametrize("name", RECORDS)
def test_the_columns_of_a_statement_are_the_fields_of_its_records(name, empty_graph):
    text = (STATEMENTS / f"{name}.cypher").read_text(encoding="utf-8")
    found = empty_graph.query(text, {"compilation": "run/f", "frames": ["a"]})
    columns = [column for record in RECORDS[name] for column in records.column_names(record)]
    assert list(found.columns) == columns


def test_a_compilation_that_does_not_exist_has_no_totals(empty_graph):
    with pytest.raises(NameUnknown, match="no compilation run/f in the graph"):
        _ = StoredCompilation(empty_graph, "run/f").totals
