"""A compiled JAX function is ingested from its object, in the form of each version."""

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.ingest.carriers.proto.small_protos import hlo
from xlagraph.graph import Graph
from xlagraph.ingest import NoMemoryPlan, ingest_compiled
from xlagraph.queries import check, run

PROGRAM = hlo("main:\n  p = f32[4] parameter(0) <1>\n  ROOT a = f32[4] negate(p) <2>\n")
SHAPE_OF_COMPILATION = (
    "MATCH (c:Compilation) RETURN c.key AS compilation, c.carrier AS carrier, c.platform AS "
    "platform, c.valueCount AS valueCount, c.scheduleLength AS scheduleLength"
)


@dataclass
class Compiled:
    """The methods of `jax.stages.Compiled` in use, with bytes of some version."""

    statistics: Any
    message: Any = field(default_factory=lambda: PROGRAM)
    platform: str = "cpu"

    def memory_analysis(self) -> Any:
        return self.statistics

    def runtime_executable(self) -> Any:
        module = SimpleNamespace(
            name=self.message.hlo_module.name,
            as_serialized_hlo_module_proto=self.message.hlo_module.SerializeToString,
        )
        client = SimpleNamespace(platform=self.platform)
        return SimpleNamespace(hlo_modules=lambda: [module], client=client)


def newest(message: Any = PROGRAM) -> Any:
    assignment = message.buffer_assignment.SerializeToString()
    return SimpleNamespace(serialized_buffer_assignment_proto=assignment)


def oldest() -> Any:
    return SimpleNamespace(serialized_hlo_proto=PROGRAM.SerializeToString())


def test_the_memory_analysis_is_stored_next_to_the_allocations(embedded_graph: Graph):
    statistics = newest()
    statistics.argument_size_in_bytes, statistics.temp_size_in_bytes = 16, 5
    statistics.peak_memory_in_bytes = 40
    ingest_compiled(embedded_graph, Compiled(statistics), run="live")
    assert run(embedded_graph, "overview/memory-analysis").result.rows == (
        ("argument_size_in_bytes", 16, 16, True),
        ("peak_memory_in_bytes", 40, None, None),
        ("temp_size_in_bytes", 5, 0, False),
    )
    (differing,) = check(embedded_graph).statistics
    assert differing == ("live/jit_f(8)", "temp_size_in_bytes", 5, 0)


@pytest.mark.parametrize("statistics", [newest(), oldest()], ids=["newest", "up to 0.6.0"])
def test_a_compilation_is_stored_under_its_module_and_number(
    embedded_graph: Graph, statistics: Any
):
    summary = ingest_compiled(embedded_graph, Compiled(statistics), run="live", tags=["lr=1"])
    assert summary.ok
    assert summary.added == ("live/jit_f(8)",)
    assert embedded_graph.query(SHAPE_OF_COMPILATION).rows == (
        ("live/jit_f(8)", "process", "cpu", 2, 2),
    )


@pytest.mark.parametrize(
    ("version", "page"), [("0.11.1", None), ("0.11.2", 0), ("0.12.0.1", 0), ("0.13.0.dev1", 0)]
)
def test_plans_of_new_versions_have_pages(
    embedded_graph: Graph, monkeypatch: pytest.MonkeyPatch, version: str, page: int | None
):
    monkeypatch.setitem(sys.modules, "jaxlib", SimpleNamespace(__version__=version))
    ingest_compiled(embedded_graph, Compiled(newest()), run="live")
    pages = embedded_graph.query("MATCH (a:Allocation) RETURN DISTINCT a.page AS page").rows
    assert pages == ((page,),)


def test_a_repetition_changes_nothing_and_another_module_joins_the_run(embedded_graph: Graph):
    ingest_compiled(embedded_graph, Compiled(newest()), run="live")
    again = ingest_compiled(embedded_graph, Compiled(newest()), run="live")
    assert again.unchanged == ("live/jit_f(8)",)
    other = hlo("main:\n  ROOT k = f32[4] constant() <1>\n")
    other.hlo_module.name, other.hlo_module.id = "jit_g", 9
    joined = ingest_compiled(embedded_graph, Compiled(newest(other), other), run="live")
    assert joined.added == ("live/jit_g(9)",)
    assert len(embedded_graph.query(SHAPE_OF_COMPILATION).rows) == 2


def test_a_gpu_is_named_as_in_dumps(embedded_graph: Graph):
    ingest_compiled(embedded_graph, Compiled(newest(), platform="cuda"), run="live")
    assert embedded_graph.query(SHAPE_OF_COMPILATION).rows[0][2] == "gpu"


@pytest.mark.parametrize(
    "statistics",
    [
        None,
        SimpleNamespace(serialized_buffer_assignment_proto=b""),
        SimpleNamespace(serialized_hlo_proto=b""),
    ],
)
def test_without_a_plan_in_jax_the_error_says_what_to_do(embedded_graph: Graph, statistics: Any):
    with pytest.raises(NoMemoryPlan) as refused:
        ingest_compiled(embedded_graph, Compiled(statistics), run="live")
    assert str(refused.value) == (
        "jit_f has no buffer assignment, like every program compiled for a GPU or TPU that is "
        "not present; let XLA dump it, and ingest the folder: lowered.compile("
        "compiler_options={'xla_dump_to': 'DIR', 'xla_dump_hlo_as_text': True})"
    )


def test_any_other_object_is_a_type_error(embedded_graph: Graph):
    with pytest.raises(TypeError, match=r"expected the result of .*, found function"):
        ingest_compiled(embedded_graph, oldest, run="live")


def test_damaged_bytes_are_a_problem_in_the_summary(embedded_graph: Graph):
    statistics = SimpleNamespace(serialized_buffer_assignment_proto=b"\x0a\x09")
    summary = ingest_compiled(embedded_graph, Compiled(statistics), run="live")
    assert not summary.ok
    (problem,) = summary.problems
    assert str(problem).startswith("jit_f(8): expected a whole HloProto")


def test_without_protobuf_the_error_says_how_to_install_it():
    program = (
        "import sys; sys.modules['google.protobuf'] = None\n"
        "from xlagraph.ingest import ingest_compiled\n"
        "ingest_compiled(None, None, run='live')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.endswith(
        "reading a compilation requires protobuf: pip install 'xlagraph[proto]'\n"
    )


@pytest.mark.parametrize("version", ["0.5.3", "0.7.2"])
def test_the_bytes_of_real_jax_contain_the_plan_of_their_dump(
    embedded_graph: Graph, shared_dumps: Path, version: str
):
    from xlagraph.hlo.proto_messages import HloProto

    folder = shared_dumps / "proto" / "inprocess" / version
    if not folder.is_dir():
        pytest.skip("the bytes of real JAX are not there")
    dump = HloProto.FromString((folder / "dump.hlo.pb").read_bytes())
    whole, assignment = (folder / "hp.pb").read_bytes(), (folder / "ba.pb").read_bytes()
    statistics = (
        SimpleNamespace(serialized_hlo_proto=whole)
        if whole
        else SimpleNamespace(serialized_buffer_assignment_proto=assignment)
    )
    summary = ingest_compiled(embedded_graph, Compiled(statistics, dump), run="live")
    assert summary.ok
    assert summary.values == len(dump.buffer_assignment.logical_buffers)
