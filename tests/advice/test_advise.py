"""`advise` reports the findings with their potential savings, and no false ones."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tiny_dumps import tiny_dump
from xlagraph.advice.diagnosis import diagnosis_result
from xlagraph.graph import Graph
from xlagraph.ingest import ingest
from xlagraph.queries import (
    Diagnosis,
    EmptyGraph,
    NoSuchCompilation,
    advise,
    load_catalogue,
)

Advise = Callable[..., Diagnosis]


@pytest.fixture
def advised(graph: Graph, tmp_path: Path) -> Advise:
    """Ingest a dump as a separate run, and diagnose it."""
    run = tmp_path.name

    def diagnose(allocations: str, values: str) -> Diagnosis:
        folder = tmp_path / "runs" / run
        folder.mkdir(parents=True)
        (folder / "f.txt").write_text(tiny_dump(allocations, values))
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
        return advise(graph, f"{run}/f")

    return diagnose


def found(diagnosis):
    return {finding.query.id: finding for finding in diagnosis.findings}


def shown(finding, *columns):
    return [tuple(row[column] for column in columns) for row in finding.rows]


TWO_STATES = """
0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
1 | 4096 | parameter 1, shape |f32[1024]| at ShapeIndex {}
2 | 4096 | maybe-live-out
"""


ADDED = """
0 | x   | f32[1024] | 0 | 4096 | 0-3 | parameter(0)
1 | y   | f32[1024] | 0 | 4096 | 0-3 | parameter(1)
2 | out | f32[1024] | 0 | 4096 | 2-3 | add(x, y)
"""


def test_a_finding_without_a_remedy_has_null_for_each_framework(advised):
    diagnosis = advised(TWO_STATES, ADDED)
    (finding,) = diagnosis.findings
    unknown = replace(finding, advice=replace(finding.advice, remedies={}))
    (row,) = diagnosis_result(replace(diagnosis, findings=(unknown,))).mappings()
    assert (row["jax"], row["tensorflow"], row["pytorch"]) == (None, None, None)


def test_of_two_inputs_that_fit_one_output_only_one_can_be_donated(advised):
    diagnosis = advised(TWO_STATES, ADDED)
    finding = found(diagnosis)["alias/not-donated"]
    assert (finding.bytes, finding.share) == (4096, pytest.approx(1 / 3))
    assert shown(finding, "value", "freeInSpace", "savedBytes") == [("x", 1, 4096)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("state['w']", 'donate_argnames=("state",)'), ("p12.345", "donate_argnums=(0,)")],
)
def test_the_argument_to_donate_is_named_if_the_dump_knows_it(advised, name, expected):
    diagnosis = advised(
        TWO_STATES,
        f"""
        0 | x   | f32[1024] | 0 | 4096 | 0-3 | parameter(0) | {name}
        1 | y   | f32[1024] | 0 | 4096 | 0-3 | parameter(1)
        2 | out | f32[1024] | 0 | 4096 | 2-3 | add(x, y)
        """,
    )
    assert expected in found(diagnosis)["alias/not-donated"].advice.remedies["jax"]


def test_an_input_that_is_read_after_the_output_begins_is_not_a_candidate(advised):
    diagnosis = advised(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | preallocated-temp
        2 | 4096 | maybe-live-out
        """,
        """
        0 | x    | f32[1024] | 0 | 4096 | 0-3 | parameter(0)
        2 | out  | f32[1024] | 0 | 4096 | 1-3 | negate(x)
        1 | late | f16[2048] | 0 | 4096 | 2-2 | convert(x)
        """,
    )
    assert "alias/not-donated" not in found(diagnosis)


def test_an_output_whose_buffer_serves_temporaries_at_the_peak_saves_nothing(advised):
    # At the peak, step 1, the buffer of the output contains `t`, which would need another place.
    diagnosis = advised(
        "0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}\n1 | 4096 | maybe-live-out",
        """
        0 | x   | f32[1024] | 0 | 4096 | 0-3 | parameter(0)
        1 | t   | s8[4096]  | 0 | 4096 | 1-1 | convert(x)
        1 | out | f32[1024] | 0 | 4096 | 2-3 | convert(t)
        """,
    )
    assert "alias/not-donated" not in found(diagnosis)


def test_a_donated_input_is_not_advised_to_be_donated(advised):
    diagnosis = advised(
        "0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}, maybe-live-out",
        """
        0 | x   | f32[1024] | 0 | 4096 | 0-1 | parameter(0)
        0 | out | f32[1024] | 0 | 4096 | 1-2 | negate(x)
        """,
    )
    assert diagnosis.findings == ()


def test_padding_counts_a_value_live_at_the_peak_once_even_if_overwritten_in_place(advised):
    diagnosis = advised(
        "0 | 8192 | preallocated-temp",
        """
        0 | a   | s8[16,1] | 0 | 8192 | 0-1 | iota()
        0 | b   | s8[16,1] | 0 | 8192 | 1-2 | negate(a)
        """,
    )
    finding = found(diagnosis)["waste/padding"]
    # at the peak, step 0, `a` is the only value
    assert shown(finding, "value", "peakPaddingBytes") == [("a", 8176)]
    assert finding.advice.measure == "physical"


def test_wide_types_count_half_of_intermediate_values_at_the_peak(advised):
    diagnosis = advised(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 6144 | preallocated-temp
        """,
        """
        0 | x | f32[1024]  | 0    | 4096 | 0-3 | parameter(0)
        1 | h | f32[1024]  | 0    | 4096 | 1-2 | negate(x)
        1 | g | bf16[1024] | 4096 | 2048 | 2-2 | convert(h)
        """,
    )
    finding = found(diagnosis)["waste/wide-types"]
    assert shown(finding, "value", "halfBytes") == [("h", 2048)]
    assert finding.share == pytest.approx(2048 / 10240)


THREE_EQUAL = """
0 | 1024  | parameter 0, shape |s8[1024]| at ShapeIndex {}
1 | 12288 | preallocated-temp
"""


def test_the_same_op_over_the_same_operands_is_the_same_value(advised):
    diagnosis = advised(
        THREE_EQUAL,
        """
        0 | x | s8[1024]   | 0    | 1024 | 0-5 | parameter(0)
        1 | a | s8[4,1024] | 0    | 4096 | 1-4 | broadcast(x) | jit(f)/mask
        1 | b | s8[4,1024] | 4096 | 4096 | 2-4 | broadcast(x) | jit(f)/mask
        1 | c | s8[4,1024] | 8192 | 4096 | 3-4 | broadcast(x) | jit(f)/mask
        1 | d | s8[0]      | 0    | 0    | 4-4 | fusion(a, b, c)
        """,
    )
    finding = found(diagnosis)["waste/duplicates"]
    assert shown(finding, "opName", "copies", "alike", "repeatedBytes") == [
        ("jit(f)/mask", 3, 2, 8192)
    ]
    assert sorted(finding.rows[0]["repeated"]) == ["b", "c"]


def test_fusions_of_one_array_with_one_op_name_may_differ_inside(advised):
    # query, key and value of a layer look exactly like that
    diagnosis = advised(
        THREE_EQUAL,
        """
        0 | x | s8[1024]   | 0    | 1024 | 0-5 | parameter(0)
        1 | a | s8[4,1024] | 0    | 4096 | 1-4 | fusion(x) | jit(f)/split
        1 | b | s8[4,1024] | 4096 | 4096 | 2-4 | fusion(x) | jit(f)/split
        1 | c | s8[4,1024] | 8192 | 4096 | 3-4 | fusion(x) | jit(f)/split
        1 | d | s8[0]      | 0    | 0    | 4-4 | fusion(a, b, c)
        """,
    )
    assert diagnosis.findings == ()


def test_gathered_tensors_at_the_peak_are_a_finding(advised):
    diagnosis = advised(
        "0 | 1024 | parameter 0, shape |s8[1024]| at ShapeIndex {}\n1 | 8192 | preallocated-temp",
        """
        0 | x | s8[1024] | 0 | 1024 | 0-3 | parameter(0)
        1 | g | s8[8192] | 0 | 8192 | 1-2 | all-gather(x) | jit(f)/dot
        1 | y | s8[0]    | 0 | 0    | 2-2 | fusion(g)
        """,
    )
    assert shown(found(diagnosis)["waste/gathered"], "value", "physicalBytes") == [("g", 8192)]


def test_a_copy_is_a_finding_if_the_original_occupies_room_at_the_peak_too(advised):
    diagnosis = advised(
        "0 | 2048 | parameter 0, shape |s8[2048]| at ShapeIndex {}\n1 | 2048 | preallocated-temp",
        """
        0 | x | s8[2048] | 0 | 2048 | 0-3 | parameter(0)
        1 | k | s8[2048] | 0 | 2048 | 1-2 | copy(x)
        1 | y | s8[0]    | 0 | 0    | 2-2 | fusion(k, x)
        """,
    )
    finding = found(diagnosis)["alias/copies"]
    assert shown(finding, "value", "copied", "peakCopyBytes") == [("k", "x", 2048)]


def test_fragmentation_excludes_bytes_that_are_never_used(advised):
    # 12288 bytes: `a` and `b` take 8192 at different steps, the last 4096 are never used.
    diagnosis = advised(
        "0 | 12288 | preallocated-temp",
        """
        0 | a | s8[4096] | 0    | 4096 | 0-0 | iota()
        0 | b | s8[4096] | 4096 | 4096 | 1-2 | iota()
        """,
    )
    finding = found(diagnosis)["reuse/fragmentation"]
    assert shown(finding, "unusedBytes", "packingBytes") == [(8192, 4096)]
    assert (finding.bytes, finding.share) == (4096, pytest.approx(1 / 3))


def test_activations_that_the_backward_pass_keeps_are_a_finding(advised):
    diagnosis = advised(
        "0 | 2048 | parameter 0, shape |s8[2048]| at ShapeIndex {}\n1 | 4096 | preallocated-temp",
        """
        0 | x | s8[2048] | 0    | 2048 | 0-4 | parameter(0)
        1 | h | s8[2048] | 0    | 2048 | 1-3 | fusion(x)    | jit(f)/jvp(h)/mul
        1 | l | s8[2048] | 2048 | 2048 | 2-2 | fusion(h)    | jit(f)/jvp(h)/sum
        1 | d | s8[0]    | 2048 | 0    | 3-3 | fusion(h, l) | jit(f)/transpose(jvp(h))/mul
        """,
    )
    finding = found(diagnosis)["lifetime/kept-for-backward"]
    assert shown(finding, "value", "physicalBytes", "neededAt") == [("h", 2048, 3), ("l", 2048, 3)]


CHECKPOINTED = """
0 | 2048 | parameter 0, shape |s8[2048]| at ShapeIndex {}
1 | 4096 | preallocated-temp
"""
BACKWARD = "jit(f)/transpose(jvp(h))/jvp(h)/checkpoint/mul"


def test_a_checkpoint_whose_second_computation_was_merged_is_a_finding(advised):
    diagnosis = advised(
        CHECKPOINTED,
        f"""
        0 | x | s8[2048] | 0    | 2048 | 0-4 | parameter(0)
        1 | h | s8[2048] | 0    | 2048 | 1-3 | fusion(x)    | jit(f)/jvp(h)/mul @ f.py:7
        1 | l | s8[2048] | 2048 | 2048 | 2-2 | fusion(h)    | jit(f)/jvp(l)/sum
        1 | d | s8[0]    | 2048 | 0    | 3-3 | fusion(h, l) | {BACKWARD}
        """,
    )
    assert "lifetime/kept-for-backward" not in found(diagnosis)
    finding = found(diagnosis)["lifetime/not-recomputed"]
    assert shown(finding, "value", "physicalBytes", "checkpoint", "userLine") == [
        ("h", 2048, "jit(f)/jvp(h)", 7)
    ]
    assert "merged with the first computation" in str(finding.rows[0]["reason"])


def test_without_a_module_text_nothing_shows_that_a_value_is_recomputed_too_early(advised):
    again = "jit(f)/transpose(jvp(h))/jvp(h)/checkpoint/rematted_computation/mul"
    diagnosis = advised(
        CHECKPOINTED,
        f"""
        0 | x | s8[2048] | 0    | 2048 | 0-4 | parameter(0)
        1 | h | s8[2048] | 0    | 2048 | 1-3 | fusion(x)    | {again} @ f.py:7
        1 | l | s8[2048] | 2048 | 2048 | 2-2 | fusion(x)    | jit(f)/jvp(l)/sum
        1 | d | s8[0]    | 2048 | 0    | 3-3 | fusion(h, l) | {BACKWARD}
        """,
    )
    assert "lifetime/recomputed" not in found(diagnosis)


def test_small_values_are_not_a_finding(advised):
    # everything is padding, and everything is 512 bytes
    diagnosis = advised("0 | 512 | preallocated-temp", "0 | a | s8[1] | 0 | 512 | 0-1 | iota()")
    assert diagnosis.findings == ()


def test_without_live_ranges_the_unknown_facts_are_named(advised):
    diagnosis = advised(
        TWO_STATES,
        """
        0 | x   | f32[1024] | 0 | 4096 | - | parameter(0)
        1 | y   | f32[1024] | 0 | 4096 | - | parameter(1)
        2 | out | f32[1024] | 0 | 4096 | - | add(x, y)
        """,
    )
    assert diagnosis.findings == ()
    assert [compilation.peak_bytes for compilation in diagnosis.compilations] == [None]
    assert any("no live ranges" in note for note in diagnosis.notes)


def test_findings_are_sorted_by_bytes_and_share_only_bytes_that_they_have(advised):
    diagnosis = advised(
        TWO_STATES + "3 | 16384 | preallocated-temp",
        """
        0 | x   | f32[1024] | 0 | 4096  | 0-4 | parameter(0)
        1 | y   | f32[1024] | 0 | 4096  | 0-4 | parameter(1)
        3 | t   | s8[16,1]  | 0 | 16384 | 2-3 | fusion(x)
        2 | out | f32[1024] | 0 | 4096  | 3-4 | fusion(x, y, t)
        """,
    )
    ranked = [(finding.query.id, finding.bytes) for finding in diagnosis.findings]
    assert ranked == [("waste/padding", 16368), ("alias/not-donated", 4096)]
    assert all(0 < finding.share <= 1 for finding in diagnosis.findings)


def test_the_largest_compilations_of_a_run_are_diagnosed(graph: Graph, tmp_path: Path):
    folder = tmp_path / "runs" / "run"
    folder.mkdir(parents=True)
    for name, size in (("large", 8192), ("half", 4096), ("small", 1024)):
        row = f"0 | a | s8[16,1] | 0 | {size} | 0-1 | iota()"
        text = tiny_dump(f"0 | {size} | preallocated-temp", row)
        (folder / f"{name}.txt").write_text(text)
    ingest(graph, tmp_path / "runs", jobs=1)
    diagnosis = advise(graph, "run")
    assert [compilation.compilation for compilation in diagnosis.compilations] == [
        "run/large",
        "run/half",
    ]
    assert [finding.compilation for finding in diagnosis.findings] == ["run/large", "run/half"]
    assert "1 of 3 compilations" in diagnosis.notes[0]
    assert len(diagnosis.notes) == 1 + len(advise(graph, "run/half").notes)  # each once
    assert advise(graph).name == "run/large"
    with pytest.raises(NoSuchCompilation):
        advise(graph, "nowhere")


def test_an_empty_module_has_no_findings(advised):
    diagnosis = advised("0 | 0 | preallocated-temp", "0 | t | () | 0 | 0 | 0-1 | tuple()")
    assert diagnosis.findings == ()


def test_an_empty_graph_is_reported(graph: Graph):
    with graph.load():
        pass
    with pytest.raises(EmptyGraph):
        advise(graph)


def test_every_advice_has_evidence_and_a_remedy_for_each_framework():
    advices = [query.advice for query in load_catalogue().values() if query.advice]
    assert advices
    for advice in advices:
        assert set(advice.remedies) == {"jax", "tensorflow", "pytorch"}
        assert advice.evidence
