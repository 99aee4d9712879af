"""The protobuf and the text of a module give the same rows, and both replay exactly.

The pairs are real dumps, which lie next to the repository or are not there.
"""

import re
from pathlib import Path
from typing import Any, Final

import pytest

from xlagraph.graph import Graph
from xlagraph.hlo.program import Program
from xlagraph.hlo.proto_messages import HloProto
from xlagraph.ingest import IngestOptions, ingest
from xlagraph.ingest.carriers.carrier import Contents, Part, Source
from xlagraph.ingest.carriers.file_names import dump_name
from xlagraph.ingest.carriers.proto.message_files import PROTO
from xlagraph.ingest.carriers.proto.read_messages import HLO, read_proto_dump
from xlagraph.ingest.carriers.text.find import find_text_dumps
from xlagraph.ingest.carriers.text.read import read_text_dump
from xlagraph.ingest.files.dump_files import DumpFiles
from xlagraph.ingest.measures.compilation_facts import CompilationFacts, derive_facts
from xlagraph.ingest.plan import Plan
from xlagraph.ingest.rows.compilation_rows import compilation_tables
from xlagraph.ingest.rows.row_source import Provenance

FOLDERS: Final = (
    "jax-0.4.13", "jax-0.5.3", "jax-0.7.2", "jax-0.10.2", "jaxgpu-0.6.2", "jaxtpu-0.6.2", "profile",
    "tf-2.8", "tf-2.15",
)  # fmt: skip
STACKS: Final = ("Frame", "IN_FRAME", "ATTRIBUTED_FRAME", "CALLED_FROM")
"""Tables that texts contain only since jaxlib 0.8.3."""
NOT_DERIVED: Final = {
    "Compilation": ["derived", "heapTraceAgrees", "printsStackTrace"],
    "Allocation": ["page"],
    "Instruction": ["text", "uniqueId"],
    "PackedModule": ["form", "packed"],
}
"""Columns that only one of the two has, by table."""
USER_LINES: Final = ["userFile", "userLine", "userFunction"]


def pairs(folder: Path) -> list[tuple[Source, Path]]:
    """Return the text dumps of a folder that have a protobuf dump next to them."""
    names = sorted(path.name for path in folder.iterdir())
    found = [(text, folder / f"{text.stem}.hlo.pb") for text in find_text_dumps(folder, names, [])]
    return [(text, proto) for text, proto in found if proto.exists()]


@pytest.fixture(params=FOLDERS)
def folder(request: pytest.FixtureRequest, shared_dumps: Path) -> Path:
    found = shared_dumps / "proto" / request.param
    found = found / "0.6.2" if request.param == "profile" else found
    if not found.is_dir():
        pytest.skip(f"{found} is not there")
    return found


def read_text(source: Source) -> tuple[Plan, Program]:
    content = {part.name: part.path.read_bytes() for part in source.parts}
    return read_text_dump(Contents(source, content))


def read_proto(path: Path, content: bytes) -> tuple[Plan, Program]:
    source = Source(PROTO, path.name.removesuffix(".hlo.pb"), (Part(HLO, path),))
    return read_proto_dump(Contents(source, {HLO: content}))


def with_schedule(content: bytes, plan: Plan) -> bytes:
    """Return the bytes, with the schedule of the text if the module has none."""
    message = HloProto.FromString(content)
    module = message.hlo_module
    if module.schedule.sequences or plan.live_ranges is None:
        return content
    steps = {name: step for step, name in enumerate(plan.live_ranges.schedule)}
    for computation in module.computations:
        if all(instruction.name in steps for instruction in computation.instructions):
            ordered = sorted(computation.instructions, key=lambda each: steps[each.name])
            ids = module.schedule.sequences[computation.id].instruction_ids
            ids.extend(instruction.id for instruction in ordered)
    return bytes(message.SerializeToString())


def tables(facts: CompilationFacts, stem: str) -> dict[str, list[Any]]:
    """Return a compilation's rows by table; relationships are in no fixed order."""
    files = DumpFiles("run", "/run", stem, f"run/{stem}", None, dump_name(stem), (
        Source(PROTO, stem, (Part(HLO, Path(stem)),)),
    ), 0)  # fmt: skip
    rows = compilation_tables([(Provenance(files, "0", "now"), facts)])
    return {name: table.to_pylist() for name, table in rows}


def compared(rows: dict[str, list[Any]], left_out: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return rows as sorted texts without some columns."""
    return {
        name: sorted(
            repr([(key, cell) for key, cell in row.items() if key not in left_out.get(name, ())])
            for row in table
        )
        for name, table in rows.items()
    }


def left_out(text: Plan, program: Program) -> dict[str, list[str]]:
    """Return the columns that cannot be compared with this text."""
    columns = {name: list(found) for name, found in NOT_DERIVED.items()}
    if not program.frames:
        columns["Value"] = USER_LINES
    if program.partitions == 1:  # not stated in old headers
        columns["Compilation"].append("partitions")
    if any(
        re.match(r"\(", each.parameter.shape or "") for each in text.allocations if each.parameter
    ):
        columns["Allocation"] += ["shape"]  # the whole tuple, up to jaxlib 0.7.0
    peak = text.live_ranges.peak if text.live_ranges is not None else None
    if peak is not None and any(entry.shape_index is None for entry in peak.entries):
        columns["Compilation"].append("printedPeakBytes")  # whole tuples, up to jaxlib 0.5.3
        columns["IN_PRINTED_PEAK"] = ["printedBytes", "printedText", "rank", "ambiguous"]
    return columns


def test_every_stored_fact_equals_that_of_the_text(folder: Path):
    found = pairs(folder)
    assert found
    for source, path in found:
        plan, program = read_text(source)
        derived = read_proto(path, with_schedule(path.read_bytes(), plan))
        columns = left_out(plan, program)
        of_text = compared(tables(derive_facts(plan, program), source.stem), columns)
        of_proto = compared(tables(derive_facts(*derived), source.stem), columns)
        for name, rows in of_text.items():
            if name in STACKS and not program.frames:
                continue
            if name == "IN_PRINTED_PEAK" and name in columns:
                continue
            assert of_proto[name] == rows, f"{path.name}: {name}"


def test_must_alias_sets_equal_those_of_the_rules(folder: Path):
    for source, path in pairs(folder):
        plan, program = read_text(source)
        facts = derive_facts(plan, program)
        if facts.planner_inputs is not None:
            stated = read_proto(path, path.read_bytes())[0].buffer_sets or {}
            by_rule = [value.value_id for value in plan.values]
            assert [stated[each] for each in by_rule] == list(facts.planner_inputs.buffer_sets)


def test_no_heap_trace_contradicts_the_derived_ranges(folder: Path):
    for source, path in pairs(folder):
        plan, _ = read_text(source)
        derived, _ = read_proto(path, with_schedule(path.read_bytes(), plan))
        assert derived.heap_trace_agrees is not False, path.name


def test_temporary_blocks_of_protobuf_dumps_replay_exactly(
    folder: Path, embedded_graph: Graph, tmp_path: Path
):
    from xlagraph.planner.edits.replays import replay_blocks

    for _, path in pairs(folder):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    ingest(embedded_graph, tmp_path, IngestOptions(run="run"))
    for block in replay_blocks(embedded_graph):
        assert block.is_exact or block.is_packed_by_another_method, block
