"""The peak as a pprof profile."""

import gzip
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import cast

import pytest

from tests.exports.small_plans import OLD, SMALL
from tests.exports.viewers import installed
from xlagraph.exports import NothingToExport, write_pprof
from xlagraph.exports.pprof_profile import Profile
from xlagraph.graph import Graph
from xlagraph.queries import find_compilation, run

Sample = tuple[tuple[str, ...], tuple[int, int], dict[str, str]]


def read_samples(path: Path) -> list[Sample]:
    """Return stack (innermost first), values and labels of each sample."""
    profile = Profile.FromString(gzip.decompress(path.read_bytes()))
    texts = profile.string_table
    functions = {function.id: texts[function.name] for function in profile.function}
    names = {place.id: functions[place.line[0].function_id] for place in profile.location}
    return [
        (
            tuple(names[number] for number in sample.location_id),
            (sample.value[0], sample.value[1]),
            {texts[label.key]: texts[label.str] for label in sample.label},
        )
        for sample in profile.sample
    ]


def pprof(*arguments: object) -> str:
    """Return the output of pprof, in bytes."""
    command = [str(installed("pprof")), "-unit=B", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def cumulative_bytes(report: str) -> dict[str, int]:
    """Return the bytes of each function with its callees, from `pprof -top`."""
    rows = re.findall(r"^ *\S+ +\S+ +\S+ +(-?\d+)B? +\S+ +(.+)$", report, re.MULTILINE)
    return {name: int(count) for count, name in rows}


def test_values_without_call_stacks_are_below_the_scopes_of_their_op(
    small: Graph, tmp_path: Path
) -> None:
    write_pprof(small, SMALL, tmp_path / "small.pb.gz")
    labels = {"kind": "buffer", "device": "memory space 0", "category": "other"}
    assert read_samples(tmp_path / "small.pb.gz") == [
        (("sin", "layer", "jit(f)"), (1, 4096), labels),
        (("slice", "layer", "jit(f)"), (1, 1024), labels),
        (("cos", "head", "jit(f)"), (1, 4096), labels),
        (("fft", "jit(f)"), (1, 1024), labels | {"category": "output"}),
    ]


def test_the_bytes_of_a_call_are_those_of_the_query(examples: Graph, tmp_path: Path) -> None:
    compilation = find_compilation(examples, "baseline").key
    write_pprof(examples, compilation, tmp_path / "baseline.pb.gz")
    report = pprof("-top", "-nodefraction=0", tmp_path / "baseline.pb.gz")
    found = cumulative_bytes(report)
    expected: Counter[str] = Counter()
    for row in run(examples, "peak/by-stack", compilation=compilation, minPercent=0):
        if row["function"] in ("<module>", "train_step_of.<locals>.train_step", "loss"):
            expected[str(row["function"])] += cast("int", row["cumulativeBytes"])
    assert expected.total() > 0
    assert {name: found[name] for name in expected} == expected


def test_the_tags_of_pprof_are_those_of_a_memory_profile_of_jax_and_the_category(
    small: Graph, tmp_path: Path
) -> None:
    write_pprof(small, SMALL, tmp_path / "small.pb.gz")
    report = pprof("-tags", tmp_path / "small.pb.gz")
    tags = re.findall(r"^ *(\w+): Total 10240B", report, re.MULTILINE)
    assert tags == ["category", "device", "kind"]
    assert "memory space 0" in report
    assert "buffer" in report
    raw = pprof("-raw", tmp_path / "small.pb.gz")
    assert "allocations/count space/bytes" in raw


def test_a_difference_of_two_runs_adds_up(examples: Graph, tmp_path: Path) -> None:
    peaks: dict[str, int] = {}
    for name in ("baseline", "batch2x"):
        compilation = find_compilation(examples, name).key
        write_pprof(examples, compilation, tmp_path / f"{name}.pb.gz")
        (peak,) = run(examples, "overview/spaces", compilation=compilation)
        peaks[name] = cast("int", peak["physicalPeakBytes"])
    files = (f"-diff_base={tmp_path / 'baseline.pb.gz'}", tmp_path / "batch2x.pb.gz")
    raw = pprof("-raw", *files)
    grown = sum(int(size) for size in re.findall(r"^ +-?\d+ +(-?\d+):", raw, re.MULTILINE))
    assert grown == peaks["batch2x"] - peaks["baseline"]
    assert cumulative_bytes(pprof("-top", *files))["loss"] > 0


def test_a_dump_without_live_ranges_has_no_peak_to_show(small: Graph, tmp_path: Path) -> None:
    with pytest.raises(NothingToExport, match=rf"{OLD} .* no live ranges"):
        write_pprof(small, OLD, tmp_path / "old.pb.gz")
    assert not list(tmp_path.iterdir())
