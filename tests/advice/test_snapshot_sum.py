"""The sum of a program and resident arrays, from a device memory profile or live arrays."""

import gzip
import json

import pytest

from tests.tiny_dumps import dump, write_dump
from xlagraph.advice.device_memory import UnfitSnapshot, read_snapshot
from xlagraph.advice.snapshot_sum import add_snapshot
from xlagraph.exports.pprof_profile import Profile
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest

PACKAGE = "/env/lib/python3.11/site-packages/jax/core.py"


def write_profile(file, *samples):
    """Write samples: labels, number and bytes, and frames (file, line), the innermost first."""
    profile = Profile()
    texts = [""]
    frames = []

    def text(word):
        if word not in texts:
            texts.append(word)
        return texts.index(word)

    for kind, unit in (("allocations", "count"), ("space", "bytes")):
        profile.sample_type.add(type=text(kind), unit=text(unit))
    for labels, values, stack in samples:
        for frame in stack:
            if frame not in frames:
                frames.append(frame)
                number = len(frames)
                profile.function.add(id=number, name=text("f"), filename=text(frame[0]))
                profile.location.add(id=number).line.add(function_id=number, line=frame[1])
        numbers = [frames.index(frame) + 1 for frame in stack]
        sample = profile.sample.add(location_id=numbers, value=values)
        for key, word in labels.items():
            sample.label.add(key=text(key), str=text(word))
    profile.string_table.extend(texts)
    file.write_bytes(gzip.compress(profile.SerializeToString()))
    return file


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """Hold a program with an argument of 256 bytes, and other allocations."""
    folder = tmp_path_factory.mktemp("snapshot")
    write_dump(folder / "run", 1, "jit_f", dump(256))
    with open_graph(folder / "g.lbug", create=True) as graph:
        ingest(graph, folder / "run", jobs=1)
        yield graph


def sizes(graph):
    """Return the bytes of the program's arguments, and of everything else."""
    rows = graph.query(
        "MATCH (:Compilation)-[:ALLOCATES]->(a:Allocation) WHERE a.role <> 'threadLocal'"
        " RETURN a.role = 'parameter' AS isArgument, sum(a.sizeBytes) AS bytes"
    ).rows
    by_kind = dict(rows)
    return by_kind.get(True, 0), by_kind[False]


def test_a_profile_has_a_row_for_each_line_of_the_user(tmp_path):
    here = {"kind": "buffer", "device": "tpu:0"}
    file = write_profile(
        tmp_path / "memory.prof",
        (here, (2, 512), [(PACKAGE, 3), ("train.py", 7)]),
        ({"kind": "executable"}, (1, 64), [(PACKAGE, 3)]),
    )
    assert [(each.kind, each.bytes, each.count, each.file) for each in read_snapshot(file)] == [
        ("buffer", 512, 2, "train.py"),
        ("executable", 64, 1, PACKAGE),
    ]


def test_arrays_that_are_passed_count_once(tmp_path, graph):
    argument, running = sizes(graph)
    here = {"kind": "buffer", "device": "tpu:0"}
    file = write_profile(
        tmp_path / "memory.prof",
        (here, (1, argument), [("train.py", 7)]),
        (here, (1, 4096), [("train.py", 8)]),
        ({"kind": "executable"}, (1, 64), [("train.py", 9)]),
    )
    found = add_snapshot(graph, None, str(file), capacity_bytes=4096)
    assert (found.passed_bytes, found.new_argument_bytes) == (argument, 0)
    assert (found.other_array_bytes, found.executable_bytes) == (4096, 64)
    assert found.needed_bytes == argument + 4096 + 64 + running
    assert found.fits is False


def test_an_array_of_another_shape_is_not_the_argument(tmp_path, graph):
    argument, running = sizes(graph)
    row = {"device": "cpu:0", "kind": "buffer", "bytes": argument, "count": 1}
    place = {"function": None, "file": None, "line": None}
    file = tmp_path / "live.json"
    file.write_text(json.dumps([row | place | {"shape": "s8[1,3]"}]))
    found = add_snapshot(graph, None, str(file))
    assert (found.passed_bytes, found.new_argument_bytes) == (0, argument)
    assert found.needed_bytes == 2 * argument + running
    assert found.fits is None


@pytest.mark.parametrize("content", [b"", b"[1]", b"text", b"\x1f\x8bcut"])
def test_another_file_is_rejected_by_its_name(tmp_path, content):
    file = tmp_path / "other.prof"
    file.write_bytes(content)
    with pytest.raises(UnfitSnapshot, match=r"other\.prof: expected a profile"):
        read_snapshot(file)
