"""The files, messages and errors of `xlagraph export neo4j`."""

import subprocess
from pathlib import Path

import pytest

from tests.tiny_dumps import dump, write_dump, write_padded_run, write_runs


def test_stdout_has_only_the_import_command(run, tmp_path):
    runs = write_runs(tmp_path / "runs")
    ended = run("export", "neo4j", runs, "-o", tmp_path / "out", "--jobs", 1)
    assert ended.code == 0, ended.err
    assert ended.out.startswith(f"cd {tmp_path / 'out'} &&\nneo4j-admin database import full neo4j")
    assert "exported 4 compilations in 2 runs: 4 added" in ended.err
    assert f"sh {tmp_path / 'out' / 'import.sh'}" in ended.err


def test_the_script_runs_that_command_from_any_folder_and_passes_options_on(run, tmp_path):
    run("export", "neo4j", write_runs(tmp_path / "runs"), "-o", tmp_path / "o u t", "--jobs", 1)
    printed = run("export", "neo4j", tmp_path / "runs", "-o", tmp_path / "other", "--jobs", 1).out
    program = tmp_path / "admin"
    program.write_text('#!/bin/sh\npwd\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    ended = subprocess.run(
        ["sh", tmp_path / "o u t" / "import.sh", "--overwrite-destination"],
        env={"PATH": "/usr/bin:/bin", "NEO4J_ADMIN": str(program), "NEO4J_DATABASE": "plans"},
        capture_output=True,
        text=True,
        check=True,
    )
    folder, *arguments = ended.stdout.splitlines()
    assert folder == str(tmp_path / "o u t")
    assert arguments[:4] == ["database", "import", "full", "plans"]
    assert arguments[-1] == "--overwrite-destination"
    assert arguments[4:-1] == [line.strip(" \\") for line in printed.splitlines()[2:]]


def test_a_graph_is_exported_if_no_path_is_given(run, graph, tmp_path):
    ended = run("export", "neo4j", "-o", tmp_path / "out")
    assert ended.code == 0
    assert "exported 4 compilations" in ended.err
    assert (tmp_path / "out" / "Value.csv").read_text().count("\n") == 12
    run("ingest", write_padded_run(tmp_path / "one run"), "--graph", tmp_path / "one.lbug")
    ended = run("export", "neo4j", "-o", tmp_path / "one", "--graph", tmp_path / "one.lbug")
    assert "exported 1 compilation: " in ended.err


def test_tags_and_the_name_of_the_run_are_those_of_ingest(run, tmp_path):
    write_dump(tmp_path / "dumps", 1, "jit_f", dump(256))
    run("export", "neo4j", tmp_path / "dumps", "-o", "out", "--run", "mine", "--tag", "commit=abc")
    row = Path("out", "Run.csv").read_text()
    assert row.startswith('"mine","mine"')
    assert '"commit=abc"' in row


def test_shards_are_merged_into_one_export(run, tmp_path):
    runs = write_runs(tmp_path / "runs")
    for number in range(3, 12):
        write_dump(runs / "before", number, "jit_more", dump(256))
    for number in (1, 2):
        ended = run(
            "export", "neo4j", runs, "-o", f"part{number}", "--shard", f"{number}/2", "--jobs", 1
        )
        assert ended.code == 0, ended.err
    ended = run("export", "neo4j", "--merge", "part1", "part2", "-o", "whole")
    assert ended.code == 0, ended.err
    assert "merged 2 exports of 13 compilations" in ended.err
    assert "Value-header.csv,../part1/Value.csv,../part2/Value.csv" in ended.out


def test_a_shard_without_dumps_succeeds_and_writes_nothing(run, tmp_path):
    runs = write_runs(tmp_path / "runs")
    shards = [f"{number}/9" for number in range(1, 10)]
    all_ended = [run("export", "neo4j", runs, "-o", shard, "--shard", shard) for shard in shards]
    assert all(ended.code == 0 for ended in all_ended)
    empty = [ended for ended in all_ended if "has no dumps: nothing was written" in ended.err]
    assert len(empty) >= 5
    assert all(ended.out == "" for ended in empty)


def test_a_bad_dump_is_skipped_and_named_and_the_rest_is_exported(run, tmp_path):
    runs = write_runs(tmp_path / "runs")
    bad = write_dump(runs / "before", 8, "jit_bad", "BufferAssignment:\nallocation x\n")
    ended = run("export", "neo4j", runs, "-o", "out")
    assert ended.code == 1
    assert f"left out: {bad}:2: " in ended.err
    assert "exported 4 compilations" in ended.err
    assert "neo4j-admin database import" in ended.out


def test_an_empty_export_leaves_no_folder(run, tmp_path):
    (tmp_path / "runs").mkdir()
    ended = run("export", "neo4j", tmp_path / "runs", "-o", tmp_path / "out")
    assert (ended.code, ended.out) == (1, "")
    assert "no dumps below" in ended.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_empty_is_refused(run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").touch()
    ended = run("export", "neo4j", write_runs(tmp_path / "runs"), "-o", tmp_path / "out")
    assert ended.code == 1
    assert "is not empty, it contains notes.txt" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "out", "runs", "--graph", "g.lbug"], "not from both"),
        (["-o", "out", "--shard", "1/2"], "require a PATH"),
        (["-o", "out", "--merge"], "require a PATH"),
        (["-o", "out", "a", "--merge", "--run", "x"], "remove the other options"),
        (["-o", "out", "runs", "--shard", "0/2"], "from 1/2 to 2/2"),
        (["-o", "out", "runs", "--shard", "3/2"], "from 1/2 to 2/2"),
        (["-o", "out", "runs", "--shard", "half"], "expected --shard I/N"),
        (["-o", "out", "runs", "--format", "neo4j-admin"], "--format"),
        (["-o", "out", ""], "a PATH is empty"),
        (["runs"], "--output"),
    ],
)
def test_contradictory_arguments_are_a_usage_error(run, arguments, said):
    ended = run("export", "neo4j", *arguments)
    assert ended.code == 2
    assert said in ended.err


def test_without_a_graph_the_exit_code_says_so(run):
    assert run("export", "neo4j", "-o", "out").code == 3
