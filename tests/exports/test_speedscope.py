"""The peak as a speedscope flame graph."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema  # type: ignore[import-untyped, unused-ignore]  # ships no types

from tests.exports.small_plans import SMALL
from tests.exports.viewers import installed
from xlagraph.exports import write_speedscope
from xlagraph.graph import Graph
from xlagraph.queries import find_compilation

if TYPE_CHECKING:
    from playwright.sync_api import Page

_RELEASE = "node_modules/speedscope/dist/release"


def test_each_value_is_a_sample_below_its_scopes_as_wide_as_its_bytes(
    small: Graph, tmp_path: Path
) -> None:
    write_speedscope(small, SMALL, tmp_path / "small.json")
    document = json.loads((tmp_path / "small.json").read_text(encoding="utf-8"))
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    (profile,) = document["profiles"]
    stacks = ["/".join(frames[number] for number in sample) for sample in profile["samples"]]
    assert dict(zip(stacks, profile["weights"], strict=True)) == {
        "jit(f)/fft": 1024,
        "jit(f)/head/cos": 4096,
        "jit(f)/layer/sin": 4096,
        "jit(f)/layer/slice": 1024,
    }
    assert (profile["unit"], profile["endValue"]) == ("bytes", 10240)
    assert {"name": "fft", "file": "model.py", "line": 21} in document["shared"]["frames"]
    assert {"name": "jit(f)"} in document["shared"]["frames"]


def test_the_file_follows_the_schema_of_speedscope(examples: Graph, tmp_path: Path) -> None:
    schema = json.loads(installed(f"{_RELEASE}/file-format-schema.json").read_text("utf-8"))
    write_speedscope(examples, find_compilation(examples, "baseline").key, tmp_path / "file.json")
    document = json.loads((tmp_path / "file.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)


def test_its_offline_page_opens_the_file(page: "Page", examples: Graph, tmp_path: Path) -> None:
    index = installed(f"{_RELEASE}/index.html")
    compilation = find_compilation(examples, "baseline").key
    write_speedscope(examples, compilation, tmp_path / "baseline.speedscope.json")
    page.goto(index.as_uri())
    page.set_input_files("input[type=file]", tmp_path / "baseline.speedscope.json")
    page.get_by_text("Sandwich").click()
    row = page.locator("tr", has_text="state.mean['embedding']")
    assert "16.00 MB" in row.inner_text()
    assert f"{compilation}, physical peak of memory space 0" in page.inner_text("body")
