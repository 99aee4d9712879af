"""What each command writes, on two tiny runs whose bytes are known by reading them."""

import json
from pathlib import Path

import pytest

from tests.tiny_dumps import BEFORE_F, dump, write_dump, write_runs
from xlagraph.graph import open_graph

BEFORE_G = "before/module_0003.jit_g.cpu_after_optimizations"
AFTER_F = "after/module_0001.jit_f.cpu_after_optimizations"
AFTER_H = "after/module_0005.jit_h.cpu_after_optimizations"


def rows(ended):
    assert ended.code == 0, ended.err
    return [tuple(row.values()) for row in json.loads(ended.out)]


def test_ingest_says_what_went_in_and_that_totals_agree(run, tmp_path):
    write_runs(tmp_path / "runs")
    ended = run("ingest", tmp_path / "runs", "--jobs", 1)
    assert ended.code == 0
    assert ended.out == ""
    lines = ended.err.splitlines()
    assert lines[0] == f"graph: {Path.cwd() / 'xlagraph.lbug'}"
    assert "ingested 4 compilations in 2 runs: 4 added, 0 replaced, 0 unchanged" in lines
    assert lines[-1] == "4 of 4 agree with XLA's 'Total bytes used'"


def test_ingest_that_does_not_wait_says_who_writes(run, tmp_path):
    write_runs(tmp_path / "runs")
    file = tmp_path / "busy.lbug"
    with open_graph(file, create=True) as writer, writer.load():
        ended = run("ingest", tmp_path / "runs", "--graph", file, "--no-wait")
    assert ended.code == 3
    assert "is being written by process" in ended.err


def test_ingest_says_which_part_a_dump_lacks(run, tmp_path):
    text = dump(256)
    write_dump(tmp_path / "runs", 1, "jit_f", text[: text.index("HloLiveRange")])
    assert "live ranges: 1 compilation" in run("ingest", tmp_path / "runs").err


def test_the_same_content_again_is_unchanged_and_other_content_replaced(run, tmp_path):
    runs = write_runs(tmp_path / "runs")
    run("ingest", runs)
    assert "0 added, 0 replaced, 4 unchanged" in run("ingest", runs).err
    write_dump(runs / "before", 1, "jit_f", dump(260))
    ended = run("ingest", runs)
    assert "0 added, 1 replaced, 3 unchanged" in ended.err
    assert f"replaced {BEFORE_F}: the content changed" in ended.err


def test_what_is_gone_stays_and_is_said_until_replace_drops_it(run, tmp_path):
    runs = write_runs(tmp_path / "runs")
    run("ingest", runs)
    next((runs / "before").glob("*jit_g*")).unlink()
    assert f"kept {BEFORE_G}: its files are gone" in run("ingest", runs).err
    assert f"dropped {BEFORE_G}: its files are gone" in run("ingest", runs, "--replace").err
    assert "jit_g" not in run("compilations").out


def test_a_dry_run_reads_everything_and_writes_nothing(run, tmp_path):
    write_runs(tmp_path / "runs")
    ended = run("ingest", tmp_path / "runs", "--dry-run")
    assert ended.code == 0
    assert "would ingest 4 compilations in 2 runs" in ended.err
    assert not list(Path.cwd().iterdir())


def test_fail_fast_stops_at_the_first_dump_that_does_not_fit(run, tmp_path):
    write_dump(tmp_path / "runs", 1, "jit_f", "BufferAssignment:\nnonsense\n")
    write_dump(tmp_path / "runs", 2, "jit_g", dump(128))
    ended = run("ingest", tmp_path / "runs", "--fail-fast", "--jobs", 1)
    assert ended.code == 1
    assert ":2: " in ended.err
    assert "stopped at the first problem, as --fail-fast asks" in ended.err


def test_a_run_is_named_and_tagged_at_ingest_and_later(run, tmp_path):
    write_dump(tmp_path / "dumps", 1, "jit_f", dump(256))
    run("ingest", tmp_path / "dumps", "--run", "nightly", "--tag", "commit=3f2")
    assert run("runs", "tag", "nightly", "device=v5e", "note=a=b").code == 0
    ((name, path, compilations, _, tags),) = rows(run("runs", "--format", "json"))
    assert (name, path, compilations) == ("nightly", str(tmp_path / "dumps"), 1)
    assert tags == ["commit=3f2", "device=v5e", "note=a=b"]
    run("runs", "tag", "nightly", "device=")
    assert rows(run("runs", "--format", "json"))[0][4] == ["commit=3f2", "note=a=b"]


def test_runs_lists_each_with_its_folder_and_how_many_compilations(run, graph):
    ended = run("runs", "--format", "csv")
    heading, *lines = ended.out.splitlines()
    assert heading == "run,path,compilations,ingestedAt,tags"
    assert [line.split(",")[0::2][:2] for line in lines] == [["after", "2"], ["before", "2"]]
    assert ended.err == f"graph: {graph}\n"


def test_a_renamed_run_keeps_its_compilations_under_other_keys(run, own_graph):
    assert run("runs", "rename", "before", "baseline").code == 0
    listed = rows(run("compilations", "baseline", "--format", "json"))
    assert [row[1] for row in listed] == [
        BEFORE_F.replace("before", "baseline"),
        BEFORE_G.replace("before", "baseline"),
    ]


def test_compilations_come_largest_reserved_first(run, graph):
    listed = json.loads(run("compilations", "--format", "json").out)
    assert [(row["compilation"], row["reservedBytes"]) for row in listed] == [
        (AFTER_F, 640),
        (BEFORE_F, 384),
        (BEFORE_G, 256),
        (AFTER_H, 192),
    ]


def test_query_alone_lists_ids_and_questions_without_a_graph(run):
    ended = run("query", "--format", "json")
    listed = json.loads(ended.out)
    assert {"id": "peak/contributors"}.items() <= listed[
        [row["id"] for row in listed].index("peak/contributors")
    ].items()
    assert all(row["question"].endswith("?") for row in listed)
    assert ended.err == ""


def test_the_parameters_of_a_query_are_its_options(run, graph):
    ended = run(
        *("query", "peak/contributors", "--compilation", "before/module_0001", "--limit", 1),
        *("--format", "json"),
    )
    (row,) = json.loads(ended.out)
    assert (row["value"], row["physicalBytes"], row["sourceFile"], row["sourceLine"]) == (
        *("t", 256, "f.py", 5),
    )


def test_a_compilation_that_nobody_named_is_said(run, graph):
    ended = run("query", "peak/by-line", "--format", "csv")
    assert ended.out.splitlines()[1].startswith("f.py,5,")
    assert AFTER_F in ended.err


def test_options_of_rows_may_stand_before_the_id_too(run, graph):
    before = run("query", "--format", "csv", "peak/by-line")
    assert before == run("query", "peak/by-line", "--format", "csv")


def test_camel_case_parameters_are_options_in_kebab_case(run, graph):
    ended = run(
        "query", "compare/modules", "--run-a", "before", "--run-b", "after", "--format", "json"
    )
    growth = {row["module"]: row["growthBytes"] for row in json.loads(ended.out)}
    assert growth["jit_f"] == 256


def test_cypher_takes_a_statement_and_parameters_as_json_else_strings(run, graph):
    statement = "RETURN $number + 1 AS sum, $text AS text, size($list) AS length"
    given = ("--param", "number=41", "--param", "text=a b", "--param", "list=[1, 2, 3]")
    ended = run("cypher", statement, *given, "--format", "json")
    assert json.loads(ended.out) == [{"sum": 42, "text": "a b", "length": 3}]


def test_cypher_names_what_is_near_an_unknown_name(run, graph):
    ended = run("cypher", "MATCH (v:Valeu) RETURN v.label AS label")
    assert ended.code == 1
    assert "line 1: the schema has no label Valeu; did you mean Value?" in ended.err
    ended = run("cypher", "MATCH (v:Value)\nRETURN v.size AS size")
    assert ended.code == 1
    assert "line 2: the schema has no property size of Value; did you mean sizeBytes?" in ended.err
    fine = "WITH {size: 1} AS given MATCH (r:Run) RETURN given.size AS size LIMIT 1"
    assert "schema" not in run("cypher", fine).err


def test_cypher_reads_stdin(run, graph, monkeypatch):
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("MATCH (r:Run) RETURN count(r) AS runs\n"))
    assert run("cypher", "-", "--format", "csv").out == "runs\n2\n"


def test_compare_tells_on_its_first_line_whether_it_grew(run, graph):
    ended = run("compare", "before", "after")
    assert ended.out.splitlines()[0] == (
        "before → after: reserved bytes grow by 192 B (+30.0%), from 640 B to 832 B"
    )
    assert f"only in before: {BEFORE_G} (256 B reserved)" in ended.err
    assert f"only in after: {AFTER_H} (192 B reserved)" in ended.err


def test_compare_gives_every_part_as_rows(run, graph):
    found = rows(run("compare", "before", "after", "--format", "json"))
    assert found[:4] == [
        ("total", "reserved", None, None, 640, 832, 192),
        ("total", "logicalPeak", None, None, 640, 832, 192),
        ("total", "physicalPeak", None, None, 640, 832, 192),
        ("total", "allocation", None, None, 640, 832, 192),
    ]
    assert found[4:7] == [
        ("compilation", "jit_f", BEFORE_F, AFTER_F, 384, 640, 256),
        ("unpaired", "jit_g", BEFORE_G, None, 256, None, -256),
        ("unpaired", "jit_h", None, AFTER_H, None, 192, 192),
    ]
    assert ("role", "temp", None, None, 384, 576, 192) in found
    assert ("op", "jit(f)/layer_0/dot", None, None, 384, 576, 192) in found
    assert ("line", "f.py:5", None, None, 384, 576, 192) in found


@pytest.mark.parametrize(
    ("by", "total"),
    [(by, 640) for by in ("op", "line", "caller", "opcode", "scope", "shape", "role")],
)
def test_the_rows_of_a_grouping_add_up_to_the_total_however_few_are_shown(run, graph, by, total):
    for limit in (0, 1):
        found = json.loads(
            run("compare", "before", "after", "--by", by, "--limit", limit, "--format", "json").out
        )
        assert sum(row["bytesA"] for row in found) == total
        assert sum(row["bytesB"] for row in found) == total + 192
    assert "everything else" in found[-1].values()


def test_compare_by_scope_takes_leading_parts_of_op_names(run, graph):
    ended = run("compare", "before", "after", "--by", "scope", "--depth", 1, "--format", "csv")
    assert ended.out.splitlines()[1] == "jit(f),512,704,192"


def test_compare_takes_two_compilations(run, graph):
    found = rows(run("compare", "after/module_0005", "before/module_0003", "--format", "json"))
    assert ("compilation", "jit_g", AFTER_H, BEFORE_G, 192, 256, 64) in found


@pytest.mark.parametrize(("limit", "code"), [("29.9%", 4), ("30%", 0), ("191B", 4), ("192B", 0)])
def test_growth_beyond_the_limit_trips_the_gate(run, graph, limit, code):
    ended = run("compare", "before", "after", "--max-growth", limit, "--quiet")
    assert ended.code == code
    assert ended.err == "" if code == 0 else f"more than {limit} is not allowed" in ended.err


def test_shrinking_never_trips_the_gate(run, graph):
    assert run("compare", "after", "before", "--max-growth", "0").code == 0


def test_check_compares_the_totals(run, graph):
    assert rows(run("check", "before", "--format", "json")) == [
        ("before", BEFORE_F, 384, 384, True, 384, 384, 384),
        ("before", BEFORE_G, 256, 256, True, 256, 256, 256),
    ]
    assert len(rows(run("check", "--format", "json"))) == 4
    assert len(rows(run("check", "jit_g", "after", "--format", "json"))) == 3


@pytest.mark.parametrize("option", ["--max-reserved", "--max-peak"])
def test_a_compilation_beyond_a_limit_trips_the_gate(run, graph, option):
    assert run("check", option, "640B").code == 0
    ended = run("check", option, "639B")
    assert ended.code == 4
    assert ended.err.splitlines()[-1].startswith(f"{AFTER_F}: ")


def test_a_peak_that_nobody_knows_does_not_pass_a_limit(run, tmp_path):
    text = dump(256)
    write_dump(tmp_path / "runs", 1, "jit_f", text[: text.index("HloLiveRange")])
    run("ingest", tmp_path / "runs")
    ended = run("check", "--max-peak", "1GiB")
    assert ended.code == 1
    assert "no live ranges" in ended.err


def test_remove_takes_a_run_or_a_compilation_out(run, own_graph):
    assert run("remove", BEFORE_G, "--yes").err.splitlines()[-1] == f"removed {BEFORE_G}"
    assert run("remove", "after", "--yes").err.splitlines()[-1] == (
        "removed run after (2 compilations)"
    )
    listed = rows(run("compilations", "--format", "json"))
    assert [row[1] for row in listed] == [BEFORE_F]


def test_remove_takes_nothing_out_by_a_part_of_a_name(run, own_graph):
    ended = run("remove", "0001.jit_f", "--yes")
    assert ended.code == 1
    assert "no run and no compilation is called exactly '0001.jit_f'" in ended.err
    assert BEFORE_F in ended.err
    assert len(rows(run("runs", "--format", "json"))) == 2
    listed = run("remove", "efore", "--yes").err.splitlines()[-3:]
    assert [line.strip() for line in listed] == ["before", BEFORE_F, BEFORE_G]


def test_name_of_a_run_is_enough_for_its_largest_compilation(run, graph):
    for command in (["query", "overview/roles", "-c", "before"], ["value", "p", "-c", "before"]):
        ended = run(*command)
        assert ended.code == 0
        assert f"'before' is a run; this is {BEFORE_F}, which reserves most of 2" in ended.err


def test_quiet_says_nothing_and_verbose_says_the_versions(run, graph):
    for command in (["-q", "runs"], ["runs", "-q"]):
        assert run(*command).err == ""
    assert "ladybug 0." in run("runs", "-v").err


def test_version_tells_ours_the_engines_and_the_schemas(run):
    ended = run("--version")
    assert ended.code == 0
    names = [line.rpartition(" ")[0] for line in ended.out.splitlines()]
    assert names == ["xlagraph", "ladybug", "neo4j driver", "schema"]
