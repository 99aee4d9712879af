"""A load changes a graph in the same way on both engines."""

import pytest

from tests.graph.made_rows import facts, made_rows
from xlagraph.graph import NameUnknown, open_graph

ALL_OPS = "MATCH (o:Op) RETURN o.key AS op ORDER BY op"
COMPILATIONS = "MATCH (c:Compilation) WHERE c.state = 'complete' RETURN c.key AS key ORDER BY key"


def cells(graph, text):
    return [row[0] for row in graph.query(text).rows]


def load(graph, *compilations):
    with graph.load() as loading:
        for rows in compilations:
            loading.write(rows)


def test_written_rows_are_read_back(graph):
    first, second = (
        made_rows(),
        made_rows(stem="module_0002.jit_eval", op="jit(eval)/dot", values=9),
    )
    load(graph, first, second)
    assert facts(graph.read(first.compilation)) == facts(first)
    assert facts(graph.read(second.compilation)) == facts(second)


def test_compilations_of_several_loads_are_stored(graph):
    first, second = made_rows(), made_rows("candidate")
    load(graph, first)
    load(graph, second)
    assert facts(graph.read(first.compilation)) == facts(first)
    assert facts(graph.read(second.compilation)) == facts(second)


def test_a_small_compilation_is_complete_in_a_much_larger_graph(graph):
    large, small = made_rows(values=200), made_rows("candidate", op="new/op", values=2)
    load(graph, large)
    load(graph, small)
    assert facts(graph.read(small.compilation)) == facts(small)
    assert facts(graph.read(large.compilation)) == facts(large)


def test_shared_nodes_are_stored_once(graph):
    load(graph, made_rows(), made_rows("candidate"))
    load(graph, made_rows("third"))
    assert cells(graph, ALL_OPS) == ["jit(step)/layer_0/dot"]
    within = "MATCH (:Op)-[r:WITHIN]->(:Scope) RETURN count(*) AS n"
    assert cells(graph, within) == [2]


def test_a_compilation_with_the_same_key_is_replaced(graph):
    load(graph, made_rows(values=3, sha256="a"))
    load(graph, made_rows(values=8, sha256="b", op="new/op"))
    assert facts(graph.read("baseline/module_0001.jit_step")) == facts(
        made_rows(values=8, sha256="b", op="new/op")
    )
    assert cells(graph, ALL_OPS) == ["new/op"]
    assert cells(graph, "MATCH (v:Value) RETURN count(*) AS n") == [8]


def test_a_compilation_with_the_same_digest_is_unchanged(graph):
    load(graph, made_rows(values=3, sha256="a"))
    load(graph, made_rows(values=8, sha256="a"))
    assert cells(graph, "MATCH (v:Value) RETURN count(*) AS n") == [3]


def test_a_removed_compilation_can_be_written_in_the_same_load(graph):
    rows = made_rows(sha256="a")
    load(graph, rows)
    with graph.load() as loading:
        loading.remove(rows.compilation)
        loading.write(made_rows(values=8, sha256="a"))
    assert facts(graph.read(rows.compilation)) == facts(made_rows(values=8, sha256="a"))


def test_the_same_keys_can_be_written_and_removed_many_times(graph):
    others = made_rows("other", values=5)
    load(graph, others)
    for values in (3, 40):
        load(graph, made_rows(values=values))
        assert facts(graph.read("baseline/module_0001.jit_step")) == facts(made_rows(values=values))
        with graph.load() as loading:
            loading.remove("baseline/module_0001.jit_step")
        assert cells(graph, COMPILATIONS) == [others.compilation]
    assert facts(graph.read(others.compilation)) == facts(others)


def test_a_removed_compilation_leaves_no_unused_nodes(graph):
    gone, kept = made_rows("gone", op="a/b/c"), made_rows("kept", op="a/x")
    load(graph, gone, kept)
    with graph.load() as loading:
        loading.remove(gone.compilation)
    assert facts(graph.read(kept.compilation)) == facts(kept)
    assert cells(graph, ALL_OPS) == ["a/x"]
    assert cells(graph, "MATCH (s:Scope) RETURN s.key AS scope ORDER BY scope") == ["a"]
    assert cells(graph, "MATCH (f:Frame) RETURN f.key AS frame ORDER BY frame") == [
        "a/x@train.py:7",
        "main@train.py:1",
    ]
    assert cells(graph, "MATCH (r:Run) RETURN r.key AS run") == ["kept"]


def test_removing_the_last_compilation_empties_the_graph(graph):
    rows = made_rows()
    load(graph, rows)
    with graph.load() as loading:
        loading.remove(rows.compilation)
    for label in ("Run", "Module", "Compilation", "Value", "Op", "Scope", "SourceLine", "Frame"):
        assert cells(graph, f"MATCH (n:{label}) RETURN count(*) AS n") == [0], label


def test_removing_an_unknown_compilation_does_nothing(graph):
    load(graph, made_rows())
    with graph.load() as loading:
        loading.remove("nobody/knows")
    assert cells(graph, COMPILATIONS) == ["baseline/module_0001.jit_step"]


def test_an_exception_keeps_compilations_that_were_complete_before(graph):
    before = made_rows(sha256="a")
    load(graph, before)
    with pytest.raises(ValueError, match="twice"):
        load(graph, made_rows("late"), made_rows("late"))
    assert facts(graph.read(before.compilation)) == facts(before)
    assert cells(graph, COMPILATIONS) == [before.compilation]
    with graph.load():
        pass
    assert cells(graph, "MATCH (v:Value) RETURN count(*) AS n") == [4]


def test_a_key_is_written_once_in_a_load(graph):
    with pytest.raises(ValueError, match="twice"):
        load(graph, made_rows(), made_rows())


def test_an_unknown_compilation_is_not_read(graph):
    load(graph, made_rows())
    with pytest.raises(NameUnknown, match="nobody"):
        graph.read("nobody")


def test_an_earlier_reader_sees_the_new_state_in_its_next_query(graph):
    load(graph, made_rows())
    with open_graph(graph.location) as reader:
        assert cells(reader, COMPILATIONS) == ["baseline/module_0001.jit_step"]
        load(graph, made_rows("second"))
    with open_graph(graph.location) as reader:
        assert len(cells(reader, COMPILATIONS)) == 2


def test_readers_see_nothing_of_an_unfinished_load(graph):
    load(graph, made_rows())
    with open_graph(graph.location) as reader, graph.load() as loading:
        loading.write(made_rows("second"))
        assert cells(reader, COMPILATIONS) == ["baseline/module_0001.jit_step"]


def test_numbers_of_64_bits_are_kept(graph):
    rows = made_rows(size=2**60)
    load(graph, rows)
    assert facts(graph.read(rows.compilation)) == facts(rows)
    assert cells(graph, "MATCH (v:Value) WHERE v.valueId < 2 RETURN sum(v.sizeBytes) AS total") == [
        2**61
    ]


def test_a_compilation_of_many_chunks_is_complete(graph):
    rows = made_rows(values=1500)
    load(graph, rows)
    assert facts(graph.read(rows.compilation)) == facts(rows)
    with graph.load() as loading:
        loading.remove(rows.compilation)
    assert cells(graph, "MATCH (v:Value) RETURN count(*) AS n") == [0]


def test_many_small_compilations_share_chunks(graph):
    compilations = [
        made_rows(stem=f"module_{number:04}", values=3 + number % 7, op=f"op/{number % 5}/x")
        for number in range(60)
    ]
    load(graph, *compilations)
    for rows in compilations[::7]:
        assert facts(graph.read(rows.compilation)) == facts(rows)
    assert len(cells(graph, COMPILATIONS)) == 60
    assert len(cells(graph, ALL_OPS)) == 5
