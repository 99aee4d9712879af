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
    again = record("--run", "b", "--dumps", "runs/a")
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
    assert "error: no dumps: no process imported JAX, TensorFlow or PyTorch/XLA" in ended.err
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


def test_a_graph_in_a_missing_folder_is_reported_before_the_program_runs(run):
    ended = run("record", "--graph", "absent/g.lbug", "--", sys.executable, "-c", "print(1)")
    assert ended.code == 1
    assert "cannot write" in ended.err
    assert "absent does not exist" in ended.err
    assert "recording" not in ended.err


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
    before, own = found["XLA_FLAGS"].split(f' --xla_dump_to="{folder}/process-')
    assert before == (
        f'--xla_cpu_enable_fast_math=true --xla_dump_to="{folder}" --xla_dump_hlo_as_text'
    )
    assert own.rstrip('"').isdecimal()
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


# Starts workers as a launcher does, and compiles nothing itself.
LAUNCHER = """
import os, subprocess, sys
for dump in sys.argv[2:]:
    os.environ["DUMP"] = dump
    subprocess.run([sys.executable, "-c", sys.argv[1]])
"""


def test_workers_with_equal_plans_are_one_run_with_their_number(run, monkeypatch, record):
    workers = [dump(256)] * 3
    command = [sys.executable, "-c", LAUNCHER, PROGRAM, *workers]
    ended = run("record", "--run", "a", "--", *command)
    assert ended.code == 0
    assert "run a: 3 processes with equal plans" in ended.err
    ((name, _, compilations, _, tags),) = json_rows(run("runs", "--format", "json"))
    assert (name, compilations, tags) == ("a", 1, ["processes=3"])


def test_workers_with_different_dumps_of_one_name_are_separate_runs(run, record):
    command = [sys.executable, "-c", LAUNCHER, PROGRAM, dump(256), dump(512), dump(256)]
    ended = run("record", "--run", "a", "--dumps", "kept", "--", *command)
    assert ended.code == 0
    assert "run a-1: 2 processes with equal plans" in ended.err
    rows = json_rows(run("runs", "--format", "json"))
    assert [(row[0], row[2]) for row in rows] == [("a-1", 1), ("a-2", 1)]
    assert len([path for path in Path("kept").iterdir() if path.is_dir()]) == 3
    # these runs take the name, and --replace removes those that are not recorded again
    assert "the run a-1 exists already" in record("--run", "a").err
    assert "removed a-1, a-2, which --replace replaces" in record("--run", "a", "--replace").err
    assert [row[0] for row in json_rows(run("runs", "--format", "json"))] == ["a"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_a_separate_folder(run, record, monkeypatch):
    monkeypatch.setenv("DUMP_OF_CHILD", dump(512))
    fork = f"""
import os
if not os.fork():
    os.environ["DUMP"] = os.environ["DUMP_OF_CHILD"]
    exec({PROGRAM!r})
    os._exit(0)
os.wait()
exec({PROGRAM!r})
"""
    assert run("record", "--run", "a", "--", sys.executable, "-c", fork).code == 0
    assert [row[0] for row in json_rows(run("runs", "--format", "json"))] == ["a-1", "a-2"]


def test_files_older_than_the_program_are_not_taken(run, record, monkeypatch):
    before = Path("mine/module_0009.jit_old.cpu_after_optimizations-buffer-assignment.txt")
    before.parent.mkdir()
    before.write_text(dump(64))
    os.utime(before, (1, 1))
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=mine")
    assert record("--run", "a").code == 0
    assert len(json_rows(run("compilations", "a", "--format", "json"))) == 1
    assert before.exists()


def test_the_dumps_of_programs_other_than_python_are_loaded(run, record, tmp_path):
    stem = "module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt"
    folder = "set -- $XLA_FLAGS; folder=${1#--xla_dump_to=}"
    script = f'{folder}; printf "%s" "$DUMP" > "$folder/{stem}"'
    ended = run("record", "--run", "a", "--", "sh", "-c", script)
    assert ended.code == 0, ended.err
    assert len(json_rows(run("compilations", "a", "--format", "json"))) == 1


def test_a_sitecustomize_of_the_user_still_runs(run, record, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sitecustomize.py").write_text("open('customized', 'w')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "mine"))
    assert record("--run", "a").code == 0
    assert Path("customized").exists()


@pytest.mark.parametrize(
    ("package", "version", "has_protobuf"),
    [("jaxlib", "0.8.3", True), ("jaxlib", "0.10.2", False), ("torch_xla", "2.9.0", True)],
)
def test_protobuf_is_dumped_where_only_it_has_call_stacks(
    run, record, tmp_path, monkeypatch, package, version, has_protobuf
):
    information = tmp_path / "packages" / f"{package}-{version}.dist-info"
    information.mkdir(parents=True)
    text = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    (information / "METADATA").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(information.parent))
    assert record("--run", "a", then="open('flags', 'w').write(os.environ['XLA_FLAGS'])").code == 0
    assert ("--xla_dump_hlo_as_proto" in Path("flags").read_text()) is has_protobuf


def test_modules_that_come_from_a_cache_are_named(record):
    cached = """
from types import SimpleNamespace as N
config = N(jax_enable_compilation_cache=True, jax_compilation_cache_dir="cache")
sys.modules["jax"] = N(config=config)
(folder / "module_0002.jit_g.after_optimizations.txt").write_text("HloModule jit_g")
"""
    ended = record("--run", "a", then=cached)
    assert ended.code == 0
    assert "not recorded: 1 module that JAX's compilation cache contained (jit_g)" in ended.err


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise SystemExit(3)", "the program failed with exit code 3 before it compiled anything"),
        ("import os; del os.environ['XLA_FLAGS']", "the program replaced XLA_FLAGS"),
        ("import sys; sys.modules['tensorflow'] = sys", "TensorFlow compiled nothing with XLA"),
        ("import sys; sys.modules['torch_xla'] = sys", "the program compiled nothing"),
        ("import os; os._exit(1)", "the program was aborted; XLA does this if a flag"),
    ],
)
def test_why_there_are_no_dumps_is_said(run, record, program, why, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_foo=1")
    ended = run("record", "--", sys.executable, "-c", program)
    assert f"error: no dumps: {why}" in ended.err


def test_a_name_that_is_in_use_or_invalid_is_reported_before_the_program_runs(run, record):
    assert record("--run", "a").code == 0
    for name, code in (("a", 1), ("/a", 2)):
        ended = run("record", "--run", name, "--", sys.executable, "-c", "open('ran', 'w')")
        assert ended.code == code
        assert not Path("ran").exists()


def test_what_a_killed_recording_left_is_removed_by_the_next(record, tmp_path):
    left = tmp_path / "xlagraph-record-left"
    left.mkdir()
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            "from xlagraph.runtime.process_identity import this_process as p; print(p())",
        ],
        capture_output=True,
        text=True,
    )
    (left / "recorded-by").write_text(ended.stdout.strip())
    assert record("--run", "a").code == 0
    assert temporary_folders(tmp_path) == []


def test_a_forgotten_separator_and_a_script_that_is_not_executable_have_hints(run, record):
    assert "the program and its arguments follow `--`" in run("record", "--foo", "x.py").err
    Path("train.py").write_text("")
    assert (
        "'./train.py' is not executable: chmod +x ./train.py"
        in run("record", "--", "./train.py").err
    )
