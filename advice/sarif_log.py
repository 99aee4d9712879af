"""A diagnosis as SARIF 2.1.0, which code scanning shows at the lines of a change."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from xlagraph.graph.engine import Cell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xlagraph.advice.diagnosis import Diagnosis, Finding

_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_ROOT: Final = "%SRCROOT%"
"""Name that code scanning gives to the folder of the repository."""


def sarif_log(diagnosis: "Diagnosis", root: Path) -> "Mapping[str, Cell]":
    """Return a log with one result for each finding that has a source line.

    Files below ``root`` are relative to it. Findings without a line are notifications.
    """
    placed = [finding for finding in diagnosis.findings if _location(finding, root)]
    others = [finding for finding in diagnosis.findings if not _location(finding, root)]
    rules = {_rule_id(finding): finding for finding in placed}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "xlagraph",
                        "rules": [_rule(id_, finding) for id_, finding in rules.items()],
                    }
                },
                "results": [_result(finding, root) for finding in placed],
                "invocations": [
                    {
                        "executionSuccessful": not diagnosis.problems,
                        "toolExecutionNotifications": [
                            {"level": "note", "message": {"text": _message(each)}}
                            for each in others
                        ],
                    }
                ],
            }
        ],
    }


def _rule_id(finding: "Finding") -> str:
    """Return the cause as an identifier: `inputs-could-be-donated-to-outputs`."""
    return re.sub(r"[^a-z0-9]+", "-", finding.advice.title.lower()).strip("-")


def _rule(id_: str, finding: "Finding") -> Cell:
    changes = [f"{name}: {text}" for name, text in finding.advice.remedies.items()]
    return {
        "id": id_,
        "shortDescription": {"text": finding.advice.title},
        "help": {"text": "\n".join(changes) or finding.advice.title},
    }


def _result(finding: "Finding", root: Path) -> Cell:
    return {
        "ruleId": _rule_id(finding),
        "level": "warning" if finding.savings.doubt is None else "note",
        "message": {"text": _message(finding)},
        "locations": [_location(finding, root)],
        "partialFingerprints": {"compilation/v1": finding.compilation.partition("/")[2]},
    }


def _message(finding: "Finding") -> str:
    doubt = "" if finding.savings.doubt is None else f" Not certain: {finding.savings.doubt}."
    return (
        f"{finding.advice.title}: {finding.savings.text} of {finding.compilation}"
        f" ({finding.share:.0%}).{doubt}"
    )


def _location(finding: "Finding", root: Path) -> Cell:
    """Return the line with most bytes; None if no line is known."""
    place = next((each for each in finding.places if each.file is not None), None)
    if place is None or place.file is None:
        return None
    file = Path(place.file)
    if file.is_absolute() and not file.is_relative_to(root):
        artifact: Cell = {"uri": file.as_uri()}
    else:
        relative = file.relative_to(root) if file.is_absolute() else file
        artifact = {"uri": quote(relative.as_posix()), "uriBaseId": _ROOT}
    region: Cell = {"startLine": max(1, place.line or 1)}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}
