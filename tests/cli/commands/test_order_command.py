"""`order` writes a page, or one object."""

import base64
import gzip
import io
import json
from pathlib import Path

import pytest

from xlagraph.graph import open_graph
from xlagraph.ingest import ingest

RUNS = Path(__file__).parents[3] / "examples" / "runs"


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    path = tmp_path_factory.mktemp("order") / "g.lbug"
    with open_graph(path, create=True) as graph:
        ingest(graph, RUNS / "baseline", jobs=1)
    return path


@pytest.fixture
def order(run, baseline, monkeypatch):
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(baseline))
    return lambda *arguments: run("order", "baseline", *arguments)


def test_the_first_line_compares_this_order_with_the_memory_optimized_one_and_the_bound(order):
    page = order().out
    assert "This order, the breadth-first order, reserves" in page.splitlines()[0]
    assert "; the depth-first order reserves" in page.splitlines()[0]
    assert "; no order reserves less than" in page.splitlines()[0]


def test_the_page_names_the_setting_and_what_delays_the_values_that_wait(order):
    page = order().out
    assert "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED" in page
    assert "reads it at step" in page


def test_one_object_has_the_parts_of_the_reserved_bytes(order):
    ended = order("--format", "json", "--moves", "2")
    assert ended.code == 0
    found = json.loads(ended.out)
    assert found["present"] == ["breadth-first"]
    parts = [found[name] for name in ("boundBytes", "orderBytes", "sharingBytes", "packingBytes")]
    assert sum(parts) == found["reservedBytes"] == found["reservedBytesReplanned"]
    assert found["isPackingOptimal"] == (found["packingBytes"] == 0)
    assert {each["order"] for each in found["orders"]} == {"list", "depth-first", "post-order"}
    assert len(found["moves"]) <= 2
    assert {each["wait"] for each in found["waiting"]} <= {"made early", "read late"}


def test_the_report_draws_the_live_bytes_of_the_other_order(run, order, tmp_path):
    found = json.loads(order("--format", "json").out)
    page = tmp_path / "r.html"
    assert run("report", found["compilation"], "-o", str(page)).code == 0
    with gzip.open(io.BytesIO(_packed(page, found["compilation"]))) as part:
        head = part.read(int.from_bytes(part.read(4), "little"))
    facts, tables = (json.loads(head)[name] for name in ("facts", "tables"))
    assert facts["otherOrder"]["name"] == "depth-first order"
    assert tables["otherOrder"]["rows"] == facts["scheduleLength"] + 1


def _packed(page, compilation):
    part = page.read_text().partition(f'data-part="{compilation}">')[2].partition("<")[0]
    return base64.b64decode(part)


def test_a_dump_without_module_text_has_no_other_order(run, tmp_path, monkeypatch):
    (tmp_path / "alone").mkdir()
    for dump in (RUNS / "baseline").glob("*train_step*"):
        if not dump.name.endswith("optimizations.txt"):
            (tmp_path / "alone" / dump.name).write_bytes(dump.read_bytes())
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(tmp_path / "g.lbug"))
    assert run("ingest", str(tmp_path / "alone")).code == 0
    ended = run("order")
    assert ended.code == 1
    assert "without a complete module text" in ended.err


def test_a_check_names_the_scheduler_of_each_schedule(run, baseline, monkeypatch):
    monkeypatch.setenv("XLAGRAPH_GRAPH", str(baseline))
    ended = run("check", "--replay", "--schedule", "--format", "json")
    assert ended.code == 0
    rows = json.loads(ended.out)
    assert [row["schedulers"] for row in rows] == [["breadth-first"]] * len(rows)
    assert all(row["rangesEqual"] for row in rows)
    assert run("check", "--schedule").code == 2
