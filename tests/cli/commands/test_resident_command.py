"""`resident` lists what was on devices; `check --snapshot` adds a program to it."""

import json

from tests.tiny_dumps import write_runs

ROW = {"device": "cpu:0", "kind": "buffer", "function": None, "file": None, "line": None}


def test_a_program_is_added_to_what_is_resident_and_the_capacity_is_a_gate(run, tmp_path):
    run("ingest", write_runs(tmp_path / "runs"))
    file = tmp_path / "live.json"
    file.write_text(json.dumps([ROW | {"bytes": 2**20, "count": 1, "shape": "f32[512,512]"}] * 2))
    listed = run("resident", file, "--format", "json")
    assert [row["bytes"] for row in json.loads(listed.out)] == [2 * 2**20]
    assert "cpu:0: 2.0 MiB of arrays" in listed.err
    ended = run("check", "before", "--snapshot", file, "--capacity", "1MiB")
    assert ended.code == 4
    assert "2.0 MiB of other arrays" in ended.out
    assert run("check", "before", "--snapshot", file, "--capacity", "1GiB").code == 0
    assert run("check", "before", "--snapshot", file, "--replay").code == 2
    assert run("resident", tmp_path / "none").code == 1


def test_a_snapshot_is_stored_with_a_run_and_found_by_its_name(run, tmp_path):
    run("ingest", write_runs(tmp_path / "runs"))
    file = tmp_path / "live.json"
    file.write_text(json.dumps([ROW | {"bytes": 2**20, "count": 1, "shape": "f32[512,512]"}] * 2))
    assert "stored as before/step" in run("resident", file, "--run", "before", "--name", "step").err
    file.unlink()
    assert run("ingest", tmp_path / "runs", "--tag", "commit=abc").code == 0
    assert run("runs", "rename", "before", "first").code == 0
    ended = run("check", "first", "--snapshot", "step", "--capacity", "1MiB")
    assert ended.code == 4
    assert "2.0 MiB of other arrays" in ended.out
    assert run("check", "first", "--snapshot", "first/step").code == 0
    assert "neither a file nor a stored snapshot" in run("check", "first", "--snapshot", "x").err
    assert run("resident", file, "--name", "step").code == 2
