"""An export on a Ray cluster equals that of one process, even if workers fail.

Starting a cluster takes seconds, and a gigabyte: these tests run where XLAGRAPH_TEST_RAY is set.
"""

import os
import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from tests.graph.exporter.sorted_tables import sorted_tables
from tests.ingest.one_value_dumps import dump_text, name
from xlagraph.graph import open_export
from xlagraph.ingest import IngestOptions, ingest
from xlagraph.ingest.errors import ClusterUnreachable
from xlagraph.ingest.loading import ray_export
from xlagraph.ingest.loading.ray_export import export_on_ray, translated_errors

OPTIONS = IngestOptions(ingested_at=datetime(2026, 1, 1, tzinfo=UTC), tags=("job=7",))

if not os.environ.get("XLAGRAPH_TEST_RAY"):
    pytest.skip("XLAGRAPH_TEST_RAY is not set", allow_module_level=True)
ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'xlagraph[ray]'")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """A cluster on this machine, or the one that RAY_ADDRESS names."""
    address = os.environ.get("RAY_ADDRESS")
    local = {} if address else {"num_cpus": 2, "include_dashboard": False}
    ray.init(address or "local", log_to_driver=False, **local)
    yield
    ray.shutdown()


@pytest.fixture
def expected(corpus: Path, tmp_path: Path) -> dict[str, bytes]:
    """The tables that one process exports."""
    with open_export(tmp_path / "one") as target:
        assert ingest(target, corpus / "runs", OPTIONS, jobs=1).ok
    return sorted_tables(tmp_path / "one")


def test_it_equals_the_export_of_one_process(corpus, tmp_path, expected):
    manifest, summary = export_on_ray(str(tmp_path / "ray"), [str(corpus / "runs")], OPTIONS)
    assert summary.ok
    assert manifest is not None
    assert manifest.nodes == summary.nodes
    assert sorted_tables(tmp_path / "ray") == expected


def test_killed_workers_lose_no_row(corpus, tmp_path, expected, monkeypatch):
    monkeypatch.setattr(ray_export, "_LEAST_BYTES", 2**18)
    killed: list[int] = []
    is_over = threading.Event()

    def kill() -> None:
        while not is_over.wait(0.02) and len(killed) < 2:
            for process in psutil.process_iter(["pid", "cmdline"]):
                if "ray::write_part" in " ".join(process.info["cmdline"] or ()):
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)
                    break

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        _, summary = export_on_ray(str(tmp_path / "ray"), [str(corpus / "runs")], OPTIONS)
    finally:
        is_over.set()
        killer.join()
    assert killed
    assert summary.ok
    assert sorted_tables(tmp_path / "ray") == expected


def test_an_unreadable_file_is_named_and_the_rest_is_exported(tmp_path):
    folder = tmp_path / "runs" / "run"
    folder.mkdir(parents=True)
    for number, text in ((1, dump_text()), (2, "BufferAssignment:\nnonsense\n")):
        (folder / f"{name(number)}-buffer-assignment.txt").write_text(text)
    _, summary = export_on_ray(str(tmp_path / "out"), [str(tmp_path / "runs")], OPTIONS)
    assert summary.added == (f"run/{name(1)}",)
    assert [problem.line for problem in summary.problems] == [2]


def test_a_lost_cluster_is_named():
    with pytest.raises(ClusterUnreachable, match="stopped during the export"), translated_errors():
        raise ray.exceptions.LocalRayletDiedError


def test_workers_without_a_package_are_named():
    def lack_a_package() -> None:
        raise ModuleNotFoundError("No module named 'xlagraph'")

    task = ray.remote(max_retries=0)(lack_a_package)
    message = "workers of the Ray cluster cannot run xlagraph: .*No module named 'xlagraph'"
    with pytest.raises(ClusterUnreachable, match=message), translated_errors():
        ray.get(task.remote())
