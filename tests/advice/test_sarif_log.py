"""Findings as SARIF; the schema is OASIS' 2.1.0 (errata 01) without its descriptions."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema  # type: ignore[import-untyped, unused-ignore]  # ships no types
import pytest

from tests.tiny_dumps import write_padded_run
from xlagraph.advice.diagnosis import Diagnosis
from xlagraph.advice.sarif_log import sarif_log
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import advise

SCHEMA = json.loads(Path(__file__).with_name("sarif-schema-2.1.0.json").read_text())
RULE = "padding-fills-the-peak"


@pytest.fixture(scope="module")
def diagnosis(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    folder = tmp_path_factory.mktemp("sarif")
    with open_graph(folder / "g.lbug", create=True) as graph:
        ingest(graph, write_padded_run(folder / "runs"), jobs=1)
        return advise(graph, "padded")


def at_line(diagnosis: Diagnosis, file: str) -> Diagnosis:
    """Return the diagnosis as if the values came from a source line."""
    (finding,) = diagnosis.findings
    rows = tuple({**row, "userFile": file, "userLine": 7} for row in finding.rows)
    return replace(diagnosis, findings=(replace(finding, rows=rows),))


def run_of(diagnosis: Diagnosis):
    log = json.loads(json.dumps(sarif_log(diagnosis, Path("/project"))))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    return run


@pytest.mark.parametrize(
    ("file", "location"),
    [
        ("/project/src/train step.py", {"uri": "src/train%20step.py", "uriBaseId": "%SRCROOT%"}),
        ("src/train.py", {"uri": "src/train.py", "uriBaseId": "%SRCROOT%"}),
        ("/elsewhere/train.py", {"uri": "file:///elsewhere/train.py"}),
    ],
)
def test_a_finding_is_a_result_of_its_cause_at_the_line(diagnosis, file, location):
    run = run_of(at_line(diagnosis, file))
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == (RULE, "note")  # it is not certain
    assert result["message"]["text"].startswith("Padding fills the peak: up to 8.0 KiB of padded/f")
    (place,) = result["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": location,
        "region": {"startLine": 7},
    }
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == RULE
    assert "jax: " in rule["help"]["text"]


def test_a_finding_without_a_line_is_a_notification(diagnosis):
    run = run_of(diagnosis)
    assert run["results"] == []
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"].startswith("Padding fills the peak")
