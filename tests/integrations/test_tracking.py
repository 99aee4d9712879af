"""A tracker receives the numbers of a plan, and one folder with report and graph."""

import re
import shutil
from pathlib import Path

import pytest

from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import list_runs
from xlagraph.tracking import log_to

PAGE = Path(__file__).parents[2] / "docs" / "tracking.md"
SCRIPTS = re.findall(
    r"^```python (with_(\w+)\.py)\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL
)


class Tracker:
    """A run of a tracker that keeps what it receives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def log(self, scalars):
        self.scalars = scalars

    def log_artifact(self, folder, **names):
        shutil.copytree(folder, self.folder)
        self.artifact = (Path(folder), names)


@pytest.fixture
def graph(tmp_path):
    text = tiny_dump(
        """
        0 | 64  | parameter 0, shape |f32[16]| at ShapeIndex {}
        1 | 256 | preallocated-temp
        2 | 64  | maybe-live-out
        3 | 999 | thread-local
        """,
        """
        0 | p   | f32[16] | 0 | 64  | 0-2 | parameter(0)
        1 | t   | f32[64] | 0 | 192 | 1-2 | broadcast(p)
        2 | out | f32[16] | 0 | 64  | 2-2 | slice(t)
        """,
    )
    write_dump(tmp_path / "run", 1, "jit_f", text)
    with open_graph(tmp_path / "graph.lbug", create=True) as graph:
        ingest(graph, tmp_path / "run")
        yield graph


def test_a_tracker_receives_numbers_and_one_folder_with_the_report_and_a_graph(graph, tmp_path):
    tracker = Tracker(tmp_path / "kept")
    assert log_to(tracker, graph, "run", prefix="eval") is tracker.scalars
    totals = {name: tracker.scalars.pop(f"eval/{name}_bytes") for name in ("reserved", "peak")}
    assert totals == {"reserved": 384, "peak": 320}
    assert tracker.scalars.pop("eval/largest_block_bytes") == 256
    assert all(re.fullmatch(r"eval/category/\w+_bytes", name) for name in tracker.scalars)
    assert sum(tracker.scalars.values()) == 320
    folder, names = tracker.artifact
    assert not folder.exists()
    assert names == {"name": "eval", "type": "memory-plan"}
    assert {path.name for path in tracker.folder.iterdir()} == {"report.html", "plan.lbug"}
    with open_graph(tracker.folder / "plan.lbug") as copy:
        assert [row["run"] for row in list_runs(copy).mappings()] == ["run"]


def test_a_tracker_without_files_receives_numbers_only(graph):
    received: list[dict[str, int]] = []

    class Numbers:
        log = staticmethod(received.append)

    assert log_to(Numbers(), graph) == received[0]


@pytest.mark.parametrize(("library", "script"), [(library, text) for _, library, text in SCRIPTS])
def test_the_recipe_of_a_tracker_works(library, script, tmp_path, monkeypatch):
    pytest.importorskip(library, reason=f"{library} is not installed")
    first, *_ = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    names: dict[str, object] = {}
    exec(first.replace("plan.log_to(run)", ""), names)
    exec(script, names)
    kept = {path.name for path in tmp_path.rglob("*")}
    assert kept & {"report.html", "memory-plan.html"} or library == "wandb"
