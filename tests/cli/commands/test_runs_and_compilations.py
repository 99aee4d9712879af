"""`runs` and `compilations` list the contents; runs are tagged, renamed and removed."""

import json

import pytest

from tests.cli.command_line import json_rows
from tests.tiny_dumps import AFTER_F, AFTER_H, BEFORE_F, BEFORE_G, dump, write_dump


def test_a_run_is_named_and_tagged_at_ingest_and_later(run, tmp_path):
    write_dump(tmp_path / "dumps", 1, "jit_f", dump(256))
    run("ingest", tmp_path / "dumps", "--run", "nightly", "--tag", "commit=3f2")
    assert run("runs", "tag", "nightly", "device=v5e", "note=a=b").code == 0
    ((name, path, compilations, _, tags),) = json_rows(run("runs", "--format", "json"))
    assert (name, path, compilations) == ("nightly", str(tmp_path / "dumps"), 1)
    assert tags == ["commit=3f2", "device=v5e", "note=a=b"]
    run("runs", "tag", "nightly", "device=")
    assert json_rows(run("runs", "--format", "json"))[0][4] == ["commit=3f2", "note=a=b"]


def test_runs_lists_each_run_with_its_folder_and_number_of_compilations(run, graph):
    ended = run("runs", "--format", "csv")
    heading, *lines = ended.out.splitlines()
    assert heading == "run,path,compilations,ingestedAt,tags"
    assert [line.split(",")[0::2][:2] for line in lines] == [["after", "2"], ["before", "2"]]
    assert ended.err == f"graph: {graph}\n"


def test_a_renamed_run_keeps_its_compilations_under_new_keys(run, own_graph):
    assert run("runs", "rename", "before", "baseline").code == 0
    listed = json_rows(run("compilations", "baseline", "--format", "json"))
    assert [row[1] for row in listed] == [
        BEFORE_F.replace("before", "baseline"),
        BEFORE_G.replace("before", "baseline"),
    ]


def test_compilations_are_sorted_by_reserved_bytes(run, graph):
    listed = json.loads(run("compilations", "--format", "json").out)
    assert [(row["compilation"], row["reservedBytes"]) for row in listed] == [
        (AFTER_F, 640),
        (BEFORE_F, 384),
        (BEFORE_G, 256),
        (AFTER_H, 192),
    ]


def test_remove_deletes_a_run_or_a_compilation(run, own_graph):
    assert run("remove", BEFORE_G, "--yes").err.splitlines()[-1] == f"removed {BEFORE_G}"
    assert run("remove", "after", "--yes").err.splitlines()[-1] == (
        "removed run after (2 compilations)"
    )
    listed = json_rows(run("compilations", "--format", "json"))
    assert [row[1] for row in listed] == [BEFORE_F]


def test_remove_deletes_nothing_for_a_part_of_a_name(run, own_graph):
    ended = run("remove", "0001.jit_f", "--yes")
    assert ended.code == 1
    assert "no run and no compilation is called exactly '0001.jit_f'" in ended.err
    assert BEFORE_F in ended.err
    assert len(json_rows(run("runs", "--format", "json"))) == 2
    listed = run("remove", "efore", "--yes").err.splitlines()[-3:]
    assert [line.strip() for line in listed] == ["before", BEFORE_F, BEFORE_G]


def test_remove_deletes_the_runs_that_are_not_kept(run, own_graph):
    kept = run("remove", "--older-than", "30d", "--yes")
    assert (kept.code, kept.err.splitlines()[-1]) == (0, "no run to remove")
    removed = run("remove", "--keep-last", "0", "--module", "jit_g", "--yes")
    assert removed.code == 0
    _, listed, done = removed.err.splitlines()
    assert listed.startswith("before: 2 compilations, ingested 2")
    assert done == "removed 1 run (2 compilations)"
    assert [row[0] for row in json_rows(run("runs", "--format", "json"))] == ["after"]


def test_remove_counts_only_the_runs_with_a_tag(run, own_graph):
    run("runs", "tag", "after", "branch=main")
    run("remove", "--keep-last", "0", "--tag", "branch=main", "--yes")
    assert [row[0] for row in json_rows(run("runs", "--format", "json"))] == ["before"]


def test_remove_shows_the_runs_and_needs_yes_without_a_terminal(run, own_graph):
    ended = run("remove", "--keep-last", "0")
    assert ended.code == 2
    assert "before: 2 compilations" in ended.err
    assert "--yes" in ended.err
    assert len(json_rows(run("runs", "--format", "json"))) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "name a run or a compilation, or give --older-than or --keep-last"),
        (["before", "--keep-last", "1"], 2, "name a run or a compilation, or give"),
        (["--tag", "a=b"], 2, "--tag and --module need --older-than or --keep-last"),
        (["--older-than", "30"], 2, "expected an age such as 12h, 30d or 8w, found '30'"),
        (["--keep-last", "0", "--module", "jit_ff"], 1, "no module is called 'jit_ff'"),
    ],
)
def test_remove_names_wrong_arguments(run, own_graph, arguments, code, message):
    ended = run("remove", *arguments, "--yes")
    assert ended.code == code
    assert message in " ".join(ended.err.split())
    assert len(json_rows(run("runs", "--format", "json"))) == 2
