"""`check` compares the graph's totals with XLA's, and with limits."""

import pytest

from tests.cli.command_line import json_rows
from tests.ingest.carriers.proto.small_protos import hlo
from tests.tiny_dumps import AFTER_F, BEFORE_F, BEFORE_G, dump, write_dump


def test_check_compares_the_totals(run, graph):
    assert json_rows(run("check", "before", "--format", "json")) == [
        ("before", BEFORE_F, 384, 384, True, 384, 384, 384),
        ("before", BEFORE_G, 256, 256, True, 256, 256, 256),
    ]
    assert len(json_rows(run("check", "--format", "json"))) == 4
    assert len(json_rows(run("check", "jit_g", "after", "--format", "json"))) == 3


@pytest.mark.parametrize("option", ["--max-reserved", "--max-peak"])
def test_a_compilation_above_a_limit_trips_the_gate(run, graph, option):
    assert run("check", option, "640B").code == 0
    ended = run("check", option, "639B")
    assert ended.code == 4
    assert ended.err.splitlines()[-1].startswith(f"{AFTER_F}: ")


def test_contradicted_or_missing_derived_facts_are_noted(run, tmp_path):
    program = (
        "main:\n  p = f32[4] parameter(0) <1>\n  a = f32[4] negate(p) <2>\n"
        "  ROOT b = f32[4] negate(a) <3>\n"
    )
    folder = tmp_path / "runs" / "made"
    folder.mkdir(parents=True)
    contradicted = hlo(program, traces=["alloc 3, alloc 2"])
    (folder / "f(1).hlo_proto.pb").write_bytes(contradicted.SerializeToString())
    unscheduled = hlo(program, is_scheduled=False)
    (folder / "g(2).hlo_proto.pb").write_bytes(unscheduled.SerializeToString())
    ingested = run("ingest", folder)
    assert "f(1).hlo_proto.pb: its heap trace contradicts its derived live ranges" in ingested.err
    assert "g(2).hlo_proto.pb: its module has no schedule" in ingested.err
    assert run("check").err.splitlines()[-2:] == [
        "no schedule: 1 compilation without live ranges, peaks and reuse",
        (
            "made/f(1): XLA's heap trace contradicts its derived live ranges;"
            " do not trust its peaks, reuse and replays"
        ),
    ]


def test_an_unknown_peak_does_not_pass_a_limit(run, tmp_path):
    text = dump(256)
    write_dump(tmp_path / "runs", 1, "jit_f", text[: text.index("HloLiveRange")])
    run("ingest", tmp_path / "runs")
    ended = run("check", "--max-peak", "1GiB")
    assert ended.code == 1
    assert "no live ranges" in ended.err
