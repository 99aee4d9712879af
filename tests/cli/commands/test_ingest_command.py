"""`ingest` reports the loaded, missing, incomplete and wrong dumps."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.command_line import COMMAND, json_rows
from tests.tiny_dumps import BEFORE_F, BEFORE_G, dump, write_dump, write_runs
from xlagraph.graph import open_graph


def test_ingest_reports_the_loaded_dumps_and_that_totals_agree(run, tmp_path):
    write_runs(tmp_path / "runs")
    ended = run("ingest", tmp_path / "runs", "--jobs", 1)
    assert ended.code == 0
    assert ended.out == ""
    lines = ended.err.splitlines()
    assert lines[0] == f"graph: {Path.cwd() / 'xlagraph.lbug'}"
    assert "ingested 4 compilations in 2 runs: 4 added, 0 replaced, 0 unchanged" in lines
    assert lines[-1] == "4 of 4 agree with XLA's 'Total bytes used'"


def test_ingest_without_waiting_says_who_writes(run, tmp_path):
    write_runs(tmp_path / "runs")
    file = tmp_path / "busy.lbug"
    with open_graph(file, create=True) as writer, writer.load():
        ended = run("ingest", tmp_path / "runs", "--graph", file, "--no-wait")
    assert ended.code == 3
    assert "is being written by process" in ended.err


def test_ingest_says_which_part_of_a_dump_is_missing(run, tmp_path):
    text = dump(256)
    write_dump(tmp_path / "runs", 1, "jit_f", text[: text.index("HloLiveRange")])
    assert "live ranges: 1 compilation" in run("ingest", tmp_path / "runs").err


def test_the_same_content_again_is_unchanged_and_other_content_is_replaced(run, tmp_path):
    runs = write_runs(tmp_path / "runs")
    run("ingest", runs)
    assert "0 added, 0 replaced, 4 unchanged" in run("ingest", runs).err
    write_dump(runs / "before", 1, "jit_f", dump(260))
    ended = run("ingest", runs)
    assert "0 added, 1 replaced, 3 unchanged" in ended.err
    assert f"replaced {BEFORE_F}: the content changed" in ended.err


def test_other_categories_of_the_user_replace_what_is_stored(run, tmp_path):
    runs = write_runs(tmp_path / "runs")
    names = tmp_path / "names.toml"
    names.write_text('[categories]\nring = ["*"]\n')
    run("ingest", runs, "--categories", names)
    assert "4 unchanged" in run("ingest", runs, "--categories", names).err
    assert "4 replaced" in run("ingest", runs).err
    assert run("ingest", runs, "--categories", tmp_path / "none.toml").code == 2


def test_a_missing_dump_stays_and_is_reported_until_replace_removes_it(run, tmp_path):
    runs = write_runs(tmp_path / "runs")
    run("ingest", runs)
    next((runs / "before").glob("*jit_g*")).unlink()
    assert f"kept {BEFORE_G}: its files no longer exist" in run("ingest", runs).err
    assert f"removed {BEFORE_G}: its files no longer exist" in run("ingest", runs, "--replace").err
    assert "jit_g" not in run("compilations").out


def test_a_dry_run_reads_everything_and_writes_nothing(run, tmp_path):
    write_runs(tmp_path / "runs")
    ended = run("ingest", tmp_path / "runs", "--dry-run")
    assert ended.code == 0
    assert "would ingest 4 compilations in 2 runs" in ended.err
    assert not list(Path.cwd().iterdir())


def test_fail_fast_stops_at_the_first_bad_dump(run, tmp_path):
    write_dump(tmp_path / "runs", 1, "jit_f", "BufferAssignment:\nnonsense\n")
    write_dump(tmp_path / "runs", 2, "jit_g", dump(128))
    ended = run("ingest", tmp_path / "runs", "--fail-fast", "--jobs", 1)
    assert ended.code == 1
    assert ":2: " in ended.err
    assert "stopped at the first problem, as --fail-fast asks" in ended.err


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_watch_ends_at_a_signal_and_keeps_what_it_found(run, tmp_path, sent):
    runs = write_runs(tmp_path / "runs")
    command = [*COMMAND, "ingest", str(runs), "--watch", "--every", "0.1", "--jobs", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as watching:
        assert watching.stderr is not None
        lines = iter(watching.stderr.readline, "")
        assert any(f"added {BEFORE_G}" in line for line in lines)
        watching.send_signal(sent)
        rest = watching.stderr.read()
    assert watching.returncode == 0
    assert ": 4 added, 0 replaced, 0 unchanged, 0 held back" in rest
    assert len(json_rows(run("compilations", "--format", "json"))) == 4


def test_a_watch_names_what_it_held_back(run, tmp_path):
    write_dump(tmp_path / "runs", 1, "jit_f", dump(256, total=1))
    command = [*COMMAND, "ingest", str(tmp_path / "runs"), "--watch", "--every", "0.1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as watching:
        assert watching.stderr is not None
        lines = iter(watching.stderr.readline, "")
        assert any(line.startswith("left out for now: ") for line in lines)
        watching.send_signal(signal.SIGINT)
        rest = watching.stderr.read()
    assert watching.returncode == 1
    assert "its allocations do not add up to its total" in rest


def test_options_that_a_watch_does_not_take_are_refused(run):
    assert (
        "--watch cannot be used with --replace" in run("ingest", "runs", "--watch", "--replace").err
    )
    assert "standard input" in run("ingest", "-", "--watch").err
    assert run("ingest", "runs", "--every", "3").code == 2
