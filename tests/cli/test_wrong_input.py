"""Wrong input of any kind gets one clear message and the right exit code."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.command_line import COMMAND
from tests.tiny_dumps import dump, write_dump
from xlagraph.cli.errors import write_failure
from xlagraph.cli.output.messages import Verbosity, set_verbosity

FAILED, USAGE, NO_GRAPH = 1, 2, 3


def one_line(err: str) -> str:
    """Return the message without the line that names the graph."""
    lines = [line for line in err.splitlines() if not line.startswith("graph: ")]
    assert len(lines) == 1, err
    return lines[0]


def test_a_missing_folder_is_an_error_and_no_graph_is_created(run, tmp_path):
    ended = run("ingest", tmp_path / "nowhere")
    assert ended.code == FAILED
    assert "nowhere: cannot be read" in ended.err
    assert ended.err.splitlines()[-1].startswith("error: nothing to ingest below ")
    assert not list(Path.cwd().iterdir())


def test_an_empty_folder_and_one_without_dumps_fail_with_the_remedy(run, tmp_path):
    (tmp_path / "notes.txt").write_text("no dump")
    ended = run("ingest", tmp_path)
    assert ended.code == FAILED
    assert one_line(ended.err) == (
        f"error: no dumps below {tmp_path}; XLA writes them with --xla_dump_to=DIR in XLA_FLAGS"
    )


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_an_error(run, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0)
    ended = run("ingest", folder)
    assert ended.code == FAILED
    assert "closed" in ended.err


def test_binary_garbage_is_skipped_and_named_and_the_rest_is_loaded(run, tmp_path):
    write_dump(tmp_path / "runs", 1, "jit_f", dump(256))
    bad = write_dump(tmp_path / "runs", 2, "jit_g", "")
    bad.write_bytes(b"BufferAssignment:\n\xff\xfe\x00garbage")
    ended = run("ingest", tmp_path / "runs")
    assert ended.code == FAILED
    assert f"left out: {bad}" in ended.err
    assert "ingested 1 compilation in 1 run: 1 added" in ended.err


def test_a_total_that_does_not_add_up_is_loaded_and_reported(run, tmp_path):
    write_dump(tmp_path / "runs", 1, "jit_f", dump(256, total=1000))
    ended = run("ingest", tmp_path / "runs")
    assert ended.code == FAILED
    assert "XLA says 1000 bytes, its allocations add up to 384" in ended.err
    assert "0 of 1 agree" in ended.err
    assert "1000 bytes" in run("check").err


def test_ingest_without_a_path_is_a_usage_error(run):
    ended = run("ingest")
    assert ended.code == USAGE
    assert "Missing argument 'PATH'" in ended.err


@pytest.mark.parametrize("command", [["ingest", "."], ["runs", "tag", "before"]], ids=" ".join)
def test_a_tag_without_equals_sign_is_a_usage_error(run, command):
    ended = run(*command, *(["--tag"] if command[0] == "ingest" else []), "nightly")
    assert ended.code == USAGE
    assert one_line(ended.err) == "error: a tag is name=value, found 'nightly'"


def test_a_graph_file_that_does_not_exist_is_exit_3(run):
    ended = run("runs", "--graph", "missing.lbug")
    assert ended.code == NO_GRAPH
    assert "missing.lbug; `xlagraph ingest` makes one" in one_line(ended.err)
    assert not Path("missing.lbug").exists()


def test_a_file_that_is_not_a_graph_is_exit_3(run):
    Path("notes.txt").write_text("no graph")
    ended = run("runs", "--graph", "notes.txt")
    assert ended.code == NO_GRAPH
    assert "notes.txt is not a graph" in one_line(ended.err)


def test_a_server_that_does_not_exist_is_exit_3(run):
    ended = run("runs", "--graph", "bolt://127.0.0.1:1")
    assert ended.code == NO_GRAPH
    assert "bolt://127.0.0.1:1" in ended.err
    assert "Traceback" not in ended.err


def test_a_uri_of_another_scheme_is_exit_3(run):
    ended = run("runs", "--graph", "http://127.0.0.1:7474")
    assert ended.code == NO_GRAPH
    assert "neo4j://" in one_line(ended.err)


def test_a_secret_in_the_uri_is_refused_and_not_repeated(run):
    ended = run("runs", "--graph", "bolt://me:hunter2@127.0.0.1:1")
    assert ended.code == NO_GRAPH
    assert "hunter2" not in ended.err


def test_an_unknown_query_names_similar_ones(run):
    ended = run("query", "peak/contributor")
    assert ended.code == USAGE
    assert "'peak/contributors'" in one_line(ended.err)


def test_a_missing_parameter_is_named_as_its_option(run, graph):
    ended = run("query", "alias/chain")
    assert ended.code == USAGE
    assert one_line(ended.err).startswith("error: alias/chain needs --value: ")


def test_a_parameter_of_the_wrong_type_is_named_as_its_option(run, graph):
    ended = run("query", "peak/contributors", "--limit", "many")
    assert ended.code == USAGE
    assert one_line(ended.err).startswith(
        "error: Invalid value for '--limit': expected a whole number such as 20; see "
    )


def test_a_number_beyond_64_bits_is_refused(run, graph):
    ended = run("query", "peak/contributors", "--limit", 2**64)
    assert ended.code == USAGE
    assert "64 bits" in ended.err


def test_an_unknown_option_is_a_usage_error(run, graph):
    assert run("query", "peak/contributors", "--colour", 1).code == USAGE


def test_an_ambiguous_compilation_lists_the_matches(run, graph):
    ended = run("query", "peak/contributors", "--compilation", "jit_f")
    assert ended.code == FAILED
    assert "  after/module_0001.jit_f.cpu_after_optimizations" in ended.err
    assert "  before/module_0001.jit_f.cpu_after_optimizations" in ended.err


@pytest.mark.parametrize(
    "command",
    [
        ["query", "peak/contributors", "--compilation"],
        ["check"],
        ["compare", "before"],
        ["remove", "--yes"],
        ["compilations"],
    ],
    ids=" ".join,
)
def test_an_unknown_name_is_exit_1_with_similar_names(run, graph, command):
    ended = run(*command, "befor/module")
    assert ended.code == FAILED
    assert "befor/module" in one_line(ended.err)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("befor/module_0001", "before/module_0001.jit_f.cpu_after_optimizations"),
        ("jit_gg", "before/module_0003.jit_g.cpu_after_optimizations"),
        ("bfore", "before/module_0001.jit_f.cpu_after_optimizations"),
    ],
)
def test_an_unknown_compilation_is_reported_with_similar_names_and_the_graph(
    run, graph, name, near
):
    ended = run("query", "peak/contributors", "--compilation", name, "-q")
    assert ended.code == FAILED
    shown = f"no compilation key of the 4 in {graph} contains '{name}'; did you mean '"
    assert shown in ended.err
    assert f"'{near}'" in ended.err


def test_a_run_that_does_not_exist_cannot_be_renamed_or_tagged(run, own_graph):
    for command in (["rename", "befor", "x"], ["tag", "befor", "a=b"]):
        ended = run("runs", *command)
        assert ended.code == FAILED
        assert "did you mean 'before'" in one_line(ended.err)


def test_the_name_of_another_run_is_refused(run, own_graph):
    ended = run("runs", "rename", "before", "after")
    assert ended.code == FAILED
    assert "after already exists" in one_line(ended.err)


def test_an_invalid_name_of_a_run_is_a_usage_error(run, own_graph):
    ended = run("runs", "rename", "before", "after/")
    assert ended.code == USAGE
    assert "'after/' cannot name a run" in one_line(ended.err)


def test_a_graph_without_compilations_says_to_ingest(run, own_graph):
    for name in ("before", "after"):
        assert run("remove", name, "--yes").code == 0
    for command in (["query", "overview/roles"], ["check"], ["compare", "before", "after"]):
        ended = run(*command)
        assert ended.code == FAILED
        assert "ingest a folder of dumps first" in one_line(ended.err)
    assert run("runs", "--format", "json").out == "[]\n"


@pytest.mark.parametrize(
    "text",
    ["CREATE (n:Run {key: 'x'})", "MATCH (n) DETACH DELETE n", "COPY Run TO 'x.csv'", "CHECKPOINT"],
)
def test_a_statement_that_writes_is_refused(run, graph, text):
    ended = run("cypher", text)
    assert ended.code == FAILED
    assert not Path("x.csv").exists()


def test_a_statement_that_does_not_parse_is_exit_1(run, graph):
    ended = run("cypher", "MATCH (r:Run RETURN r")
    assert ended.code == FAILED
    assert ended.err.count("error: ") == 1


def test_a_missing_parameter_of_a_statement_is_named(run, graph):
    ended = run("cypher", "MATCH (r:Run) WHERE r.name = $name RETURN r.name AS run")
    assert ended.code == FAILED
    assert "$name" in one_line(ended.err)


def test_a_parameter_without_a_name_is_a_usage_error(run, graph):
    ended = run("cypher", "RETURN 1 AS one", "--param", "=1")
    assert ended.code == USAGE
    assert one_line(ended.err) == "error: --param expects name=value, found '=1'"


def test_a_limit_that_is_not_a_number_of_bytes_shows_the_valid_forms(run, graph):
    assert "expected bytes such as 64MiB" in run("check", "--max-reserved", "1 cup").err
    ended = run("compare", "before", "after", "--max-growth", "a lot")
    assert ended.code == USAGE
    assert "expected growth such as 2%, 64MiB" in ended.err


def test_an_output_that_cannot_be_written_is_named(run, graph):
    ended = run("runs", "--output", "missing/rows.csv")
    assert ended.code == FAILED
    assert one_line(ended.err) == (
        "error: missing/rows.csv cannot be written: No such file or directory"
    )


def test_a_destination_that_accepts_no_output_is_named(run, graph, tmp_path):
    ended = run("runs", "--output", tmp_path)
    assert ended.code == FAILED
    assert one_line(ended.err) == f"error: {tmp_path} cannot be written: Is a directory"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_stdout_is_reported(graph):
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*COMMAND, "runs"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == FAILED
    assert one_line(ended.stderr) == "error: stdout cannot be written: No space left on device"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_not_an_error(graph, closed):
    ended = subprocess.run(
        ["bash", "-c", f"{shlex.join(COMMAND)} runs {closed}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0
    assert "error" not in ended.stderr


@pytest.mark.parametrize("reader", ["2>&1 >/dev/null | true", "2>/dev/full"])
def test_unread_messages_are_not_an_error(graph, reader):
    text = f"{shlex.join(COMMAND)} runs {reader}; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=False)
    assert ended.returncode == 0


def test_an_empty_path_or_run_name_is_a_usage_error(run, tmp_path):
    ended = run("ingest", "")
    assert (ended.code, one_line(ended.err)) == (USAGE, "error: a PATH is empty")
    ended = run("ingest", tmp_path, "--run", "")
    assert ended.code == USAGE
    assert one_line(ended.err) == "error: --run is empty: name the run, or omit the option"


def test_input_that_is_not_utf_8_is_reported(run, graph, tmp_path):
    assert "error: --run is not UTF-8" in run("ingest", tmp_path, "--run", "\udcff").err
    ended = run("ingest", tmp_path, "--graph", tmp_path / "\udcff.lbug")
    assert ended.err.count("error: ") == 1
    assert "defect" not in ended.err


def test_a_parameter_nested_too_deep_is_a_usage_error(run, graph):
    ended = run("cypher", "RETURN $x AS x", "--param", f"x={'[' * 50_000}")
    assert (ended.code, one_line(ended.err)) == (USAGE, "error: --param x is nested too deep")


def test_a_repeated_parameter_is_a_usage_error(run, graph):
    ended = run("cypher", "RETURN $x AS x", "--param", "x=1", "--param", "x=2")
    assert (ended.code, one_line(ended.err)) == (USAGE, "error: --param gives x twice")


def test_an_unknown_command_and_an_unknown_format_are_usage_errors(run, graph):
    assert run("frobnicate").code == USAGE
    ended = run("runs", "--format", "xml")
    assert ended.code == USAGE
    assert one_line(ended.err) == (
        "error: Invalid value for '--format': 'xml' is not one of 'table', 'json', 'ndjson',"
        " 'csv', 'md'; see `xlagraph runs --help`"
    )


def test_removing_asks_and_without_a_terminal_needs_yes(run, own_graph):
    ended = run("remove", "before")
    assert ended.code == USAGE
    assert "--yes" in one_line(ended.err)
    assert "before" in run("runs").out


def test_the_dumps_of_another_folder_are_not_added_to_a_run(run, own_graph, tmp_path):
    write_dump(tmp_path / "other" / "before", 1, "jit_f", dump(1024))
    ended = run("ingest", tmp_path / "other")
    assert ended.code == FAILED
    assert "`run`" in ended.err
    assert "`replace`" in ended.err


def test_a_defect_is_reported_without_a_traceback_by_default(capsys):
    set_verbosity(Verbosity.NORMAL)
    assert write_failure(ZeroDivisionError("no")) == FAILED
    message = capsys.readouterr().err
    assert message.startswith("error: ZeroDivisionError: no (this is a defect of xlagraph)\n")
    assert "Traceback" not in message


def test_a_reader_that_closes_early_is_not_an_error(run, graph, tmp_path):
    piped = f"{shlex.join(COMMAND)} query --format ndjson | head -1; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert ended.stderr == ""
