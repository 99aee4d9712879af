"""`oom` explains the first out-of-memory message of a log, and finds its program."""

import csv
import gzip
import io
import json
import sys
import zipfile

import pytest

from tests.advice.error_message import messages
from tests.packers import PACKERS
from tests.tiny_dumps import AFTER_F, dump, write_dump

OF_F = messages.TPU_PLAN.replace("jit(train)/jit(main)/mul", "jit(f)/layer_0/dot")


@pytest.fixture
def log(tmp_path):
    """Return a function that writes a log."""

    def write(text):
        path = tmp_path / "train.log"
        path.write_text(text)
        return path

    return write


def test_a_page_has_verdict_largest_lines_changes_and_unknowns(run, log):
    ended = run("oom", log(messages.TPU_PLAN))
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith("The plan does not fit: the program needs 12.0 GiB of HBM")
    assert lines[1] == "Missing: 4.0 GiB."
    assert "The largest by line and op (3 allocations in the message)" in lines
    assert "What to change first" in lines
    assert "What the message does not tell, and how to see it" in lines


def test_the_log_is_read_from_standard_input_by_default(run, monkeypatch):
    content = b"\xff noise\n" + messages.TPU_BARE.encode()
    for arguments in ((), ("-",)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        ended = run("oom", *arguments)
        assert ended.code == 0
        assert "needs 40.0 GiB of HBM, which has 32.0 GiB" in ended.out


def zip_of(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("1_setup.txt", "nothing here")
        archive.writestr("2_train.txt", content)
    return packed.getvalue()


@pytest.mark.parametrize("pack", [*(pack for _, pack in PACKERS), zip_of])
def test_a_packed_log_is_unpacked_from_a_file_and_from_standard_input(
    run, tmp_path, monkeypatch, pack
):
    content = pack(messages.TPU_BARE.encode())
    path = tmp_path / "train.log.packed"
    path.write_bytes(content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    for arguments in ((path,), ()):
        assert "needs 40.0 GiB of HBM, which has 32.0 GiB" in run("oom", *arguments).out


def test_a_log_that_cannot_be_read_is_an_error_in_a_sentence(run, tmp_path):
    assert run("oom", "absent.log").err == "error: absent.log: No such file or directory\n"
    cut = tmp_path / "cut.log.gz"
    cut.write_bytes(gzip.compress(messages.TPU_BARE.encode())[:-20])
    assert "the log cannot be unpacked: Compressed file ended" in run("oom", cut).err


def test_every_format_has_the_failure(run, log, tmp_path):
    path = log(messages.TPU_PLAN)
    (row,) = json.loads(run("oom", path, "--format", "json").out)
    assert (row["stage"], row["memorySpace"], row["missingBytes"]) == ("plan", "hbm", 4 * 2**30)
    assert row["largest"][0]["line"] == "/home/ann/model.py:12"
    assert row["otherFailures"] == 0
    assert row["parts"][0] == {
        "whole": "total",
        "name": "reserved",
        "sizeBytes": 2**29,
        "paddingBytes": None,
    }
    assert row["allocations"][2]["instruction"] == "copy.9"
    assert row["allocations"][0]["unpaddedBytes"] == 2**28
    assert json.loads(run("oom", path, "--format", "ndjson").out) == row
    (of_csv,) = csv.DictReader(io.StringIO(run("oom", path, "--format", "csv").out))
    assert of_csv["requestedBytes"] == str(12 * 2**30)
    assert run("oom", path, "--format", "md").out.startswith("**The plan does not fit")
    target = tmp_path / "out.json"
    assert run("oom", path, "--format", "json", "--output", target).out == ""
    assert json.loads(target.read_text()) == [row]


def test_other_failures_are_counted_with_their_lines(run, log):
    path = log(f"{messages.TPU_BARE}\n\n{messages.TPU_BUFFER}\n{messages.TPU_PROGRAM}\n")
    assert "2 more failures in this log, not explained here: lines 3, 4." in run("oom", path).out


def test_a_log_without_a_message_is_reported_in_one_sentence(run, log):
    path = log("all well\n")
    ended = run("oom", path)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        f"error: {path}: expected an out-of-memory message of XLA (RESOURCE_EXHAUSTED, Ran out of"
        " memory …), found none in 1 line\n"
    )
    path = log("grpc: RESOURCE_EXHAUSTED: too many requests\n")
    ended = run("oom", path)
    assert ended.code == 1
    assert "not in a form that reports memory: 'grpc: RESOURCE_EXHAUSTED" in ended.err


def test_a_log_that_does_not_exist_is_an_error(run, tmp_path):
    ended = run("oom", tmp_path / "none.log")
    assert (ended.code, ended.out) == (1, "")
    assert "none.log" in ended.err


def test_the_program_is_found_among_dumps_and_checked(run, log, tmp_path):
    # an input that could be donated: 64 KiB of 192 KiB
    text = dump(65536).replace("f32[16]", "f32[16384]").replace("size 64,", "size 65536,")
    text = text.replace("(size=64,", "(size=65536,").replace("65664", "196608")
    write_dump(tmp_path / "dumps", 1, "jit_f", text)
    write_dump(tmp_path / "dumps", 2, "jit_g", dump(128, op="jit(g)/dot"))
    path = log(OF_F.replace("12.00G of 8.00G", "160.0K of 150.0K").replace("by 4.00G", "by 10.0K"))
    ended = run("oom", path, "--dumps", tmp_path / "dumps", "--format", "json")
    assert ended.code == 0
    (row,) = json.loads(ended.out)
    assert row["compilation"] == "dumps/module_0001.jit_f.cpu_after_optimizations"
    assert (row["reservedBytes"], row["fits"]) == (196608, False)
    assert row["changes"][0]["bytes"] == 65536
    shown = run("oom", path, "--dumps", tmp_path / "dumps").out
    assert "In its plan: dumps/module_0001.jit_f.cpu_after_optimizations (its module is" in shown
    assert "What to change first, for 42.0 KiB less" in shown


def test_the_program_is_found_in_a_run_of_the_graph(run, log, graph):
    ended = run("oom", log(OF_F), "--run", "after", "--format", "json")
    (row,) = json.loads(ended.out)
    assert (row["compilation"], row["reservedBytes"], row["fits"]) == (AFTER_F, 640, True)
    assert run("oom", log(OF_F), "--run", "nothing").code == 1


def test_a_folder_without_dumps_still_shows_the_facts_of_the_message(run, log, tmp_path):
    (tmp_path / "empty").mkdir()
    ended = run("oom", log(OF_F), "--dumps", tmp_path / "empty")
    assert ended.code == 1
    assert ended.out.startswith("The plan does not fit")
    assert "no dumps below" in ended.err


def test_dumps_and_a_run_together_are_a_usage_error(run, log, tmp_path):
    ended = run("oom", log(OF_F), "--dumps", tmp_path, "--run", "after")
    assert (ended.code, ended.out) == (2, "")
