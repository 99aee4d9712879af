"""The files, messages and errors of `xlagraph export` for other tools."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny_dumps import AFTER_F
from xlagraph.exports.file_formats import FILE_FORMATS

FILES = {"pprof": "plan.pb.gz", "speedscope": "plan.json", "perfetto": "plan.pftrace"}


@pytest.mark.parametrize("format_", FILES)
def test_the_file_is_written_and_named_and_stdout_is_empty(run, graph, format_):
    ended = run("export", format_, "--compilation", AFTER_F, "--output", FILES[format_])
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.endswith(f"wrote {FILES[format_]}\n")
    assert Path(FILES[format_]).stat().st_size > 0


def test_the_compilation_is_chosen_as_in_other_commands(run, graph):
    ended = run("export", "pprof", "-c", "after", "-o", "plan.pb.gz")
    assert f"'after' is a run; using {AFTER_F}, the largest of 2 compilations" in ended.err
    ended = run("export", "pprof", "-c", "jit_x", "-o", "plan.pb.gz")
    assert ended.code == 1
    assert "contains 'jit_x'" in ended.err


def test_the_compilation_or_the_runs_may_follow_the_format(run, graph):
    ended = run("export", "pprof", "after", "-o", "plan.pb.gz")
    assert f"'after' is a run; using {AFTER_F}" in ended.err
    ended = run("export", "pprof", "after", "-c", "before", "-o", "plan.pb.gz")
    assert (ended.code, "given twice" in ended.err) == (2, True)
    ended = run("export", "csv", "before", "after", "-o", "both")
    assert ended.err.endswith("wrote the tables of 2 runs below both\n")


def test_xprof_takes_one_compilation_or_a_run(run, graph):
    ended = run("export", "xprof", "--run", "after", "-o", "profiles")
    assert ended.err.endswith(
        "wrote 2 compilations to profiles/plugins/profile/after/xlagraph.xplane.pb\n"
    )
    ended = run("export", "xprof", "-c", AFTER_F, "-o", "profiles")
    assert "wrote 1 compilation to" in ended.err
    ended = run("export", "xprof", "-c", AFTER_F, "-o", "profiles")
    assert ended.code == 1
    assert "already exists; remove it" in ended.err
    ended = run("export", "xprof", "-c", AFTER_F, "--run", "after", "-o", "profiles")
    assert ended.code == 2
    assert "not both" in ended.err


@pytest.mark.parametrize("format_", ["parquet", "csv"])
def test_tables_of_all_runs_or_of_the_named_runs(run, graph, format_):
    ended = run("export", format_, "-o", "all")
    assert ended.err.endswith("wrote the tables of 2 runs below all\n")
    ended = run("export", format_, "--run", "before", "--run", "before", "-o", "one")
    assert ended.err.endswith("wrote the tables of 1 run below one\n")
    assert [path.name for path in Path("one", "Value").iterdir()] == [f"before.{format_}"]
    ended = run("export", format_, "--run", "bfore", "-o", "none")
    assert ended.code == 1
    assert "no run is called 'bfore'; did you mean 'before'" in ended.err
    assert not Path("none").exists()


def test_help_lists_the_formats(run):
    listed = run("export", "--help").out.partition("Commands:")[2]
    formats = [line.split()[0] for line in listed.splitlines() if line]
    files = [each.name for each in FILE_FORMATS]
    assert formats == [*files, "xprof", "parquet", "csv", "neo4j"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pprof"], "--output"),
        (["pprof", "-o", ""], "a PATH is empty"),
        (["gexf", "-o", "out"], "gexf"),
    ],
)
def test_contradictory_arguments_are_a_usage_error(run, graph, arguments, said):
    ended = run("export", *arguments)
    assert ended.code == 2
    assert said in ended.err


def test_a_file_that_cannot_be_written_is_named(run, graph):
    Path("file").touch()
    ended = run("export", "speedscope", "-o", "file/plan.json")
    assert ended.code == 1
    assert "error: file/plan.json could not be written: " in ended.err


def test_without_a_graph_the_exit_code_says_so(run):
    assert run("export", "speedscope", "-o", "plan.json").code == 3


@pytest.mark.parametrize("format_", ["pprof", "perfetto", "xprof"])
def test_without_protobuf_the_error_says_what_to_install(graph, format_):
    program = (
        "import sys; sys.modules['google.protobuf'] = None\n"
        "from xlagraph.cli import main\n"
        f"raise SystemExit(main(['export', '{format_}', '-o', 'out']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'xlagraph[proto]'" in done.stderr
