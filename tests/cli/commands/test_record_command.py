"""`record` runs a program with XLA's flags set, and loads its dumps."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import COMMAND, json_rows
from tests.tiny_dumps import dump

# Writes the dump in DUMP into the folder that XLA_FLAGS names, like a program that compiles.
PROGRAM = """
import os, pathlib, sys
flags = dict(flag.partition("=")[::2] for flag in os.environ["XLA_FLAGS"].split())
folder = pathlib.Path(flags["--xla_dump_to"])
folder.mkdir(exist_ok=True)
stem = folder / "module_0001.jit_f.cpu_after_optimizations"
stem.with_name(stem.name + "-buffer-assignment.txt").write_text(os.environ["DUMP"])
stem.with_name("module_0001.jit_f.before_optimizations.txt").write_text("HloModule jit_f")
"""


@pytest.fixture
def record(run, monkeypatch, tmp_path):
    """Record a program that dumps one compilation, then runs more Python."""
    monkeypatch.setenv("DUMP", dump(256))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("XLA_FLAGS", raising=False)

    def record_program(*options: object, then: str = ""):
        return run("record", *options, "--", sys.executable, "-c", PROGRAM + then)

    return record_program


def temporary_folders(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("xlagraph-record-*"))


def test_the_compilations_of_a_program_are_loaded_and_its_dumps_removed(run, record, tmp_path):
    ended = record("--run", "baseline", "--tag", "commit=3f2")
    assert ended.code == 0
    assert "recording run baseline: XLA dumps to " in ended.err
    assert "ingested 1 compilation in 1 run: 1 added" in ended.err
    ((name, _, compilations, _, tags),) = json_rows(run("runs", "--format", "json"))
    assert (name, compilations, tags) == ("baseline", 1, ["commit=3f2"])
    assert temporary_folders(tmp_path) == []


def test_a_run_without_a_name_is_named_after_the_program(run, record):
    record()
    ((name, *_),) = json_rows(run("runs", "--format", "json"))
    assert str(name).startswith(f"{Path(sys.executable).name}-2")


def test_kept_dumps_are_those_that_an_ingest_reads(run, record):
    assert record("--run", "a", "--dumps", "runs/a").code == 0
    assert [path.name for path in Path("runs/a").iterdir()] == [
        "module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt"
    ]
    again = record("--run", "a", "--dumps", "runs/a")
    assert again.code == 1
    assert "expected a new or empty folder, found files in" in again.err
    assert "1 unchanged" in run("ingest", "runs", "--run", "a").err


def test_the_folder_in_the_users_flags_is_used_and_left_unchanged(run, record, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=mine")
    assert record("--run", "a").code == 0
    assert len(list(Path("mine").iterdir())) == 2
    assert len(json_rows(run("runs", "--format", "json"))) == 1
    both = record("--dumps", "other")
    assert both.code == 2
    assert "remove that flag or --dumps" in both.err


def test_a_failing_program_is_loaded_and_its_exit_code_passed_on(run, record, tmp_path):
    ended = record("--run", "a", then="raise SystemExit(7)")
    assert ended.code == 7
    assert "exit code 7; if memory ran out: xlagraph oom LOG --run a" in ended.err
    assert len(json_rows(run("compilations", "a", "--format", "json"))) == 1
    assert temporary_folders(tmp_path) == []


def test_a_program_that_compiles_nothing_is_an_error(run, record, tmp_path):
    ended = run("record", "--", sys.executable, "-c", "")
    assert ended.code == 1
    assert "error: no dumps below " in ended.err
    assert temporary_folders(tmp_path) == []
    assert run("record", "--", sys.executable, "-c", "raise SystemExit(7)").code == 7


def test_dumps_that_cannot_be_loaded_are_kept(record, tmp_path, monkeypatch):
    monkeypatch.setenv("DUMP", "BufferAssignment:\nallocation 0: what is this\n")
    ended = record("--run", "a")
    assert ended.code == 1
    (folder,) = temporary_folders(tmp_path)
    assert f"the dumps are kept in {folder}" in ended.err
    assert len(list(folder.iterdir())) == 2


def test_another_recording_replaces_a_run_only_with_replace(record, monkeypatch):
    assert record("--run", "a").code == 0
    monkeypatch.setenv("DUMP", dump(512))
    refused = record("--run", "a")
    assert refused.code == 1
    assert "the run a exists already" in refused.err
    assert "1 replaced" in record("--run", "a", "--replace").err


def test_a_graph_that_cannot_be_opened_is_reported_before_the_program_runs(run, tmp_path):
    (tmp_path / "bad.lbug").write_text("not a graph")
    program = "open('ran', 'w')"
    ended = run("record", "--graph", tmp_path / "bad.lbug", "--", sys.executable, "-c", program)
    assert ended.code == 3
    assert not Path("ran").exists()


def test_without_an_ingest_the_dumps_stay_in_their_folder(run, record):
    assert record("--no-ingest").code == 2
    ended = record("--no-ingest", "--dumps", "runs/a", then="raise SystemExit(1)")
    assert ended.code == 1
    assert f"xlagraph oom LOG --dumps {Path('runs/a').absolute()}" in ended.err
    assert list(Path("runs/a").glob("*-buffer-assignment.txt"))
    assert not Path("xlagraph.lbug").exists()


def test_print_shows_the_environment_and_runs_nothing(run, record, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    printed = run("record", "--print", "--dumps", "my runs/a")
    assert printed.code == 0
    show = f"{sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))'"
    shell = ["sh", "-c", f"{printed.out}exec {show}"]
    found = json.loads(subprocess.run(shell, capture_output=True, text=True).stdout)
    folder = Path("my runs/a").absolute()
    assert found["XLA_FLAGS"] == (
        f'--xla_cpu_enable_fast_math=true --xla_dump_to="{folder}" --xla_dump_hlo_as_text'
    )
    assert found["JAX_ENABLE_COMPILATION_CACHE"] == "false"
    assert not folder.exists()
    assert run("record", "--print").code == 2


@pytest.mark.parametrize("program", [[], ["no-such-program"]])
def test_a_program_that_does_not_exist_is_a_usage_error(run, program):
    ended = run("record", "--", *program)
    assert ended.code == 2
    assert "error: expected a program" in ended.err


def test_input_and_output_of_the_program_pass_through(record):
    talk = PROGRAM + "print('out'); print(input(), file=sys.stderr)"
    ended = subprocess.run(
        [*COMMAND, "record", "--run", "a", "--", sys.executable, "-c", talk],
        input="read\n",
        capture_output=True,
        text=True,
    )
    assert ended.stdout == "out\n"
    assert "read\n" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_passed_on_and_the_dumps_are_loaded(run, record, number):
    waits = "import time; print('waits', flush=True); time.sleep(600)"
    program = subprocess.Popen(
        [*COMMAND, "record", "--run", "a", "--", sys.executable, "-c", PROGRAM + waits],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # no terminal passes Ctrl-C on to the program
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "waits\n"
    os.kill(program.pid, number)
    _, messages = program.communicate()
    assert program.returncode == 128 + number, messages
    assert len(json_rows(run("compilations", "a", "--format", "json"))) == 1
