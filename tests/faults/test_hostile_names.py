"""Names in a dump are data: stored unchanged, and harmless on a terminal."""

import json
import re
import unicodedata
from pathlib import Path

import pytest

from tests.faults.harness.forked_commands import Commands
from tests.tiny_dumps import dump, write_dump
from xlagraph.graph import Graph, remove
from xlagraph.ingest import ingest
from xlagraph.queries import run

HOSTILE = {
    "quotes": 'it\'s "quoted" `back` ``twice`` \\',
    "cypher": "'}) DETACH DELETE n //`}) RETURN 1;MATCH (n)",
    "parameter": "$compilation {key} ${HOME} %s {0}",
    "escapes": "\\u0027 \\n \\x1b \\\\",
    "terminal": "\x1b[2J\x1b]0;title\x07\x9b31m\x08\x7f",
    "direction": "\u202ereversed\u2066\u200b\ufeff",
    "newlines": "one\rtwo\x0bthree\x0c\x85\u2028four\tfive",
    "markup": "[red]bold[/red] <script>alert(1)</script> | a | b |",
    "path": "../../etc/passwd\t/dev/null",
    "wide": "日本語 \U0001f4a9 e\u0301",
    "nul": "a\x00b",
    "formula": '=HYPERLINK("x")',
}


def escaped(name: str) -> str:
    """Write a name like XLA in quotes: C escapes, and octal for bytes that are not text."""
    text = name.replace("\\", "\\\\").replace('"', '\\"')
    return re.sub(
        "[\x00-\x1f\x7f-\U0010ffff]",
        lambda match: "".join(f"\\{byte:03o}" for byte in match[0].encode()),
        text,
    )


def write_hostile_dumps(folder: Path) -> None:
    """Write a run for each name, with op and source file of the same name."""
    for number, name in enumerate(HOSTILE.values()):
        text = dump(256, op="OP").replace("OP", escaped(name)).replace("f.py", escaped(name))
        write_dump(folder / file_name(name), number, f"jit_{file_name(name)[:40]}", text)


def file_name(name: str) -> str:
    return name.replace("/", "_").replace("\x00", "_")


def test_names_are_stored_unchanged(graph: Graph, tmp_path: Path):
    write_hostile_dumps(tmp_path / "runs")
    assert ingest(graph, tmp_path / "runs", jobs=1).ok
    assert runs_of(graph) == {file_name(name) for name in HOSTILE.values()}
    for name in HOSTILE.values():
        found = run(graph, "peak/contributors", compilation=f"{file_name(name)}/").result
        (row,) = [row for row in found.mappings() if row["value"] == "t"]
        assert (row["opName"], row["sourceFile"]) == (name, name)
        ops = graph.query("MATCH (o:Op {name: $name}) RETURN o.name AS op", {"name": name})
        assert ops.rows == ((name,),)
    gone = {file_name(HOSTILE[kind]) for kind in ("cypher", "wide")}
    for name in gone:
        assert remove(graph, name).runs == (name,)
    assert runs_of(graph) == {file_name(name) for name in HOSTILE.values()} - gone


def runs_of(graph: Graph) -> set[object]:
    return {row[0] for row in graph.query("MATCH (r:Run) RETURN r.name AS run").rows}


LONG = {
    "wide": "layer_0/" + "x'`\"" * 50_000,
    "deep": "a/" * 100_000,
}


@pytest.mark.parametrize("name", LONG.values(), ids=LONG.keys())
def test_a_name_of_200_kilobytes_is_kept(graph: Graph, tmp_path: Path, name: str):
    instruction = "t" + "0123456789" * 20_000
    text = re.sub(r"(?<![\w.])t(?![\w.])", instruction, dump(256, op="OP"))
    text = text.replace("OP", escaped(name)).replace("f.py", escaped(name))
    write_dump(tmp_path / "mine", 1, "jit_f", text)
    write_dump(tmp_path / "mine", 2, "jit_g", dump(256))
    assert ingest(graph, tmp_path / "mine", jobs=1).ok
    found = graph.query(
        "MATCH (i:Instruction)-[:FROM_OP]->(o:Op) WHERE i.name STARTS WITH 't0' "
        "RETURN i.name AS instruction, i.opName AS op, o.name AS name, i.sourceFile AS file"
    )
    assert found.rows == ((instruction, name, name, name),)


def test_no_control_sequence_is_shown_on_a_terminal(
    commands: Commands, tmp_path: Path, no_connection_named: None
):
    file = tmp_path / "g.lbug"
    write_hostile_dumps(tmp_path / "runs")
    bad = "\x1b[2Jbad"
    write_dump(tmp_path / "runs" / bad, 1, "jit_f", dump(64) + "\x1b[31mno line\n")
    shown = commands.run("ingest", tmp_path / "runs", "--graph", file, "--verbose").err
    assert "no line" in shown
    for arguments in (
        ["runs"],
        ["compilations"],
        ["query", "peak/by-op"],
        ["query", "peak/by-op", "--format", "md"],
        ["query", "peak/by-op", "--compilation", bad],
        ["cypher", "MATCH (o:Op) RETURN o.name AS op, collect(o.name) AS ops"],
        ["cypher", "RETURN '\x1b[2J"],
        ["compare", *sorted(map(file_name, HOSTILE.values()))[:2]],
        ["remove", bad, "--yes"],
    ):
        ended = commands.run(*arguments, "--graph", file)
        shown += ended.err + ended.out
    steering = {character for character in shown if unicodedata.category(character) in ("Cc", "Cf")}
    assert steering == {"\n"}


def test_programs_get_complete_names(commands: Commands, tmp_path: Path, no_connection_named: None):
    file = tmp_path / "g.lbug"
    write_hostile_dumps(tmp_path / "runs")
    assert commands.run("ingest", tmp_path / "runs", "--graph", file).code == 0
    wanted = {file_name(name) for name in HOSTILE.values()}
    rows = json.loads(commands.run("runs", "--graph", file, "--format", "json").out)
    assert {row["run"] for row in rows} == wanted
    lines = commands.run("runs", "--graph", file, "--format", "ndjson").out.rstrip("\n").split("\n")
    assert {json.loads(line)["run"] for line in lines} == wanted
