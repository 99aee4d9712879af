"""A function is compiled but never run, and its plan answers queries."""

import os
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.graph import open_graph
from xlagraph.jax import FunctionPlan, NoTarget, devices_of, memory_plan, plan_of_compiled
from xlagraph.jax.compiling import compile_lowered
from xlagraph.planner.edits.order_cost import order_cost
from xlagraph.queries import BadParameter, list_runs

KIB = 2**10
ROW = jax.ShapeDtypeStruct((256,), jnp.float32)  # 1 KiB
TPU_REFUSES = (
    "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries"
    " (24.00G) exceeds available HBM (16.00G)."
)


def add_one(x: jax.Array) -> jax.Array:
    return x + 1


@pytest.fixture(scope="module")
def plan() -> Iterator[FunctionPlan]:
    with memory_plan(add_one, ROW) as made:
        yield made


def test_the_argument_and_the_output_are_reserved(plan):
    assert (plan.reserved, plan.peak, plan.platform) == (2 * KIB, 2 * KIB, "cpu")
    assert plan.fits("2KiB")
    assert not plan.fits("2047B")


def test_arguments_are_pytrees_of_arrays_or_shapes_and_options_those_of_jit():
    def swap(pair):
        return {"one": pair["two"] * 2, "two": pair["one"] * 2}

    made = memory_plan(swap, {"one": jnp.zeros(256), "two": ROW}, donate_argnames="pair")
    assert made.reserved < 4 * KIB + 512


def test_options_replace_those_of_a_jitted_function():
    donating = jax.jit(add_one, donate_argnums=0)
    assert memory_plan(donating, ROW).reserved == KIB
    assert memory_plan(donating, ROW, donate_argnums=()).reserved == 2 * KIB


def test_a_plan_answers_queries_of_the_catalogue(plan):
    lines = plan.by_line().result.mappings()
    assert {row["sourceFile"] for row in lines} == {None, __file__}
    assert sum(row["physicalBytes"] for row in lines) == 2 * KIB
    roles = plan.ask("overview/roles").result.mappings()
    assert {(row["role"], row["allocationBytes"]) for row in roles} >= {("parameter", KIB)}
    assert "add_one" in plan.report().html
    assert "2.0 KiB" in plan._repr_html_()


def test_the_saving_that_whatif_predicts_is_the_actual_one(plan):
    assert plan.whatif(donate=["all"]).saved_bytes == KIB
    assert plan.reserved - memory_plan(add_one, ROW, donate_argnums=0).reserved == KIB
    (finding,) = plan.advise().findings
    assert (finding.query.id, finding.bytes) == ("alias/not-donated", KIB)


def test_neither_a_folder_nor_a_variable_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = dict(os.environ)
    with memory_plan(add_one, ROW) as made:
        assert made.by_line().result.rows
        assert any(tmp_path.iterdir())
    assert not any(tmp_path.iterdir())
    assert made.by_line().result.rows  # the next query creates the graph again
    del made
    assert not any(tmp_path.iterdir())
    assert dict(os.environ) == before


def test_a_plan_is_saved_for_the_command_line(plan, tmp_path):
    plan.save(tmp_path / "kept.lbug")
    with open_graph(tmp_path / "kept.lbug") as graph:
        rows = graph.query("MATCH (c:Compilation) RETURN c.key AS key").rows
    assert rows == ((plan.name,),)


def test_a_plan_is_saved_under_another_run_next_to_one_that_has_its_name(plan, tmp_path):
    plan.save(tmp_path / "kept.lbug")
    plan.save(tmp_path / "kept.lbug", run="other")
    with open_graph(tmp_path / "kept.lbug") as graph:
        assert [row["run"] for row in list_runs(graph)] == ["add_one", "other"]


def test_a_written_report_is_a_path_that_a_notebook_links_and_frames(plan, tmp_path):
    made = plan.report(tmp_path / "step.html")
    assert Path(made).read_text() == made.html
    assert len(made._repr_html_()) < 1000
    assert f'href="{tmp_path}/step.html"' in made._repr_html_()
    assert repr(made).endswith(f"{tmp_path}/step.html>")


def test_a_report_without_a_file_is_shown_in_a_frame(plan):
    made = plan.report()
    assert made._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    with pytest.raises(TypeError, match="not written"):
        Path(made)


def test_parameters_of_a_whatif_are_named_by_numbers_or_one_string(plan):
    assert plan.whatif(donate=0).saved_bytes == KIB
    assert plan.whatif(donate="x").saved_bytes == KIB


def test_a_whatif_scales_the_batch_and_changes_the_order(plan):
    half = plan.whatif(batch=2, batch_of="x")
    assert half.saved_bytes == plan.reserved // 2
    with pytest.raises(BadParameter, match="expected a schedule"):
        plan.whatif(schedule="fast")
    with pytest.raises(BadParameter, match="a factor for each pattern"):
        plan.whatif(shrink="x=2")


def test_results_are_short_in_a_prompt(plan):
    donated = plan.whatif(donate=0)
    for shown in (plan, plan.by_line(), plan.advise(), donated, plan.order(), plan.report()):
        assert len(repr(shown)) < 2000
    assert repr(donated).startswith("add_one/jit_add_one(")


def test_a_compiled_function_has_a_plan_too():
    assert plan_of_compiled(jax.jit(add_one).lower(ROW).compile()).reserved == 2 * KIB


@pytest.mark.parametrize("has_cache", [False, True], ids=["without cache", "warm cache"])
def test_if_the_executable_has_no_plan_a_dump_of_that_compilation_is_read(
    has_cache, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with jax_settings(tmp_path / "cache" if has_cache else None):
        jax.clear_caches()
        jax.jit(add_one).lower(ROW).compile()
        found = compile_lowered(jax.jit(add_one).lower(ROW), "run", holds_plan=False)
    made = FunctionPlan(found.files, found.error)
    assert (made.reserved, made.error) == (2 * KIB, None)
    assert made.by_line().result.rows
    made.close()
    assert [path.name for path in tmp_path.iterdir()] == ["cache"] * has_cache


class jax_settings:  # noqa: N801 - a context manager
    """JAX with a compilation cache that keeps every program, if a folder is given."""

    def __init__(self, cache: Path | None) -> None:
        wanted = {
            "jax_compilation_cache_dir": str(cache),
            "jax_persistent_cache_min_compile_time_secs": 0,
            "jax_persistent_cache_min_entry_size_bytes": -1,
        }
        self.wanted = wanted if cache is not None else {}
        self.before = {name: getattr(jax.config, name) for name in self.wanted}

    def __enter__(self):
        self.set(self.wanted)

    def __exit__(self, *_: object):
        self.set(self.before)

    def set(self, values):
        from jax.experimental.compilation_cache import compilation_cache

        for name, value in values.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()


class RefusingCompiler(jax.stages.Lowered):
    """A compiler that dumps a plan, as XLA does, and then fails."""

    def __init__(self, message: str, *, has_planned: bool = True) -> None:
        self.message = message
        self.has_planned = has_planned

    def compile(self, compiler_options=None, **_: object):
        if self.has_planned:
            plan = tiny_dump(
                "0 | 64 | preallocated-temp", "0 | a | f32[16] | 0 | 64 | 0-1 | iota()"
            )
            write_dump(Path(compiler_options["xla_dump_to"]), 1, "jit_f", plan)
        raise RuntimeError(self.message)


def test_a_plan_that_the_compiler_rejects_is_read():
    found = compile_lowered(RefusingCompiler(TPU_REFUSES), "run", holds_plan=False)
    refused = FunctionPlan(found.files, found.error)
    assert (refused.reserved, refused.fits(), refused.fits("1GiB")) == (64, False, False)
    assert refused.failure is not None
    assert refused.failure.missing_bytes == 8 * 2**30
    assert "exceeds available HBM" in repr(refused)


def test_a_compiler_that_lacks_a_tool_has_planned_the_memory_before():
    found = compile_lowered(RefusingCompiler("UNAVAILABLE: no ptxas"), "run", holds_plan=False)
    assert FunctionPlan(found.files, found.error).fits("64B")


def test_an_error_before_the_plan_is_the_error_of_the_compiler():
    with pytest.raises(RuntimeError, match="no such op"):
        compile_lowered(RefusingCompiler("no such op", has_planned=False), "run", holds_plan=False)


@pytest.mark.parametrize(
    ("topology", "remedy"),
    [
        ("h100:two", "expected a number of GPUs as in h100:8, found 'h100:two'"),
        ("v9:1x1", "'v9:1x1' is not one of a100, h100, not a file, and not a TPU"),
    ],
)
def test_an_unknown_target_is_refused_with_the_known_ones(topology, remedy):
    with pytest.raises(NoTarget) as refused:
        devices_of(topology)
    assert str(refused.value).startswith(remedy)


def test_processes_compile_for_a_tpu_at_once(monkeypatch):
    variables = []

    def describe(*_):
        variables.append(os.environ.get("ALLOW_MULTIPLE_LIBTPU_LOAD"))
        raise RuntimeError("no libtpu")

    monkeypatch.setattr("jax.experimental.topologies.get_topology_desc", describe)
    with pytest.raises(NoTarget, match="no libtpu"):
        devices_of("v9:1x2")
    assert variables == ["1"]
    assert "ALLOW_MULTIPLE_LIBTPU_LOAD" not in os.environ


def test_another_order_is_compiled_as_foretold_from_the_default_one() -> None:
    def counts(numbers: jax.Array) -> jax.Array:
        chosen = [jnp.bincount(numbers * each % 97, length=4096) for each in range(1, 6)]
        return jnp.stack(chosen).sum(0)

    numbers = jax.ShapeDtypeStruct((4000,), jnp.int32)
    with memory_plan(counts, numbers) as default:
        foretold = order_cost(default.graph, moves=0)
    compiled = memory_plan(counts, numbers, schedule="memory")
    (depth_first,) = [each for each in foretold.orders if each.name == "depth-first"]
    assert compiled.reserved == depth_first.reserved_bytes < default.reserved


def test_an_unknown_schedule_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected the schedule 'memory'"):
        memory_plan(jnp.sin, jax.ShapeDtypeStruct((4,), "float32"), schedule="fast")  # type: ignore[arg-type]
