"""Every generation of the text gives the plan in the file next to its sample.

`samples/NAME-buffer-assignment.txt`, with its companions if the generation writes them, is a dump
of one tiny program: `add.3` of two parameters is returned in `tuple.4`. The samples differ in
spelling and in the facts that their producers omit. `NAME.json` is the expected plan, without
fields that have their default. XLAGRAPH_REWRITE=1 writes the actual plans; read the diff.
"""

import json
import os
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from tests.ingest.carriers.text.sample_dumps import NAMES, SAMPLES, parts_of
from xlagraph.hlo.shapes import Shape
from xlagraph.ingest.carriers.text.parser import parse_plan

REWRITE = "XLAGRAPH_REWRITE" in os.environ
WIDTH = 160  # a value fits on a line


def as_data(record: Any) -> object:
    """Return a record as JSON types, without the fields that have their default."""
    if isinstance(record, Shape):
        return record.text
    if is_dataclass(record):
        defaults = {field.name: field.default for field in fields(record)}
        return without_defaults({name: getattr(record, name) for name in defaults}, defaults)
    if hasattr(record, "_asdict"):  # a named tuple
        return without_defaults(record._asdict(), record._field_defaults)
    if isinstance(record, tuple):
        return [as_data(each) for each in record]
    return record


def without_defaults(record: dict[str, Any], defaults: dict[str, Any]) -> dict[str, object]:
    return {
        name: as_data(value)
        for name, value in record.items()
        if name not in defaults or value != defaults[name]
    }


def written(data: object, indent: str = "") -> str:
    """Return JSON with each part on one line if it fits."""
    line = json.dumps(data, ensure_ascii=False)
    inner = f"{indent}  "
    if len(indent + line) <= WIDTH or not isinstance(data, dict | list):
        return line
    if isinstance(data, dict):
        parts = [f'{inner}"{name}": {written(each, inner)}' for name, each in data.items()]
    else:
        parts = [inner + written(each, inner) for each in data]
    return "\n".join((line[0], ",\n".join(parts), indent + line[-1]))


@pytest.mark.parametrize("name", NAMES)
def test_sample_gives_the_expected_plan_beside_it(name: str):
    plan = as_data(parse_plan(parts_of(name)))
    expected = SAMPLES / f"{name}.json"
    if REWRITE:
        expected.write_text(written(plan) + "\n", "utf-8")
    assert plan == json.loads(expected.read_text("utf-8"))


def test_every_plan_has_a_sample():
    assert sorted(path.stem for path in SAMPLES.glob("*.json")) == NAMES
