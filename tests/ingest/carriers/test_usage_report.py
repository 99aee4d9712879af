"""XLA's usage report next to a compilation is compared with its allocations."""

import gzip
from pathlib import Path

import pytest

from tests.ingest.carriers.proto.small_protos import hlo
from tests.ingest.one_value_dumps import dump_text
from xlagraph.hlo.proto_messages import MemoryUsageReportProto
from xlagraph.ingest import IngestOptions, ingest

STAGE = "module_0008.jit_f.cpu_after_optimizations"
NEW = "Memory Space: default (color=0)\nTotal bytes: {} (1.0KiB)\n"


def said(run: Path) -> list[str]:
    """Ingest a run, and return the problems of files that are in the graph."""
    summary = ingest(None, run, IngestOptions(dry_run=True))
    assert summary.ok
    return [f"{Path(problem.file).suffix} {problem.message}" for problem in summary.problems]


@pytest.mark.parametrize(
    ("report", "problems"),
    [
        ("Total bytes used: 16 (16B)\n", []),
        (
            "Total bytes used: 20 (20B)\n",
            [".txt states 20 bytes, but its allocations add up to 16"],
        ),
        (NEW.format(16), []),
        (
            NEW.format(20),
            [".txt states 20 bytes in memory space 0, but its allocations add up to 16"],
        ),
        (
            NEW.format(16) + "\nMemory Space: vmem (color=1)\nTotal bytes: 4 (4B)\n",
            [".txt states 4 bytes in memory space 1, but its allocations add up to 0"],
        ),
        (
            "cut",
            [".txt expected a line like 'Total bytes used: 49436 (48.3KiB)', found none"],
        ),
    ],
)
def test_a_report_that_disagrees_is_reported(tmp_path: Path, report: str, problems: list[str]):
    (tmp_path / f"{STAGE}-buffer-assignment.txt").write_text(dump_text())
    (tmp_path / f"{STAGE}-memory-usage-report.txt").write_text(report)
    assert said(tmp_path) == problems


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("total", "problems"),
    [
        (32, []),
        (33, [".pb states 33 bytes in memory space 0, but its allocations add up to 32"]),
    ],
)
def test_a_report_in_protobuf_is_compared_with_a_protobuf_dump(
    tmp_path: Path, total: int, problems: list[str], packed: bool
):
    report = MemoryUsageReportProto()
    report.memory_space_allocation_entries.add(total_bytes=total, memory_space_color=0)
    message = hlo("main:\n  p = f32[4] parameter(0) <1>\n  ROOT a = f32[4] negate(p) <2>\n")
    (tmp_path / f"{STAGE}.hlo.pb").write_bytes(message.SerializeToString())
    file = tmp_path / f"{STAGE}-memory-usage-report.pb"
    content = report.SerializeToString()
    if packed:
        Path(f"{file}.gz").write_bytes(gzip.compress(content))
        problems = [problem.replace(".pb ", ".gz ") for problem in problems]
    else:
        file.write_bytes(content)
    assert said(tmp_path) == problems


def test_a_damaged_report_in_protobuf_is_reported(tmp_path: Path):
    message = hlo("main:\n  p = f32[4] parameter(0) <1>\n  ROOT a = f32[4] negate(p) <2>\n")
    (tmp_path / f"{STAGE}.hlo.pb").write_bytes(message.SerializeToString())
    (tmp_path / f"{STAGE}-memory-usage-report.pb").write_bytes(b"\x0a\x09")
    assert said(tmp_path) == [".pb expected a MemoryUsageReportProto, found bytes that are not one"]
